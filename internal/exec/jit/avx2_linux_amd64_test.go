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

	"github.com/gocuda/cuda/internal/exec/jit/amd64"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/skip"
)

// The AVX2 sequences of package asm against the AVX-512 instructions themselves, which this processor must have.

// machine is what the programs of these tests work on; R15 points at it. Its beginning is asm's file of registers.
type machine struct {
	file  [asm.FileSize]byte // zmm0 to zmm31, k0 to k7 of 8 bytes each; the rest belongs to the sequences
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
	f    func(a *asm.Asm)
}

var testRegs = []asm.GPR{asm.RAX, asm.RCX, asm.RDX, asm.RDI, asm.R8, asm.R9}

// assemble makes the code that loads the machine, runs the steps, and stores it.
func assemble(t *testing.T, steps []step, avx2 bool) []byte {
	t.Helper()
	var a asm.Asm
	at := func(off int32) asm.Mem { return asm.At(asm.R15, off) }
	for _, r := range testRegs {
		a.Ld(r, at(offMachineGPR+8*int32(r)))
	}
	a.Lea(asm.RSI, at(offMachineMem))
	a.Lea(asm.RBX, at(offMachineMem))
	if avx2 {
		a.LowerToAVX2(asm.R15, 0)
	} else {
		for z := range int32(32) {
			a.VM(asm.MovU32, asm.Z, asm.Vec(z), 0, at(64*z))
		}
		for k := range int32(8) {
			a.KMovDM(asm.Mask(k), at(fileMasks+8*k))
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
			a.VM(asm.MovU32St, asm.Z, asm.Vec(z), 0, at(64*z))
		}
		for k := range int32(8) {
			a.KMovRD(asm.RAX, asm.Mask(k))
			a.St32(at(fileMasks+8*k), asm.RAX)
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

var specialWords = []uint32{0, 1, 2, 3, 31, 32, 0x80000000, 0x7fffffff, 0xffffffff, 0xfffffffe, 0x7f800000, 0xff800000,
	0x7fc00000, 0x7f800001, 0xffc01234, 0xff812345, 1 << 22, 0x007fffff, 0x00800000,
	0x3f800000, 0xbf800000, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f7fffff, 0x4f800000, 0x3effffff, 0x3f000000,
	0xbf000000, 0x3fc00000, 0xbf7fffff, 0x4b7fffff, 0x4b000001, 0x01000000, 0x00ffffff}

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
			return []uint64{0, 1, 1 << 63, 1<<63 - 1, math.MaxUint64, 0x7ff0000000000000, 0x7ff8000000000000,
				0x7ff0000000000001, 0xfff4000000000000, 0x41f0000000000000, 0x41efffffffffffff, 0xbff0000000000000,
				0xbfefffffffffffff, 0x43e0000000000000, 63, 64, 65}[r.IntN(17)]
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
	op     asm.Op
	kind   string // three, two, imm3, imm2, shift, cmp, move, store, pack, ...
	imms   []uint8
	bcast  bool
	rounds bool
}

var vectorOps = []vectorOp{
	{"MovU32", asm.MovU32, "move", nil, false, false}, {"MovU64", asm.MovU64, "move", nil, false, false},
	{"MovA32", asm.MovA32, "two-reg", nil, false, false}, {"MovA64", asm.MovA64, "two-reg", nil, false, false},
	{"AddD", asm.AddD, "three", nil, true, false}, {"AddQ", asm.AddQ, "three", nil, true, false},
	{"SubD", asm.SubD, "three", nil, true, false}, {"SubQ", asm.SubQ, "three", nil, true, false},
	{"AddB", asm.AddB, "three-nomask", nil, false, false}, {"SubW", asm.SubW, "three-nomask", nil, false, false},
	{"MaxSB", asm.MaxSB, "three-nomask", nil, false, false}, {"MaxSW", asm.MaxSW, "three-nomask", nil, false, false},
	{"AddW", asm.AddW, "three-nomask", nil, false, false}, {"MinUW", asm.MinUW, "three-nomask", nil, false, false},
	{"MaxUW", asm.MaxUW, "three-nomask", nil, false, false}, {"MulHUW", asm.MulHUW, "three-nomask", nil, false, false},
	{"MAddWD", asm.MAddWD, "three", nil, false, false}, {"MulLD", asm.MulLD, "three", nil, true, false},
	{"MulLQ", asm.MulLQ, "three", nil, true, false}, {"MulUDQ", asm.MulUDQ, "three", nil, true, false},
	{"MulDQ", asm.MulDQ, "three", nil, true, false},
	{"AndD", asm.AndD, "three", nil, true, false}, {"AndQ", asm.AndQ, "three", nil, true, false},
	{"AndND", asm.AndND, "three", nil, true, false}, {"OrD", asm.OrD, "three", nil, true, false},
	{"OrQ", asm.OrQ, "three", nil, true, false},
	{"XorD", asm.XorD, "three", nil, true, false}, {"XorQ", asm.XorQ, "three", nil, true, false},
	{"SllVD", asm.SllVD, "three", nil, true, false}, {"SllVQ", asm.SllVQ, "three", nil, true, false},
	{"SrlVD", asm.SrlVD, "three", nil, true, false}, {"SrlVQ", asm.SrlVQ, "three", nil, true, false},
	{"SraVD", asm.SraVD, "three", nil, true, false}, {"SraVQ", asm.SraVQ, "three", nil, true, false},
	{"RolVD", asm.RolVD, "three", nil, true, false}, {"RorVD", asm.RorVD, "three", nil, true, false},
	{"MinSD", asm.MinSD, "three", nil, true, false}, {"MinSQ", asm.MinSQ, "three", nil, true, false},
	{"MinUD", asm.MinUD, "three", nil, true, false}, {"MinUQ", asm.MinUQ, "three", nil, true, false},
	{"MaxSD", asm.MaxSD, "three", nil, true, false}, {"MaxSQ", asm.MaxSQ, "three", nil, true, false},
	{"MaxUD", asm.MaxUD, "three", nil, true, false}, {"MaxUQ", asm.MaxUQ, "three", nil, true, false},
	{"AbsD", asm.AbsD, "two", nil, true, false}, {"AbsQ", asm.AbsQ, "two", nil, true, false},
	{"LzcntD", asm.LzcntD, "two", nil, true, false}, {"LzcntQ", asm.LzcntQ, "two", nil, true, false},
	{"ShufB", asm.ShufB, "three-nomask", nil, false, false},
	{"BlendMD", asm.BlendMD, "three", nil, true, false}, {"BlendMQ", asm.BlendMQ, "three", nil, true, false},
	{"AddPS", asm.AddPS, "three", nil, true, true}, {"AddPD", asm.AddPD, "three", nil, true, true},
	{"MulPS", asm.MulPS, "three", nil, true, true}, {"MulPD", asm.MulPD, "three", nil, true, true},
	{"SubPS", asm.SubPS, "three", nil, true, true}, {"SubPD", asm.SubPD, "three", nil, true, true},
	{"DivPS", asm.DivPS, "three", nil, true, true}, {"DivPD", asm.DivPD, "three", nil, true, true},
	{"SqrtPS", asm.SqrtPS, "two", nil, true, true}, {"SqrtPD", asm.SqrtPD, "two", nil, true, true},
	{"FMA231PS", asm.FMA231PS, "three", nil, true, true}, {"FMA231PD", asm.FMA231PD, "three", nil, true, true},
	{"FMA213PS", asm.FMA213PS, "three", nil, true, true}, {"FMA213PD", asm.FMA213PD, "three", nil, true, true},
	{"FMS231PS", asm.FMS231PS, "three", nil, true, true}, {"FNMA231PS", asm.FNMA231PS, "three", nil, true, true},
	{"CvtDQ2PS", asm.CvtDQ2PS, "two", nil, true, true}, {"CvtUDQ2PS", asm.CvtUDQ2PS, "two", nil, true, true},
	{"CvtTPS2DQ", asm.CvtTPS2DQ, "two", nil, true, false}, {"CvtTPS2UDQ", asm.CvtTPS2UDQ, "two", nil, true, false},
	{"CvtPS2DQ", asm.CvtPS2DQ, "two", nil, true, true},
	{"CvtPS2PD", asm.CvtPS2PD, "two", nil, true, false}, {"CvtPD2PS", asm.CvtPD2PS, "two", nil, true, true},
	{"CvtDQ2PD", asm.CvtDQ2PD, "two", nil, true, false}, {"CvtUDQ2PD", asm.CvtUDQ2PD, "two", nil, true, false},
	{"CvtTPD2DQ", asm.CvtTPD2DQ, "two", nil, true, false}, {"CvtTPD2UDQ", asm.CvtTPD2UDQ, "two", nil, true, false},
	{"CvtPH2PS", asm.CvtPH2PS, "two-nomem", nil, false, false},
	{"CvtQQ2PD", asm.CvtQQ2PD, "two", nil, true, true}, {"CvtUQQ2PD", asm.CvtUQQ2PD, "two", nil, true, true},
	{"CvtPD2UQQ", asm.CvtPD2UQQ, "two", nil, true, true}, {"CvtQQ2PS", asm.CvtQQ2PS, "two-z", nil, true, true},
	{"CvtUQQ2PS", asm.CvtUQQ2PS, "two-z", nil, true, true}, {"CvtTPD2QQ", asm.CvtTPD2QQ, "two-reg", nil, false, false},
	{"PermD", asm.PermD, "three-z", nil, true, false}, {"PermI2D", asm.PermI2D, "three-z", nil, true, false},
	{"PermT2D", asm.PermT2D, "three-z", nil, true, false}, {"PermI2Q", asm.PermI2Q, "three-z", nil, true, false},
	{"PermT2Q", asm.PermT2Q, "three-z", nil, true, false},
	{"Permute", asm.PermI2D, "permute", nil, false, false},
	{"MovZXDQ", asm.MovZXDQ, "two", nil, false, false}, {"MovSXDQ", asm.MovSXDQ, "two", nil, false, false},
	{"MovZXBD", asm.MovZXBD, "two", nil, false, false}, {"MovSXBD", asm.MovSXBD, "two", nil, false, false},
	{"MovZXWD", asm.MovZXWD, "two", nil, false, false}, {"MovSXWD", asm.MovSXWD, "two", nil, false, false},
	{"BroadcastD", asm.BroadcastD, "two", nil, false, false}, {"BroadcastQ", asm.BroadcastQ, "two", nil, false, false},
	{"BroadcastX", asm.BroadcastX, "two-mem", nil, false, false},
	{"BroadcastDR", asm.Op(asm.BroadcastDR), "general", nil, false, false},
	{"BroadcastQR", asm.Op(asm.BroadcastQR), "general", nil, false, false},
	{"TernD", asm.TernD, "imm3", nil, true, false}, {"TernQ", asm.TernQ, "imm3", nil, true, false},
	{"RangePS", asm.RangePS, "imm3", []uint8{4, 5}, true, false},
	{"RangePD", asm.RangePD, "imm3", []uint8{4, 5}, true, false},
	{"RndScalePS", asm.RndScalePS, "imm2", []uint8{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}, true, false},
	{"RndScalePD", asm.RndScalePD, "imm2", []uint8{0, 1, 2, 3, 4, 8, 9, 10, 11, 12}, true, false},
	{"CmpD", asm.Op(asm.CmpD), "cmp", nil, true, false}, {"CmpUD", asm.Op(asm.CmpUD), "cmp", nil, true, false},
	{"CmpQ", asm.Op(asm.CmpQ), "cmp", nil, true, false}, {"CmpUQ", asm.Op(asm.CmpUQ), "cmp", nil, true, false},
	{"CmpPS", asm.Op(asm.CmpPS), "cmp", nil, true, false}, {"CmpPD", asm.Op(asm.CmpPD), "cmp", nil, true, false},
	{"TestMD", asm.Op(asm.TestMD), "test", nil, true, false}, {"TestMQ", asm.Op(asm.TestMQ), "test", nil, true, false},
	{"TestNMD", asm.Op(asm.TestNMD), "test", nil, true, false},
	{"TestNMQ", asm.Op(asm.TestNMQ), "test", nil, true, false},
	{"ShiftD", asm.Op(asm.ShiftD), "shift", []uint8{uint8(asm.ShiftRor), uint8(asm.ShiftRol), uint8(asm.ShiftSrl),
		uint8(asm.ShiftSra), uint8(asm.ShiftSll)}, true, false},
	{"ShiftQ", asm.Op(asm.ShiftQ), "shift", []uint8{uint8(asm.ShiftSrl), uint8(asm.ShiftSll)}, true, false},
	{"ShiftAQ", asm.Op(asm.ShiftAQ), "shift", []uint8{uint8(asm.ShiftSra)}, true, false},
	{"MovU32St", asm.MovU32St, "store", nil, false, false}, {"MovU64St", asm.MovU64St, "store", nil, false, false},
	{"MovU8St", asm.MovU8St, "store-nomask", nil, false, false},
	{"MovQD", asm.MovQD, "pack", nil, false, false}, {"MovDB", asm.MovDB, "pack", nil, false, false},
	{"MovDW", asm.MovDW, "pack", nil, false, false}, {"CvtPS2PH", asm.CvtPS2PH, "half", nil, false, false},
	{"MovD", asm.Op(asm.MovD), "scalar", nil, false, false}, {"MovQ", asm.Op(asm.MovQ), "scalar", nil, false, false},
	{"InsertQ4", asm.InsertQ4, "insert", nil, false, false}, {"ExtractQ4", asm.ExtractQ4, "extract", nil, false, false},
	{"GatherDD", asm.GatherDD, "gather", nil, false, false}, {"GatherQD", asm.GatherQD, "gather", nil, false, false},
	{"GatherDQ", asm.GatherDQ, "gather", nil, false, false}, {"GatherQQ", asm.GatherQQ, "gather", nil, false, false},
	{"ScatterDD", asm.ScatterDD, "gather", nil, false, false},
	{"ScatterQD", asm.ScatterQD, "gather", nil, false, false},
	{"ScatterDQ", asm.ScatterDQ, "gather", nil, false, false},
	{"ScatterQQ", asm.ScatterQQ, "gather", nil, false, false},
}

// random writes the instruction with random operands.
func (v *vectorOp) random(r *rand.Rand) step {
	z := func() asm.Vec { return asm.Vec(r.IntN(32)) }
	if r.IntN(2) == 0 { // a few registers, that instructions depend on each other
		z = func() asm.Vec { return asm.Vec(r.IntN(4)) }
	}
	x, y, w := z(), z(), z()
	o := asm.Z
	if r.IntN(12) == 0 && !strings.Contains("insert extract pack half gather three-z two-z permute two-reg imm3 imm2 two-nomem", v.kind) && !strings.Contains("CvtPD2PS CvtTPD2DQ CvtTPD2UDQ", v.name) {
		o = asm.Y
	}
	k := asm.Mask(0)
	if r.IntN(2) == 0 {
		k = asm.Mask(1 + r.IntN(7))
	}
	zero := k != 0 && r.IntN(2) == 0
	masked := func() asm.Opt {
		o := o.Mask(k)
		if zero {
			o = o.Zeroing()
		}
		return o
	}
	base := asm.RSI
	if r.IntN(2) == 0 {
		base = asm.RBX
	}
	m := asm.At(base, int32(4*r.IntN(32)))
	if r.IntN(6) == 0 {
		m = asm.Indexed(asm.R9, asm.RSI, 1, m.Disp)
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
		return step{fmt.Sprintf("%s %v %d %d %d", v.name, o, x, y, w), func(a *asm.Asm) {
			if strings.HasPrefix(v.kind, "two") {
				y = 0
			}
			a.V(v.op, o, x, y, w)
		}}
	}
	text := func(o asm.Opt) string {
		return fmt.Sprintf("%s %v form %d: %d %d %d imm %d mem %v", v.name, o, form, x, y, w, imm, m)
	}
	clearIndex := func(a *asm.Asm) { // R9 is an index that adds nothing
		if m.Index != asm.None {
			a.MovI32(asm.R9, 0)
		}
	}
	memory := func(o asm.Opt) asm.Opt { // of the form
		if form == 3 {
			return o.Broadcast()
		}
		return o
	}
	three := func(o asm.Opt, vvvv asm.Vec, withImm bool) step {
		return step{text(o), func(a *asm.Asm) {
			clearIndex(a)
			switch {
			case form <= 1 && withImm:
				a.VI(v.op, o, x, vvvv, w, imm)
			case form <= 1:
				a.V(v.op, o, x, vvvv, w)
			case withImm:
				a.VMI(v.op, memory(o), x, vvvv, m, imm)
			default:
				a.VM(v.op, memory(o), x, vvvv, m)
			}
		}}
	}
	switch v.kind {
	case "three":
		return three(masked(), y, false)
	case "three-nomask":
		return three(o, y, false)
	case "three-z":
		if form >= 2 && m.Base != asm.RBX { // lanes of the operand are not those of the mask
			k, zero = 0, false
		}
		return three(masked(), y, false)
	case "two", "two-z":
		return three(masked(), 0, false)
	case "two-reg", "two-nomem":
		form = 0
		return three(masked(), 0, false)
	case "two-mem":
		form = 2
		return three(o, 0, false)
	case "move":
		return three(masked(), 0, false)
	case "imm3":
		return three(masked(), y, true)
	case "imm2":
		return three(masked(), 0, true)
	case "cmp":
		op, d, p := asm.CompareOp(v.op), asm.Mask(r.IntN(8)), asm.Predicate(imm&7)
		if strings.HasPrefix(v.name, "CmpP") {
			p = asm.Predicate(imm & 31)
		}
		return step{fmt.Sprintf("%s to k%d", text(o.Mask(k)), d), func(a *asm.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VCmp(op, o.Mask(k), d, y, w, p)
				return
			}
			a.VCmpM(op, memory(o.Mask(k)), d, y, m, p)
		}}
	case "test":
		op, d := asm.TestOp(v.op), asm.Mask(r.IntN(8))
		return step{fmt.Sprintf("%s to k%d", text(o.Mask(k)), d), func(a *asm.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VTest(op, o.Mask(k), d, y, w)
				return
			}
			a.VTestM(op, memory(o.Mask(k)), d, y, m)
		}}
	case "shift":
		op, kind, n := asm.ShiftOp(v.op), asm.Shift(imm), uint8(r.IntN(70))
		return step{fmt.Sprintf("%s by %d", text(masked()), n), func(a *asm.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VShift(op, masked(), kind, x, w, n)
				return
			}
			a.VShiftM(op, memory(masked()), kind, x, m, n)
		}}
	case "general":
		g := testRegs[r.IntN(len(testRegs))]
		return step{text(masked()), func(a *asm.Asm) { a.VR(asm.GeneralOp(v.op), masked(), x, g) }}
	case "store":
		return step{text(o.Mask(k)), func(a *asm.Asm) { clearIndex(a); a.VM(v.op, o.Mask(k), x, 0, m) }}
	case "store-nomask":
		return step{text(o), func(a *asm.Asm) { clearIndex(a); a.VM(v.op, o, x, 0, m) }}
	case "pack":
		if form <= 1 {
			if v.name == "MovQD" {
				return step{text(masked()), func(a *asm.Asm) { a.V(v.op, masked(), x, 0, w) }}
			}
			return step{text(asm.Z), func(a *asm.Asm) { a.V(v.op, asm.Z, x, 0, w) }}
		}
		return step{text(o.Mask(k)), func(a *asm.Asm) { clearIndex(a); a.VM(v.op, o.Mask(k), x, 0, m) }}
	case "half":
		return step{text(asm.Z), func(a *asm.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VI(v.op, asm.Z, x, 0, w, imm&3)
			} else {
				a.VMI(v.op, asm.Z, x, 0, m, imm&3)
			}
		}}
	case "scalar":
		g := testRegs[r.IntN(len(testRegs))]
		return step{text(asm.X), func(a *asm.Asm) {
			if form <= 1 {
				a.VR(asm.GeneralOp(v.op), asm.X, x, g)
			} else {
				clearIndex(a)
				a.VRM(asm.GeneralOp(v.op), asm.X, x, m)
			}
		}}
	case "insert":
		imm &= 1
		form = min(form, 2)
		return three(asm.Z, y, true)
	case "extract":
		imm &= 1
		return step{text(asm.Z), func(a *asm.Asm) {
			clearIndex(a)
			if form <= 1 {
				a.VI(v.op, asm.Z, x, 0, w, imm)
			} else {
				a.VMI(v.op, asm.Z, x, 0, m, imm)
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
		return step{text(asm.Z) + fmt.Sprint(from), func(a *asm.Asm) {
			if a.Lowers() {
				a.Permute(x, y, w, &from)
				return
			}
			for i := range int32(16) {
				a.StI32(asm.At(asm.R15, offMachineIndex+4*i), from[i])
			}
			t := asm.Vec(31)
			for t == x || t == y || t == w {
				t--
			}
			a.VM(asm.MovU32St, asm.Z, t, 0, asm.At(asm.R15, offMachineIndex+64))
			a.VM(asm.MovU32, asm.Z, t, 0, asm.At(asm.R15, offMachineIndex))
			a.V(asm.PermI2D, asm.Z, t, y, w)
			a.V(asm.MovA32, asm.Z, x, 0, t)
			a.VM(asm.MovU32, asm.Z, t, 0, asm.At(asm.R15, offMachineIndex+64))
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
		return step{text(asm.Z.Mask(k)), func(a *asm.Asm) {
			// indices below 256, multiples of 4
			a.MovI32(asm.RAX, 0xfc)
			and, put := asm.AndD, asm.BroadcastDR
			if wide {
				and, put = asm.AndQ, asm.BroadcastQR
			}
			t := asm.Vec(30)
			if x == t || y == t {
				t = 29
			}
			if x == t || y == t {
				t = 28
			}
			a.VR(put, asm.Z, t, asm.RAX)
			a.V(and, asm.Z, y, y, t)
			if absolute {
				a.VR(asm.BroadcastQR, asm.Z, t, asm.RSI)
				a.V(asm.AddQ, asm.Z, y, y, t)
				a.VX(v.op, asm.Z.Mask(k), x, asm.None, y, 1, 8)
				a.V(asm.XorD, asm.Z, y, y, y) // addresses differ from run to run
				a.V(asm.XorD, asm.Z, t, t, t)
				return
			}
			a.VX(v.op, asm.Z.Mask(k), x, asm.RSI, y, 1, 8)
		}}
	}
	panic(v.kind)
}

// maskSteps are the instructions of mask registers.
func randomMaskStep(r *rand.Rand) step {
	k := func() asm.Mask { return asm.Mask(r.IntN(8)) }
	d, x, y, n := k(), k(), k(), uint8(r.IntN(32))
	g := testRegs[r.IntN(len(testRegs))]
	all := []step{
		{"KMovDR", func(a *asm.Asm) {
			a.KMovDR(d, g)
		}}, {"KMovRD", func(a *asm.Asm) {
			a.KMovRD(g, x)
		}}, {"KMovRW", func(a *asm.Asm) { a.KMovRW(g, x) }}, {"KMovRB", func(a *asm.Asm) { a.KMovRB(g, x) }},
		{"KMovQ", func(a *asm.Asm) {
			a.KMovQ(d, x)
		}}, {"KMovDM", func(a *asm.Asm) {
			a.KMovDM(d, asm.At(asm.RSI, 4*int32(n)))
		}}, {"KAndD", func(a *asm.Asm) { a.KAndD(d, x, y) }}, {"KAndW", func(a *asm.Asm) { a.KAndW(d, x, y) }},
		{"KAndNW", func(a *asm.Asm) {
			a.KAndNW(d, x, y)
		}}, {"KOrD", func(a *asm.Asm) {
			a.KOrD(d, x, y)
		}}, {"KOrW", func(a *asm.Asm) { a.KOrW(d, x, y) }}, {"KOrB", func(a *asm.Asm) { a.KOrB(d, x, y) }},
		{"KXnorW", func(a *asm.Asm) {
			a.KXnorW(d, x, y)
		}}, {"KXnorW same", func(a *asm.Asm) {
			a.KXnorW(d, d, d)
		}}, {"KXorW", func(a *asm.Asm) { a.KXorW(d, x, y) }}, {"KNotW", func(a *asm.Asm) { a.KNotW(d, x) }},
		{"KUnpackBW", func(a *asm.Asm) {
			a.KUnpackBW(d, x, y)
		}}, {"KUnpackWD", func(a *asm.Asm) {
			a.KUnpackWD(d, x, y)
		}}, {"KShiftRD", func(a *asm.Asm) { a.KShiftRD(d, x, n) }},
		{"KMovPair", func(a *asm.Asm) { a.KMovPair(asm.RAX, asm.RDX, x, y); a.MovI32(asm.RDX, 0) }},
		{"KOrTestW", func(a *asm.Asm) {
			a.MovI32(asm.RCX, 0)
			a.KOrTestW(x, y)
			a.Setcc(asm.E, asm.RCX)
		}}, {"KOrTestB", func(a *asm.Asm) { a.MovI32(asm.RCX, 0); a.KOrTestB(x, y); a.Setcc(asm.E, asm.RCX) }},
	}
	s := all[r.IntN(len(all))]
	s.name = fmt.Sprintf("%s %d %d %d", s.name, d, x, y)
	return s
}

func needAVX512(t *testing.T) {
	t.Helper()
	if !hasAVX512() {
		skip.Without(t, skip.AVX512)
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
		s := step{fmt.Sprintf("TernD %d", f0), func(a *asm.Asm) { a.VI(asm.TernD, asm.Z, 1, 2, 3, uint8(f0)) }}
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
				steps = append(steps, step{fmt.Sprintf("if odd (%d) {%s}", how, names(inner)), func(a *asm.Asm) {
					l, other := a.NewLabel(), a.NewLabel()
					bind := func(l asm.Label) {
						if how%2 == 0 {
							a.Bind(l)
						} else {
							a.Join(l, 0xffffffff, 0xff, nil)
						}
					}
					if how >= 3 { // a loop that is run again while a bit is set
						bind(other)
						inner[0].f(a)
						a.MI(asm.ArithXor, false, asm.At(asm.R15, offMachineAgain), 1)
						a.MI(asm.ArithCmp, false, asm.At(asm.R15, offMachineAgain), 0)
						a.J(asm.NE, other)
						return
					}
					a.TestI32(g, 1)
					a.J(asm.E, l)
					inner[0].f(a)
					if how == 2 { // the other way comes from elsewhere
						a.Jmp(other)
						a.Join(l, 0xffffffff, 0xff, nil)
						inner[1].f(a)
						a.Join(other, 0xffffffff, 0xff, nil)
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

// TestAVX2FaultSuppression puts memory operands at the end of a page behind which there is nothing: lanes that are
// masked off must not touch it.
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
		op    asm.Op
		bytes int // of an element in memory
		lanes int
		store bool
	}{
		{"MovU32", asm.MovU32, 4, 16, false}, {"MovU64", asm.MovU64, 8, 8, false},
		{"MovZXBD", asm.MovZXBD, 1, 16, false}, {"MovSXWD", asm.MovSXWD, 2, 16, false},
		{"MovZXDQ", asm.MovZXDQ, 4, 8, false},
		{"AddD", asm.AddD, 4, 16, false}, {"MulLQ", asm.MulLQ, 8, 8, false}, {"MovU32St", asm.MovU32St, 4, 16, true},
		{"MovU64St", asm.MovU64St, 8, 8, true}, {"MovDB", asm.MovDB, 1, 16, true}, {"MovDW", asm.MovDW, 2, 16, true},
		{"MovQD", asm.MovQD, 4, 8, true},
	} {
		for n := range c.lanes { // the first n lanes fit
			for _, zero := range []bool{false, true} {
				if zero && c.store {
					continue
				}
				o := asm.Z.Mask(asm.K3)
				if zero {
					o = o.Zeroing()
				}
				s := step{c.name, func(a *asm.Asm) {
					a.MovI(asm.RAX, uint64(uintptr(unsafe.Pointer(&two[0])))+uint64(page-n*c.bytes))
					vvvv := asm.Vec(0)
					if c.name == "AddD" || c.name == "MulLQ" {
						vvvv = 5
					}
					a.VM(c.op, o, 4, vvvv, asm.At(asm.RAX, 0))
					if n == 0 && c.name == "MovU32" { // one element for no lane
						a.VM(asm.BroadcastD, o, 6, 0, asm.At(asm.RAX, 0))
						a.VM(asm.AddQ, o.Broadcast(), 7, 8, asm.At(asm.RAX, 0))
					}
					a.MovI32(asm.RAX, 0)
				}}
				var results [2]machine
				var kept [2][]byte
				r := rand.New(rand.NewPCG(uint64(n), 4))
				var start machine
				start.fill(r)
				binary.LittleEndian.PutUint32(start.file[fileMasks+8*3:], 1<<n-1)
				for i, avx2 := range []bool{false, true} {
					if !avx2 && !hasAVX512() {
						skip.Without(t, skip.AVX512)
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
		skip.Without(t, skip.MachineCode, err)
	}
	if want := map[bool]amd64.ISA{true: amd64.AVX512, false: amd64.AVX2}[hasAVX512()]; best != want {
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
