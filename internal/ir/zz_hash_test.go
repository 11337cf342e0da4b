package ir

import (
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

func TestZZHash(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/bench/kernels/ptx/*.ptx")
	more, _ := filepath.Glob("../../../shared/corpus/modules/*/*.ptx.gz")
	sil, _ := filepath.Glob("../../../shared/silicon/*.ptx")
	files = append(append(files, more...), sil...)
	h := sha256.New()
	n := 0
	fused := 0
	maxf := uint32(0)
	for _, f := range files {
		r, err := os.Open(f)
		if err != nil {
			continue
		}
		var src []byte
		if filepath.Ext(f) == ".gz" {
			g, _ := gzip.NewReader(r)
			src, _ = io.ReadAll(g)
		} else {
			src, _ = io.ReadAll(r)
		}
		r.Close()
		m, err := ptx.Parse(src)
		if err != nil {
			continue
		}
		cm, err := check.Check(m, check.Options{SM: 90})
		if err != nil {
			continue
		}
		syms := &Symbols{Handles: map[*check.Func]uint64{}, Builtin: func(string) bool { return true }}
		for i, g := range cm.Funcs {
			syms.Handles[g] = uint64(i+1) << 8
		}
		for _, fn := range cm.Funcs {
			if !fn.Entry || !fn.Defined {
				continue
			}
			var k *Kernel
			var err error
			if os.Getenv("PLACE") != "" {
				if len(fn.Insts) > 4000 {
					continue
				}
				k, err = CheckPlacement(fn, *syms)
			} else {
				k, err = Lower(fn, syms)
			}
			if err != nil {
				fmt.Println(f, fn.Name, err)
				continue
			}
			n++
			for _, lf := range k.Funcs {
				if lf.FrameSize > maxf { maxf = lf.FrameSize; fmt.Println(filepath.Base(f), lf.Name, maxf>>10, "KiB", len(lf.Ops)) }
				for i := range lf.Ops {
					op := &lf.Ops[i]
					s := fmt.Sprint(op.Ctl, op.Guard, op.First, op.Target)
					if op.Match != nil {
						s += op.Match.Form.Op + fmt.Sprint(op.Match.Words)
						if op.Match.Form.Op == "ffma" { fused++ }
					}
					for _, a := range op.Args {
						s += fmt.Sprint(a.Kind, a.Ref, a.Bits, a.Neg)
					}
					io.WriteString(h, s)
				}
			}
		}
	}
	fmt.Printf("%d kernels, %d ffma, %x\n", n, fused, h.Sum(nil)[:8])
}
