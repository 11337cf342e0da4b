// Package asm writes x86-64 machine code: general purpose instructions, mask registers and the EVEX (AVX-512) forms
// that package jit uses.
//
// Facts of the encoding are those of the Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2
// (chapters 2.1 to 2.7 and the instruction pages). Operands stand in Intel's order, destination first.
package asm

import (
	"encoding/binary"
	"fmt"
)

// GPR is a general purpose register.
type GPR uint8

// Vec is a vector register, 0 to 31: zmm, or ymm or xmm where Opt says so.
type Vec uint8

// Mask is a mask register, 0 to 7. As a write mask K0 stands for none.
type Mask uint8

// The mask registers.
const (
	K0 Mask = iota
	K1
	K2
	K3
	K4
	K5
	K6
	K7
)

// The general purpose registers.
const (
	RAX GPR = iota
	RCX
	RDX
	RBX
	RSP
	RBP
	RSI
	RDI
	R8
	R9
	R10
	R11
	R12
	R13
	R14
	R15
)

// None stands for no base or index register.
const None GPR = 0xff

// Mem is a memory operand: base + index*scale + disp.
type Mem struct {
	Base, Index GPR   // None: absent; of gathers and scatters Index is a vector register
	Scale       uint8 // 1, 2, 4 or 8
	Disp        int32
}

// At is the operand base + disp.
func At(base GPR, disp int32) Mem { return Mem{base, None, 1, disp} }

// Indexed is the operand base + index*scale + disp.
func Indexed(base, index GPR, scale uint8, disp int32) Mem { return Mem{base, index, scale, disp} }

// Label is a place in the code; it may be used before it is bound.
type Label int32

type fixup struct {
	at    int // of the 32-bit displacement
	label Label
}

// Asm holds code under construction. Branches have 32-bit displacements.
type Asm struct {
	Code   []byte
	labels []int32
	fixups []fixup
	held   uint32    // general registers with what Hold told of
	low    *lowering // nil: instructions stand as they are
	plain  bool      // vector instructions have VEX prefixes, of the registers that they name
}

// NewLabel makes a label.
func (a *Asm) NewLabel() Label {
	a.labels = append(a.labels, -1)
	return Label(len(a.labels) - 1)
}

// Bind puts a label at the current position.
func (a *Asm) Bind(l Label) {
	a.held = 0
	if w := a.low; w != nil {
		w.meet(l)
	}
	a.labels[l] = int32(len(a.Code))
}

// Offset is the position of a bound label, negative when it is not bound.
func (a *Asm) Offset(l Label) int32 { return a.labels[l] }

// noOperations are the no-operations of 1 to 8 bytes that the processors' manuals recommend: each is one instruction.
var noOperations = [...]string{"\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00",
	"\x66\x0f\x1f\x44\x00\x00", "\x0f\x1f\x80\x00\x00\x00\x00", "\x0f\x1f\x84\x00\x00\x00\x00\x00"}

// Align fills up with no-operations, as few as there can be, to a multiple of n.
func (a *Asm) Align(n int) {
	for {
		rest := len(a.Code) % n
		if rest == 0 {
			return
		}
		a.Code = append(a.Code, noOperations[min(n-rest, len(noOperations))-1]...)
	}
}

// Finish resolves branches and returns the code.
func (a *Asm) Finish() ([]byte, error) {
	if a.low != nil {
		a.low.finish()
	}
	for _, f := range a.fixups {
		t := a.labels[f.label]
		if t < 0 {
			return nil, fmt.Errorf("asm: label %d is not bound", f.label)
		}
		d := t - int32(f.at+4) + int32(binary.LittleEndian.Uint32(a.Code[f.at:]))
		binary.LittleEndian.PutUint32(a.Code[f.at:], uint32(d))
	}
	a.fixups = a.fixups[:0]
	return a.Code, nil
}

func (a *Asm) imm32(v uint32) {
	a.Code = append(a.Code, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// memory writes ModRM, SIB and displacement. n is the unit of an 8-bit displacement (1 but for EVEX).
func (a *Asm) memory(reg uint8, m Mem, n int32) {
	r := (reg & 7) << 3
	if m.Base == None {
		if m.Index == None {
			a.Code = append(a.Code, r|4, 0x25)
		} else {
			a.Code = append(a.Code, r|4, scaleBits(m.Scale)|(uint8(m.Index)&7)<<3|5)
		}
		a.imm32(uint32(m.Disp))
		return
	}
	mod := byte(0x80)
	switch {
	case m.Disp == 0 && m.Base&7 != 5:
		mod = 0
	case m.Disp%n == 0 && m.Disp/n >= -128 && m.Disp/n <= 127:
		mod = 0x40
	}
	if m.Index != None || m.Base&7 == 4 {
		index := byte(4)
		if m.Index != None {
			index = uint8(m.Index) & 7
		}
		a.Code = append(a.Code, mod|r|4, scaleBits(m.Scale)|index<<3|uint8(m.Base)&7)
	} else {
		a.Code = append(a.Code, mod|r|uint8(m.Base)&7)
	}
	switch mod {
	case 0x40:
		a.Code = append(a.Code, byte(m.Disp/n))
	case 0x80:
		a.imm32(uint32(m.Disp))
	}
}

func scaleBits(s uint8) byte {
	switch s {
	case 2:
		return 0x40
	case 4:
		return 0x80
	case 8:
		return 0xc0
	}
	return 0
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// ext is bit 3 of a register number.
func ext[R GPR | uint8](r R) byte {
	if byte(r) == byte(None) {
		return 0
	}
	return byte(r) >> 3 & 1
}
