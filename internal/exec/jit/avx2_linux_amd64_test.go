package jit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	a64 "github.com/gocuda/cuda/internal/exec/jit/amd64asm"
)

// The AVX2 sequences of package amd64asm against the AVX-512 instructions themselves, which this processor must have.

// machine is what the programs of these tests work on; R15 points at it. Its beginning is amd64asm's file of registers.
type machine struct {
	file  [a64.FileSize]byte // zmm0 to zmm31, k0 to k7 of 8 bytes each; the rest belongs to the sequences
	gpr   [16]uint64
	mem   [512]byte
	again uint32 // how a loop is to go on
	index [128]byte
}

const fileMasks = 32 * 64

var (
	offMachineGPR = int32(unsafe.Offsetof(machine{}.gpr))
	offMachineMem = int32(unsafe.Offsetof(machine{}.mem))
	// the loops of random programs flip this
	offMachineIndex = int32(unsafe.Offsetof(machine{}.index))
	offMachineAgain = int32(unsafe.Offsetof(machine{}.again))
)

// step writes one instruction, or a few that belong together.
type step struct {
	name string
	f    func(a *a64.Asm)
}

var testRegs = []uint8{a64.RAX, a64.RCX, a64.RDX, a64.RDI, a64.R8, a64.R9}

// assemble makes the code that loads the machine, runs the steps, and stores it.
func assemble(t *testing.T, steps []step, avx2 bool) []byte {
	t.Helper()
	var a a64.Asm
	at := func(off int32) a64.Mem { return a64.At(a64.R15, off) }
	for _, r := range testRegs {
		a.Ld(r, at(offMachineGPR+8*int32(r)))
	}
	a.Lea(a64.RSI, at(offMachineMem))
	a.Lea(a64.RBX, at(offMachineMem))
	if avx2 {
		a.LowerToAVX2(a64.R15, 0)
	} else {
		for z := range int32(32) {
			a.VM(a64.MovU32, a64.Z, uint8(z), 0, at(64*z))
		}
		for k := range int32(8) {
			a.KMovDM(uint8(k), at(fileMasks+8*k))
		}
	}
	for _, s := range steps {
		s.f(&a)
	}
	if a.Refused() {
		t.Fatalf("refused: %s", names(steps))
	}
	a.Bind(a.NewLabel())
	for _, r := range testRegs {
		a.St(at(offMachineGPR+8*int32(r)), r)
	}
	if !avx2 {
		for z := range int32(32) {
			a.VM(a64.MovU32St, a64.Z, uint8(z), 0, at(64*z))
		}
		for k := range int32(8) {
			a.KMovRD(a64.RAX, uint8(k))
			a.St32(at(fileMasks+8*k), a64.RAX)
		}
	}
	a.VZeroUpper()
	a.Ret()
	text, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func names(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString(s.name + "; ")
	}
	return b.String()
}

// runMachine runs code; the machine is changed.
func runMachine(t *testing.T, text []byte, m *machine) {
	t.Helper()
	var n codeBytes
	r, err := mapCode(text, &n)
	if err != nil {
		t.Fatal(err)
	}
	defer r.free()
	enter(r.base(), unsafe.Pointer(m))
}

var specialWords = []uint32{0, 1, 2, 3, 31, 32, 0x80000000, 0x7fffffff, 0xffffffff, 0xfffffffe, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc01234, 0xff812345, 1 << 22, 0x007fffff, 0x00800000,
	0x3f800000, 0xbf800000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f7fffff, 0x4f800000, 0x3effffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0xbf7fffff, 0x4b7fffff, 0x4b000001, 0x01000000, 0x00ffffff}

func (m *machine) fill(r *rand.Rand) {
	word := func() uint32 {
		switch r.IntN(5) {
		case 0:
			return specialWords[r.IntN(len(specialWords))]
		case 1:
			return uint32(r.IntN(256))
		case 2:
			return math.Float32bits(float32(r.NormFloat64() * 1000))
		}
		return r.Uint32()
	}
	quad := func() uint64 {
		switch r.IntN(8) {
		case 0:
			return uint64(int64(int32(word())))
		case 1:
			return math.Float64bits(float64(math.Float32frombits(word())))
		case 2:
			return math.Float64bits(r.NormFloat64() * math.Exp2(float64(r.IntN(80)-10)))
		case 3:
			return []uint64{0, 1, 1 << 63, 1<<63 - 1, math.MaxUint64, 0x7ff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff4000000000000, 0x41f0000000000000, 0x41efffffffffffff, 0xbff0000000000000, 0xbfefffffffffffff, 0x43e0000000000000, 63, 64, 65}[r.IntN(17)]
		}
		return uint64(word())<<32 | uint64(word())
	}
	for z := range 32 {
		for i := range 8 {
			binary.LittleEndian.PutUint64(m.file[64*z+8*i:], quad())
		}
	}
	for k := range 8 {
		v := r.Uint32()
		switch r.IntN(6) {
		case 0:
			v = 0
		case 1:
			v = 0xffffffff
		}
		binary.LittleEndian.PutUint64(m.file[fileMasks+8*k:], uint64(v))
	}
	for i := range m.gpr {
		m.gpr[i] = quad()
	}
	for i := 0; i < len(m.mem); i += 8 {
		binary.LittleEndian.PutUint64(m.mem[i:], quad())
	}
}

