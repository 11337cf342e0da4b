package conform

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/corpus"
	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/skip"
)

// The tests run on the device that GOCUDA_DEVICE chooses, also as a binary of its own (go test -c) on a machine without
// Go: then -data or GOCUDA_TESTDATA says where testdata lies.
var dataFlag = flag.String("data", "", "folder with silicon/ and corpus/ (default: GOCUDA_TESTDATA, else the testdata of the repository)")

// onlyVariable restricts a run to the cases listed, in the form of Options.Only, separated by commas. TestModules
// starts itself with it.
const onlyVariable = "GOCUDA_CONFORM_ONLY"

// set opens a recorded set: the folder that was asked for; else the full set beside the repository when it is there and
// the run is not short; else the committed subset.
func set(t *testing.T, name string) fs.FS {
	t.Helper()
	var folders []string
	switch asked := *dataFlag; {
	case asked != "":
		folders = []string{asked}
	case os.Getenv("GOCUDA_TESTDATA") != "":
		folders = []string{os.Getenv("GOCUDA_TESTDATA")}
	case testing.Short():
		folders = []string{"../../testdata"}
	default:
		folders = []string{"../../../shared", "../../testdata"}
	}
	for _, f := range folders {
		dir := filepath.Join(filepath.FromSlash(f), name)
		if st, err := os.Stat(dir); err == nil && st.IsDir() {
			t.Logf("set: %s", dir)
			return os.DirFS(dir)
		}
	}
	t.Fatalf("no %s in %s", name, strings.Join(folders, " or "))
	return nil
}

func only() []string {
	return strings.FieldsFunc(os.Getenv(onlyVariable), func(r rune) bool { return r == ',' })
}

// logReport prints the counts.
func logReport(t *testing.T, r *Report) {
	var b strings.Builder
	row := func(name string, n Count) {
		fmt.Fprintf(&b, "%-18s %6d %6d %15d %10d\n", name, n.Passed, n.Failed, n.NotImplemented, n.Equal)
	}
	fmt.Fprintf(&b, "%s\n%-18s %6s %6s %15s %10s\n", r.Device, "", "passed", "failed", "not implemented", "bit-equal")
	if len(r.Groups) <= 40 {
		for _, g := range sortedKeys(r.Groups) {
			row(g, r.Groups[g])
		}
	}
	for _, k := range sortedKeys(r.Kinds) {
		row("kind "+k, r.Kinds[k])
	}
	row("all", r.Total())
	t.Log(b.String())
}

// TestInstructions replays the recorded instruction cases. An exact case must give the recorded bits; one of another
// kind must run, and its distance from the recorded bits is reported.
func TestInstructions(t *testing.T) {
	r, err := Instructions(set(t, "silicon"), Options{Only: only()})
	if err != nil {
		t.Fatal(err)
	}
	logReport(t, r)
	if r.Total().Passed == 0 {
		t.Error("no case passed")
	}
	for _, c := range r.Cases {
		switch c.Status {
		case failed, notImplemented:
			t.Errorf("%s: %s: %s [%s]: %s", c.Status, c.Group, c.Name, c.Kind, firstLine(c.Text))
		}
	}
	different := 0
	for _, d := range r.Distances {
		if d.Different > 0 {
			different++
			if testing.Verbose() {
				t.Logf("%s: %d of %d elements differ, at most %s", d.Name, d.Different, d.Elements, d.ULP)
			}
		}
	}
	t.Logf("%d of %d cases that the specification leaves open differ somewhere", different, len(r.Distances))
}

// TestSparse replays the recorded cases of wgmma with a sparse A, which the big set lacks. Every one has the recorded
// bits.
func TestSparse(t *testing.T) {
	dir := "../../testdata"
	if *dataFlag != "" {
		dir = *dataFlag
	}
	r, err := Instructions(os.DirFS(filepath.Join(filepath.FromSlash(dir), "sparse")), Options{})
	if err != nil {
		t.Fatal(err)
	}
	logReport(t, r)
	if n := r.Total(); n.Passed != 99 || n.Equal != 99 {
		t.Errorf("%d of 99 cases passed, %d with the recorded bits", n.Passed, n.Equal)
	}
}

