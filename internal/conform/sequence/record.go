package sequence

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// workerVariable makes a process a worker: it reads the numbers of sequences from its standard input and writes to
// descriptor 3.
const workerVariable = "GOCUDA_SEQUENCE_WORKER"

// Recorder runs sequences in worker processes of this program: each sequence has its time, and a crash ends no more
// than one.
type Recorder struct {
	Workers int
	PerWork int           // sequences that one process makes, at most
	Limit   time.Duration // for one sequence
	Until   time.Time     // no sequence begins later
}

// Worker runs the sequences that a parent asks this process for and returns true; false when this is no worker.
func Worker(list []Recorded, open func() (*driver.Table, error)) bool {
	if os.Getenv(workerVariable) == "" {
		return false
	}
	out := os.NewFile(3, "answers")
	t, err := open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var n int
		if _, err := fmt.Sscan(in.Text(), &n); err != nil || n < 0 || n >= len(list) {
			os.Exit(1)
		}
		m := NewMachine(t)
		for _, l := range list[n].Lines {
			c, err := Parse(l.Call)
			if err != nil {
				os.Exit(1)
			}
			answer := m.Do(c)
			if _, err := fmt.Fprintf(out, "%s\n", strings.ReplaceAll(answer, "\n", `\n`)); err != nil {
				os.Exit(1)
			}
		}
		end := "done"
		if !clean(t) {
			end = "broken"
		}
		m.Close() // after the reset: work may still write to its memory
		fmt.Fprintf(out, "%s\n", end)
		if end == "broken" {
			break
		}
	}
	os.Exit(0)
	return true
}

// clean makes the process's device as it was before the first sequence, as far as calls can do that, and says whether
// they could.
func clean(t *driver.Table) bool {
	m := NewMachine(t)
	defer m.Close()
	for _, line := range []string{"cuCtxSetCurrent(NULL)", "cuDeviceGetDefaultMemPool(&+pool, 0)",
		"cuDeviceSetMemPool(0, pool)", "cuDevicePrimaryCtxReset_v2(0)", "cuDevicePrimaryCtxRetain(&+ctx, 0)",
		"cuCtxSetCurrent(ctx)", "cuCtxSynchronize()", "cuCtxSetCurrent(NULL)", "cuDevicePrimaryCtxRelease_v2(0)"} {
		c, err := Parse(line)
		if err != nil {
			return false
		}
		if r := m.Do(c); !strings.HasPrefix(r, "CUDA_SUCCESS") && c.Fn != "cuCtxSetCurrent" {
			return false
		}
	}
	return true
}

// process is a worker.
type process struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan string // closed when the process has ended
	made  int
}

func start() (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p := &process{cmd: exec.Command(self, os.Args[1:]...), lines: make(chan string, 64)}
	// The driver's cache of compilations would make the second recording another one.
	p.cmd.Env = append(os.Environ(), workerVariable+"=1", "CUDA_CACHE_DISABLE=1")
	p.cmd.ExtraFiles = []*os.File{w}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		r.Close()
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		r.Close()
		return nil, err
	}
	go func() {
		defer close(p.lines)
		defer r.Close()
		s := bufio.NewScanner(r)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			p.lines <- s.Text()
		}
	}()
	return p, nil
}

// end ends a worker at once.
func (p *process) end() {
	_ = p.cmd.Process.Kill()
	p.in.Close()
	for range p.lines { // until it has ended
	}
	_ = p.cmd.Wait()
}

// Record runs the sequences and returns their recordings; those that time did not suffice for have no lines.
func (r Recorder) Record(list []Recorded) ([]Recorded, error) {
	out := make([]Recorded, len(list))
	queue := make(chan int, len(list))
	for i := range list {
		out[i].Name = list[i].Name
		queue <- i
	}
	close(queue)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	for range r.Workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var p *process
			for i := range queue {
				if time.Now().After(r.Until) {
					break
				}
				if p == nil {
					var err error
					if p, err = start(); err != nil {
						mu.Lock()
						first = err
						mu.Unlock()
						return
					}
				}
				lines, alive := r.one(p, i, list[i])
				out[i].Lines = lines
				p.made++
				if !alive || p.made >= r.PerWork {
					p.end()
					p = nil
				}
			}
			if p != nil {
				p.end()
			}
		}()
	}
	wg.Wait()
	return out, first
}

// one runs a sequence in a worker and says whether the worker can go on.
func (r Recorder) one(p *process, i int, s Recorded) ([]Line, bool) {
	var lines []Line
	timer := time.NewTimer(r.Limit)
	defer timer.Stop()
	if _, err := fmt.Fprintf(p.in, "%d\n", i); err != nil {
		return nil, false
	}
	for {
		select {
		case answer, alive := <-p.lines:
			switch {
			case !alive && len(lines) < len(s.Lines):
				return append(lines, Line{s.Lines[len(lines)].Call, Crash}), false
			case !alive:
				return lines, false
			case len(lines) == len(s.Lines):
				return lines, answer == "done"
			}
			lines = append(lines, Line{s.Lines[len(lines)].Call, answer})
		case <-timer.C:
			if len(lines) < len(s.Lines) {
				lines = append(lines, Line{s.Lines[len(lines)].Call, Hang})
			}
			return lines, false
		}
	}
}