// differ tells where two machines differ.
func (m *machine) differ(o *machine) string {
	for z := range 32 {
		for i := range 16 {
			x, y := binary.LittleEndian.Uint32(m.file[64*z+4*i:]), binary.LittleEndian.Uint32(o.file[64*z+4*i:])
			if x != y {
				return fmt.Sprintf("zmm%d word %d: AVX-512 %#x, AVX2 %#x", z, i, x, y)
			}
		}
	}
	for k := range 8 {
		x, y := binary.LittleEndian.Uint32(m.file[fileMasks+8*k:]), binary.LittleEndian.Uint32(o.file[fileMasks+8*k:])
		if x != y {
			return fmt.Sprintf("k%d: AVX-512 %#x, AVX2 %#x", k, x, y)
		}
	}
	for _, r := range testRegs {
		if m.gpr[r] != o.gpr[r] {
			return fmt.Sprintf("general register %d: AVX-512 %#x, AVX2 %#x", r, m.gpr[r], o.gpr[r])
		}
	}
	for i := range m.mem {
		if m.mem[i] != o.mem[i] {
			return fmt.Sprintf("byte %d of memory: AVX-512 %#x, AVX2 %#x", i, m.mem[i], o.mem[i])
		}
	}
	return ""
}

// vectorOp says how an instruction can be written.
type vectorOp struct {
	name   string
	op     a64.Op
	kind   string // three, two, imm3, imm2, shift, cmp, move, store, pack, ...
	imms   []uint8
	bcast  bool
	rounds bool
}

