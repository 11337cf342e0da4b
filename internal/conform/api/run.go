package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// childVariable tells a child process which cases to run: the table, first case, end, and the file for the transcript.
const childVariable = "GOCUDA_API_CASES"

// caseLimit ends a case that hangs.
const caseLimit = 30 * time.Second

// The marks around a case in a child's file.
const (
	beginMark = "\x01begin "
	endMark   = "\x01end"
	hangMark  = "\x01hang"
)

// Child runs the cases that a parent asked this process for and returns true; false when this is no child.
func Child(open func() (*driver.Table, error)) bool {
	if os.Getenv(otherVariable) != "" {
		otherMain(open)
	}
	job := os.Getenv(childVariable)
	if job == "" {
		return false
	}
	var first, end int
	var set, path string
	if _, err := fmt.Sscanf(job, "%s %d %d %s", &set, &first, &end, &path); err != nil {
		panic(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		panic(err)
	}
	t, err := open()
	if err != nil {
		panic(err)
	}
	x := sets[slices.IndexFunc(sets, func(x *Set) bool { return x.Name == set })]
	all := x.Cases()
	w := bufio.NewWriter(f)
	for i := first; i < end; i++ {
		fmt.Fprintf(w, "%s%d\n", beginMark, i)
		_ = w.Flush()
		dog := time.AfterFunc(caseLimit, func() {
			fmt.Fprintf(f, "%s\n", hangMark)
			os.Exit(3)
		})
		dir, err := os.MkdirTemp("", "case")
		if err != nil {
			panic(err)
		}
		all[i].Execute(t, dir, w)
		dog.Stop()
		_ = os.RemoveAll(dir)
		fmt.Fprintf(w, "%s\n", endMark)
		_ = w.Flush()
		if all[i].Start != NoInit && broken(t) {
			break // the parent goes on in a fresh process
		}
	}
	_ = f.Close()
	os.Exit(0)
	return true
}

// broken says whether a case has left the process's device with a fault.
func broken(t *driver.Table) bool {
	var ctx driver.CUcontext
	if t.CtxGetCurrent(0, &ctx) != driver.CUDA_SUCCESS {
		return true
	}
	if ctx == 0 {
		return false
	}
	r := t.CtxSynchronize(0)
	return r != driver.CUDA_SUCCESS && r != driver.CUDA_ERROR_INVALID_CONTEXT &&
		r != driver.CUDA_ERROR_CONTEXT_IS_DESTROYED
}

// Record runs the whole table in child processes of this program, so many at a time, and returns the transcript of each
// case.
func (x *Set) Record(workers int) ([]string, error) {
	return x.RecordSome(workers, func(Case) bool { return true })
}

// RecordSome is Record for some cases; the others have no transcript.
func (x *Set) RecordSome(workers int, wanted func(Case) bool) ([]string, error) {
	all := x.Cases()
	texts := make([]string, len(all))
	type job struct{ first, end int }
	var jobs []job
	for i := 0; i < len(all); {
		j := i + 1
		if !wanted(all[i]) {
			i = j
			continue
		}
		if !all[i].Alone {
			for j < len(all) && j-i < 25 && wanted(all[j]) && !all[j].Alone && all[j].Start == all[i].Start {
				j++
			}
		}
		jobs = append(jobs, job{i, j})
		i = j
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "api")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	queue := make(chan job, len(jobs))
	for _, j := range jobs {
		queue <- j
	}
	close(queue)
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs []error
	)
	for n := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			path := filepath.Join(dir, fmt.Sprint(n))
			for j := range queue {
				for first := j.first; first < j.end; {
					done, err := x.runChild(self, path, first, j.end, texts)
					if err != nil {
						mu.Lock()
						errs = append(errs, err)
						mu.Unlock()
						break
					}
					first = done
				}
			}
		}()
	}
	wg.Wait()
	return texts, errors.Join(errs...)
}

// runChild runs cases from first on and returns the first case that was not run: a child that dies leaves some.
func (x *Set) runChild(self, path string, first, end int, texts []string) (int, error) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(end-first+1)*caseLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	// The driver's cache of compilations would keep logs and times from the second recording.
	cmd.Env = append(os.Environ(), "CUDA_CACHE_DISABLE=1",
		fmt.Sprintf("%s=%s %d %d %s", childVariable, x.Name, first, end, path))
	output, runErr := cmd.CombinedOutput()
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	next := first
	for _, part := range strings.Split(string(b), beginMark)[1:] {
		number, body, _ := strings.Cut(part, "\n")
		var i int
		if _, err := fmt.Sscan(number, &i); err != nil {
			return 0, err
		}
		body, ended := strings.CutSuffix(body, endMark+"\n")
		body, hung := strings.CutSuffix(body, hangMark+"\n")
		switch {
		case hung:
			body += " -> HANG\n"
		case !ended:
			body += " -> CRASH\n"
		}
		texts[i] = body
		next = i + 1
	}
	if next == first {
		return 0, fmt.Errorf("cases from %d on: no case ran: %w\n%s", first, runErr, bytes.TrimSpace(output))
	}
	return next, nil
}
