package plant_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/plant"
	"github.com/gocuda/cuda/internal/skip"
)

// below are the packages below the driver table.
var below = []string{"internal/image", "internal/image/cubin", "internal/image/elf64", "internal/image/fatbin",
	"internal/image/hostobj", "internal/image/sm", "internal/ptx", "internal/ptx/optab",
	"internal/ptx/check", "internal/link", "internal/ir", "internal/exec", "internal/exec/interp", "internal/exec/jit",
	"internal/exec/jit/amd64/asm", "internal/exec/texture", "internal/mem",
	"internal/num", "internal/tensormap", "internal/softdev"}

// spared are files, or functions of files, that are not planted.
var spared = []struct{ file, fn, why string }{
	{"internal/image/fatbin/writer.go", "", "no part of the device: tests write containers with it"},
	{"internal/image/image.go", "Kind.String", "package fmt catches it"},
	{"internal/image/cubin/info.go", "Attr.String", "package fmt catches it"},
	{"internal/image/sm/sm.go", "Arch.String", "package fmt catches it"},
	{"internal/image/sm/sm.go", "Arch.digits", "package fmt catches it"},
	{"internal/ptx/check/target.go", "Target.String", "package fmt catches it"},
	{"internal/softdev/occupancy.go", "callersSize", "the caller's own function, whose panic is the caller's"},
	{"internal/softdev/stream.go", "*stream.put", "every launch passes it, so it does without a defer; between the lock and its end is push alone"},
	{"internal/softdev/stream.go", "*stream.push", "cannot panic: its indexes are masked with the ring's length"},
}

// spare says whether a place is spared, and by which entry.
func spare(p plant.Place) int {
	return slices.IndexFunc(spared, func(s struct{ file, fn, why string }) bool {
		return s.file == p.File && (s.fn == "" || s.fn == p.Func)
	})
}

// childVariable makes a planted copy of this test the one that runs the trials: it has the file of places.
const childVariable = "GOCUDA_PLANT_CHILD"

// order is what the child is asked to do, as a line of JSON: to record the places that a workload passes, in a fresh
// driver, or to try one.
type order struct {
	Workload int
	Record   bool
	Place    int
	After    int // times that the place is passed before it panics
}

// outcome is what comes of it.
type outcome struct {
	Name     string         `json:",omitempty"`
	Passed   map[int]uint32 `json:",omitempty"`
	Seconds  float64
	Failures []string `json:",omitempty"`
	Died     bool     `json:",omitempty"`
}

// trialLimit ends a trial that hangs.
const trialLimit = 30 * time.Second

func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		if err := child(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		return
	}
	os.Exit(m.Run())
}

func child(path string) error {
	var places []plant.Place
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, &places); err != nil {
		return err
	}
	list, err := workloads()
	if err != nil {
		return err
	}
	in, out := bufio.NewScanner(os.NewFile(3, "orders")), json.NewEncoder(os.NewFile(4, "outcomes"))
	for in.Scan() {
		var o order
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return err
		}
		if o.Workload >= len(list) {
			if err := out.Encode(outcome{}); err != nil {
				return err
			}
			continue
		}
		w := list[o.Workload]
		dog := time.AfterFunc(trialLimit, func() {
			s := make([]byte, 1<<20)
			fmt.Fprintf(os.Stderr, "the trial hangs\n%s", s[:runtime.Stack(s, true)])
			os.Exit(3)
		})
		began := time.Now()
		a := outcome{Name: w.name}
		if o.Record {
			recorded := workload{w.name, w.engine, func() func(*driver.Table) {
				run := w.ready()
				return func(t *driver.Table) { plant.Record(); run(t); a.Passed = plant.Passed() }
			}}
			a.Failures = try(recorded, -1, 0, "").failures
		} else {
			p := places[o.Place]
			a.Failures = try(w, o.Place, o.After, fmt.Sprintf("%s:%d", p.File, p.Line)).failures
		}
		a.Seconds = time.Since(began).Seconds()
		dog.Stop()
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	return in.Err()
}

// children is a process that does what it is told, and the next one when it has died.
type children struct {
	program, places string
	cmd             *exec.Cmd
	in              *os.File
	from            *os.File
	out             *json.Decoder
	said            *buffer
	used            bool
}

func (c *children) start() error {
	c.cmd = exec.Command(c.program)
	c.cmd.Env = append(os.Environ(), childVariable+"="+c.places, "GOCUDA_STACK=1", "GOTRACEBACK=all")
	c.said = new(buffer)
	c.cmd.Stderr = c.said
	orders, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer orders.Close()
	out, outcomes, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outcomes.Close()
	// not the standard ones, which a workload may have its own ideas about
	c.cmd.ExtraFiles = []*os.File{orders, outcomes}
	c.in, c.from, c.out, c.used = in, out, json.NewDecoder(out), false
	return c.cmd.Start()
}

func (c *children) stop() {
	if c.cmd != nil {
		_ = c.in.Close()
		_ = c.cmd.Wait()
		_ = c.from.Close()
		c.cmd = nil
	}
}

// do gives an order; fresh asks for a process that has done nothing before.
func (c *children) do(o order, fresh bool) (a outcome, err error) {
	if c.cmd != nil && fresh && c.used {
		c.stop()
	}
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return a, err
		}
	}
	c.used = true
	b, err := json.Marshal(o)
	if err != nil {
		return a, err
	}
	if _, err = c.in.Write(append(b, '\n')); err == nil {
		err = c.out.Decode(&a)
	}
	if err != nil {
		c.stop()
		s := c.said.String()
		return outcome{Died: true, Failures: []string{"the process ends: " + s[:min(len(s), 8000)]}}, nil
	}
	return a, nil
}

