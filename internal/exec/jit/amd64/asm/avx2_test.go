package asm

import (
	"regexp"
	"strings"
	"testing"
)

// avx512 is what objdump writes of operands and prefixes that AVX2 does not have.
var avx512 = regexp.MustCompile(`zmm|\{|\bk[0-7]\b|[xy]mm(1[6-9]|[23][0-9])|bad|vp?(and|or|xor|andn)[dq]\b|vmovdq[au](8|32|64)\b`)

// TestAVX2Vocabulary lowers every instruction of the table and lets objdump say that nothing of AVX-512 is left; what
// they compute is tested in package jit.
func TestAVX2Vocabulary(t *testing.T) {
	lowered := 0
	for i, f := range cases() {
		var a Asm
		a.LowerToAVX2(R15, 0x400)
		f(&a)
		if a.Refused() {
			var b Asm
			f(&b)
			code, _ := b.Finish()
			// other imms of it are lowered
			if lines := disassemble(t, code); len(lines) == 0 || !strings.HasPrefix(lines[0], "vrangep") {
				t.Errorf("case %d, %v: no sequence", i, lines)
			}
			continue
		}
		a.Bind(a.NewLabel())
		n := len(a.Code)
		code, err := a.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range disassemble(t, code[:n]) {
			if avx512.MatchString(l) {
				t.Errorf("case %d: %s", i, l)
			}
			lowered++
		}
	}
	if lowered < 1000 {
		t.Errorf("%d instructions", lowered)
	}
}

// TestAVX2Panics says that nothing of AVX-512 can be written by accident.
func TestAVX2Panics(t *testing.T) {
	for name, f := range map[string]func(a *Asm){
		"EVEX": func(a *Asm) { a.evex(AddD, Z, 1, 0, 0, 2) },
		"mask": func(a *Asm) { a.mask(1, 1, 1, 1, 0x41, 1, 2, 3) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			var a Asm
			a.LowerToAVX2(R15, 0)
			f(&a)
		}()
	}
}

// TestAVX2Joins says that values stay in registers where paths join, and that a path on which they lie elsewhere brings
// them.
func TestAVX2Joins(t *testing.T) {
	var a Asm
	a.LowerToAVX2(R15, 0)
	loop := a.NewLabel()
	a.VM(MovU32, Z, 1, 0, At(RBX, 0))
	a.Join(loop, 1<<1, 0, nil)
	at := len(a.Code)
	a.V(AddD, Z, 1, 1, 1)
	a.SubMI32(At(RBX, 64), 1)
	a.J(NE, loop)
	n := len(a.Code)
	if _, err := a.Finish(); err != nil {
		t.Fatal(err)
	}
	got := disassemble(t, a.Code[at:n])
	if len(got) != 4 || !strings.HasPrefix(got[0], "vpaddd ymm") || !strings.HasPrefix(got[1], "vpaddd ymm") {
		t.Errorf("the loop is %v", got)
	}
}
