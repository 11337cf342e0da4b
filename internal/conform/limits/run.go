package limits

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// childVariable tells a child process which calls to make: first function, end, first call of the first function, and
// the file for what becomes of them.
const childVariable = "GOCUDA_LIMITS"

// A call hangs when the process has worked on it for callLimit, or when it has not returned after waitLimit, however
// little it worked: on a busy machine a process waits for processors most of the time.
const (
	callLimit = 20 * time.Second
	waitLimit = 5 * time.Minute
)

// watch calls hung when the call that begins now hangs, unless the function that it returns is called before.
func watch(hung func()) (stop func()) {
	start, worked := time.Now(), processorTime()
	var timer *time.Timer
	look := func() {
		left := min(callLimit-(processorTime()-worked), waitLimit-time.Since(start))
		if left <= 0 {
			hung()
			return
		}
		timer.Reset(max(left/time.Duration(runtime.GOMAXPROCS(0)), 100*time.Millisecond))
	}
	timer = time.AfterFunc(time.Hour, look)
	timer.Reset(callLimit / time.Duration(runtime.GOMAXPROCS(0)))
	return func() { timer.Stop() }
}

// MemoryLimit is how much memory a child may take, in bytes.
const MemoryLimit = 12 << 30

// Child makes the calls that a parent asked this process for and returns true; false when this is no child. open makes
// a device, once for each function.
func Child(open func() (*driver.Table, error)) bool {
	job := os.Getenv(childVariable)
	if job == "" {
		return false
	}
	if err := child(job, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
	return true
}

func child(job string, open func() (*driver.Table, error)) error {
	runtime.LockOSThread()
	var first, end, from int
	var path string
	if _, err := fmt.Sscanf(job, "%d %d %d %s", &first, &end, &from, &path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(f)
	a, err := newArena()
	if err != nil {
		return err
	}
	if err := limitMemory(MemoryLimit); err != nil {
		return err
	}
	list := Functions()
	for i := first; i < end; i, from = i+1, 0 {
		t, err := open()
		if err != nil {
			return err
		}
		if r := t.Init(0, 0); r != driver.CUDA_SUCCESS {
			return fmt.Errorf("cuInit: %v", r)
		}
		w := &world{t: t, arena: a, path: path + ".out"}
		if err := os.WriteFile(w.path+".ptx", []byte(text), 0o600); err != nil {
			return err
		}
		for j, c := range dryCalls(&list[i]) {
			if j < from {
				continue
			}
			fmt.Fprintf(out, "%d %d %s %s", i, j, list[i].Name, c.text)
			if err := out.Flush(); err != nil {
				return err
			}
			stop := watch(func() {
				fmt.Fprintf(f, " -> %s\n", hung)
				os.Exit(3)
			})
			outcome := w.make(&list[i], c)
			stop()
			fmt.Fprintf(out, " -> %s\n", strings.ReplaceAll(outcome, "\n", "\t"))
			if err := out.Flush(); err != nil {
				return err
			}
			if w.spent(outcome) {
				return nil // the parent goes on in a fresh process
			}
		}
	}
	return nil
}

// spent says whether the device is of no use after a call: something holds its locks, or it has faulted.
func (w *world) spent(outcome string) bool {
	if strings.HasPrefix(outcome, panicked) || strings.HasPrefix(outcome, faulted) ||
		strings.Contains(outcome, ", then ") {
		return true
	}
	if strings.HasPrefix(outcome, unmade) {
		w.made = nil
	}
	return false
}

// dryCalls are the calls of a function, without a device.
func dryCalls(s *driver.Symbol) []call {
	a, err := newArena()
	if err != nil {
		return nil
	}
	defer a.close()
	w := &world{arena: a, path: "path"}
	t := &driver.Table{}
	t.FillNotSupported()
	return w.calls(s, reflect.TypeOf(t.Func(s.Field)))
}

// Outcome is what became of a call.
type Outcome struct {
	Function string
	Call     string // the number and its value; empty for the plain call
	Text     string
}

// Runner makes all calls in child processes of this program.
type Runner struct {
	Workers   int                    // children at a time
	Functions int                    // in each
	Until     time.Time              // what has not begun then is left out; zero for no end
	Skip      func(name string) bool // functions that are not called; may be nil
}

// Run returns what became of the calls, in their order.
func (run *Runner) Run() ([]Outcome, error) {
	list := Functions()
	texts := make([][]Outcome, len(list))
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "limits")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	type job struct{ first, end int }
	jobs := make(chan job, len(list))
	for i := 0; i < len(list); {
		j := i + 1
		// a context of the first version is alone
		for j < min(i+run.Functions, len(list)) && old(&list[j]) == old(&list[i]) {
			j++
		}
		jobs <- job{i, j}
		i = j
	}
	close(jobs)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for n := range run.Workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			path := filepath.Join(dir, fmt.Sprint(n))
			for j := range jobs {
				if err := run.children(self, path, j.first, j.end, texts); err != nil {
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
				}
			}
		}()
	}
	wg.Wait()
	var all []Outcome
	for _, t := range texts {
		all = append(all, t...)
	}
	return all, errors.Join(errs...)
}

// children make the calls of functions, as many as it takes.
func (run *Runner) children(self, path string, first, end int, texts [][]Outcome) error {
	list := Functions()
	for from := 0; first < end; {
		if !run.Until.IsZero() && time.Now().After(run.Until) {
			return nil
		}
		if run.Skip != nil && run.Skip(list[first].Name) {
			first, from = first+1, 0
			continue
		}
		end := end
		for i := first; run.Skip != nil && i < end; i++ {
			if run.Skip(list[i].Name) {
				end = i
			}
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %d %s", childVariable, first, end, from, path))
		said, err := cmd.CombinedOutput()
		b, readErr := os.ReadFile(path)
		if readErr != nil {
			return readErr
		}
		lines := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
		i, j := first, from-1
		for _, line := range lines {
			if line == "" {
				break
			}
			head, outcome, ended := strings.Cut(line, " -> ")
			if !ended {
				outcome = crashed + " " + string(bytes.ReplaceAll(bytes.TrimSpace(said), []byte("\n"), []byte("\t")))
			}
			var name string
			if _, err := fmt.Sscan(head, &i, &j, &name); err != nil {
				return fmt.Errorf("%q: %w", line, err)
			}
			texts[i] = append(texts[i], Outcome{name, strings.TrimSpace(head[strings.Index(head, name)+len(name):]),
				outcome})
		}
		if i == first && j == from-1 {
			return fmt.Errorf("%s: no call was made: %w: %s", list[first].Name, err, said)
		}
		first, from = i, j+1
		if from == len(dryCalls(&list[i])) {
			first, from = i+1, 0
		}
	}
	return nil
}
