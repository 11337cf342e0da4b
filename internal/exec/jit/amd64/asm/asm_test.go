package asm

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew from what objdump says of the code")

// cases are one instruction each.
func cases() []func(a *Asm) {
	var out []func(a *Asm)
	add := func(fs ...func(a *Asm)) { out = append(out, fs...) }
	add(
		func(a *Asm) { a.Mov(RAX, R15) }, func(a *Asm) {
			a.Mov32(R9, RCX)
		}, func(a *Asm) { a.Ld(RBX, At(R15, 0)) }, func(a *Asm) { a.Ld32(R8, Indexed(R15, RCX, 4, 1000)) },
		func(a *Asm) { a.Ld8(RAX, At(RSI, 5)) }, func(a *Asm) {
			a.Ld16(RAX, At(RSI, -5))
		}, func(a *Asm) { a.LdS8(RAX, At(R12, 0)) }, func(a *Asm) { a.LdS16(RAX, At(R13, 0)) },
		func(a *Asm) { a.LdS32(RDX, At(RSP, 8)) }, func(a *Asm) {
			a.St(At(RBP, 0), R14)
		}, func(a *Asm) {
			a.St32(At(RBX, 300), R11)
		}, func(a *Asm) { a.St16(At(RAX, 2), R8) }, func(a *Asm) { a.St8(At(RAX, 2), R8) },
		func(a *Asm) { a.StI32(At(R15, 40), 0x12345678) }, func(a *Asm) {
			a.Lea(RDX, At(RAX, 100))
		}, func(a *Asm) { a.Add(RAX, RSI) }, func(a *Asm) { a.AddI(RCX, -8) }, func(a *Asm) { a.AddI32(RCX, 1000) },
		func(a *Asm) { a.AddMI(At(R15, 48), 17) }, func(a *Asm) {
			a.AddM32(At(RAX, 4), R8)
		}, func(a *Asm) {
			a.AddM(At(RAX, 4), R8)
		}, func(a *Asm) { a.SubLd(RCX, At(R15, 72)) }, func(a *Asm) { a.SubMI32(At(R15, 24), 1) },
		func(a *Asm) { a.AndLd32(RAX, At(R15, 16)) }, func(a *Asm) {
			a.AndI32(RDI, 0xffff)
		}, func(a *Asm) {
			a.Xor32(RAX, R9)
		}, func(a *Asm) { a.Not32(RAX) }, func(a *Asm) { a.Neg32(RDX) }, func(a *Asm) { a.CmpI32(RAX, -1) },
		func(a *Asm) { a.CmpLd(RCX, At(R15, 80)) }, func(a *Asm) {
			a.CmpMI32(At(R15, 20), 300)
		}, func(a *Asm) { a.TestI32(RAX, 7) }, func(a *Asm) { a.Test32(RAX, RAX) }, func(a *Asm) { a.Bsf32(RCX, RDI) },
		func(a *Asm) { a.MovI32(R10, 7) }, func(a *Asm) {
			a.MovI(RAX, 0xfff8000000000000)
		}, func(a *Asm) { a.ShlI32(RDX, 16) }, func(a *Asm) { a.ShrI32(RDI, 16) }, func(a *Asm) { a.Blsr32(RDI, RDI) },
		func(a *Asm) { a.XaddM32(At(RAX, 0), R8) }, func(a *Asm) {
			a.XaddM(At(RAX, 8), RDX)
		}, func(a *Asm) {
			a.LockAddM32(At(RAX, 0), RDX)
		}, func(a *Asm) { a.LockAddM(At(RAX, 0), R8) }, func(a *Asm) { a.CmpxchgM32(At(RDX, 0), RCX) },
		func(a *Asm) { a.Setcc(E, RDX) }, func(a *Asm) { a.Cmov32(NE, RAX, R9) }, func(a *Asm) { a.Ret() },
		func(a *Asm) { l := a.NewLabel(); a.Bind(l); a.Jmp(l) }, func(a *Asm) {
			l := a.NewLabel()
			a.Bind(l)
			a.J(LE, l)
		}, func(a *Asm) { l := a.NewLabel(); a.Bind(l); a.LeaLabel(R9, l) },
		func(a *Asm) { a.VZeroUpper() }, func(a *Asm) {
			a.KMovDR(5, RAX)
		}, func(a *Asm) {
			a.KMovDR(7, R9)
		}, func(a *Asm) {
			a.KMovRD(RCX, 5)
		}, func(a *Asm) { a.KMovRD(R9, 5) }, func(a *Asm) { a.KMovRW(RAX, 1) }, func(a *Asm) { a.KMovRB(RAX, 1) },
		func(a *Asm) { a.KMovQ(7, 3) }, func(a *Asm) {
			a.KMovDM(1, At(R15, 16))
		}, func(a *Asm) {
			a.KAndD(1, 2, 3)
		}, func(a *Asm) { a.KAndW(1, 2, 3) }, func(a *Asm) { a.KAndNW(1, 2, 3) }, func(a *Asm) { a.KOrD(1, 2, 3) },
		func(a *Asm) { a.KOrW(0, 0, 7) }, func(a *Asm) {
			a.KOrB(1, 2, 3)
		}, func(a *Asm) {
			a.KXnorW(7, 7, 7)
		}, func(a *Asm) {
			a.KXorW(1, 2, 3)
		}, func(a *Asm) { a.KNotW(1, 2) }, func(a *Asm) { a.KUnpackBW(1, 2, 3) }, func(a *Asm) { a.KUnpackWD(1, 2, 3) },
		func(a *Asm) { a.KShiftRD(6, 5, 24) }, func(a *Asm) { a.KOrTestW(0, 7) }, func(a *Asm) { a.KOrTestB(0, 7) },
	)
	for _, k := range []Arith{ArithAdd, ArithOr, ArithAnd, ArithSub, ArithXor, ArithCmp} {
		add(func(a *Asm) {
			a.RR(k, true, RCX, R13)
		}, func(a *Asm) {
			a.RM(k, false, R11, At(RBX, 300))
		}, func(a *Asm) {
			a.RI(k, true, R14, -5000)
		}, func(a *Asm) { a.MI(k, false, At(R15, 8), 3) }, func(a *Asm) { a.MR(k, true, At(R12, 8), RDX) })
	}
	add(
		func(a *Asm) { a.MovR(true, R11, RAX) }, func(a *Asm) {
			a.MovR(false, RAX, R13)
		}, func(a *Asm) {
			a.LdR(false, R14, At(RBX, 8))
		}, func(a *Asm) { a.StR(true, At(RBX, 8), R13) }, func(a *Asm) { a.MovSXD(RAX, R11) },
		func(a *Asm) { a.ImulR(false, RAX, R13) }, func(a *Asm) {
			a.ImulM(true, RAX, At(R15, 64))
		}, func(a *Asm) {
			a.ImulI(true, RAX, R14, 1000)
		}, func(a *Asm) { a.NotR(true, RAX) }, func(a *Asm) { a.NegR(true, R11) },
		func(a *Asm) { a.ShiftI(ScalarShl, true, R11, 3) }, func(a *Asm) {
			a.ShiftI(ScalarSar, false, RAX, 31)
		}, func(a *Asm) {
			a.ShiftCL(ScalarShr, true, RAX)
		}, func(a *Asm) {
			a.CmovR(AE, true, RAX, RDX)
		}, func(a *Asm) {
			a.Bsr32(RCX, RAX)
		}, func(a *Asm) { a.MovZX8(RAX, RDX) }, func(a *Asm) { a.Popcnt32(RCX, RAX) },
		func(a *Asm) { a.JmpM(At(RBX, 1024)) }, func(a *Asm) {
			a.JmpR(RAX)
		}, func(a *Asm) {
			l := a.NewLabel()
			a.Bind(l)
			a.VL(AddD, Z, 20, 9, l)
		}, func(a *Asm) { l := a.NewLabel(); a.Bind(l); a.VL(MovU32, Z.Mask(3), 3, 0, l) },
	)
	// Registers in both halves of the file, memory with and without compressed displacement, masks.
	three := []Op{AddD, AddQ, SubD, SubQ, MulLD, MulLQ, MulUDQ, MulDQ, AndD, AndQ, AndND, OrD, OrQ, XorD, XorQ, SllVD,
		SllVQ, SrlVD, SrlVQ, SraVD, SraVQ, RolVD, RorVD, MinSD, MinSQ, MinUD, MinUQ, MaxSD, MaxSQ, MaxUD, MaxUQ,
		BlendMD, BlendMQ, AddPS, AddPD, MulPS, MulPD, SubPS, SubPD, DivPS, DivPD, FMA231PS, FMA231PD, FMA213PS,
		FMA213PD, FMS231PS, FNMA231PS, PermD, PermI2D, PermT2D, PermI2Q, PermT2Q, UnpackLD, UnpackHD, UnpackLQ,
		UnpackHQ}
	for _, op := range three {
		add(func(a *Asm) {
			a.V(op, Z, 20, 9, 31)
		}, func(a *Asm) {
			a.V(op, Z.Mask(3), 9, 31, 20)
		}, func(a *Asm) {
			a.VM(op, Z, 30, 17, At(R12, 128))
		}, func(a *Asm) { a.VM(op, Z.Broadcast(), 3, 4, At(RBX, 68)) })
	}
	for _, kind := range []Shift{ShiftSrl, ShiftSra, ShiftSll} {
		add(func(a *Asm) {
			a.VShift(ShiftW, Z, kind, 20, 9, 8)
		}, func(a *Asm) { a.Plain(func() { a.VShift(ShiftW, Y, kind, 4, 11, 8) }) })
	}
	for _, op := range []Op{UnpackLW, UnpackHW} {
		add(func(a *Asm) {
			a.V(op, X, 4, 3, 7)
		}, func(a *Asm) { a.VM(op, X, 2, 2, At(R15, 1040)) }, func(a *Asm) { a.V(op, Z, 20, 9, 31) })
	}
	add(
		func(a *Asm) { a.V(MAddWD, Z, 20, 9, 31) }, func(a *Asm) {
			a.V(AddW, Z, 20, 9, 31)
		}, func(a *Asm) {
			a.V(MinUW, Z, 20, 9, 31)
		}, func(a *Asm) {
			a.V(MaxUW, Z, 20, 9, 31)
		}, func(a *Asm) {
			a.VM(MulHUW, Z, 30, 17, At(R12, 128))
		}, func(a *Asm) {
			a.VM(MAddWD, Z, 30, 17, At(R12, 128))
		}, func(a *Asm) { a.VI(ShufD, Z, 20, 0, 31, 0x55) }, func(a *Asm) { l := a.NewLabel(); a.Bind(l); a.Call(l) },
		func(a *Asm) { a.LdMXCSR(At(RSI, 300)) }, func(a *Asm) {
			a.StMXCSR(At(R15, 4))
		}, func(a *Asm) { a.MovMskPS(RAX, 4) }, func(a *Asm) { a.MovMskPS(R9, 12) },
	)
	for _, op := range []Op{AddD, SubD, AndD, AndND, OrD, XorD, MaxSD, MinSD, SrlVD, MAddWD, AddW, MulHUW, UnpackLD,
		UnpackHD, UnpackLQ, UnpackHQ, ShufB, MulPS, AddPS, FMA231PS, FMS231PS} {
		add(func(a *Asm) {
			a.Plain(func() { a.V(op, Y, 12, 3, 9) })
		}, func(a *Asm) { a.Plain(func() { a.VM(op, Y, 3, 13, At(RSI, 300)) }) })
	}
	for _, op := range []Op{MovU32, MovU32St, BroadcastD} {
		add(func(a *Asm) {
			a.Plain(func() { a.VM(op, Y, 11, 0, At(RSI, 300)) })
		}, func(a *Asm) { a.Plain(func() { a.VM(op, Y, 1, 0, At(R15, 8)) }) })
	}
	for _, op := range []Op{CvtDQ2PS, MovZXWD} {
		add(func(a *Asm) { a.Plain(func() { a.V(op, Y, 11, 0, 2) }) })
	}
	add(func(a *Asm) {
		a.Plain(func() { a.VI(ShufD, Y, 4, 0, 11, 0xaa) })
	}, func(a *Asm) {
		a.Plain(func() { a.VShift(ShiftD, Y, ShiftSra, 9, 2, 31) })
	}, func(a *Asm) { a.Plain(func() { a.VI(CvtPS2PH, Y, 9, 0, 2, 0) }) })
	for _, op := range []Op{AddB, SubW, MaxSB, MaxSW, MaxUW, MinUW} {
		add(func(a *Asm) { a.V(op, Z, 20, 9, 31) }, func(a *Asm) { a.VM(op, Z, 30, 17, At(R12, 128)) },
			func(a *Asm) {
				a.Plain(func() {
					a.V(op, Y, 12, 3, 9)
				})
			}, func(a *Asm) { a.Plain(func() { a.VM(op, Y, 3, 13, At(RSI, 300)) }) })
	}
	add(func(a *Asm) {
		a.VM(BroadcastX, Z, 20, 0, At(RCX, 48))
	}, func(a *Asm) { a.VM(BroadcastX, Z, 3, 0, At(RSI, 20)) },
		func(a *Asm) {
			a.Plain(func() {
				a.VM(BroadcastX, Y, 9, 0, At(RCX, 48))
			})
		}, func(a *Asm) { a.Plain(func() { a.TestAll(9, 3) }) },
		func(a *Asm) { a.V(CvtDQ2PS, Rounded(RoundZero), 20, 0, 9) }, func(a *Asm) {
			a.Plain(func() { a.V(CvtTPS2DQ, Y, 9, 0, 2) })
		},
		func(a *Asm) { a.Plain(func() { a.V(AbsD, Y, 9, 0, 2) }) })
	add(func(a *Asm) { a.V(ShufB, Z, 20, 9, 31) }, func(a *Asm) { a.VM(ShufB, Z, 0, 9, At(RAX, 0)) })
	two := []Op{MovU32, MovU64, MovA32, MovA64, AbsD, AbsQ, LzcntD, LzcntQ, SqrtPS, SqrtPD, CvtDQ2PS, CvtUDQ2PS,
		CvtTPS2DQ, CvtTPS2UDQ, CvtPS2DQ, CvtPS2PD, CvtPD2PS, CvtDQ2PD, CvtUDQ2PD, CvtTPD2DQ, CvtTPD2UDQ, CvtPH2PS,
		CvtQQ2PD, CvtUQQ2PD,
		CvtTPD2QQ, MovZXDQ, MovSXDQ, MovZXBD, MovSXBD, MovZXWD, MovSXWD, BroadcastD, BroadcastQ}
	for _, op := range two {
		add(func(a *Asm) {
			a.V(op, Z, 20, 0, 31)
		}, func(a *Asm) {
			a.VM(op, Z.Mask(2).Zeroing(), 9, 0, At(R15, 64))
		}, func(a *Asm) { a.VM(op, Z, 9, 0, At(RSI, 100)) })
	}
	for _, op := range []Op{MovU32St, MovU64St, MovQD, MovDB, MovDW} {
		add(func(a *Asm) {
			a.VM(op, Z.Mask(1), 25, 0, At(RSI, 128))
		}, func(a *Asm) { a.VM(op, Z, 9, 0, At(RBX, 4100)) })
	}
	add(func(a *Asm) { a.VM(MovU8St, Z, 9, 0, At(RBX, 64)) })
	for _, op := range []Op{MovQD, MovDB, MovDW} {
		add(func(a *Asm) { a.V(op, Z, 25, 0, 4) })
	}
	for _, op := range []CompareOp{CmpD, CmpUD, CmpQ, CmpUQ, CmpPS, CmpPD} {
		add(func(a *Asm) {
			a.VCmp(op, Z.Mask(K3), K0, 20, 31, CmpLT)
		}, func(a *Asm) { a.VCmpM(op, Z.Broadcast(), K7, 9, At(R15, 8), CmpGE) })
	}
	for _, op := range []TestOp{TestMD, TestMQ, TestNMD, TestNMQ} {
		add(func(a *Asm) {
			a.VTest(op, Z.Mask(K3), K0, 20, 31)
		}, func(a *Asm) { a.VTestM(op, Z.Broadcast(), K7, 1, At(RDX, 300)) })
	}
	for _, op := range []Op{TernD, TernQ, RangePS, RangePD, InsertQ4} {
		add(func(a *Asm) { a.VI(op, Z, 20, 9, 31, 1) })
	}
	for _, op := range []Op{RndScalePS, RndScalePD, ExtractQ4, CvtPS2PH} {
		add(func(a *Asm) { a.VI(op, Z, 20, 0, 31, 1) })
	}
	for _, kind := range []Shift{ShiftRor, ShiftRol, ShiftSrl, ShiftSra, ShiftSll} {
		add(func(a *Asm) { a.VShift(ShiftD, Z.Mask(1), kind, 20, 31, 7) })
	}
	add(func(a *Asm) {
		a.VShift(ShiftQ, Z, ShiftSrl, 20, 31, 29)
	}, func(a *Asm) {
		a.VShift(ShiftQ, Z, ShiftSll, 2, 9, 32)
	}, func(a *Asm) { a.VShift(ShiftAQ, Z, ShiftSra, 20, 31, 63) },
		func(a *Asm) { a.VR(MovD, X, 20, RAX) }, func(a *Asm) {
			a.VR(MovQ, X, 30, R9)
		}, func(a *Asm) { a.VR(BroadcastDR, Z, 31, RCX) }, func(a *Asm) { a.VR(BroadcastQR, Z.Mask(7), 5, R9) },
		func(a *Asm) { a.V(MulPS, Rounded(RoundZero), 20, 9, 31) })
	for _, op := range []Op{GatherDD, GatherQD, GatherDQ, GatherQQ, ScatterDD, ScatterQD, ScatterDQ, ScatterQQ} {
		add(func(a *Asm) {
			a.VX(op, Z.Mask(7), 20, RSI, 9, 1, 64)
		}, func(a *Asm) {
			a.VX(op, Z.Mask(7), 3, None, 30, 1, 8)
		}, func(a *Asm) { a.VX(op, Z.Mask(7), 3, R12, 17, 8, 0) })
	}
	return out
}

