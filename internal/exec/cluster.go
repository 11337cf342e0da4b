package exec

import "math/bits"

// The cluster barrier (PTX ISA 9.7.13.3 barrier.cluster). A phase ends when every thread of the cluster that has not
// exited has arrived. A thread arrives once and waits once in each phase; Warp.clusterAt remembers who has arrived in
// the phase that is open.

// ClusterArrive is barrier.cluster.arrive for lanes of the warp. A thread that arrives twice without waiting has no
// defined behaviour; its second arrival is not counted.
func (w *Warp) ClusterArrive(lanes uint32) {
	if w.sync != nil {
		w.checkCluster(lanes, false)
	}
	fresh := lanes &^ w.clusterAt
	w.clusterAt |= fresh
	g := w.CTA.Group
	g.arrived += bits.OnesCount32(fresh)
	g.tryCluster()
}

// ClusterWait is barrier.cluster.wait for lanes of the current split; next is the operation to go on with. A lane that
// has not arrived before goes on at once.
func (w *Warp) ClusterWait(lanes uint32, next int32) Event {
	if w.sync != nil {
		w.checkCluster(lanes, true)
	}
	s := w.Cur
	s.PC = next
	stay := lanes & w.clusterAt
	if c := w.CTA.check; c != nil {
		c.ClusterLeave(w.Index, lanes&^stay)
	}
	if stay == 0 {
		return EventReschedule
	}
	if rest := s.Mask &^ stay; rest != 0 {
		t := w.newSplit()
		t.PC, t.Mask, t.Act = next, rest, s.Act
		s.Mask = stay
	}
	s.wait = waitCluster
	return EventReschedule
}

// exitCluster takes lanes that end out of the barrier's count.
func (w *Warp) exitCluster(lanes uint32) {
	g := w.CTA.Group
	g.live -= bits.OnesCount32(lanes)
	g.arrived -= bits.OnesCount32(lanes & w.clusterAt)
	w.clusterAt &^= lanes
	g.tryCluster()
}

// tryCluster ends the phase when all have arrived.
func (g *Group) tryCluster() {
	if g.arrived < g.live || g.arrived == 0 {
		return
	}
	g.arrived = 0
	g.phases++
	if g.check != nil {
		g.check.ClusterDone()
	}
	for _, c := range g.CTAs {
		c.progress = true
		for _, w := range c.Warps {
			w.clusterAt = 0
			for _, s := range w.splits {
				if s.wait == waitCluster {
					s.wait = ready
					if c.check != nil {
						c.check.ClusterLeave(w.Index, s.Mask)
					}
				}
			}
		}
	}
}

// InCluster says whether the launch has clusters.
func (w *Warp) InCluster() bool { return w.CTA.Group.cluster }
