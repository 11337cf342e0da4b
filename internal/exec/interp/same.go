package interp

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// same finds what stores write where that is the same for all threads of a launch, whatever its data: constants,
// parameters, the shape of the grid, and what is computed from these alone.
type same struct {
	f     *ir.Func
	entry bool // f is the kernel itself
	from  [][]int32
}

// What a search may cost: operations that it looks at, and how far values are followed through others.
const (
	sameOps   = 4096
	sameDepth = 8
)

// value identifies what a store writes, 0 when threads may differ or it is not known; fixed says that it is a constant,
// which other kernels may write, too.
func (s *same) value(at int, value *ir.Arg) (id uint64, fixed bool) {
	fixed = true
	h := fnv.New64a()
	elems := value.Elements()
	for i := range elems {
		left := sameOps
		x, constant := s.operand(int32(at), &elems[i], &left, sameDepth)
		if x == 0 {
			return 0, false
		}
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, x))
		fixed = fixed && constant
	}
	return h.Sum64() | 1, fixed
}

// key identifies a value by what it is computed from.
func key(format string, args ...any) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, format, args...)
	return h.Sum64() | 1
}

// operand identifies what an operation's operand has.
func (s *same) operand(at int32, a *ir.Arg, left *int, depth int) (id uint64, fixed bool) {
	switch {
	case a.Neg || a.Sym || a.Kind == ir.Imm && (a.Hi != 0 || a.Var != nil || a.Func != nil):
		return 0, false
	case a.Kind == ir.Imm:
		return key("constant %d", a.Bits), true
	case a.Kind == ir.Row && depth > 0:
		return s.row(at, a.Ref.Off, left, depth)
	}
	return 0, false
}

// row identifies what a register has before an operation, by all operations that may have written it last.
func (s *same) row(at int32, row uint32, left *int, depth int) (id uint64, fixed bool) {
	if s.from == nil {
		s.from = predecessors(s.f)
	}
	seen := map[int32]bool{}
	next := append([]int32(nil), s.from[at]...)
	if at == 0 || len(next) == 0 {
		return 0, false
	}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		if *left--; *left < 0 {
			return 0, false
		}
		op := &s.f.Ops[i]
		some, whole := false, true
		op.Writes(func(r uint32, w bool) {
			if r == row {
				some, whole = true, whole && w
			}
		})
		if !some {
			if i == 0 || len(s.from[i]) == 0 { // nothing has written it, or something that is not seen
				return 0, false
			}
			next = append(next, s.from[i]...)
			continue
		}
		if !whole {
			return 0, false
		}
		x, constant := s.result(i, op, left, depth-1)
		if x == 0 || id != 0 && x != id {
			return 0, false
		}
		id, fixed = x, constant
	}
	return id, fixed
}

// result identifies what an operation computes.
func (s *same) result(at int32, op *ir.Op, left *int, depth int) (id uint64, fixed bool) {
	switch {
	case op.Ctl == ir.Special:
		switch op.SReg {
		case optab.SRegNtid, optab.SRegNctaid:
			return key("register %d %d", op.SReg, op.Axis), false
		}
		return 0, false
	case op.Ctl != ir.Plain || len(op.Args) < 2 || !op.Written(0) || op.Args[0].Kind != ir.Row || op.Match == nil:
		return 0, false
	case op.Opcode() == optab.OpMov:
		return s.operand(at, &op.Args[1], left, depth)
	case op.Opcode() == optab.OpLd:
		a := &op.Args[1]
		if !s.entry || a.Kind != ir.Addr || a.Space != ir.KernelParam || a.Base != nil {
			return 0, false
		}
		return key("parameter %d %p", a.Disp, op.Match), false
	case !op.Pure() || op.Sync():
		return 0, false
	}
	hidden := false // a carry, or anything else that is no operand
	op.Reads(func(row uint32) {
		hidden = hidden || !slices.ContainsFunc(op.Args, func(a ir.Arg) bool {
			return a.Kind == ir.Row && a.Ref.Off == row
		})
	})
	if hidden {
		return 0, false
	}
	id = key("%p", op.Match) // one for all that are spelt alike
	for i := range op.Args {
		if op.Written(i) {
			if i > 0 {
				return 0, false
			}
			continue
		}
		x, _ := s.operand(at, &op.Args[i], left, depth)
		if x == 0 {
			return 0, false
		}
		id = key("%d %d", id, x)
	}
	return id, false
}

// predecessors are the operations that each operation may follow.
func predecessors(f *ir.Func) [][]int32 {
	from := make([][]int32, len(f.Ops))
	edge := func(i int, to int32) {
		if int(to) < len(f.Ops) {
			from[to] = append(from[to], int32(i))
		}
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		switch op.Ctl {
		case ir.Branch:
			edge(i, op.Target)
		case ir.Jump:
			edge(i, op.Target)
			continue
		case ir.BranchX:
			for _, t := range op.Targets {
				edge(i, t)
			}
		}
		edge(i, int32(i)+1) // also behind a return, an exit or a trap that has a guard; without one it does no harm
	}
	return from
}
