// Command ptxgenrecord runs generated programs on the device that GOCUDA_DEVICE chooses and writes what came out, for
// testdata/generated (see its README.md).
//
// Programs run in processes of their own, several at a time: one that faults, crashes or hangs costs its process, not
// the others.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/ptxgen"
	"github.com/gocuda/cuda/internal/ptxgen/answer"
)

var (
	first   = flag.Uint64("first", 0, "first seed")
	count   = flag.Uint64("n", 3600, "programs")
	mutants = flag.Uint64("mutants", 1400, "mutants, of the seeds from a million on")
	workers = flag.Int("workers", 12, "processes")
	limit   = flag.Duration("limit", 10*time.Minute, "begin no program after this time")
	patient = flag.Duration("patient", 20*time.Second, "how long a program may take")
	expect  = flag.String("expect", "", "a set to compare with: rows that differ from it are kept")
	plain   = flag.Bool("plain", false, "run each program also compiled without optimisation")
	out     = flag.String("o", "answers.gz", "file to write")
	worker  = flag.Bool("worker", false, "read records from stdin and answer them on stdout")
)

func main() {
	flag.Parse()
	run := parent
	if *worker {
		run = child
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "ptxgenrecord:", err)
		os.Exit(1)
	}
}

// child answers records until its input ends or its context is broken.
func child() error {
	d, err := device.Open(device.Options{})
	if err != nil {
		return err
	}
	r := &answer.Runner{T: d.Table}
	if d.Kind == device.Software {
		r.Detail = d.LastDetail
	}
	var dev driver.CUdevice
	if c := r.T.DeviceGet(0, &dev, 0); c != driver.CUDA_SUCCESS {
		return fmt.Errorf("cuDeviceGet: %v", c)
	}
	if c := r.T.CtxCreate_v2(0, &r.Ctx, 0, dev); c != driver.CUDA_SUCCESS {
		return fmt.Errorf("cuCtxCreate: %v", c)
	}
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	for in.More() {
		var q answer.Record
		if err := in.Decode(&q); err != nil {
			return err
		}
		a, broken := one(r, &q)
		if err := out.Encode(&a); err != nil {
			return err
		}
		if broken {
			return nil
		}
	}
	return nil
}

// one answers a record, which may hold the sums that are expected.
func one(r *answer.Runner, q *answer.Record) (rec answer.Record, broken bool) {
	p := q.Program()
	if q.Mutant {
		var a answer.Answer
		var m driver.CUmodule
		m, a.Load, a.Log = r.Load(p.Text)
		if a.Load == driver.CUDA_SUCCESS {
			r.T.ModuleUnload(r.Ctx, m)
		}
		return answer.NewRecord(p, true, &a), false
	}
	a := r.Run(p)
	rec = answer.NewRecord(p, false, &a)
	size := 4 * p.Threads()
	for i, s := range rec.Sums {
		if i < len(q.Sums) && q.Sums[i] != s && len(rec.Differ) < 3 {
			if rec.Differ == nil {
				rec.Differ = map[int][]byte{}
			}
			rec.Differ[i] = a.Out[i*size:][:min(size, 256)]
		}
	}
	if a.Run != driver.CUDA_SUCCESS {
		return rec, true
	}
	if *plain && a.Load == driver.CUDA_SUCCESS {
		r.Plain = true
		b := r.Run(p)
		r.Plain = false
		if b.Load != driver.CUDA_SUCCESS || b.Run != driver.CUDA_SUCCESS {
			rec.Call = fmt.Sprintf("without optimisation: %v, %v", b.Load, b.Run)
			return rec, true
		}
		for i, s := range answer.Sums(p, b.Out) {
			if s != rec.Sums[i] {
				rec.Plain = append(rec.Plain, i)
			}
		}
	}
	return rec, false
}

// process is a worker of the parent.
type process struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out chan answer.Record
}

