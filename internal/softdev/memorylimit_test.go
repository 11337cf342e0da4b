package softdev

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
)

// TestMemoryVariable: GOCUDA_MEMORY is the device's memory for every call that tells it, and its limit.
func TestMemoryVariable(t *testing.T) {
	t.Setenv(env.Memory, "256M")
	d, err := New(Options{Profiles: []string{"", ""}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	tab := d.Table()
	must(t, tab.Init(0, 0))
	const want = 256 << 20
	for dev := range driver.CUdevice(2) {
		var total, free, all uint64
		must(t, tab.DeviceTotalMem_v2(0, &total, dev))
		var ctx driver.CUcontext
		must(t, tab.DevicePrimaryCtxRetain(0, &ctx, dev))
		must(t, tab.MemGetInfo_v2(ctx, &free, &all))
		if total != want || all != want || free != want {
			t.Errorf("device %d: total %d, %d, free %d, want %d", dev, total, all, free, want)
		}
		var p, q driver.CUdeviceptr
		must(t, tab.MemAlloc_v2(ctx, &p, want-2<<20))
		if r := tab.MemAlloc_v2(ctx, &q, 4<<20); r != driver.CUDA_ERROR_OUT_OF_MEMORY {
			t.Errorf("more than there is: %v", r)
		}
		if r := tab.MemAllocAsync(ctx, &q, 4<<20, 0); r != driver.CUDA_ERROR_OUT_OF_MEMORY {
			t.Errorf("more than there is, from the pool: %v", r)
		}
		must(t, tab.MemGetInfo_v2(ctx, &free, nil))
		if free != 2<<20 {
			t.Errorf("free %d", free)
		}
		must(t, tab.MemFree_v2(ctx, p))
	}
}

func TestMemoryOption(t *testing.T) {
	t.Setenv(env.Memory, "nonsense")
	d, err := New(Options{Memory: 1<<30 + 5})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if got := d.devices[0].totalMem(); got != 1<<30 {
		t.Errorf("%d bytes", got)
	}
	var e *MemorySizeError
	if _, err := New(Options{}); !errors.As(err, &e) || e.Value != "nonsense" {
		t.Errorf("error %v", err)
	}
	if _, err := New(Options{Memory: 5}); !errors.As(err, &e) || e.Value != "5" {
		t.Errorf("error %v", err)
	}
}

func TestParseMemory(t *testing.T) {
	for _, c := range []struct {
		text string
		want uint64
		bad  bool
	}{
		{"", 0, false}, {"  ", 0, false}, {"8G", 8 << 30, false}, {"8g", 8 << 30, false}, {"100000K", 96 << 20, false},
		{"134217728", 128 << 20, false}, {" 64M ", 64 << 20, false},
		{"0", 0, true}, {"63M", 0, true}, {"G", 0, true}, {"8GB", 0, true}, {"-1G", 0, true}, {"1.5G", 0, true},
		{"2T", 0, true}, {"99999999999999999T", 0, true}, {"+8G", 0, true},
	} {
		got, err := parseMemory(c.text)
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: %d, %v", c.text, got, err)
		}
	}
}