var vectorOps = []vectorOp{
	{"MovU32", a64.MovU32, "move", nil, false, false}, {"MovU64", a64.MovU64, "move", nil, false, false}, {"MovA32", a64.MovA32, "two-reg", nil, false, false}, {"MovA64", a64.MovA64, "two-reg", nil, false, false},
	{"AddD", a64.AddD, "three", nil, true, false}, {"AddQ", a64.AddQ, "three", nil, true, false}, {"SubD", a64.SubD, "three", nil, true, false}, {"SubQ", a64.SubQ, "three", nil, true, false},
	{"MulLD", a64.MulLD, "three", nil, true, false}, {"MulLQ", a64.MulLQ, "three", nil, true, false}, {"MulUDQ", a64.MulUDQ, "three", nil, true, false}, {"MulDQ", a64.MulDQ, "three", nil, true, false},
	{"AndD", a64.AndD, "three", nil, true, false}, {"AndQ", a64.AndQ, "three", nil, true, false}, {"AndND", a64.AndND, "three", nil, true, false}, {"OrD", a64.OrD, "three", nil, true, false}, {"OrQ", a64.OrQ, "three", nil, true, false},
	{"XorD", a64.XorD, "three", nil, true, false}, {"XorQ", a64.XorQ, "three", nil, true, false},
	{"SllVD", a64.SllVD, "three", nil, true, false}, {"SllVQ", a64.SllVQ, "three", nil, true, false}, {"SrlVD", a64.SrlVD, "three", nil, true, false}, {"SrlVQ", a64.SrlVQ, "three", nil, true, false},
	{"SraVD", a64.SraVD, "three", nil, true, false}, {"SraVQ", a64.SraVQ, "three", nil, true, false}, {"RolVD", a64.RolVD, "three", nil, true, false}, {"RorVD", a64.RorVD, "three", nil, true, false},
	{"MinSD", a64.MinSD, "three", nil, true, false}, {"MinSQ", a64.MinSQ, "three", nil, true, false}, {"MinUD", a64.MinUD, "three", nil, true, false}, {"MinUQ", a64.MinUQ, "three", nil, true, false},
	{"MaxSD", a64.MaxSD, "three", nil, true, false}, {"MaxSQ", a64.MaxSQ, "three", nil, true, false}, {"MaxUD", a64.MaxUD, "three", nil, true, false}, {"MaxUQ", a64.MaxUQ, "three", nil, true, false},
	{"AbsD", a64.AbsD, "two", nil, true, false}, {"AbsQ", a64.AbsQ, "two", nil, true, false}, {"LzcntD", a64.LzcntD, "two", nil, true, false}, {"LzcntQ", a64.LzcntQ, "two", nil, true, false}, {"ShufB", a64.ShufB, "three-nomask", nil, false, false},
	{"BlendMD", a64.BlendMD, "three", nil, true, false}, {"BlendMQ", a64.BlendMQ, "three", nil, true, false},
	{"AddPS", a64.AddPS, "three", nil, true, true}, {"AddPD", a64.AddPD, "three", nil, true, true}, {"MulPS", a64.MulPS, "three", nil, true, true}, {"MulPD", a64.MulPD, "three", nil, true, true},
	{"SubPS", a64.SubPS, "three", nil, true, true}, {"SubPD", a64.SubPD, "three", nil, true, true}, {"DivPS", a64.DivPS, "three", nil, true, true}, {"DivPD", a64.DivPD, "three", nil, true, true},
	{"SqrtPS", a64.SqrtPS, "two", nil, true, true}, {"SqrtPD", a64.SqrtPD, "two", nil, true, true},
	{"FMA231PS", a64.FMA231PS, "three", nil, true, true}, {"FMA231PD", a64.FMA231PD, "three", nil, true, true}, {"FMA213PS", a64.FMA213PS, "three", nil, true, true}, {"FMA213PD", a64.FMA213PD, "three", nil, true, true},
	{"FMS231PS", a64.FMS231PS, "three", nil, true, true}, {"FNMA231PS", a64.FNMA231PS, "three", nil, true, true},
	{"CvtDQ2PS", a64.CvtDQ2PS, "two", nil, true, true}, {"CvtUDQ2PS", a64.CvtUDQ2PS, "two", nil, true, true}, {"CvtTPS2DQ", a64.CvtTPS2DQ, "two", nil, true, false}, {"CvtTPS2UDQ", a64.CvtTPS2UDQ, "two", nil, true, false}, {"CvtPS2DQ", a64.CvtPS2DQ, "two", nil, true, true},
	{"CvtPS2PD", a64.CvtPS2PD, "two", nil, true, false}, {"CvtPD2PS", a64.CvtPD2PS, "two", nil, true, true}, {"CvtDQ2PD", a64.CvtDQ2PD, "two", nil, true, false}, {"CvtUDQ2PD", a64.CvtUDQ2PD, "two", nil, true, false},
	{"CvtTPD2DQ", a64.CvtTPD2DQ, "two", nil, true, false}, {"CvtTPD2UDQ", a64.CvtTPD2UDQ, "two", nil, true, false}, {"CvtPH2PS", a64.CvtPH2PS, "two-nomem", nil, false, false},
	{"CvtQQ2PD", a64.CvtQQ2PD, "two", nil, true, true}, {"CvtUQQ2PD", a64.CvtUQQ2PD, "two", nil, true, true}, {"CvtPD2UQQ", a64.CvtPD2UQQ, "two", nil, true, true}, {"CvtQQ2PS", a64.CvtQQ2PS, "two-z", nil, true, true}, {"CvtUQQ2PS", a64.CvtUQQ2PS, "two-z", nil, true, true}, {"CvtTPD2QQ", a64.CvtTPD2QQ, "two-reg", nil, false, false},
	{"PermD", a64.PermD, "three-z", nil, true, false}, {"PermI2D", a64.PermI2D, "three-z", nil, true, false}, {"PermT2D", a64.PermT2D, "three-z", nil, true, false}, {"PermI2Q", a64.PermI2Q, "three-z", nil, true, false}, {"PermT2Q", a64.PermT2Q, "three-z", nil, true, false},
	{"Permute", a64.PermI2D, "permute", nil, false, false},
	{"MovZXDQ", a64.MovZXDQ, "two", nil, false, false}, {"MovSXDQ", a64.MovSXDQ, "two", nil, false, false}, {"MovZXBD", a64.MovZXBD, "two", nil, false, false}, {"MovSXBD", a64.MovSXBD, "two", nil, false, false},
	{"MovZXWD", a64.MovZXWD, "two", nil, false, false}, {"MovSXWD", a64.MovSXWD, "two", nil, false, false},
	{"BroadcastD", a64.BroadcastD, "two", nil, false, false}, {"BroadcastQ", a64.BroadcastQ, "two", nil, false, false}, {"BroadcastDR", a64.BroadcastDR, "general", nil, false, false}, {"BroadcastQR", a64.BroadcastQR, "general", nil, false, false},
	{"TernD", a64.TernD, "imm3", nil, true, false}, {"TernQ", a64.TernQ, "imm3", nil, true, false}, {"RangePS", a64.RangePS, "imm3", []uint8{4, 5}, true, false}, {"RangePD", a64.RangePD, "imm3", []uint8{4, 5}, true, false},
	{"RndScalePS", a64.RndScalePS, "imm2", []uint8{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}, true, false}, {"RndScalePD", a64.RndScalePD, "imm2", []uint8{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}, true, false},
	{"CmpD", a64.CmpD, "cmp", nil, true, false}, {"CmpUD", a64.CmpUD, "cmp", nil, true, false}, {"CmpQ", a64.CmpQ, "cmp", nil, true, false}, {"CmpUQ", a64.CmpUQ, "cmp", nil, true, false}, {"CmpPS", a64.CmpPS, "cmp", nil, true, false}, {"CmpPD", a64.CmpPD, "cmp", nil, true, false},
	{"TestMD", a64.TestMD, "test", nil, true, false}, {"TestMQ", a64.TestMQ, "test", nil, true, false}, {"TestNMD", a64.TestNMD, "test", nil, true, false}, {"TestNMQ", a64.TestNMQ, "test", nil, true, false},
	{"ShiftD", a64.ShiftD, "shift", []uint8{a64.ShiftRor, a64.ShiftRol, a64.ShiftSrl, a64.ShiftSra, a64.ShiftSll}, true, false}, {"ShiftQ", a64.ShiftQ, "shift", []uint8{a64.ShiftSrl, a64.ShiftSll}, true, false}, {"ShiftAQ", a64.ShiftAQ, "shift", []uint8{a64.ShiftSra}, true, false},
	{"MovU32St", a64.MovU32St, "store", nil, false, false}, {"MovU64St", a64.MovU64St, "store", nil, false, false}, {"MovU8St", a64.MovU8St, "store-nomask", nil, false, false},
	{"MovQD", a64.MovQD, "pack", nil, false, false}, {"MovDB", a64.MovDB, "pack", nil, false, false}, {"MovDW", a64.MovDW, "pack", nil, false, false}, {"CvtPS2PH", a64.CvtPS2PH, "half", nil, false, false},
	{"MovD", a64.MovD, "scalar", nil, false, false}, {"MovQ", a64.MovQ, "scalar", nil, false, false}, {"InsertQ4", a64.InsertQ4, "insert", nil, false, false}, {"ExtractQ4", a64.ExtractQ4, "extract", nil, false, false},
	{"GatherDD", a64.GatherDD, "gather", nil, false, false}, {"GatherQD", a64.GatherQD, "gather", nil, false, false}, {"GatherDQ", a64.GatherDQ, "gather", nil, false, false}, {"GatherQQ", a64.GatherQQ, "gather", nil, false, false},
	{"ScatterDD", a64.ScatterDD, "gather", nil, false, false}, {"ScatterQD", a64.ScatterQD, "gather", nil, false, false}, {"ScatterDQ", a64.ScatterDQ, "gather", nil, false, false}, {"ScatterQQ", a64.ScatterQQ, "gather", nil, false, false},
}

