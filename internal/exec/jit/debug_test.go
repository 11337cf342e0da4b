package jit

import (
	"fmt"
	"os"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
)

func TestDebugOne(t *testing.T) {
	name := os.Getenv("BENCH")
	if name == "" {
		t.Skip()
	}
	for _, s := range loadSpecs(t) {
		if s.Bench != name {
			continue
		}
		src, _ := os.ReadFile(benchKernels + "/" + s.PTX)
		d := exectest.Open(t)
		d.Engine = testEngine(t)
		k, err := d.Load(string(src)).Kernel(s.Entry)
		if err != nil {
			t.Fatal(err)
		}
		c := k.Code.(*code)
		v := c.ctaVersion(ctaKey{s.Block, false})
		fmt.Println("off:", c.cta.off)
		if v == nil {
			return
		}
		vals := v.code.v
		for b := range vals.a.blocks {
			bl := &vals.a.blocks[b]
			fmt.Printf("block %d [%d,%d) join %v apart %v pending %d loop %d\n", b, bl.start, bl.end, bl.join, vals.apart[b], vals.pending[b], bl.loop)
			for i := bl.start; i < bl.end; i++ {
				op := &vals.a.f.Ops[i]
				fmt.Printf("  %d line %d code %d dead %v defs", i, op.Line, vals.info[i].code, vals.dead[i])
				for _, d := range vals.ops[i].defs {
					x := vals.webs[d.web]
					fmt.Printf(" r%d.w%d{%v block %d alias %v}", d.row, d.web, x.shape, x.block, x.alias)
				}
				fmt.Printf(" uses")
				for _, d := range vals.ops[i].uses {
					fmt.Printf(" r%d.w%d", d.row, d.web)
				}
				fmt.Println()
			}
		}
		os.WriteFile("/tmp/jitbench/"+name+".bin", v.code.text, 0o644)
		fmt.Println("entries", v.code.entries, "start", v.code.start, len(v.code.text))
		var ctr exec.Counters
		args, _, _ := benchArgs(d, &s)
		err = k.Run(exectest.Config{Grid: s.Grid, Block: s.Block, Counters: &ctr}, args...)
		fmt.Println(err, ctr.Fallbacks.Load(), c.cta.deny)
	}
}
