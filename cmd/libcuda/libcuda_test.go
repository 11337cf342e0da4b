//go:build linux && cgo

package main

import (
	"bytes"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/conform/api"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/skip"
)

// The test binary is also a client: a program in Go with a runtime of its own, and cgo, that opens the library by
// dlopen.
func TestMain(m *testing.M) {
	if api.Child(func() (*driver.Table, error) {
		d, err := nvidia.Open(nvidia.Options{})
		if err != nil {
			return nil, err
		}
		return d.Table(), nil
	}) {
		return
	}
	if what := os.Getenv(clientVariable); what != "" {
		os.Exit(client(what))
	}
	code := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(code)
}

var built struct {
	once sync.Once
	dir  string
	err  error
}

// library is the folder of the library, built as the Makefile builds it.
func library(t testing.TB) string {
	t.Helper()
	for _, tool := range []string{"gcc", "make"} {
		skip.Command(t, tool)
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "libcuda"); built.err != nil {
			return
		}
		cmd := exec.Command("make", "-C", "../..", "libcuda", "BUILD="+built.dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("make libcuda: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// program compiles a C program against the library.
func program(t testing.TB, name string, flags ...string) string {
	t.Helper()
	lib := library(t)
	bin := filepath.Join(t.TempDir(), name)
	args := append([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-missing-field-initializers",
		"-Ifront"}, flags...)
	args = append(args, "-o", bin, "testdata/c/"+name+".c", "-L"+lib, "-lcuda", "-lpthread", "-ldl")
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return bin
}

// notHere is the exit status of a program about hardware that the device does not have.
const notHere = 77

// run runs a program with the library in its path and returns what it printed.
func run(t testing.TB, stdin string, env []string, name string, args ...string) string {
	t.Helper()
	out, err := start1(t, stdin, env, name, args...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == notHere:
		skip.Without(t, skip.DeviceFeature, out)
	case err != nil:
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, out)
	}
	return out
}

func start1(t testing.TB, stdin string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	return startIn(t, "", stdin, env, name, args...)
}

// startIn is start1 in a directory.
func startIn(t testing.TB, dir, stdin string, env []string, name string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	lib := library(t)
	cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+lib)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dog := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	defer dog.Stop()
	err := cmd.Wait()
	return out.String(), err
}

// engines are those that run kernels here.
var engines = []string{"interpreter", "auto"}

// Each C program checks a family of the API.
func TestPrograms(t *testing.T) {
	for _, name := range []string{"device", "context", "memory", "module", "launch", "standing", "stream", "graph",
		"texture", "pool", "linker", "callback", "errors", "threads", "fork", "signals",
		"library", "event", "virtual", "memop", "occupancy", "tensormap", "green", "managed", "ipc", "sharing", "tools",
		"freed"} {
		t.Run(name, func(t *testing.T) {
			bin := program(t, name)
			for _, engine := range engines {
				out := run(t, "", []string{"GOCUDA_ENGINE=" + engine, "GOCUDA_TEST_SOFTWARE=1"}, bin)
				if !strings.HasSuffix(out, name+": passed\n") || strings.Contains(out, "goroutine") {
					t.Errorf("%s: %s", engine, out)
				}
			}
		})
	}
}

// A program that has used up its file descriptors is answered, before the first call and after. How many the first call
// needs differs: the Go runtime keeps one or two of the control group, where there is one. With one left it fails, from
// some number on it works, and in between it fails by its answer alone.
func TestDescriptors(t *testing.T) {
	bin := program(t, "descriptors")
	env := []string{"GOCUDA_TEST_SOFTWARE=1"}
	const passed, most = "descriptors: passed\n", 16
	works := func(args ...string) bool {
		out := run(t, "", env, bin, args...)
		if !strings.HasSuffix(out, passed) || strings.Contains(out, "goroutine") {
			t.Errorf("%v: %s", args, out)
		}
		return strings.HasSuffix(out, "works\n"+passed)
	}
	works()
	before := false
	for n := 1; n <= most; n++ {
		now := works(strconv.Itoa(n))
		if now && n == 1 || before && !now || n == most && !now {
			t.Errorf("with %d descriptors left: works %v, with one less %v", n, now, before)
		}
		before = now
	}
}

// TestOneProcessor: on one processor a thread that calls without end does not keep others from their calls, and streams
// from their work. Where each of some 20,000 waits is as long as the Go runtime leaves a thread alone (10 ms), this
// takes minutes, else seconds.
func TestOneProcessor(t *testing.T) {
	bin := program(t, "standing")
	for _, engine := range engines {
		start := time.Now()
		run(t, "", []string{"GOCUDA_ENGINE=" + engine, "GOCUDA_TEST_SOFTWARE=1", "GOMAXPROCS=1"}, bin)
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s: %v", engine, d)
		}
	}
}

