package softdev

import (
	"testing"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
)

// equalText stores to one word from all threads; what is stored is in %r9, %r1 is the number of the thread.
const equalText = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n) {
	.reg .b32 %r<16>; .reg .b64 %q<4>; .reg .pred %p<4>;
	ld.param.u64 %q1, [a]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 7;
	`

// TestEqualRace: a race of plain writes is one of equal values where what is written is the same in all threads
// whatever the data, on every way to the stores; on every engine.
func TestEqualRace(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"mov.u32 %r9, 1; st.global.u32 [%q1], %r9;", checker.EqualRace},
		{"st.global.u32 [%q1], 1;", checker.EqualRace},
		{"st.global.v2.u32 [%q1], {1, 2};", checker.EqualRace},
		{"mad.lo.u32 %r9, %r2, %r2, 5; st.global.u32 [%q1], %r9;", checker.EqualRace},
		{"mov.u32 %r9, %ntid.x; st.global.u32 [%q1], %r9;", checker.EqualRace},
		{"mov.u32 %r9, 4; @%p1 bra L; mov.u32 %r9, 4; L: st.global.u32 [%q1], %r9;", checker.EqualRace},
		{"@%p1 st.global.u32 [%q1], 3; @!%p1 st.global.u32 [%q1], 3;", checker.EqualRace},
		// threads may differ
		{"mov.u32 %r9, 4; @%p1 bra L; mov.u32 %r9, 5; L: st.global.u32 [%q1], %r9;", checker.Races},
		{"mov.u32 %r9, 4; @%p1 mov.u32 %r9, 5; st.global.u32 [%q1], %r9;", checker.Races},
		{"st.global.u32 [%q1], %r1;", checker.Races},
		{"and.b32 %r9, %r1, 0; st.global.u32 [%q1], %r9;", checker.Races}, // the same, but that takes arithmetic
		{"mov.u32 %r9, 0; L: add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, %r1; @%p2 bra L; st.global.u32 [%q1], %r9;",
			checker.Races},
		{"ld.global.u32 %r9, [%q1+64]; st.global.u32 [%q1], %r9;", checker.Races}, // data
		{"@%p1 st.global.u32 [%q1], 3; @!%p1 st.global.u32 [%q1], 4;", checker.Races},
		{"@%p1 st.global.u32 [%q1], 0; @!%p1 st.global.u16 [%q1], 0;", checker.Races}, // of two sizes
		{"activemask.b32 %r9; st.global.u32 [%q1], %r9;", checker.Races},
		{"mov.u32 %r9, %ctaid.x; st.global.u32 [%q1], %r9;", checker.Races},
		{"add.cc.u32 %r8, %r1, -1; addc.u32 %r9, 0, 0; st.global.u32 [%q1], %r9;", checker.Races}, // the carry differs
	} {
		k := labelled{Steps: []labelledStep{
			{Op: "alloc", Name: "a", Kind: "device", Bytes: 256, Init: "zero"},
			{Op: "launch", Kernel: "k", Grid: []uint32{2, 1, 1}, Block: []uint32{40, 1, 1},
				Args: []map[string]any{{"buf": "a"}, {"i32": 3.0}}},
			{Op: "free", Name: "a"},
		}}
		for _, engine := range checkedEngines() {
			for _, o := range orders {
				x := k.try(equalText+c.body+" ret; }", engine, o.order, []string{"race"})
				if x.err != nil || len(x.list) == 0 {
					t.Errorf("%s: %d reports, %v", c.body, len(x.list), x.err)
				}
				kind := checker.EqualRace // unless a pair of the stores is of the other kind
				for _, r := range x.list {
					if r.Kind != checker.EqualRace {
						kind = r.Kind
					}
				}
				if kind != c.want {
					t.Errorf("%s, %s, %s: %s, want %s", engine, o.name, c.body, kind, c.want)
				}
			}
		}
	}
}

// TestEqualRaceOfStreams: constants are equal in other launches too, parameters need not be.
func TestEqualRaceOfStreams(t *testing.T) {
	for body, want := range map[string]string{"st.global.u32 [%q1], 1;": checker.EqualRace,
		"st.global.u32 [%q1], %r2;": checker.Races} {
		launch := func(stream string, n float64) labelledStep {
			return labelledStep{Op: "launch", Kernel: "k", Grid: []uint32{1, 1, 1}, Block: []uint32{1, 1, 1},
				Stream: stream, Args: []map[string]any{{"buf": "a"}, {"i32": n}}}
		}
		k := labelled{Steps: []labelledStep{
			{Op: "alloc", Name: "a", Kind: "device", Bytes: 256, Init: "zero"}, {Op: "sync"},
			{Op: "stream", Name: "x", Nonblocking: true}, {Op: "stream", Name: "y", Nonblocking: true},
			launch("x", 3), launch("y", 3), {Op: "sync"}, {Op: "free", Name: "a"},
		}}
		for _, engine := range checkedEngines() {
			x := k.try(equalText+body+" ret; }", engine, exec.Order{}, []string{"race"})
			if x.err != nil || len(x.list) != 1 || x.list[0].Kind != want {
				t.Errorf("%s, %s: %v %v, want %s", engine, body, x.list, x.err, want)
			}
		}
	}
}