// TestTiles replays the recorded Tile IR kernels, all of them where the full set lies beside the repository. Those
// whose results the dialect fixes have the recorded bits. A driver before CUDA 13.1 loads none.
func TestTiles(t *testing.T) {
	from, cases := []fs.FS{os.DirFS("../tileir/lower/testdata"), os.DirFS("../tileir/testdata")}, 707
	full := filepath.FromSlash("../../../shared/tileir")
	if _, err := os.Stat(full); err == nil && !testing.Short() {
		from, cases = []fs.FS{os.DirFS(full)}, 922
	}
	if *dataFlag != "" {
		skip.Without(t, skip.Testdata, "recorded Tile IR")
	}
	r, err := Tiles(Options{}, from...)
	if err != nil {
		t.Fatal(err)
	}
	logReport(t, r)
	n := r.Total()
	if n.NotImplemented+len(r.LeftOut) == cases {
		skip.Without(t, skip.NewerDriver, r.Device)
	}
	for i := range r.Cases {
		if c := &r.Cases[i]; c.Status == failed {
			t.Errorf("%s: %s", c.Name, firstLine(c.Text))
		}
	}
	if exact := r.Kinds[tileExact]; n.Passed+len(r.LeftOut) != cases || exact.Equal != exact.Passed {
		t.Errorf("%+v of %d cases, %+v of those that are exact", n, cases, exact)
	}
}

func firstLine(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	if len(l) > 300 {
		l = l[:300] + "..."
	}
	return l
}

// TestModules replays the recorded modules: every launch, from the PTX that suits the device. Each must give what was
// recorded, within the rule of the record.
func TestModules(t *testing.T) { replay(t, set(t, "corpus"), "") }

// TestModuleBuilds does the same from every build of the set that holds PTX: texts for other targets, and containers of
// several toolkits and compressions.
func TestModuleBuilds(t *testing.T) {
	if len(only()) > 0 {
		skip.Without(t, skip.Argument, onlyVariable)
	}
	replay(t, set(t, "corpus"), AllBuilds)
}

func replay(t *testing.T, fsys fs.FS, build string) {
	r, err := Modules(fsys, Options{Only: only(), Build: build})
	if err != nil {
		t.Fatal(err)
	}
	logReport(t, r)
	if r.Total().Passed == 0 {
		t.Error("no launch passed")
	}
	excepted, told := map[string]int{}, map[string]int{}
	for _, c := range r.Cases {
		switch {
		case c.Status == notEqual:
			if testing.Verbose() {
				t.Logf("within the rules, but not the recorded bits: %s", c.Name)
			}
		case c.Exception != "":
			key, _ := exception(Exceptions(), c.Launch)
			excepted[key]++
		default:
			if told[c.Group]++; told[c.Group] <= 5 {
				t.Errorf("%s: %s: %s", c.Status, c.Name, firstLine(c.Text))
			}
		}
	}
	for _, k := range sortedKeys(told) {
		if told[k] > 5 {
			t.Errorf("%s: %d more", k, told[k]-5)
		}
	}
	for _, k := range sortedKeys(excepted) {
		t.Logf("exception, %d launches: %s: %s", excepted[k], k, Exceptions()[k])
	}
	for _, l := range r.Stale {
		t.Errorf("%s passes: take it off the list in exceptions.go", l)
	}
	if build == "" {
		for _, l := range r.LeftOut {
			t.Run(l, func(t *testing.T) { alone(t, l) })
		}
	}
}

// alone runs a launch that ends the process's use of the device in a process of its own.
func alone(t *testing.T, launch string) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestModules$", "-test.v", "-data="+*dataFlag)
	cmd.Env = append(os.Environ(), onlyVariable+"="+launch)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestExceptions bounds the list of exceptions: at most 5 % of the launches of the set, each with a reason, and each
