package ir

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

func TestZZMeasure(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/bench/kernels/ptx/*.ptx")
	more, _ := filepath.Glob("../../../shared/corpus/modules/*/*.ptx")
	files = append(files, more...)
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			continue
		}
		t0 := time.Now()
		m, err := ptx.Parse(src)
		t1 := time.Now()
		if err != nil {
			fmt.Println(f, err)
			continue
		}
		cm, err := check.Check(m, check.Options{SM: 90})
		t2 := time.Now()
		if err != nil {
			continue
		}
		syms := &Symbols{Handles: map[*check.Func]uint64{}, Builtin: func(string) bool { return true }}
		for i, g := range cm.Funcs {
			syms.Handles[g] = uint64(i+1) << 8
		}
		var maxf, ops, regs int
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			k, err := Lower(fn, syms)
			if err != nil {
				fmt.Println(f, err)
				continue
			}
			for _, lf := range k.Funcs {
				maxf = max(maxf, int(lf.FrameSize))
				ops = max(ops, len(lf.Ops))
				regs = max(regs, len(lf.Check.Regs))
			}
		}
		t3 := time.Now()
		if maxf > 40000 || len(src) > 500000 {
			fmt.Println(filepath.Base(filepath.Dir(f)), filepath.Base(f), "parse", t1.Sub(t0).Milliseconds(), "check", t2.Sub(t1).Milliseconds(), "lower ms", t3.Sub(t2).Milliseconds(), "frame KiB", maxf/1024, "ops", ops, "regs", regs)
		}
	}
}