// random writes the instruction with random operands.
func (v *vectorOp) random(r *rand.Rand) step {
	z := func() uint8 { return uint8(r.IntN(32)) }
	if r.IntN(2) == 0 { // a few registers, that instructions depend on each other
		z = func() uint8 { return uint8(r.IntN(4)) }
	}
	x, y, w := z(), z(), z()
	o := a64.Z
	if r.IntN(12) == 0 && !strings.Contains("insert extract pack half gather three-z two-z permute two-reg imm3 imm2 two-nomem", v.kind) && !strings.Contains("CvtPD2PS CvtTPD2DQ CvtTPD2UDQ", v.name) {
		o = a64.Y
	}
	k := uint8(0)
	if r.IntN(2) == 0 {
		k = uint8(1 + r.IntN(7))
	}
	zero := k != 0 && r.IntN(2) == 0
	masked := func() a64.Opt {
		o := o.Mask(k)
		if zero {
			o = o.Zeroing()
		}
		return o
	}
	base := a64.RSI
	if r.IntN(2) == 0 {
		base = a64.RBX
	}
	m := a64.At(base, int32(4*r.IntN(32)))
	if r.IntN(6) == 0 {
		m = a64.Indexed(a64.R9, a64.RSI, 1, m.Disp)
	}
	imm := uint8(r.Uint32())
	if v.imms != nil {
		imm = v.imms[r.IntN(len(v.imms))]
	}
	form := r.IntN(4) // 0, 1: registers, 2: memory, 3: broadcast
	if form == 3 && !v.bcast {
		form = 2
	}
	if v.rounds && r.IntN(5) == 0 {
		o := masked()
		o.LL, o.Bcast = uint8(r.IntN(4)), true
		return step{fmt.Sprintf("%s %v %d %d %d", v.name, o, x, y, w), func(a *a64.Asm) {
			if strings.HasPrefix(v.kind, "two") {
				y = 0
			}
			a.V(v.op, o, x, y, w)
		}}
	}
	text := func(o a64.Opt) string {
		return fmt.Sprintf("%s %v form %d: %d %d %d imm %d mem %v", v.name, o, form, x, y, w, imm, m)
	}
	clearIndex := func(a *a64.Asm) { // R9 is an index that adds nothing
		if m.Index != a64.None {
			a.MovI32(a64.R9, 0)
		}
	}
	three := func(o a64.Opt, vvvv uint8, withImm bool) step {
		return step{text(o), func(a *a64.Asm) {
			clearIndex(a)
			switch {
			case form <= 1 && withImm:
				a.VI(v.op, o, x, vvvv, w, imm)
			case form <= 1:
				a.V(v.op, o, x, vvvv, w)
			default:
				o := o
				if form == 3 {
					o = o.Broadcast()
				}
				if withImm {
					a.VMI(v.op, o, x, vvvv, m, imm)
				} else {
					a.VM(v.op, o, x, vvvv, m)
				}
			}
		}}
	}
	switch v.kind {
	case "three":
		return three(masked(), y, false)
	case "three-nomask":
		return three(o, y, false)
	case "three-z":
		if form >= 2 && m.Base != a64.RBX { // lanes of the operand are not those of the mask
			k, zero = 0, false
		}
		return three(masked(), y, false)
	case "two", "two-z":
		return three(masked(), 0, false)
	case "two-reg", "two-nomem":
		form = 0
		return three(masked(), 0, false)
	case "move":
		return three(masked(), 0, false)
	case "imm3":
		return three(masked(), y, true)
	case "imm2":
		return three(masked(), 0, true)
	case "cmp":
		x = uint8(r.IntN(8))
		if strings.HasPrefix(v.name, "CmpP") {
			imm &= 31
		} else {
			imm &= 7
		}
		return three(o.Mask(k), y, true)
	case "test":
		x = uint8(r.IntN(8))
		return three(o.Mask(k), y, false)
	case "shift":
		kind := imm
		n := uint8(r.IntN(70))
		dst := x
		x, imm = kind, n
		return three(masked(), dst, true)
	case "general":
		g := testRegs[r.IntN(len(testRegs))]
		return step{text(masked()), func(a *a64.Asm) { a.V(v.op, masked(), x, 0, g) }}
	case "store":
		return step{text(o.Mask(k)), func(a *a64.Asm) { clearIndex(a); a.VM(v.op, o.Mask(k), x, 0, m) }}
	case "store-nomask":
		return step{text(o), func(a *a64.Asm) { clearIndex(a); a.VM(v.op, o, x, 0, m) }}
	case "pack":
		if form <= 1 {
			if v.name == "MovQD" {
				return step{text(masked()), func(a *a64.Asm) { a.V(v.op, masked(), x, 0, w) }}
			}
			return step{text(a64.Z), func(a *a64.Asm) { a.V(v.op, a64.Z, x, 0, w) }}
		}
		return step{text(o.Mask(k)), func(a *a64.Asm) { clearIndex(a); a.VM(v.op, o.Mask(k), x, 0, m) }}
	case "half":
		return step{text(a64.Z), func(a *a64.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VI(v.op, a64.Z, x, 0, w, imm&3)
			} else {
				a.VMI(v.op, a64.Z, x, 0, m, imm&3)
			}
		}}
	case "scalar":
		g := testRegs[r.IntN(len(testRegs))]
		return step{text(a64.X), func(a *a64.Asm) {
			if form <= 1 {
				a.V(v.op, a64.X, x, 0, g)
			} else {
				clearIndex(a)
				a.VM(v.op, a64.X, x, 0, m)
			}
		}}
	case "insert":
		imm &= 1
		form = min(form, 2)
		return three(a64.Z, y, true)
	case "extract":
		imm &= 1
		return step{text(a64.Z), func(a *a64.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VI(v.op, a64.Z, x, 0, w, imm)
			} else {
				a.VMI(v.op, a64.Z, x, 0, m, imm)
			}
		}}
	case "permute":
		var from [16]uint32
		by, op := uint32(1)<<r.IntN(5), r.IntN(4)
		for i := range from {
			l := uint32(i + 16*r.IntN(2))
			if op != 3 {
				l = uint32(i)
			}
			from[i] = [4]uint32{l ^ by, l + by, l - by, r.Uint32()}[op] & 31
		}
		return step{text(a64.Z) + fmt.Sprint(from), func(a *a64.Asm) {
			if a.Lowers() {
				a.Permute(x, y, w, &from)
				return
			}
			for i := range int32(16) {
				a.StI32(a64.At(a64.R15, offMachineIndex+4*i), from[i])
			}
			t := uint8(31)
			for t == x || t == y || t == w {
				t--
			}
			a.VM(a64.MovU32St, a64.Z, t, 0, a64.At(a64.R15, offMachineIndex+64))
			a.VM(a64.MovU32, a64.Z, t, 0, a64.At(a64.R15, offMachineIndex))
			a.V(a64.PermI2D, a64.Z, t, y, w)
			a.V(a64.MovA32, a64.Z, x, 0, t)
			a.VM(a64.MovU32, a64.Z, t, 0, a64.At(a64.R15, offMachineIndex+64))
		}}
	case "gather":
		if x == y {
			y = (x + 1) % 32
		}
		if k == 0 {
			k = 7
		}
		wide := strings.Contains(v.name, "Q") && v.name[len(v.name)-2] == 'Q'
		absolute := wide && r.IntN(2) == 0
		return step{text(a64.Z.Mask(k)), func(a *a64.Asm) {
			// indices below 256, multiples of 4
			a.MovI32(a64.RAX, 0xfc)
			and, put := a64.AndD, a64.BroadcastDR
			if wide {
				and, put = a64.AndQ, a64.BroadcastQR
			}
			t := uint8(30)
			if x == t || y == t {
				t = 29
			}
			if x == t || y == t {
				t = 28
			}
			a.V(put, a64.Z, t, 0, a64.RAX)
			a.V(and, a64.Z, y, y, t)
			if absolute {
				a.V(a64.BroadcastQR, a64.Z, t, 0, a64.RSI)
				a.V(a64.AddQ, a64.Z, y, y, t)
				a.VX(v.op, a64.Z.Mask(k), x, a64.None, y, 1, 8)
				a.V(a64.XorD, a64.Z, y, y, y) // addresses differ from run to run
				a.V(a64.XorD, a64.Z, t, t, t)
				return
			}
			a.VX(v.op, a64.Z.Mask(k), x, a64.RSI, y, 1, 8)
		}}
	}
	panic(v.kind)
}

