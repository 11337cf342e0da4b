package softdev

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// limitCase is a module, or texts for the linker, and how its kernel k is launched: with the address of a buffer, or
// with a parameter block that begins with it.
type limitCase struct {
	ID     string
	PTX    string
	Link   []string
	Out    *int // bytes of the buffer that the recording has, 64 when absent
	Run    *int // 0: k is not launched
	Params []uint8
	Block  uint32
	Stack  *uint64 // CU_LIMIT_STACK_SIZE before the launch
}

// limitAnswer is what the driver said.
type limitAnswer struct {
	ID      string
	Load    driver.CUresult
	Stages  []driver.CUresult // of the linker's calls, and of the load of what it made
	Err     string
	Get     *driver.CUresult
	Limit   *driver.CUresult
	Launch  *driver.CUresult
	Sync    *driver.CUresult
	Out     string
	Died    *int // the process ended
	Timeout int  // the compiler took longer than 15 seconds
}

const limitBuffer = 4096

type limitRunner struct {
	tab *driver.Table
	d   *Driver
	ctx driver.CUcontext
	out driver.CUdeviceptr
}

func (x *limitRunner) renew(t *testing.T) {
	t.Helper()
	if x.ctx != 0 {
		x.tab.CtxDestroy_v2(x.ctx, x.ctx)
	}
	must(t, x.tab.CtxCreate_v2(x.ctx, &x.ctx, 0, 0))
	must(t, x.tab.MemAlloc_v2(x.ctx, &x.out, limitBuffer))
}

func (x *limitRunner) answer(t *testing.T, c *limitCase) (a limitAnswer) {
	t.Helper()
	a.ID = c.ID
	text := make([]byte, 1<<16)
	ids := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	values := []uintptr{address(t, &text[0]), uintptr(len(text))}
	var m driver.CUmodule
	if c.Link == nil {
		a.Load = x.tab.ModuleLoadDataEx(x.ctx, &m, unsafe.Pointer(cstr(c.PTX)), 2, &ids[0], &values[0])
	} else {
		var s driver.CUlinkState
		step := func(r driver.CUresult) bool {
			a.Load, a.Stages = r, append(a.Stages, r)
			return r == success
		}
		ok := step(x.tab.LinkCreate_v2(x.ctx, 2, &ids[0], &values[0], &s))
		for i, in := range c.Link {
			ok = ok && step(x.tab.LinkAddData_v2(x.ctx, s, driver.CU_JIT_INPUT_PTX, unsafe.Pointer(cstr(in)),
				uint64(len(in)+1), cstr("in"+string(rune('0'+i))), 0, nil, nil))
		}
		var image unsafe.Pointer
		var n uint64
		ok = ok && step(x.tab.LinkComplete(x.ctx, s, &image, &n))
		_ = ok && step(x.tab.ModuleLoadData(x.ctx, &m, image))
		defer x.tab.LinkDestroy(x.ctx, s)
	}
	a.Err = string(text[:bytes.IndexByte(text, 0)])
	if a.Load != success {
		return a
	}
	var f driver.CUfunction
	set := func(p **driver.CUresult, r driver.CUresult) bool {
		*p = &r
		return r == success
	}
	if !set(&a.Get, x.tab.ModuleGetFunction(x.ctx, &f, m, cstr("k"))) || c.Run != nil && *c.Run == 0 {
		return a
	}
	must(t, x.tab.MemsetD8_v2(x.ctx, x.out, 0xee, limitBuffer))
	if c.Stack != nil {
		set(&a.Limit, x.tab.CtxSetLimit(x.ctx, driver.CU_LIMIT_STACK_SIZE, *c.Stack))
	}
	block := max(c.Block, 1)
	if c.Params != nil {
		raw := slices.Clone(c.Params)
		*(*uint64)(unsafe.Pointer(&raw[0])) = uint64(x.out)
		n := uint64(len(raw))
		extra := []uintptr{1, address(t, &raw[0]), 2, uintptr(unsafe.Pointer(&n)), 0}
		set(&a.Launch, x.tab.LaunchKernel(x.ctx, f, 1, 1, 1, block, 1, 1, 0, 0, nil, &extra[0]))
	} else {
		params := []unsafe.Pointer{unsafe.Pointer(&x.out)}
		set(&a.Launch, x.tab.LaunchKernel(x.ctx, f, 1, 1, 1, block, 1, 1, 0, 0, &params[0], nil))
	}
	set(&a.Sync, x.tab.CtxSynchronize(x.ctx))
	if *a.Launch == success && *a.Sync == success {
		n := 64
		if c.Out != nil {
			n = *c.Out
		}
		out := make([]byte, n)
		must(t, x.tab.MemcpyDtoH_v2(x.ctx, unsafe.Pointer(&out[0]), x.out, uint64(n)))
		a.Out = hex.EncodeToString(out)
	}
	if *a.Sync != success || c.Stack != nil {
		x.renew(t)
	} else {
		must(t, x.tab.ModuleUnload(x.ctx, m))
	}
	return a
}

