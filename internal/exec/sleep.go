package exec

import (
	"math/bits"
	"time"
)

// Sleep makes lanes of the current split sleep, each for as many nanoseconds as it asks, and go on at next (PTX ISA
// "nanosleep": a thread sleeps for up to twice the time, which is a millisecond at most). The others of the split go on
// at once.
func (w *Warp) Sleep(lanes uint32, ns *[32]uint32, next int32) Event {
	s := w.Cur
	if rest := s.Mask &^ lanes; rest != 0 {
		t := w.newSplit()
		t.PC, t.Mask, t.Act = next, rest, s.Act
	}
	w.gave = w.CTA.check != nil
	now := w.CTA.Group.grid.now()
	for {
		same, n := uint32(0), ns[bits.TrailingZeros32(lanes)]
		for m := lanes; m != 0; m &= m - 1 {
			if l := bits.TrailingZeros32(m); ns[l] == n {
				same |= 1 << l
			}
		}
		s.PC, s.Mask, s.wait = next, same, waitSleep
		s.wake = now + min(time.Duration(n), longestSleep)
		if lanes &^= same; lanes == 0 {
			return EventReschedule
		}
		t := w.newSplit()
		t.Act = s.Act
		s = t
	}
}

const longestSleep = time.Millisecond

// rouse lets the splits go on that have slept enough, and says when the first of the others has, 0 when none sleeps.
func (w *Warp) rouse() (next time.Duration) {
	now := time.Duration(0)
	for _, s := range w.splits {
		if s.wait != waitSleep {
			continue
		}
		if now == 0 {
			now = w.CTA.Group.grid.now()
		}
		switch {
		case s.wake <= now:
			s.wait = ready
		case next == 0 || s.wake < next:
			next = s.wake
		}
	}
	return next
}

// shortestDoze is from when on a worker gives its thread away rather than look again; the host wakes it that much late.
const shortestDoze = 100 * time.Microsecond

// doze is called when the group that is to run next slept when it had its last turn. When all groups of the queue do,
// the worker sleeps until the first of them is to go on.
func (wk *worker) doze(gr *Group) {
	g := wk.g
	now := g.now()
	if gr.wake <= now {
		wk.dozing = 0
		return
	}
	if wk.dozing++; wk.dozing == 1 || gr.wake < wk.soonest {
		wk.soonest = gr.wake
	}
	if wk.dozing <= int(g.waiting.Load()) {
		return
	}
	wk.dozing = 0
	if rest := wk.soonest - now; rest > shortestDoze {
		time.Sleep(rest - shortestDoze/2)
	}
}