// maskSteps are the instructions of mask registers.
func randomMaskStep(r *rand.Rand) step {
	k := func() uint8 { return uint8(r.IntN(8)) }
	d, x, y, n := k(), k(), k(), uint8(r.IntN(32))
	g := testRegs[r.IntN(len(testRegs))]
	all := []step{
		{"KMovDR", func(a *a64.Asm) { a.KMovDR(d, g) }}, {"KMovRD", func(a *a64.Asm) { a.KMovRD(g, x) }}, {"KMovRW", func(a *a64.Asm) { a.KMovRW(g, x) }}, {"KMovRB", func(a *a64.Asm) { a.KMovRB(g, x) }},
		{"KMovQ", func(a *a64.Asm) { a.KMovQ(d, x) }}, {"KMovDM", func(a *a64.Asm) { a.KMovDM(d, a64.At(a64.RSI, 4*int32(n))) }}, {"KAndD", func(a *a64.Asm) { a.KAndD(d, x, y) }}, {"KAndW", func(a *a64.Asm) { a.KAndW(d, x, y) }},
		{"KAndNW", func(a *a64.Asm) { a.KAndNW(d, x, y) }}, {"KOrD", func(a *a64.Asm) { a.KOrD(d, x, y) }}, {"KOrW", func(a *a64.Asm) { a.KOrW(d, x, y) }}, {"KOrB", func(a *a64.Asm) { a.KOrB(d, x, y) }},
		{"KXnorW", func(a *a64.Asm) { a.KXnorW(d, x, y) }}, {"KXnorW same", func(a *a64.Asm) { a.KXnorW(d, d, d) }}, {"KXorW", func(a *a64.Asm) { a.KXorW(d, x, y) }}, {"KNotW", func(a *a64.Asm) { a.KNotW(d, x) }},
		{"KUnpackBW", func(a *a64.Asm) { a.KUnpackBW(d, x, y) }}, {"KUnpackWD", func(a *a64.Asm) { a.KUnpackWD(d, x, y) }}, {"KShiftRD", func(a *a64.Asm) { a.KShiftRD(d, x, n) }},
		{"KMovPair", func(a *a64.Asm) { a.KMovPair(a64.RAX, a64.RDX, x, y); a.MovI32(a64.RDX, 0) }},
		{"KOrTestW", func(a *a64.Asm) { a.MovI32(a64.RCX, 0); a.KOrTestW(x, y); a.Setcc(a64.E, a64.RCX) }}, {"KOrTestB", func(a *a64.Asm) { a.MovI32(a64.RCX, 0); a.KOrTestB(x, y); a.Setcc(a64.E, a64.RCX) }},
	}
	s := all[r.IntN(len(all))]
	s.name = fmt.Sprintf("%s %d %d %d", s.name, d, x, y)
	return s
}

