package exec_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// TestRegisterPlusConstant stores a register plus a constant, which an H200's driver takes and runs (st.u64 [x], temp +
// 1). The sum wraps in the register's type. Recorded for other instructions: the group plus of
// softdev/testdata/limits.json.gz.
func TestRegisterPlusConstant(t *testing.T) {
	engines := []exec.Engine{interp.New()}
	if e, err := jit.New(""); err == nil {
		engines = append(engines, e)
	}
	for _, c := range []struct {
		typ, reg, value, sum string
		want                 uint64
	}{
		{"u64", "u64", "41", "x + 1", 42},
		{"u64", "b64", "41", "x + 1 * 2 - 1", 42},
		{"s64", "s64", "-1", "x+1", 0},
		{"b64", "u64", "1", "x+0xffffffffffffffff", 0},
		{"u32", "u32", "0xffffffff", "x+1", 0},
		{"b32", "s32", "5", "x + -7", 0xfffffffe},
		{"u32", "u32", "5", "x + (1+2)*3", 14},
		{"u32", "u32", "5", "x+0", 5},
		{"u16", "u16", "0xffff", "x+2", 1},
		{"u8", "u16", "0xff", "x+2", 1},
		{"u8", "u32", "0x1ff", "x+2", 1},
		{"u32", "u64", "0xffffffffff", "x+2", 1},
	} {
		src := fmt.Sprintf(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at) { .reg .u64 a; .reg .%s x; ld.param.u64 a, [at]; mov.%[1]s x, %s; st.global.%s [a], %s; st.global.%[3]s [a+8], x; ret; }",
			c.reg, c.value, c.typ, c.sum)
		for _, e := range engines {
			d := exectest.Open(t)
			d.Engine = e
			k, err := d.Load(src).Kernel("k")
			if err != nil {
				t.Fatalf("%v\n%s", err, src)
			}
			at, out := d.Alloc(16)
			if err := k.Run(exectest.Config{}, at); err != nil {
				t.Fatal(err)
			}
			if got := binary.LittleEndian.Uint64(out); got != c.want {
				t.Errorf("%s: st.%s of %s, a .%s of %s, leaves %#x, want %#x", e.Name(), c.typ, c.sum, c.reg, c.value,
					got, c.want)
			}
		}
	}
	for _, bad := range []string{"x + y", "x * 2", "-x", "x + 1.0", "f + 1", "q + 1", "x + %tid.x", "2 - x", "1 + x",
		"x - 1", "(x)", "x + 1 + y", "!x"} {
		src := ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 at) { .reg .u64 a; .reg .u32 x, y; .reg .f32 f; .reg .pred q; ld.param.u64 a, [at]; st.global.u32 [a], " + bad + "; ret; }"
		if _, err := exectest.Check(src); err == nil {
			t.Errorf("%s is taken as the value of a store", bad)
		}
	}
}
