package softdev

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
)

// cellKernel copies 128 bytes with 32 threads.
const cellKernel = `.version 8.0
.target sm_80
.address_size 64
.visible .entry cell(.param .u64 from, .param .u64 to)
{
	.reg .u32 %r<3>;
	.reg .u64 %d<6>;
	ld.param.u64 %d1, [from];
	ld.param.u64 %d2, [to];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d3, %r1, 4;
	add.u64 %d4, %d1, %d3;
	add.u64 %d5, %d2, %d3;
	ld.global.u32 %r2, [%d4];
	st.global.u32 [%d5], %r2;
	ret;
}
`

const (
	cellBytes = 128
	cellCount = 6
)

// hostScript is a program of launches, fills and copies in streams, with what orders them. What a step accesses are
// cells of one buffer.
type hostScript struct {
	steps  []labelledStep
	reads  [][]int
	writes [][]int
}

func (h *hostScript) add(s labelledStep, reads, writes []int) {
	h.steps, h.reads, h.writes = append(h.steps, s), append(h.reads, reads), append(h.writes, writes)
}

func (h *hostScript) without(i int) *hostScript {
	return &hostScript{
		slices.Delete(slices.Clone(h.steps), i, i+1), slices.Delete(slices.Clone(h.reads), i, i+1),
		slices.Delete(slices.Clone(h.writes), i, i+1),
	}
}

// inStep says whether a stream of scripts is in step with the default stream: "a" and "b" are, "x" and "y" are not.
func inStep(stream string) bool { return stream == "" || stream == "a" || stream == "b" }

// orders is which steps come before which: all paths of a graph with an edge for each rule of the manual. It has
// nothing in common with how the checker finds the same.
func (h *hostScript) orders() [][]bool {
	n := len(h.steps)
	before := make([][]bool, n) // before[j][i]: i comes before j
	recorded := map[string]int{}
	host := -1
	for j := range h.steps {
		s := &h.steps[j]
		before[j] = make([]bool, n)
		edge := func(i int) {
			if i < 0 || before[j][i] {
				return
			}
			before[j][i] = true
			for k, b := range before[i] {
				before[j][k] = before[j][k] || b
			}
		}
		awaits := func(match func(o *labelledStep) bool) {
			for i := range j {
				o := &h.steps[i]
				if queued(o) && match(o) {
					edge(i)
				}
			}
		}
		edge(host)
		if queued(s) {
			awaits(func(o *labelledStep) bool {
				return o.Stream == s.Stream || (o.Stream == "" || s.Stream == "") && inStep(o.Stream) &&
					inStep(s.Stream)
			})
		}
		switch s.Op {
		case "record":
			recorded[s.Name] = j
		case "wait", "event_sync":
			if i, ok := recorded[s.Name]; ok {
				edge(i)
			}
		case "stream_sync":
			awaits(func(o *labelledStep) bool { return o.Stream == s.Name })
		case "sync":
			awaits(func(o *labelledStep) bool { return true })
		}
		if s.Op == "event_sync" || s.Op == "stream_sync" || s.Op == "sync" || s.Op == "read" {
			host = j
		}
	}
	return before
}

// queued says whether a step is work of a stream.
func queued(s *labelledStep) bool {
	switch s.Op {
	case "launch", "memset", "copy", "record", "wait", "read":
		return true
	}
	return false
}