func needAVX512(t *testing.T) {
	t.Helper()
	if !hasAVX512() {
		t.Skip("the processor has no AVX-512 to compare with")
	}
}

func compareMachines(t *testing.T, steps []step, r *rand.Rand, rounds int) bool {
	t.Helper()
	wide, narrow := assemble(t, steps, false), assemble(t, steps, true)
	for range rounds {
		a, b := new(machine), new(machine)
		a.fill(r)
		*b = *a
		start := *a
		runMachine(t, wide, a)
		runMachine(t, narrow, b)
		if d := a.differ(b); d != "" {
			msg := ""
			if len(steps) < 4 {
				for z := range 4 {
					msg += fmt.Sprintf("\nzmm%d % x", z, start.file[64*z:64*z+64])
				}
			}
			t.Errorf("%s\n%s%s", d, names(steps), msg)
			return false
		}
	}
	return true
}

// TestAVX2Instructions compares every instruction by itself.
func TestAVX2Instructions(t *testing.T) {
	needAVX512(t)
	r := rand.New(rand.NewPCG(1, 2))
	n := 60
	if testing.Short() {
		n = 15
	}
	for i := range vectorOps {
		v := &vectorOps[i]
		t.Run(v.name, func(t *testing.T) {
			for range n {
				if !compareMachines(t, []step{v.random(r)}, r, 8) {
					return
				}
			}
		})
	}
	for range 40 * n / 15 {
		if !compareMachines(t, []step{randomMaskStep(r)}, r, 4) {
			return
		}
	}
	for f0 := range 256 { // every function of three bits
		s := step{fmt.Sprintf("TernD %d", f0), func(a *a64.Asm) { a.VI(a64.TernD, a64.Z, 1, 2, 3, uint8(f0)) }}
		if !compareMachines(t, []step{s}, r, 1) {
			return
		}
	}
}

