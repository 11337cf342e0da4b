//go:build linux && cgo

package main

import (
	"os"
	"strings"
	"testing"
)

// runtimeDifferences are lines of the recording that the software device does not give, with the reason. The key is the
// part of the line before the answer.
var runtimeDifferences = map[string]string{
	"attributes: cudaDeviceGetAttribute(34)":  "the number of the device on its bus is the machine's",
	"attributes: cudaDeviceGetAttribute(110)": "GPUDirect RDMA: another device's access over the bus, which software has not",
	"attributes: cudaDeviceGetAttribute(116)": "GPUDirect RDMA",
	"attributes: cudaDeviceGetAttribute(117)": "GPUDirect RDMA",
	"attributes: cudaDeviceGetAttribute(118)": "GPUDirect RDMA",
	"attributes: cudaDeviceGetAttribute(119)": "handles of a fabric between machines are not supported",
	"attributes: cudaDeviceGetAttribute(124)": "arrays with deferred mapping are not supported",
	"attributes: cudaDeviceGetAttribute(128)": "handles of a fabric between machines are not supported",

	"properties: p.memoryPoolSupportedHandleTypes": "handles of a fabric between machines are not supported",
	"graphs: cudaGraphExecUpdate(x, child, &info)": "child is what a failed call has left there, which is not defined",
	"arrays: cudaMemcpy2DToArray(a, 2, 1, host, 128, 128, 4, cudaMemcpyHostToDevice)": "a place inside an element of the " +
		"array: the driver API refuses it, and so does the runtime here",
	"arrays: back[33]": "what the copy before has written",
}

// after are lines whose text stands often; the difference is known only behind a line with a known one.
var after = map[string]string{"graphs: info.result": "graphs: cudaGraphExecUpdate(x, child, &info)"}

// TestRuntimeConformance compares the answers to some 900 calls of the runtime API with those of NVIDIA's runtime on an
// H200: codes, what cudaGetLastError gives after a failure, and what the calls have done.
func TestRuntimeConformance(t *testing.T) {
	recorded, err := os.ReadFile("testdata/runtime-h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	calls := 0
	for line := range strings.Lines(string(recorded)) {
		if name, _, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") {
			want[name] = append(want[name], strings.TrimSuffix(line, "\n"))
			if strings.Contains(line, " -> ") {
				calls++
			}
		}
	}
	bin := cudaProgram(t, "record", 13000, "-include", "cuda_runtime.h")
	used := map[string]bool{}
	lines, different := 0, 0
	for _, name := range strings.Fields(run(t, "", nil, bin)) {
		out, err := start1(t, "", []string{"GOCUDA_DEVICE=software"}, bin, name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(got) != len(want[name]) {
			t.Errorf("%s: %d lines, recorded %d", name, len(got), len(want[name]))
			continue
		}
		last := ""
		for i, w := range want[name] {
			lines++
			call := head(w)
			switch {
			case got[i] == w:
			case runtimeDifferences[call] != "" && head(got[i]) == call:
				used[call] = true
				different++
			case after[call] != "" && last == after[call] && head(got[i]) == call:
				different++
			default:
				t.Errorf("\nrecorded %s\nhere     %s", w, got[i])
			}
			last = call
		}
	}
	for call := range runtimeDifferences {
		if !used[call] {
			t.Errorf("%s is listed as different and is equal", call)
		}
	}
	if calls < 600 {
		t.Errorf("%d calls are recorded", calls)
	}
	t.Logf("%d lines of %d calls, %d known to differ", lines, calls, different)
}

// head is a line without its answer.
func head(line string) string {
	for _, sign := range []string{" -> ", " = "} {
		if h, _, ok := strings.Cut(line, sign); ok {
			return h
		}
	}
	return line
}