// candidate is where a place can be tried.
type candidate struct {
	workload int
	times    uint32 // that it passes the place
	seconds  float64
}

var all = flag.Bool("all", false, "plant every statement that a workload passes, where it is passed first and where it is passed last; takes some minutes")

// extent is how much a run does: one workload of so many, and panics at most.
func extent() (each, panics int) {
	switch {
	case *all:
		return 1, 1 << 30
	case testing.Short():
		return 16, 100
	}
	return 8, 400
}

// TestPlantedPanics makes statements of every package below the table panic, one at a time, while recorded API cases,
// modules and instructions run. Each time the panic has to be told with its place, other contexts have to work,
// everything has to end, and no goroutine may be left.
func TestPlantedPanics(t *testing.T) {
	tool := skip.Command(t, "go")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay, places, err := plant.Overlay(root, dir, below)
	if err != nil {
		t.Fatal(err)
	}
	program, list := filepath.Join(dir, "planted"), filepath.Join(dir, "places.json")
	b, err := json.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(list, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "test", "-c", "-vet=off", "-overlay", overlay, "-o", program,
		".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := &planted{t: t, places: places, program: program, list: list}
	p.record()
	p.try()
}

// planted is the test under way.
type planted struct {
	t       *testing.T
	places  []plant.Place
	program string
	list    string

	mu   sync.Mutex
	best map[int]candidate
}

// parallel runs f for the numbers below n on all processors, with a child for each.
func (p *planted) parallel(n int, f func(c *children, i int) (more bool)) {
	queue := make(chan int)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var once sync.Once
	for range runtime.GOMAXPROCS(0) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := &children{program: p.program, places: p.list}
			defer c.stop()
			for i := range queue {
				if !f(c, i) {
					once.Do(func() { close(stop) })
				}
			}
		}()
	}
feed:
	for i := range n {
		select {
		case queue <- i:
		case <-stop:
			break feed
		}
	}
	close(queue)
	wg.Wait()
}

// record finds the places that each workload passes, and the quickest workload for each.
func (p *planted) record() {
	t := p.t
	p.best = map[int]candidate{}
	workloads := 0
	each, _ := extent()
	p.parallel(1<<20, func(c *children, i int) bool {
		i *= each
		a, err := c.do(order{Workload: i, Record: true}, false)
		if err != nil {
			t.Error(err)
			return false
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case a.Died:
			t.Errorf("workload %d ends its process: %s", i, strings.Join(a.Failures, "\n"))
			return true
		case a.Name == "":
			return false
		}
		workloads++
		for place, n := range a.Passed {
			x := candidate{i, n, a.Seconds}
			if old, ok := p.best[place]; !ok || x.seconds < old.seconds {
				p.best[place] = x
			}
		}
		return true
	})
	count := map[string][2]int{}
	needed := make([]int, len(spared))
	for i, x := range p.places {
		if k := spare(x); k >= 0 {
			needed[k]++
			delete(p.best, i)
			continue
		}
		n := count[x.Package()]
		n[0]++
		if _, ok := p.best[i]; ok {
			n[1]++
		}
		count[x.Package()] = n
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		t.Logf("%-28s %6d places, %6d passed", name, count[name][0], count[name][1])
		if count[name][1] == 0 {
			t.Errorf("no workload passes a place of %s", name)
		}
	}
	for i, n := range needed {
		if n == 0 {
			t.Errorf("%s %s spares nothing", spared[i].file, spared[i].fn)
		}
		t.Logf("spared: %s %s, %d places: %s", spared[i].file, spared[i].fn, n, spared[i].why)
	}
	t.Logf("%d workloads pass %d of %d places", workloads, len(p.best), len(p.places))
}

// unreached is the share of panics that the timing of goroutines may keep from being reached.
const unreached = 0.05

// try plants the panics.
func (p *planted) try() {
	t := p.t
	var list []order
	for _, place := range slices.Sorted(maps.Keys(p.best)) {
		x := p.best[place]
		list = append(list, order{Workload: x.workload, Place: place})
		if x.times > 1 {
			list = append(list, order{Workload: x.workload, Place: place, After: int(x.times - 1)})
		}
	}
	if _, n := extent(); n < len(list) {
		for i := range n {
			list[i] = list[i*len(list)/n]
		}
		list = list[:n]
	}
	tried, missed, failures := 0, 0, 0
	p.parallel(len(list), func(c *children, i int) bool {
		o := list[i]
		a, err := c.do(o, false)
		if err == nil && a.notReached() {
			a, err = c.do(o, true) // it may be what a process does once
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if err != nil {
			t.Error(err)
			return false
		}
		tried++
		switch {
		case a.notReached():
			missed++
		case len(a.Failures) > 0:
			failures++
			t.Errorf("%v, passed %d times before, during %s:\n\t%s", p.places[o.Place], o.After, a.Name,
				strings.Join(a.Failures, "\n\t"))
		}
		return true
	})
	t.Logf("%d panics planted, %d not reached, %d failures", tried, missed, failures)
	if float64(missed) > unreached*float64(tried) {
		t.Errorf("%d of %d are not reached", missed, tried)
	}
}

func (a outcome) notReached() bool { return len(a.Failures) == 1 && a.Failures[0] == notReached }
