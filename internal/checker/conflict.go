package checker

// report tells of two accesses of different operations, the second of which is compared with what there is.
func (t *Timeline) report(o, x *touch, addr uint64) {
	c := t.c
	c.mu.Lock()
	defer c.mu.Unlock()
	k := pair{kind: "order", a: o.op.Site, b: x.op.Site, x: o.spot(), y: x.spot()}
	if o.l != nil {
		k.p = o.l.p
	}
	if x.l != nil {
		k.q = x.l.p
	}
	if had := c.seen[k]; had != nil {
		c.log.Again(had)
		return
	}
	c.seen[k] = c.log.Add(&Report{
		Kind: raceKind(o.op, x.op, false), Space: "global", Address: addr, Sites: []Site{o.site(addr), x.site(addr)},
		Cure: t.missingOrder(o, x),
	})
}

// spot tells operations that are no kernels apart.
func (x *touch) spot() (s spot) {
	if x.l == nil {
		s.kernel, s.call = x.a.about.What+" in "+x.a.place().name, *x.a.by()
	}
	return s
}

// by is the call that has asked for an operation that is no kernel.
func (a *Action) by() *Call {
	if a.call == nil {
		a.call = &Call{API: "a " + a.about.What}
		if a.about.Call != nil {
			*a.call = a.about.Call()
		}
	}
	return a.call
}

// site describes an access at an address.
func (x *touch) site(addr uint64) Site {
	queue := x.a.place().name
	if x.a.q == x.a.q.t.host {
		queue = ""
	}
	if x.a.graph != nil {
		queue += ", as a node of a graph"
	}
	if x.l == nil {
		return Site{Call: x.a.by(), Queue: queue, Access: x.word(), Size: uint32(min(x.hi-x.lo, 1<<31))}
	}
	e := event{op: x.op}
	s := e.what(x.l)
	s.Queue = queue
	s.Block, s.Thread = x.l.grid.at(x.thread(addr))
	return s
}

// word names what an operation that is no kernel does.
func (x *touch) word() string {
	switch {
	case x.a.about.What == "free" || x.a.about.What == "allocation":
		return x.a.about.What
	case x.op.Does == Reads:
		return "read"
	}
	return "write"
}