func start() (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-worker", fmt.Sprintf("-plain=%t", *plain))
	cmd.Stderr = os.Stderr
	w, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	r, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, in: json.NewEncoder(w), out: make(chan answer.Record)}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.out)
		for d := json.NewDecoder(bufio.NewReader(r)); ; {
			var a answer.Record
			if d.Decode(&a) != nil {
				return
			}
			p.out <- a
		}
	}()
	return p, nil
}

// ask has a worker answer a record; a worker that does not is gone afterwards.
func (p *process) ask(q answer.Record) (a answer.Record, alive bool) {
	a = answer.Record{Seed: q.Seed, Mutant: q.Mutant}
	if err := p.in.Encode(&q); err != nil {
		a.Ends = "gone before it was asked"
		return a, false
	}
	t := time.NewTimer(*patient)
	defer t.Stop()
	select {
	case b, ok := <-p.out:
		if ok {
			return b, b.Run == driver.CUDA_SUCCESS
		}
		a.Ends = fmt.Sprint(p.cmd.Wait())
	case <-t.C:
		a.Ends = "no answer in time"
	}
	return a, false
}

func (p *process) end() {
	p.cmd.Process.Kill()
	for range p.out {
	}
	p.cmd.Wait()
}

func parent() error {
	begin := time.Now()
	expected := map[uint64][]uint32{}
	if *expect != "" {
		f, err := os.Open(*expect)
		if err != nil {
			return err
		}
		_, list, err := answer.Read(f)
		f.Close()
		if err != nil {
			return err
		}
		for i := range list {
			if !list[i].Mutant {
				expected[list[i].Seed] = list[i].Sums
			}
		}
	}
	work := make(chan int)
	list := make([]answer.Record, *count+*mutants)
	done := make([]bool, len(list))
	errs := make(chan error, *workers)
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			var p *process
			defer func() {
				if p != nil {
					p.end()
				}
			}()
			for i := range work {
				if p == nil {
					var err error
					if p, err = start(); err != nil {
						errs <- err
						return
					}
				}
				var alive bool
				if list[i], alive = p.ask(list[i]); !alive {
					p.end()
					p = nil
				}
				done[i] = true
			}
		})
	}
	go func() {
		defer close(work)
		for i := range list {
			if time.Since(begin) > *limit {
				return
			}
			if uint64(i) < *mutants {
				list[i] = answer.Record{Seed: 1_000_000 + uint64(i), Mutant: true}
			} else {
				list[i] = answer.Record{Seed: *first + uint64(i) - *mutants}
				list[i].Sums = expected[list[i].Seed]
			}
			work <- i
		}
	}()
	wg.Wait()
	close(errs)
	var err error
	for e := range errs {
		err = errors.Join(err, e)
	}
	if err != nil {
		return err
	}
	var all []answer.Record
	var loaded, ran, different, refused, ends int
	for i := range list {
		if !done[i] {
			continue
		}
		r := &list[i]
		all = append(all, *r)
		switch {
		case r.Ends != "":
			ends++
		case r.Mutant && r.Load != driver.CUDA_SUCCESS:
			refused++
		case r.Mutant:
		case r.Load == driver.CUDA_SUCCESS:
			loaded++
			if r.Run == driver.CUDA_SUCCESS {
				ran++
			}
			if len(r.Differ) > 0 {
				different++
			}
		}
		if r.Ends != "" || !r.Mutant && (r.Load != driver.CUDA_SUCCESS || r.Run != driver.CUDA_SUCCESS) {
			fmt.Printf("seed %d mutant %t: %s load %v %.200q, %s %v\n", r.Seed, r.Mutant, r.Ends, r.Load, r.Log, r.Call,
				r.Run)
		}
	}
	fmt.Printf("%d answers in %.1f s: %d programs loaded, %d ran, %d differ from what was expected; %d mutants refused; %d ended their process\n",
		len(all), time.Since(begin).Seconds(), loaded, ran, different, refused, ends)
	f, err := os.Create(*out)
	if err != nil {
		return err
	}
	defer f.Close()
	return answer.Write(f, answer.Head{Format: 1, Version: ptxgen.Version, Device: os.Getenv("GOCUDA_DEVICE")}, all)
}