// What kernels print comes in order with the program's own buffered output. Blocks have no order among themselves.
func TestPrintOrder(t *testing.T) {
	out := run(t, "", nil, program(t, "launch"))
	lines := strings.Split(out, "\n")
	if len(lines) == 7 {
		slices.Sort(lines[1:4])
	}
	if got, want := strings.Join(lines, "\n"), "before\nblock 0 ok\nblock 1 ok\nblock 2 ok\nafter\nlaunch: passed\n"; got != want {
		t.Errorf("%q, want %q but for the order of blocks", out, want)
	}
}

// The library exports what the driver of 13.0 exports and what came later, and nothing else.
func TestExportedSymbols(t *testing.T) {
	var data struct {
		Exported  []string `json:"exported_symbols"`
		Functions []struct {
			Name  string `json:"name"`
			Since int    `json:"since"`
		} `json:"functions"`
	}
	b, err := os.ReadFile("../../api/cuda-13.5.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &data); err != nil {
		t.Fatal(err)
	}
	for _, f := range data.Functions {
		if f.Since > 13000 {
			data.Exported = append(data.Exported, f.Name)
		}
	}
	f, err := elf.Open(filepath.Join(library(t), "libcuda.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := f.DynString(elf.DT_SONAME); err != nil || !slices.Equal(names, []string{"libcuda.so.1"}) {
		t.Errorf("SONAME %q, %v", names, err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, s := range symbols {
		if s.Section != elf.SHN_UNDEF && elf.ST_TYPE(s.Info) == elf.STT_FUNC &&
			elf.ST_VISIBILITY(s.Other) == elf.STV_DEFAULT {
			have = append(have, s.Name)
		}
	}
	slices.Sort(have)
	slices.Sort(data.Exported)
	for _, s := range data.Exported {
		if _, ok := slices.BinarySearch(have, s); !ok {
			t.Errorf("%s is missing", s)
		}
	}
	for _, s := range have {
		if _, ok := slices.BinarySearch(data.Exported, s); !ok {
			t.Errorf("%s is exported and not by the driver", s)
		}
	}
	t.Logf("%d symbols", len(have))
}

// cuGetProcAddress gives, for every name, version and flag, what driver.ResolveProc does, which is tested against the
// driver's own table: as a driver of 13.0, of the newest version, and of one between, where a newer driver's names are
// none.
func TestProcAddress(t *testing.T) {
	for _, v := range []int{13000, 13020, driver.CUDA_VERSION} {
		t.Run(fmt.Sprintf("%d.%d", v/1000, v%1000/10), func(t *testing.T) { procAddresses(t, v) })
	}
}

func procAddresses(t *testing.T, have int) {
	names := map[string]bool{"cuNothing": true, "cuMemAlloc_v2": true, "": false}
	versions := map[int]bool{0: true, 1: true, 13000: true, 13010: true, 13060: true, -1: true}
	for s := range driver.Symbols() {
		names[s.Base] = true
		if s.Since > 0 {
			versions[s.Since], versions[s.Since-10] = true, true
		}
	}
	var questions, answers strings.Builder
	n := 0
	for name, ok := range names {
		if !ok {
			continue
		}
		for v := range versions {
			for flags := range uint64(5) {
				fmt.Fprintln(&questions, name, v, flags)
				n++
				if v > have || flags > 3 {
					fmt.Fprintln(&answers, int(driver.CUDA_ERROR_INVALID_VALUE), -1, "-")
					continue
				}
				at := v
				if at < 0 {
					at = have
				}
				symbol, status := driver.ResolveProc(name, at, have, flags)
				if symbol == "" {
					symbol = "-"
				}
				fmt.Fprintln(&answers, 0, int(status), symbol)
			}
		}
	}
	var env []string
	if have != 13000 {
		env = []string{fmt.Sprintf("GOCUDA_DRIVER_VERSION=%d.%d", have/1000, have%1000/10)}
	}
	out := run(t, questions.String(), env, program(t, "procaddr"))
	q, got, want := strings.Split(questions.String(), "\n"), strings.Split(out, "\n"),
		strings.Split(answers.String(), "\n")
	if len(got) != len(want) {
		t.Fatalf("%d answers for %d questions: %s", len(got)-1, n, got[max(0, len(got)-3):])
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: %s, want %s", q[i], got[i], want[i])
		}
	}
	t.Logf("%d questions", n)
}

// An instrumented client works, and its own errors are still found.
func TestAddressSanitizer(t *testing.T) {
	if out, err := exec.Command("gcc", "-fsanitize=address", "-o", filepath.Join(t.TempDir(), "x"), "-x", "c",
		"/dev/null").CombinedOutput(); err != nil && bytes.Contains(out, []byte("asan")) {
		skip.Without(t, skip.Sanitizer, string(out))
	}
	for _, name := range []string{"memory", "launch", "callback", "errors", "threads", "graph"} {
		bin := program(t, name, "-fsanitize=address", "-g")
		out, err := start1(t, "", nil, bin)
		// it stops every thread with ptrace, which a sandbox may forbid
		if strings.Contains(out, "LeakSanitizer has encountered a fatal error") {
			out, err = start1(t, "", []string{"ASAN_OPTIONS=detect_leaks=0"}, bin)
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(out, "AddressSanitizer") || !strings.HasSuffix(out, name+": passed\n") {
			t.Errorf("%s: %s", name, out)
		}
	}
	out, err := start1(t, "", []string{"ASAN_OPTIONS=detect_leaks=0"},
		program(t, "asan", "-fsanitize=address", "-g", "-Wno-error"))
	if err == nil || !strings.Contains(out, "heap-buffer-overflow") {
		t.Errorf("an overflow of the client's is not reported: %v\n%s", err, out)
	}
}

// starts is how often each client starts in a row.
const starts = 100

func TestStartsC(t *testing.T) {
	bin := program(t, "start")
	began := time.Now()
	for i := range starts {
		if out, err := start1(t, "", nil, bin); err != nil {
			t.Fatalf("start %d: %v\n%s", i, err, out)
		}
	}
	t.Logf("%d starts, %v each", starts, time.Since(began)/starts)
}

// The answers to the cases of package conform are those of the software device in Go, through the library and out of a
// Go client.
func TestConformance(t *testing.T) {
	f, err := os.Open("../../internal/conform/api/testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	truth, err := api.ReadTranscript(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(env.Driver, filepath.Join(library(t), "libcuda.so.1"))
	t.Setenv(env.PTX, "9.0") // the recorded driver refuses what is newer
	texts, err := api.One.Record(2)
	if err != nil {
		t.Fatal(err)
	}
	v := api.One.Judge(truth, func(i int, _ api.Case) []string { return api.Lines(texts[i]) })
	for _, p := range v.Problems {
		t.Error(p)
	}
	t.Logf("%d cases with %d lines: %d equal, %d known to differ", v.Cases, v.Lines, v.Equal, v.Known)
}
