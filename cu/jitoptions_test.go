package cu

import (
	"runtime"
	"testing"
)

func TestJITOptions(t *testing.T) {
	o := NewJITOptions(64)
	defer o.Close()
	first := &o.Values()[0]
	for i := range 100 { // more than there are options: the lists move
		o.Set(CUjit_option(1000+i), uint32(i))
	}
	o.Set(1003, 7)
	o.Set(CU_JIT_ERROR_LOG_BUFFER, 5)
	if v := o.Values()[2]; v == 5 {
		t.Error("a number became the address of a log")
	}
	ids, values := o.IDs(), o.Values()
	if len(ids) != 104 || len(values) != 104 || first == &values[0] {
		t.Errorf("%d options, %d values", len(ids), len(values))
	}
	for i, id := range ids[4:] {
		want := uint32(i)
		if i == 3 {
			want = 7
		}
		if v, ok := o.Value(id); !ok || v != want || id != CUjit_option(1000+i) {
			t.Errorf("option %d is %d (%t), want %d", id, v, ok, want)
		}
	}
	if _, ok := o.Value(CU_JIT_WALL_TIME); ok {
		t.Error("an option that was not set has a value")
	}
	copy(o.m.info, "info\x00rest")
	copy(o.m.fail, "no NUL in this log, which therefore is as long as the room for it")
	if o.InfoLog() != "info" || len(o.ErrorLog()) != 64 {
		t.Errorf("logs %q, %q", o.InfoLog(), o.ErrorLog())
	}
	if v, _ := o.Value(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES); v != 64 {
		t.Errorf("room %d", v)
	}
}

// Options that were forgotten let go of what they have pinned, or else the runtime would end the program.
func TestForgottenJITOptions(t *testing.T) {
	for range 100 {
		NewJITOptions(16)
	}
	for range 4 {
		runtime.GC()
	}
	o := NewJITOptions(16)
	o.Close()
	o.Close()
}