// TestAVX2Sequences compares random programs, with branches in them.
func TestAVX2Sequences(t *testing.T) {
	needAVX512(t)
	n := 1500
	if testing.Short() {
		n = 200
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 3))
		var steps []step
		for range 2 + r.IntN(40) {
			switch p := r.IntN(20); {
			case p < 4:
				steps = append(steps, randomMaskStep(r))
			case p < 6:
				// skip some instructions if a general register is odd
				inner := []step{vectorOps[r.IntN(len(vectorOps))].random(r), randomMaskStep(r)}
				g := testRegs[r.IntN(len(testRegs))]
				how := r.IntN(5)
				steps = append(steps, step{fmt.Sprintf("if odd (%d) {%s}", how, names(inner)), func(a *a64.Asm) {
					l, other := a.NewLabel(), a.NewLabel()
					bind := func(l a64.Label) {
						if how%2 == 0 {
							a.Bind(l)
						} else {
							a.Join(l, 0xffffffff, 0xff)
						}
					}
					if how >= 3 { // a loop that is run again while a bit is set
						bind(other)
						inner[0].f(a)
						a.MI(a64.ArithXor, false, a64.At(a64.R15, offMachineAgain), 1)
						a.MI(a64.ArithCmp, false, a64.At(a64.R15, offMachineAgain), 0)
						a.J(a64.NE, other)
						return
					}
					a.TestI32(g, 1)
					a.J(a64.E, l)
					inner[0].f(a)
					if how == 2 { // the other way comes from elsewhere
						a.Jmp(other)
						a.Join(l, 0xffffffff, 0xff)
						inner[1].f(a)
						a.Join(other, 0xffffffff, 0xff)
						return
					}
					bind(l)
				}})
			default:
				steps = append(steps, vectorOps[r.IntN(len(vectorOps))].random(r))
			}
		}
		if !compareMachines(t, steps, r, 2) {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestAVX2FaultSuppression puts memory operands at the end of a page behind which there is nothing: lanes that are masked off must not touch it.
func TestAVX2FaultSuppression(t *testing.T) {
	page := syscall.Getpagesize()
	two, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(two) }()
	if err := syscall.Mprotect(two[page:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	for i := range two[:page] {
		two[i] = byte(i * 7)
	}
	for _, c := range []struct {
		name  string
		op    a64.Op
		bytes int // of an element in memory
		lanes int
		store bool
	}{
		{"MovU32", a64.MovU32, 4, 16, false}, {"MovU64", a64.MovU64, 8, 8, false}, {"MovZXBD", a64.MovZXBD, 1, 16, false}, {"MovSXWD", a64.MovSXWD, 2, 16, false}, {"MovZXDQ", a64.MovZXDQ, 4, 8, false},
		{"AddD", a64.AddD, 4, 16, false}, {"MulLQ", a64.MulLQ, 8, 8, false}, {"MovU32St", a64.MovU32St, 4, 16, true}, {"MovU64St", a64.MovU64St, 8, 8, true}, {"MovDB", a64.MovDB, 1, 16, true}, {"MovDW", a64.MovDW, 2, 16, true}, {"MovQD", a64.MovQD, 4, 8, true},
	} {
		for n := range c.lanes { // the first n lanes fit
			for _, zero := range []bool{false, true} {
				if zero && c.store {
					continue
				}
				o := a64.Z.Mask(3)
				if zero {
					o = o.Zeroing()
				}
				s := step{c.name, func(a *a64.Asm) {
					a.MovI(a64.RAX, uint64(uintptr(unsafe.Pointer(&two[0])))+uint64(page-n*c.bytes))
					vvvv := uint8(0)
					if c.name == "AddD" || c.name == "MulLQ" {
						vvvv = 5
					}
					a.VM(c.op, o, 4, vvvv, a64.At(a64.RAX, 0))
					if n == 0 && c.name == "MovU32" { // one element for no lane
						a.VM(a64.BroadcastD, o, 6, 0, a64.At(a64.RAX, 0))
						a.VM(a64.AddQ, o.Broadcast(), 7, 8, a64.At(a64.RAX, 0))
					}
					a.MovI32(a64.RAX, 0)
				}}
				var results [2]machine
				var kept [2][]byte
				r := rand.New(rand.NewPCG(uint64(n), 4))
				var start machine
				start.fill(r)
				binary.LittleEndian.PutUint32(start.file[fileMasks+8*3:], 1<<n-1)
				for i, avx2 := range []bool{false, true} {
					if !avx2 && !hasAVX512() {
						t.Skip("the processor has no AVX-512 to compare with")
					}
					results[i] = start
					for j := range two[page-64 : page] {
						two[page-64+j] = byte(j * 7)
					}
					runMachine(t, assemble(t, []step{s}, avx2), &results[i])
					kept[i] = append([]byte(nil), two[page-64:page]...)
				}
				if d := results[0].differ(&results[1]); d != "" {
					t.Errorf("%s, %d lanes, zeroing %t: %s", c.name, n, zero, d)
				}
				if string(kept[0]) != string(kept[1]) {
					t.Errorf("%s, %d lanes: memory differs", c.name, n)
				}
			}
		}
	}
}

// TestChooseISA says which instruction set a name means.
func TestChooseISA(t *testing.T) {
	best, err := chooseISA("")
	if err != nil {
		t.Skip(err)
	}
	if want := map[bool]isa{true: avx512, false: avx2}[hasAVX512()]; best != want {
		t.Errorf("by default %v, want %v", best, want)
	}
	for _, name := range []string{"sse2", "AVX2", "avx512 "} {
		var none *UnavailableError
		if _, err := chooseISA(name); !errors.As(err, &none) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if hasAVX2() {
		e, err := New("avx2")
		if err != nil {
			t.Fatal(err)
		}
		if s := e.(*engine).InstructionSet(); s != "AVX2" {
			t.Errorf("avx2 gives %s", s)
		}
	}
}
