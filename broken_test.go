package cuda

import (
	"errors"
	"testing"
)

// panicking panics at its first write.
type panicking struct{ done bool }

func (p *panicking) Write(b []byte) (int, error) {
	if !p.done {
		p.done = true
		panic("the writer")
	}
	return len(b), nil
}

const printing = ".version 8.1\n.target sm_90\n.address_size 64\n" +
	".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n" +
	".global .align 1 .b8 text[3] = {104, 10, 0};\n" +
	".visible .entry k() { .reg .b64 %rd<2>; mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1; mov.u64 %rd0, 0;\n" +
	"{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %rd0; call (r), vprintf, (f, a); }\n" +
	"ret; }\n" +
	".visible .entry missing(.param .u64 p) { .reg .b64 %rd; .reg .f32 %f; ld.param.u64 %rd, [p];\n" +
	"multimem.ld_reduce.relaxed.sys.global.add.f32 %f, [%rd]; st.global.f32 [%rd], %f; ret; }\n" +
	".visible .entry trap() { trap; }\n"

// Whether an error has broken its context is what the device says, and not what the error's text looks like: afterwards
// every call gives the same code.
func TestBroken(t *testing.T) {
	for _, name := range []string{"k", "missing", "trap"} {
		s, err := Open(WithSoftware(), WithOutput(&panicking{}))
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.Context(0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Alloc[uint64](c, 1)
		if err != nil {
			t.Fatal(err)
		}
		m, err := c.Load([]byte(printing))
		if err != nil {
			t.Fatal(err)
		}
		var args []Arg
		if name == "missing" {
			args = append(args, Ptr(b))
		}
		k, err := m.Kernel(name)
		if err == nil {
			err = k.Launch(nil, Linear(1), args...)
		}
		if err == nil {
			err = c.Synchronize()
		}
		var first *Error
		if !errors.As(err, &first) {
			t.Fatalf("%s: %v", name, err)
		}
		var next *Error
		broken := errors.As(c.Synchronize(), &next)
		if (c.Err() != nil) != broken || first.Sticky() != broken || broken && next.Code != first.Code {
			t.Errorf("%s: %v; then %v; known as broken by %v, sticky %t", name, first, next, c.Err(), first.Sticky())
		}
		_ = s.dev.Close()
	}
}
