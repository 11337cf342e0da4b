package sequence

import (
	"regexp"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// excluded are the functions that sequences do not call, each group with the reason.
var excluded = []struct{ pattern, reason string }{
	{`^cu(GL|EGL|VDPAU|Graphics|EventCreateFromEGLSync)`, "graphics interop needs a display's API"},
	{`^cuMulticast`, "multicast is not touched on machines of others"},
	{`^cuCheckpoint`, "stops the process"},
	{`^cuProfiler`, "changes the whole process"},
	{`^cuCoredump`, "changes what a crash leaves behind"},
	{`^cuIpc(Open|Close)`, "between processes; internal/softdev's ipc tests have it"},
	{`^cuLogs(Dump|Register|Unregister)`, "the log of the whole process; internal/conform/api records it"},
	{`^cuGetExportTable$`, "not documented"},
	{`^cuDevice(Register|Unregister)AsyncNotification$`,
		"NULL for its result is undefined, and the handle of another process's life; internal/conform/api records it"},
	{`^cuDevicePrimaryCtx(Release|Release_v2|Reset|Reset_v2|SetFlags)$`, "ends what every thread of the sequence uses"},
	{`^cuDeviceTotalMem$|^cu(Memcpy(2D|2DAsync|2DUnaligned|3D|3DAsync|AtoA|AtoD|AtoH|AtoHAsync|DtoA|DtoD|DtoDAsync|DtoH|DtoHAsync|HtoA|HtoAAsync|HtoD|HtoDAsync)|Memset(D8|D16|D32|D2D8|D2D16|D2D32)|Mem(Alloc|AllocHost|AllocPitch|Free|GetAddressRange|GetInfo|HostGetDevicePointer|HostRegister)|ModuleGetGlobal|TexRef(GetAddress|SetAddress|SetAddress2D)|Array(Create|GetDescriptor|3DCreate|3DGetDescriptor)|IpcOpenMemHandle|CtxCreate)$`,
		"the forms of 3.1, for contexts of that version: in others they answer INVALID_CONTEXT (internal/conform/api), and such a context crashes the driver (context/create/v1-first)"},
}

// TestCoverage: every function of the table is called often enough, or is excluded for a reason.
func TestCoverage(t *testing.T) {
	const sequences, least = 2000, 2
	in := map[string]int{}
	known := facts(t)
	calls := 0
	for seed := range uint64(sequences) {
		seen := map[string]bool{}
		steps := Generate(seed, Options{Length: 24, Threads: 3, Facts: known})
		if len(steps) < 10 {
			t.Errorf("seed %d has %d calls", seed, len(steps))
		}
		for _, s := range steps {
			calls++
			if s.api() && !seen[s.Fn] {
				seen[s.Fn] = true
				in[s.Fn]++
			}
		}
	}
	outside, used := 0, make([]bool, len(excluded))
	for s := range driver.Symbols() {
		if s.Since > 13000 { // newer than the driver whose answers are recorded
			continue
		}
		skip := false
		for i, e := range excluded {
			if regexp.MustCompile(e.pattern).MatchString(s.Name) {
				skip, used[i] = true, true
			}
		}
		switch {
		case skip && in[s.Name] > 0:
			t.Errorf("%s is excluded and called", s.Name)
		case skip:
			outside++
		case in[s.Name] < least:
			t.Errorf("%s is in %d of %d sequences", s.Name, in[s.Name], sequences)
		}
	}
	for i, e := range excluded {
		if !used[i] {
			t.Errorf("no function is excluded by %q", e.pattern)
		}
	}
	if outside > 119 {
		t.Errorf("%d functions are excluded; the bound may only go down", outside)
	}
	t.Logf("%d sequences of %d calls: %d functions, %d excluded", sequences, calls, len(in), outside)
}
