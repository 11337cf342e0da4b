package ptx

import (
	"errors"
	"math"
	"testing"
)

// parseOperand reads x as the operand of an instruction.
func parseOperand(t testing.TB, x string) Operand {
	t.Helper()
	m, err := Parse([]byte(header + ".func f() { op x, " + x + "; }"))
	if err != nil {
		t.Fatalf("%s: %v", x, err)
	}
	return m.Decls[0].(*Func).Body.Stmts[0].(*Instr).Args[1]
}

const header = ".version 9.0\n.target sm_90\n.address_size 64\n"

// TestEvalInteger compares with the values that an H200 stored for
// "mov.u64 %r0, EXPRESSION" (recorded silicon cases, group consts). The kinds
// follow the manual's rules; silicon does not show them.
func TestEvalInteger(t *testing.T) {
	for _, c := range []struct {
		expr string
		want uint64
		kind ConstKind
	}{
		{"0", 0, ConstS64},
		{"4294967295", 0xffffffff, ConstS64},
		{"0x7fffffff", 0x7fffffff, ConstS64},
		{"0X7FFFFFFF", 0x7fffffff, ConstS64},
		{"017", 15, ConstS64},
		{"0b1011", 11, ConstS64},
		{"0xffffffffU", 0xffffffff, ConstU64},
		{"-2147483648", 0xffffffff80000000, ConstS64},
		{"18446744073709551615", 0xffffffffffffffff, ConstU64},
		{"9223372036854775808", 0x8000000000000000, ConstU64},
		{"-9223372036854775808", 0x8000000000000000, ConstU64},
		{"1 + 2 * 3", 7, ConstS64},
		{"(1 + 2) * 3", 9, ConstS64},
		{"-7 / 2", 0xfffffffffffffffd, ConstS64},
		{"-7 % 3", 0, ConstU64},
		{"7U / 2U", 3, ConstU64},
		{"-1 / 2U", 0x7fffffffffffffff, ConstU64},
		{"1 << 31", 1 << 31, ConstS64},
		{"1 << 32", 1 << 32, ConstS64},
		{"-1 >> 1", 0xffffffffffffffff, ConstS64},
		{"0xffffffff >> 4", 0xfffffff, ConstS64},
		{"-8 >> 1", 0xfffffffffffffffc, ConstS64},
		{"~0", 0xffffffffffffffff, ConstS64},
		{"!0", 1, ConstS64},
		{"!5", 0, ConstS64},
		{"~5 & 0xff", 0xfa, ConstS64},
		{"6 ^ 3", 5, ConstS64},
		{"1 < 2", 1, ConstS64},
		{"-1 < 1U", 0, ConstS64},
		{"-1 > 0", 0, ConstS64},
		{"1 == 1", 1, ConstS64},
		{"2 != 2", 0, ConstS64},
		{"3 >= 3", 1, ConstS64},
		{"0 && 1", 0, ConstS64},
		{"2 && 3", 1, ConstS64},
		{"0 || 4", 1, ConstS64},
		{"1 ? 10 : 20", 10, ConstS64},
		{"0 ? 10 : 20", 20, ConstS64},
		{"5 > 3 ? 1 + 1 : 2 + 2", 2, ConstS64},
		{"(.s64) 5", 5, ConstS64},
		{"(.u64) -1", 0xffffffffffffffff, ConstU64},
		{"(.s64) 0xffffffffffffffff >> 63", 0xffffffffffffffff, ConstS64},
		{"(.u64) 0xffffffffffffffff >> 63", 1, ConstU64},
		{"1 - - 1", 2, ConstS64},
		{"- - 3", 3, ConstS64},
		{"+5", 5, ConstS64},
		{"2 + 3 << 1", 10, ConstS64},
		{"1 | 2 ^ 3 & 4", 3, ConstS64},
		{"WARP_SZ", 32, ConstS64},
		{"WARP_SZ * 2", 64, ConstS64},
		{"1 == 2 == 0", 1, ConstS64},
		{"1 << 64", 1, ConstS64}, // recorded as an initialiser (limits.json.gz, odd/init/27); the others: ptxas 13.0
		{"8U >> 65", 4, ConstU64},
		{"-8 >> 66", 0xfffffffffffffffe, ConstS64},
		{"-9223372036854775808 / -1", 0, ConstU64}, // the literal is unsigned
		{"(.s64)0x8000000000000000 / -1", 0x8000000000000000, ConstS64},
	} {
		got, err := Eval(parseOperand(t, c.expr))
		if err != nil || got.Bits != c.want || got.Kind != c.kind {
			t.Errorf("%s = %#x kind %d, %v; want %#x kind %d", c.expr, got.Bits, got.Kind, err, c.want, c.kind)
		}
	}
}