// races are the steps that nothing orders and that access a cell which one of them writes.
func (h *hostScript) races() (pairs [][2]int) {
	before := h.orders()
	meets := func(a, b []int) bool {
		return slices.ContainsFunc(a, func(c int) bool { return slices.Contains(b, c) })
	}
	for j := range h.steps {
		for i := range j {
			conflict := meets(h.writes[i], h.writes[j]) || meets(h.writes[i], h.reads[j]) ||
				meets(h.reads[i], h.writes[j])
			if conflict && !before[j][i] {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	return pairs
}

// newHostScript makes a correct program: where work would race with earlier work, something is put before it that
// orders them.
func newHostScript(rng *rand.Rand) *hostScript {
	h := &hostScript{}
	streams := []string{"", "a", "b", "x", "y", "x", "y"}
	for range 12 {
		s := labelledStep{Stream: streams[rng.IntN(len(streams))], Name: "m", Dst: "m", Src: "m", Bytes: cellBytes}
		from, to := rng.IntN(cellCount), rng.IntN(cellCount)
		if from == to {
			to = (to + 1) % cellCount
		}
		arg := func(c int) map[string]any { return map[string]any{"buf": "m", "offset": float64(c * cellBytes)} }
		var reads []int
		switch rng.IntN(3) {
		case 0:
			s.Op, s.Kernel, s.Grid, s.Block = "launch", "cell", []uint32{1, 1, 1}, []uint32{32, 1, 1}
			s.Args, reads = []map[string]any{arg(from), arg(to)}, []int{from}
		case 1:
			s.Op, s.SrcOffset, s.DstOffset, reads = "copy", uint64(from*cellBytes), uint64(to*cellBytes), []int{from}
		default:
			s.Op, s.Offset, s.Value = "memset", uint64(to*cellBytes), 1
		}
		for {
			next := &hostScript{slices.Clone(h.steps), slices.Clone(h.reads), slices.Clone(h.writes)}
			next.add(s, reads, []int{to})
			races := next.races()
			if len(races) == 0 {
				*h = *next
				break
			}
			other := h.steps[races[0][0]].Stream
			event := fmt.Sprint("e", rng.IntN(3))
			switch how := rng.IntN(5); {
			case how < 2:
				h.add(labelledStep{Op: "record", Name: event, Stream: other}, nil, nil)
				h.add(labelledStep{Op: "wait", Name: event, Stream: s.Stream}, nil, nil)
			case how == 2:
				h.add(labelledStep{Op: "record", Name: event, Stream: other}, nil, nil)
				h.add(labelledStep{Op: "event_sync", Name: event}, nil, nil)
			case how == 3 && other != "":
				h.add(labelledStep{Op: "stream_sync", Name: other}, nil, nil)
			case how == 3 || !inStep(other):
				h.add(labelledStep{Op: "sync"}, nil, nil)
			default: // a copy to the host, in the default stream
				h.add(labelledStep{Op: "read", Name: "spare", Bytes: 4}, nil, nil)
			}
		}
	}
	return h
}

// run runs a script with the race check.
func (h *hostScript) run(t *testing.T) (reports []string) {
	t.Helper()
	d, err := New(Options{Check: []string{"race"}, Recover: true, Stdout: new(strings.Builder),
		Reports: func(r *checker.Report) { reports = append(reports, r.String()) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	r := &labelledRun{d: d, tab: d.Table(), bufs: map[string]*labelledBuffer{}, streams: map[string]driver.CUstream{},
		events: map[string]driver.CUevent{}}
	r.call(r.tab.Init(0, 0))
	r.call(r.tab.CtxCreate_v2(0, &r.ctx, 0, 0))
	text := []byte(cellKernel + "\x00")
	r.call(r.tab.ModuleLoadData(r.ctx, &r.mod, unsafe.Pointer(&text[0])))
	for _, s := range []labelledStep{
		{Op: "alloc", Kind: "device", Name: "m", Bytes: cellBytes * cellCount, Init: "zero"},
		{Op: "alloc", Kind: "device", Name: "spare", Bytes: 4, Init: "zero"},
		{Op: "stream", Name: "a"}, {Op: "stream", Name: "b"},
		{Op: "stream", Name: "x", Nonblocking: true}, {Op: "stream", Name: "y", Nonblocking: true},
		{Op: "event", Name: "e0"}, {Op: "event", Name: "e1"}, {Op: "event", Name: "e2"},
	} {
		r.step(&s)
	}
	for i := range h.steps {
		s := h.steps[i]
		if s.Stream == "" && s.Op != "read" {
			s.Stream = "legacy"
		}
		r.step(&s)
	}
	r.call(r.tab.CtxSynchronize(r.ctx))
	return reports
}

func (h *hostScript) String() string {
	var b strings.Builder
	for i := range h.steps {
		s := &h.steps[i]
		fmt.Fprintf(&b, "%2d %s %s in %q reads %v writes %v\n", i, s.Op, s.Name, s.Stream, h.reads[i], h.writes[i])
	}
	return b.String()
}

// TestOrderMutants takes one wait, event or synchronisation after the other out of correct programs. Each program that
// races then is reported, and no other.
func TestOrderMutants(t *testing.T) {
	scripts := 24
	if testing.Short() {
		scripts = 6
	}
	racy, right := 0, 0
	for seed := range scripts {
		h := newHostScript(rand.New(rand.NewPCG(uint64(seed), 16)))
		if reports := h.run(t); len(reports) > 0 {
			t.Fatalf("script %d is right, and yet:\n%s%s", seed, reports[0], h)
		}
		for i := range h.steps {
			switch h.steps[i].Op {
			case "record", "wait", "event_sync", "stream_sync", "sync", "read":
			default:
				continue
			}
			m := h.without(i)
			pairs := m.races()
			reports := m.run(t)
			switch {
			case len(pairs) > 0 && len(reports) == 0:
				t.Errorf("script %d without step %d: steps %v race, and nothing is reported\n%s", seed, i, pairs, m)
			case len(pairs) == 0 && len(reports) > 0:
				t.Errorf("script %d without step %d is right, and yet:\n%s%s", seed, i, reports[0], m)
			case len(pairs) > 0:
				racy++
			default:
				right++
			}
		}
	}
	t.Logf("%d mutants race, %d do not", racy, right)
	if racy < 4*scripts || right == 0 {
		t.Errorf("too few mutants of a kind: %d race and %d do not", racy, right)
	}
}

// TestGraphOrderMutants does the same with the edges of graphs.
func TestGraphOrderMutants(t *testing.T) {
	racy, right := 0, 0
	graphs := 12
	if testing.Short() {
		graphs = 3
	}
	for seed := range graphs {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		g := newOrderGraph(rng, 7)
		if reports := g.run(t); len(reports) > 0 {
			t.Fatalf("graph %d is right, and yet:\n%s%+v", seed, reports[0], g)
		}
		for j := range g.deps {
			for k := range g.deps[j] {
				m := &orderGraph{g.from, g.to, slices.Clone(g.deps)}
				m.deps[j] = slices.Delete(slices.Clone(m.deps[j]), k, k+1)
				races, reports := m.races(), m.run(t)
				if races != (len(reports) > 0) {
					t.Errorf("graph %d without edge %d to %d: races %v, reports %v", seed, g.deps[j][k], j, races,
						reports)
				}
				if races {
					racy++
				} else {
					right++
				}
			}
		}
	}
	t.Logf("%d mutants race, %d do not", racy, right)
	if racy < graphs {
		t.Errorf("only %d mutants race", racy)
	}
}

// orderGraph is a graph of kernels that copy a cell each; deps are the nodes that each waits for.
type orderGraph struct {
	from, to []int
	deps     [][]int
}

func newOrderGraph(rng *rand.Rand, n int) *orderGraph {
	g := &orderGraph{}
	for j := range n {
		from, to := rng.IntN(4), 4+rng.IntN(2)
		if rng.IntN(2) == 0 {
			from, to = to, from
		}
		g.from, g.to, g.deps = append(g.from, from), append(g.to, to), append(g.deps, nil)
		for i := j - 1; i >= 0; i-- {
			if g.conflict(i, j) && !g.path(i, j) {
				g.deps[j] = append(g.deps[j], i)
			}
		}
	}
	return g
}

func (g *orderGraph) conflict(i, j int) bool {
	return g.to[i] == g.to[j] || g.to[i] == g.from[j] || g.from[i] == g.to[j]
}

func (g *orderGraph) path(i, j int) bool {
	return slices.ContainsFunc(g.deps[j], func(k int) bool { return k == i || g.path(i, k) })
}

func (g *orderGraph) races() bool {
	for j := range g.deps {
		for i := range j {
			if g.conflict(i, j) && !g.path(i, j) {
				return true
			}
		}
	}
	return false
}

func (g *orderGraph) run(t *testing.T) []string {
	s := labelledStep{Op: "graph"}
	for j := range g.deps {
		n := struct {
			Name string
			Deps []string
			Do   labelledStep
		}{Name: fmt.Sprint(j)}
		for _, i := range g.deps[j] {
			n.Deps = append(n.Deps, fmt.Sprint(i))
		}
		arg := func(c int) map[string]any { return map[string]any{"buf": "m", "offset": float64(c * cellBytes)} }
		n.Do = labelledStep{Op: "launch", Kernel: "cell", Grid: []uint32{1, 1, 1}, Block: []uint32{32, 1, 1},
			Args: []map[string]any{arg(g.from[j]), arg(g.to[j])}}
		s.Nodes = append(s.Nodes, n)
	}
	h := &hostScript{}
	h.add(s, nil, nil)
	return h.run(t)
}
