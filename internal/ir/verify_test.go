package ir

import (
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// TestVerify: what Verify is for is found, before and after registers have their places.
func TestVerify(t *testing.T) {
	tree, err := ptx.Parse([]byte(`.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
	.reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %q<2>;
	ld.param.u64 %q1, [out]; mov.u32 %r1, 1;
again:
	add.u32 %r1, %r1, %r1; setp.lt.u32 %p1, %r1, 100;
	@%p1 bra again;
	st.global.u32 [%q1], %r1;
	ret;
}`))
	if err != nil {
		t.Fatal(err)
	}
	cm, err := check.Check(tree, check.Options{SM: 90})
	if err != nil {
		t.Fatal(err)
	}
	find := func(f *Func, ctl Ctl) *Op {
		for i := range f.Ops {
			if f.Ops[i].Ctl == ctl {
				return &f.Ops[i]
			}
		}
		t.Fatalf("no operation %d", ctl)
		return nil
	}
	add := func(f *Func) *Op {
		for i := range f.Ops {
			if op := &f.Ops[i]; op.Ctl == Plain && op.Opcode().String() == "iadd" {
				return op
			}
		}
		t.Fatal("no addition")
		return nil
	}
	for _, x := range []struct {
		pass, want string
		spoil      func(f *Func)
	}{
		{"blocks", "branches to", func(f *Func) { find(f, Branch).Target = int32(len(f.Ops)) }},
		{"contract", "branches to", func(f *Func) { find(f, Branch).Target = -1 }},
		{"blocks", "control runs off the end", func(f *Func) { f.Ops = f.Ops[:len(f.Ops)-1] }},
		{"rows", "control can run off the end", func(f *Func) { f.Ops[len(f.Ops)-1].Guard = find(f, Branch).Guard }},
		{"contract", "nothing says what it does", func(f *Func) { add(f).Match = nil }},
		{"blocks", "is used as", func(f *Func) { add(f).Args[0].Class = W64 }},
		{"contract", "register", func(f *Func) { add(f).Args[0].Ref.Off = uint32(len(f.rows)) }},
		{"rows", "in a frame of", func(f *Func) { f.FrameSize = 128 }},
		{"rows", "is not aligned", func(f *Func) { add(f).Args[0].Ref.Off += 4 }},
		{"rows", "has", func(f *Func) { add(f).Args[0].Class = W64 }},
		{"rows", "overlap", func(f *Func) {
			f.FrameSize += 128
			find(f, Branch).Guard = int32(add(f).Args[0].Ref.Off) + 4
		}},
		{"rows", "no operations", func(f *Func) { f.Ops = nil }},
	} {
		found := ""
		if _, err := LowerWatched(cm.Funcs[0], nil, func(pass string, f *Func) {
			if pass != x.pass {
				return
			}
			c := *f
			c.Ops = append([]Op(nil), f.Ops...)
			for i := range c.Ops {
				c.Ops[i].Args = append([]Arg(nil), f.Ops[i].Args...)
			}
			if err := Verify(&c); err != nil {
				t.Errorf("after %s: %v", pass, err)
			}
			x.spoil(&c)
			if err := Verify(&c); err != nil {
				found = err.Error()
			}
		}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(found, x.want) {
			t.Errorf("after %s: %q, want %q", x.pass, found, x.want)
		}
	}
}