// TestEvalFloat compares with what an H200 stored for mov.f32 and mov.f64 of
// the expression (recorded silicon cases, group consts).
func TestEvalFloat(t *testing.T) {
	for _, c := range []struct {
		expr string
		f32  uint32
		f64  uint64
	}{
		{"0f3F800000", 0x3f800000, 0x3f800000}, // raw bits, not converted
		{"0F7f800001", 0x7f800001, 0x7f800001},
		{"0fffffffff", 0xffffffff, 0xffffffff},
		{"0D3ff0000000000000", 0x3f800000, 0x3ff0000000000000},
		{"0d7ff8000000000001", 0x7fc00000, 0x7ff8000000000001}, // f64 not recorded: the literal itself
		{"1.5", 0x3fc00000, 0x3ff8000000000000},
		{"-1.5", 0xbfc00000, 0xbff8000000000000},
		{".5", 0x3f000000, 0x3fe0000000000000},
		{"5.", 0x40a00000, 0x4014000000000000},
		{"1e10", 0x501502f9, 0x4202a05f20000000},
		{"1E-10", 0x2edbe6ff, 0x3ddb7cdfd9d7bdbb},
		{"1e-45", 0x00000001, 0x3696d601ad376ab9},
		{"3.4028235e38", 0x7f7fffff, 0x47efffffe54daff8},
		{"3.4028236e38", 0x7f800000, 0x47effffff514a7bc},
		{"1e39", 0x7f800000, 0x48078287f49c4a1d},
		{"16777217.0", 0x4b800000, 0x4170000010000000},
		{"-0.0", 0x80000000, 0x8000000000000000},
		{"1.00000005960464477540", 0x3f800000, 0x3ff0000010000000}, // rounded twice
		{"1.0 + 2.0", 0x40400000, 0x4008000000000000},
		{"- 2.5", 0xc0200000, 0xc004000000000000},
		{"1.5 * 2.0", 0x40400000, 0x4008000000000000},
		{"0d36a0000000000000", 0x00000001, 0x36a0000000000000},
		{"0d3ff0000010000000", 0x3f800000, 0x3ff0000010000000},
		{"0d3ff0000030000000", 0x3f800002, 0x3ff0000030000000},
		{"0d47efffffefffffff", 0x7f7fffff, 0x47efffffefffffff},
		{"0d47effffff0000000", 0x7f800000, 0x47effffff0000000},
	} {
		got, err := Eval(parseOperand(t, c.expr))
		if err != nil || !got.IsFloat() || got.F32() != c.f32 || got.F64() != c.f64 {
			t.Errorf("%s = %#x, %#x, %v; want %#x, %#x", c.expr, got.F32(), got.F64(), err, c.f32, c.f64)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	for _, c := range []struct {
		expr string
		want error
	}{
		{"5 / 0", ErrDivideByZero}, // refused by driver 580 with these words
		{"5 % 0", ErrDivideByZero},
		{"a + 4", ErrNotConstant},
		{"-a", ErrNotConstant},
		{"[4]", ErrNotConstant},
		{"~1.5", ErrConstType},
		{"1.5 % 2.0", ErrConstType},
	} {
		if got, err := Eval(parseOperand(t, c.expr)); !errors.Is(err, c.want) {
			t.Errorf("%s = %v, %v; want error %v", c.expr, got, err, c.want)
		}
	}
	if c, err := Eval(parseOperand(t, "1e400")); err != nil || !math.IsInf(c.Float(), 1) {
		t.Errorf("1e400 = %v, %v; want infinity", c, err)
	}
}