func readLimits(t *testing.T) (cases []limitCase, answers map[string]*limitAnswer) {
	t.Helper()
	f, err := os.Open("testdata/limits.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Cases   []limitCase
		Answers []limitAnswer
	}
	if err := json.NewDecoder(z).Decode(&all); err != nil {
		t.Fatal(err)
	}
	answers = map[string]*limitAnswer{}
	for i := range all.Answers {
		answers[all.Answers[i].ID] = &all.Answers[i]
	}
	return all.Cases, answers
}

// listedLimits reads a file of cases with what is said of each.
func listedLimits(t *testing.T, name string) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	open := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if id, what, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && !strings.HasPrefix(line, "#") {
			open[id] = what
		}
	}
	return open
}

// TestRecordedLimits loads and launches what an H200's driver was given, and compares every answer but those that the
// driver did not give: it died, or its compiler took too long. Differences are listed in testdata/limits_open.txt; a
// line whose difference is gone fails too.
func TestRecordedLimits(t *testing.T) {
	cases, answers := readLimits(t)
	listed, without := listedLimits(t, "limits_open.txt"), listedLimits(t, "limits_silent.txt")
	show := func(r *driver.CUresult) string {
		if r == nil {
			return "-"
		}
		return r.String()
	}
	for _, engine := range []string{"interpreter", "auto"} {
		d, tab, _ := open(t, Options{EngineName: engine, Recover: true})
		x := &limitRunner{tab: tab, d: d}
		x.renew(t)
		compared, silent := 0, 0
		for i := range cases {
			c := &cases[i]
			want := answers[c.ID]
			if want.Died != nil || want.Timeout != 0 {
				silent++
				why := "timeout"
				if want.Died != nil {
					why = fmt.Sprint("died ", *want.Died)
				}
				if without[c.ID] != why {
					t.Errorf("%s: %s, listed as %q", c.ID, why, without[c.ID])
				}
				continue
			}
			compared++
			got := x.answer(t, c)
			var what, texts []string
			diff := func(name, got, want string) {
				if got != want {
					what, texts = append(what, name),
						append(texts, fmt.Sprintf("%s\n got  %s\n want %s", name, got, want))
				}
			}
			diff("load", fmt.Sprint(got.Load, got.Stages), fmt.Sprint(want.Load, want.Stages))
			diff("log", got.Err, strings.TrimSpace(want.Err))
			if got.Load == want.Load {
				diff("function", show(got.Get), show(want.Get))
				diff("limit", show(got.Limit), show(want.Limit))
				diff("launch", show(got.Launch), show(want.Launch))
				diff("wait", show(got.Sync), show(want.Sync))
				// those give addresses
				if show(got.Sync) == show(want.Sync) && show(got.Launch) == show(want.Launch) &&
					!strings.HasPrefix(c.ID, "align/") {
					diff("result", got.Out, want.Out)
				}
			}
			if s := strings.Join(what, " "); s != listed[c.ID] {
				t.Errorf("%s: %s: differs in %q, listed is %q\n%s", engine, c.ID, s, listed[c.ID],
					strings.Join(texts, "\n"))
			}
		}
		if compared != 2455 || silent != len(without) {
			t.Errorf("%d cases compared, %d without an answer", compared, silent)
		}
		t.Logf("%s: %d cases, %d of them differ", engine, compared, len(listed))
	}
}
