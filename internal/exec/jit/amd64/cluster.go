package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Clusters: a CTA's place among the others, and shared memory of the others. An address of the shared window has the
// rank of its CTA above bit 24 (exec.Warp.Ptr). Code of whole CTAs runs outside clusters only, where every CTA is a
// cluster of its own.

// Places in what context.cta points at.
var (
	ctaRank       = int32(unsafe.Offsetof(exec.CTA{}.Rank))
	ctaGroup      = int32(unsafe.Offsetof(exec.CTA{}.Group))
	ctaShared     = int32(unsafe.Offsetof(exec.CTA{}.Shared))
	groupIndex    = int32(unsafe.Offsetof(exec.Group{}.Index))
	groupDims     = int32(unsafe.Offsetof(exec.Group{}.Dims))
	groupCTAs     = int32(unsafe.Offsetof(exec.Group{}.CTAs)) // then their number
	launchSMs     = int32(unsafe.Offsetof(exec.Launch{}.Device) + unsafe.Offsetof(exec.DeviceInfo{}.SMs))
	launchExpl    = int32(unsafe.Offsetof(exec.Launch{}.Cluster))
	groupCTACount = groupCTAs + 8
)

// group loads the address of the CTA's cluster.
func (g *gen) group(to asm.GPR) {
	g.Ld(to, inContext(abi.OffCTA))
	g.Ld(to, asm.At(to, ctaGroup))
}

// clusterRegister returns what loads a special register that says where the CTA is, in its cluster or on the device, or
// what shared memory it has: into rax, with rcx and rdx for itself. It is nil for other registers.
func clusterRegister(sreg optab.SReg, axis int32) func(g *gen, to asm.GPR) {
	zero := func(g *gen, to asm.GPR) { g.MovI32(to, 0) }
	if axis > 2 {
		return nil
	}
	// alone is the value of a cluster of one CTA.
	of := func(alone, shared func(g *gen, to asm.GPR)) func(g *gen, to asm.GPR) {
		return func(g *gen, to asm.GPR) {
			if g.v != nil {
				alone(g, to)
			} else {
				shared(g, to)
			}
		}
	}
	constant := func(v uint32) func(g *gen, to asm.GPR) { return func(g *gen, to asm.GPR) { g.MovI32(to, v) } }
	word := func(off int32) func(g *gen, to asm.GPR) {
		return func(g *gen, to asm.GPR) { g.Ld32(to, inContext(off+4*axis)) }
	}
	inGroup := func(off int32) func(g *gen, to asm.GPR) {
		return func(g *gen, to asm.GPR) {
			g.group(to)
			g.Ld32(to, asm.At(to, off+4*axis))
		}
	}
	size := func(less int32) func(g *gen, to asm.GPR) {
		return func(g *gen, to asm.GPR) {
			g.Ld32(to, inContext(abi.OffSharedTop)) // one less than the size
			g.AddI32(to, 1-less+127)
			g.AndI32(to, -128)
		}
	}
	switch sreg {
	case optab.SRegClusterid:
		return of(word(abi.OffCTAID), inGroup(groupIndex))
	case optab.SRegClusterNctaid:
		return of(constant(1), inGroup(groupDims))
	case optab.SRegClusterCtarank:
		return of(zero, func(g *gen, to asm.GPR) {
			g.Ld(to, inContext(abi.OffCTA))
			g.Ld32(to, asm.At(to, ctaRank))
		})
	case optab.SRegClusterNctarank:
		return of(constant(1), func(g *gen, to asm.GPR) {
			g.group(to)
			g.Ld32(to, asm.At(to, groupCTACount))
		})
	case optab.SRegClusterCtaid:
		return of(zero, func(g *gen, to asm.GPR) {
			g.group(asm.RDX)
			g.Ld32(asm.RCX, asm.At(asm.RDX, groupIndex+4*axis))
			g.ImulM(false, asm.RCX, asm.At(asm.RDX, groupDims+4*axis))
			g.Ld32(to, inContext(abi.OffCTAID+4*axis))
			g.Sub32(to, asm.RCX)
		})
	case optab.SRegNclusterid:
		return of(word(abi.OffGrid), func(g *gen, to asm.GPR) {
			g.group(asm.RCX)
			g.Ld32(asm.RCX, asm.At(asm.RCX, groupDims+4*axis))
			g.Ld32(to, inContext(abi.OffGrid+4*axis))
			g.MovI32(asm.RDX, 0)
			g.DivR(false, asm.RCX)
		})
	case optab.SRegIsExplicitCluster:
		return of(zero, func(g *gen, to asm.GPR) {
			g.Ld(to, inContext(abi.OffLaunch))
			g.Ld32(to, asm.At(to, launchExpl))
			g.Neg32(to) // carries unless it is 0
			g.RR(asm.ArithSbb, false, to, to)
			g.Neg32(to)
		})
	case optab.SRegSmid: // as if CTAs went to one multiprocessor after the other
		return func(g *gen, to asm.GPR) {
			some := g.NewLabel()
			g.Ld32(to, inContext(abi.OffCTAID+4))
			g.ImulM(false, to, inContext(abi.OffGrid))
			g.AddLd32(to, inContext(abi.OffCTAID))
			g.Ld(asm.RCX, inContext(abi.OffLaunch))
			g.Ld32(asm.RCX, asm.At(asm.RCX, launchSMs))
			g.Test32(asm.RCX, asm.RCX)
			g.J(asm.NE, some)
			g.MovI32(asm.RCX, 1)
			g.Bind(some)
			g.MovI32(asm.RDX, 0)
			g.DivR(false, asm.RCX)
			g.Mov32(to, asm.RDX)
		}
	case optab.SRegTotalSmemSize:
		return size(ir.ReservedShared)
	case optab.SRegAggrSmemSize:
		return size(0)
	case optab.SRegReservedSmemOffsetEnd, optab.SRegReservedSmemOffsetCap:
		return constant(ir.ReservedShared)
	case optab.SRegReservedSmemOffsetBegin, optab.SRegReservedSmemOffset0, optab.SRegReservedSmemOffset1,
		optab.SRegCurrentGraphExec:
		return zero
	}
	return nil
}