// naming something.
func TestExceptions(t *testing.T) {
	s := corpus.Open(set(t, "corpus"))
	names, err := s.Names()
	if err != nil {
		t.Fatal(err)
	}
	all, named := 0, map[string]int{}
	for _, name := range names {
		m, err := s.Module(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Launches {
			all++
			if k, ok := exception(Exceptions(), fmt.Sprintf("%s:%d", name, i)); ok {
				named[k]++
			}
		}
	}
	n := 0
	for k, reason := range Exceptions() {
		if named[k] == 0 || reason == "" {
			t.Errorf("exception %q names no launch or gives no reason", k)
		}
		n += named[k]
	}
	t.Logf("%d of %d launches are exceptions", n, all)
	if n*20 > all {
		t.Errorf("%d of %d launches are exceptions, more than 5 %%", n, all)
	}
}

// TestOptions covers the choice of cases and its errors.
func TestOptions(t *testing.T) {
	fsys := os.DirFS("../../testdata")
	sub := func(name string) fs.FS {
		f, err := fs.Sub(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if _, err := os.Stat("../../testdata"); err != nil {
		skip.Without(t, skip.Testdata, err)
	}
	o := Options{Device: device.Options{Kind: device.Software}}
	for _, c := range []struct {
		only, build string
		run         func(Options) (*Report, error)
		want        string
	}{
		{"ints", "", func(o Options) (*Report, error) { return Instructions(sub("silicon"), o) }, `no group "ints"`},
		{"saxpie", "", func(o Options) (*Report, error) { return Modules(sub("corpus"), o) }, `no module "saxpie"`},
		{"saxpy", "cubin52", func(o Options) (*Report, error) {
			return Modules(sub("corpus"), o)
		}, `no module of the set has a build "cubin52"`},
		{"", "", func(o Options) (*Report, error) { return Instructions(sub("corpus"), o) }, "index.json"},
		{"", "", func(o Options) (*Report, error) { return Modules(sub("silicon"), o) }, "modules"},
	} {
		o := o
		if c.only != "" {
			o.Only = []string{c.only}
		}
		o.Build = c.build
		if _, err := c.run(o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %q: error %v, want %s", c.only, c.build, err, c.want)
		}
	}
	o.Only = []string{"saxpy:1", "saxpy:0"}
	r, err := Modules(sub("corpus"), o)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Total(); n != (Count{Passed: 2, Equal: 2}) {
		t.Errorf("two launches of saxpy give %+v", n)
	}
	var progress []string
	o.Only, o.Progress = []string{"saxpy"}, func(done, total int, what string) { progress = append(progress, what) }
	o.Build = "default.fatbin"
	if r, err = Modules(sub("corpus"), o); err != nil {
		t.Fatal(err)
	}
	if n := r.Total(); n != (Count{Passed: 4, Equal: 4}) {
		t.Errorf("saxpy from a fatbin gives %+v", n)
	}
	if !sort.StringsAreSorted(progress) || len(progress) == 0 {
		t.Errorf("progress %v", progress)
	}
}

// TestReplayNoticesErrors runs cases whose recorded answer was changed, and expects them to fail: a replay that cannot
// fail proves nothing.
func TestReplayNoticesErrors(t *testing.T) {
	if _, err := os.Stat("../../testdata"); err != nil {
		skip.Without(t, skip.Testdata, err)
	}
	damaged := damage{os.DirFS("../../testdata/corpus"), "modules/saxpy/manifest.json", func(b []byte) []byte {
		return []byte(strings.Replace(string(b), `"hex":"00002040"`, `"hex":"00002041"`, 1)) // 10 instead of 2.5
	}}
	r, err := Modules(damaged, Options{Device: device.Options{Kind: device.Software}, Only: []string{"saxpy"}})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Total(); n.Failed != 1 || n.Passed != 3 || r.Unexpected() != 1 {
		t.Errorf("a changed scalar gives %+v", n)
	}
	damaged = damage{os.DirFS("../../testdata/silicon"), "outputs.bin.gz", func(b []byte) []byte {
		return flipped(t, b)
	}}
	r, err = Instructions(damaged, Options{Device: device.Options{Kind: device.Software}, Only: []string{"int"}})
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Total(); n.Passed != 0 || n.Failed == 0 {
		t.Errorf("with every recorded bit flipped, the cases give %+v", n)
	}
}
