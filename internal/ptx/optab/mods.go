package optab

import (
	"slices"
	"strconv"
	"strings"
)

//go:generate sh -c "cd ../../.. && go run ./internal/tools/optabgen"

// OpcodeOf returns the operation of that name, NoOp when the table has none.
func OpcodeOf(name string) Opcode {
	i, ok := slices.BinarySearch(opcodeNames[:], name) // it begins with ""
	if !ok {
		return NoOp
	}
	return Opcode(i)
}

// Logic is what and, or and xor do with two operands, NoFunc for other operations.
func (x Opcode) Logic() Func {
	switch x {
	case OpAnd:
		return FuncAnd
	case OpOr:
		return FuncOr
	case OpXor:
		return FuncXor
	}
	return NoFunc
}

// TypeIDOf returns the type of that name, NoTypeID when there is none.
func TypeIDOf(name string) TypeID {
	for i := range types {
		if types[i].Name == name {
			return TypeID(i + 1)
		}
	}
	return NoTypeID
}

// Info is the type's description, [NoType] for NoTypeID. Nobody may write to it.
func (t TypeID) Info() *Type {
	if t == NoTypeID {
		return &noType
	}
	return &types[t-1]
}

// Signed says whether it is a type of signed integers.
func (t TypeID) Signed() bool { return t.Info().Class == Signed }

// Integer says whether it is a type of integers, not bits.
func (t TypeID) Integer() bool { c := t.Info().Class; return c == Signed || c == Unsigned }

// Bytes is the size of the type in memory.
func (t TypeID) Bytes() uint32 { return uint32(t.Info().Bytes()) }

// IntegerBits is the width of integers or bits of 16, 32 or 64 bits, and whether they are signed. The width of other
// types is 0.
func (t TypeID) IntegerBits() (bits int, signed bool) {
	x := t.Info()
	switch {
	case t == NoTypeID || x.Lanes != 1 || x.Class != Bits && x.Class != Unsigned && x.Class != Signed:
		return 0, false
	case x.Bits != 16 && x.Bits != 32 && x.Bits != 64:
		return 0, false
	}
	return x.Bits, x.Class == Signed
}

// Meaning is what a modifier by itself means.
func Meaning(word string) (m Mods) {
	m.set(word)
	return m
}

// SpaceOf is the state space of that name, NoSpace when it is none.
func SpaceOf(name string) Space { return Meaning(name).Space }

// MaxTypes is how many types an instruction has at most.
const MaxTypes = 5

// Shape is that of a matrix instruction: rows and columns of the result, and the length of the sums, 0 where nothing is
// summed.
type Shape struct{ M, N, K uint16 }

// ShapeOf reads a shape as PTX writes it, m16n8k16 or m8n8; it is zero for other words.
func ShapeOf(word string) (s Shape) {
	m, rest, ok := strings.Cut(strings.TrimPrefix(word, "m"), "n")
	n, k, sums := strings.Cut(rest, "k")
	if word == "" || word[0] != 'm' || !ok {
		return Shape{}
	}
	number := func(x string) uint16 {
		v, err := strconv.ParseUint(x, 10, 16)
		ok = ok && err == nil
		return uint16(v)
	}
	s.M, s.N = number(m), number(n)
	if sums {
		s.K = number(k)
	}
	if !ok {
		return Shape{}
	}
	return s
}

// Type is the nth type, NoTypeID where there are fewer.
func (m *Mods) Type(n int) TypeID {
	if n < len(m.Types) {
		return m.Types[n]
	}
	return NoTypeID
}

// LastType is the last type, which is that of the value in instructions that move or combine one.
func (m *Mods) LastType() TypeID {
	if m.NumTypes == 0 {
		return NoTypeID
	}
	return m.Types[m.NumTypes-1]
}

// Strong says whether a memory operation is one of the memory model's strong operations (PTX ISA 8.4): others may see
// it, and when.
func (m *Mods) Strong() bool { return m.Mmio || m.Sem != NoSem && m.Sem != SemWeak }

// Orders says whether other accesses of the thread are ordered by it.
func (m *Mods) Orders() bool {
	return m.Sem == SemAcquire || m.Sem == SemRelease || m.Sem == SemAcqRel || m.Sem == SemSc
}

// Integral says whether a conversion rounds to an integer.
func (m *Mods) Integral() bool {
	return m.Round == RoundRni || m.Round == RoundRzi || m.Round == RoundRmi || m.Round == RoundRpi
}

// InCluster says whether a scope is the cluster or less, whose threads take turns on one worker.
func (m *Mods) InCluster() bool { return m.Scope == ScopeCta || m.Scope == ScopeCluster }

// resolve sets the match's Mods from its words and types.
func (m *Match) resolve() {
	for i, w := range m.Words {
		if w != "" && !m.Form.Slots[i].Type {
			m.Mods.set(w)
		}
	}
	for i, t := range m.Types {
		m.Mods.Types[i] = TypeIDOf(t)
	}
	m.Mods.NumTypes = uint8(len(m.Types))
}