// explicitCluster is %is_explicit_cluster as a predicate.
func explicitCluster(d *ir.Arg) emitter {
	load := clusterRegister(optab.SRegIsExplicitCluster, 0)
	return func(g *gen) {
		load(g, asm.RAX)
		g.Neg32(asm.RAX)
		g.setPred(d, asm.RAX)
	}
}

// checkCluster is laneLoop.check for shared::cluster: any CTA of the cluster has the same memory. rax, rcx are used.
func (l *laneLoop) checkCluster(x *laneAccess, slow asm.Label) {
	l.MovR(true, asm.RAX, asm.R8)
	l.ShiftI(asm.ScalarShr, true, asm.RAX, 24)
	l.group(asm.RCX)
	l.RM(asm.ArithCmp, true, asm.RAX, asm.At(asm.RCX, groupCTACount))
	l.J(asm.AE, slow)
	l.MovR(false, asm.RAX, asm.R8)
	l.AndI32(asm.RAX, 0xffffff)
	l.Ld32(asm.RCX, inContext(abi.OffSharedTop))
	l.AddI(asm.RCX, 1-int32(x.total))
	l.J(asm.S, slow)
	l.RR(asm.ArithCmp, true, asm.RAX, asm.RCX)
	l.J(asm.A, slow)
	if x.total > 1 {
		l.TestI32(asm.R8, uint32(x.total-1))
		l.J(asm.NE, slow)
	}
}

// pointerCluster makes a host address of the checked address in r8. rax and rcx are used.
func (l *laneLoop) pointerCluster() {
	l.MovR(true, asm.RAX, asm.R8)
	l.ShiftI(asm.ScalarShr, true, asm.RAX, 24)
	l.AndI32(asm.R8, 0xffffff)
	l.group(asm.RCX)
	l.Ld(asm.RCX, asm.At(asm.RCX, groupCTAs))
	l.Ld(asm.RCX, asm.Indexed(asm.RCX, asm.RAX, 8, 0))
	l.AddLd(asm.R8, asm.At(asm.RCX, ctaShared))
}

// mapaTemplate is mapa: the same offset with another rank, in the shared window or as a generic address.
func mapaTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	if len(in) != 2 || d.Class != in[0].Class {
		return nil
	}
	generic := op.Mods().Space == optab.NoSpace
	if generic && d.Class != ir.W64 {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		l.ld(asm.RCX, 1)
		if generic {
			l.SubLd(asm.RAX, inContext(abi.OffSharedGen))
		}
		l.AndI32(asm.RAX, 0xffffff)
		l.ShiftI(asm.ScalarShl, true, asm.RCX, 24)
		l.RR(asm.ArithOr, true, asm.RAX, asm.RCX)
		if generic {
			l.AddLd(asm.RAX, inContext(abi.OffSharedGen))
		}
		l.st(0, asm.RAX)
	})
}

// ctarankTemplate is getctarank.
func ctarankTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	generic := op.Mods().Space == optab.NoSpace
	if len(in) != 1 || generic && in[0].Class != ir.W64 {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RAX, 0)
		if generic {
			l.SubLd(asm.RAX, inContext(abi.OffSharedGen))
		}
		l.ShiftI(asm.ScalarShr, true, asm.RAX, 24)
		l.st(0, asm.RAX)
	})
}

// spaceTemplate is isspacep of spaces that are windows of addresses. Which parts of global memory are constants only Go
// knows.
func spaceTemplate(op *ir.Op) emitter {
	d, in := &op.Args[0], sources(op)
	space := op.Mods().Space
	switch space {
	case optab.SpaceShared, optab.SpaceCluster, optab.SpaceLocal, optab.SpaceParam:
	default:
		return nil
	}
	if len(in) != 1 || in[0].Class != ir.W64 || d.Class != ir.WPred {
		return nil
	}
	return byLanes(in, []*ir.Arg{d}, func(l *laneLoop) {
		l.ld(asm.RCX, 0)
		switch space {
		case optab.SpaceShared:
			l.SubLd(asm.RCX, inContext(abi.OffSharedGen))
			l.SubLd(asm.RCX, inContext(abi.OffSharedLow))
			l.RI(asm.ArithCmp, true, asm.RCX, 1<<24)
		case optab.SpaceCluster:
			l.SubLd(asm.RCX, inContext(abi.OffSharedGen))
			l.ShiftI(asm.ScalarShr, true, asm.RCX, 24)
			if l.v != nil {
				l.RI(asm.ArithCmp, true, asm.RCX, 1)
			} else {
				l.group(asm.RAX)
				l.RM(asm.ArithCmp, true, asm.RCX, asm.At(asm.RAX, groupCTACount))
			}
		case optab.SpaceLocal:
			l.SubLd(asm.RCX, inContext(abi.OffLocalGen))
			l.RI(asm.ArithCmp, true, asm.RCX, 1<<24)
		default:
			l.SubLd(asm.RCX, inContext(abi.OffParamGen))
			l.Ld32(asm.RAX, inContext(abi.OffParamSize))
			l.RR(asm.ArithCmp, true, asm.RCX, asm.RAX)
		}
		l.cond(asm.B, asm.RAX)
		l.st(0, asm.RAX)
	})
}