// disassemble asks objdump.
func disassemble(t *testing.T, code []byte) []string {
	t.Helper()
	f := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(f, code, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(skip.Command(t, "objdump"), "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "-w",
		"--no-show-raw-insn", f).Output()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range strings.Split(string(out), "\n") {
		if _, text, ok := strings.Cut(l, ":\t"); ok {
			lines = append(lines, strings.Join(strings.Fields(strings.Split(text, "#")[0]), " "))
		}
	}
	return lines
}

// TestGolden compares the code with bytes that GNU objdump reads as the intended instructions; testdata/golden.txt has
// both, and was read line by line.
func TestGolden(t *testing.T) {
	var got []string
	for _, f := range cases() {
		var a Asm
		f(&a)
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, hex.EncodeToString(code))
	}
	if *update {
		var b strings.Builder
		for _, h := range got {
			code, _ := hex.DecodeString(h)
			lines := disassemble(t, code)
			fmt.Fprintf(&b, "%s\t%s\n", h, strings.Join(lines, " ; "))
		}
		if err := os.WriteFile("testdata/golden.txt", []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != len(got) {
		t.Fatalf("%d instructions, %d in the file", len(got), len(lines))
	}
	for i, l := range lines {
		if want, what, _ := strings.Cut(l, "\t"); got[i] != want {
			t.Errorf("%s: %s, want %s", what, got[i], want)
		}
	}
}

// TestUnbound finds labels that were never bound.
func TestUnbound(t *testing.T) {
	var a Asm
	a.Jmp(a.NewLabel())
	if _, err := a.Finish(); err == nil {
		t.Error("no error")
	}
}
