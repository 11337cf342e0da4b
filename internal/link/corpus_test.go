package link_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/link"
)

// linkRecord is one link that the driver was asked for.
type linkRecord struct {
	Name   string
	Inputs []struct {
		Type string
		File *string
		Text *string
	}
	Stage  string
	Code   int
	Result string
	Info   string
	Error  string
	Output string
	Runs   json.RawMessage
}

var kinds = map[string]link.Input{"cubin": link.InputCubin, "ptx": link.InputPTX, "fatbin": link.InputFatbin,
	"object":  link.InputObject,
	"library": link.InputLibrary, "nvvm": link.InputNVVM}

// machineCode are the recorded links whose inputs are machine code without PTX: the driver links them, this linker
// refuses the first such input.
var machineCode = map[string]bool{"cubin": true, "mixed": true, "reversed cubin": true, "first unit only, cubin": true,
	"unit twice":         true,
	"cubin given as ptx": true, "duplicate function": true}

// afterFatal are recorded links that failed with CUDA_ERROR_UNKNOWN because an earlier one of the same process ended in
// a fatal message: an H200's driver gives CUDA_ERROR_INVALID_SOURCE for the very same link until its compiler or linker
// has said "fatal" once, and CUDA_ERROR_UNKNOWN from then on. This linker has no such memory.
var afterFatal = map[string]bool{"duplicate function, ptx": true}

// deviceRuntime stands for libcudadevrt.a, which is NVIDIA's and not kept here; its name alone makes it known.
var deviceRuntime = []byte("!<arch>\n")

// TestRecordedLinks repeats every recorded link (manifests' "link": driver 580 on an H200) and compares the call that
// failed, its result and the log, or the kernels of the output and what they compute.
func TestRecordedLinks(t *testing.T) {
	links, ran := 0, 0
	for _, module := range []string{"rdc_pair", "cdp", "n_gridsync"} {
		b, err := os.ReadFile(filepath.Join(keptCorpus, "modules", module, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ Link []linkRecord }
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(module, err)
		}
		for _, r := range m.Link {
			t.Run(module+"/"+r.Name, func(t *testing.T) {
				links++
				if linkOne(t, module, r) {
					ran++
				}
			})
		}
	}
	// 25 of rdc_pair, 3 of cdp, 2 of n_gridsync; those of cdp run only on an engine that has the device runtime.
	if links != 30 || ran != 6 && ran != 8 {
		t.Errorf("%d links, %d programs run", links, ran)
	}
}

func linkOne(t *testing.T, module string, r linkRecord) (ran bool) {
	var info, log []string
	o := options()
	o.Log = func(level link.Level, line string) {
		if level == link.Info {
			info = append(info, line)
		} else {
			log = append(log, line)
		}
	}
	l := link.New(o)
	stage, result := "", "CUDA_SUCCESS"
	var p *link.Linked
	for _, in := range r.Inputs {
		// The recorder gave the file's name, the bare letter of the third unit, or x where the kind was wrong; the log
		// shows which.
		name, data := "x", []byte(nil)
		switch {
		case in.Text != nil:
			data = []byte(*in.Text)
		case *in.File == "libcudadevrt.a":
			name, data = *in.File, deviceRuntime
		default:
			name, data = *in.File, need(t, module, *in.File)
		}
		stem, _, _ := strings.Cut(name, ".")
		for _, alias := range []string{strings.TrimPrefix(stem, "rdc_"), stem, "x"} {
			if r.Stage == "add "+in.Type+" "+alias || strings.Contains(r.Info+r.Error, " in "+alias+";") ||
				strings.Contains(r.Error, "in '"+alias+"'") {
				name = alias
			}
		}
		if in.Type == "ptx" {
			data = append(data, 0)
		}
		if err := l.Add(kinds[in.Type], data, name); err != nil {
			stage, result = "add "+in.Type+" "+name, resultOf(t, err)
			break
		}
	}
	if stage == "" {
		stage = "complete"
		var err error
		if p, err = l.Complete(); err != nil {
			result = resultOf(t, err)
		}
	}
	if machineCode[r.Name] {
		if !strings.HasPrefix(stage, "add ") || result != "CUDA_ERROR_NO_BINARY_FOR_GPU" || len(log) != 1 ||
			!strings.Contains(log[0], "machine code") {
			t.Errorf("%s at %s, log %q; machine code alone must be refused with an explanation", result, stage, log)
		}
		return false
	}
	if afterFatal[r.Name] && r.Result == "CUDA_ERROR_UNKNOWN" {
		r.Result = "CUDA_ERROR_INVALID_SOURCE"
	}
	if stage != r.Stage || result != r.Result {
		t.Errorf("%s at %s, the driver gave %s at %s (log %q)", result, stage, r.Result, r.Stage, log)
	}
	if got := strings.Join(log, "\n"); got != r.Error {
		t.Errorf("error log\n%s\nthe driver's is\n%s", got, r.Error)
	}
	if got := strings.Join(info, "\n"); got != r.Info {
		t.Errorf("info log\n%s\nthe driver's is\n%s", got, r.Info)
	}
	if p == nil || string(r.Runs) != `"ok"` {
		if p != nil && len(p.Kernels) != 0 {
			t.Errorf("kernels %v, the driver's output has none", kernelNames(p))
		}
		return false
	}
	checkKernels(t, module, p)
	if err := compiles(p); err != nil {
		t.Fatal(err)
	}
	if n := replay(t, p, module); n == 0 {
		t.Error("nothing was compared")
	}
	// The same through a file.
	file := filepath.Join(t.TempDir(), "linked.cubin")
	if err := os.WriteFile(file, p.Image(), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	q, err := link.Load(b, options())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(kernelNames(p), kernelNames(q)) {
		t.Errorf("kernels %v from the file, %v before", kernelNames(q), kernelNames(p))
	}
	replay(t, q, module)
	return true
}

// checkKernels compares with the driver's enumeration of its own output ("driver", build "linked"). The device
// runtime's kernels are not there.
func checkKernels(t *testing.T, module string, p *link.Linked) {
	var d struct {
		Functions []struct{ Name string }
	}
	if err := json.Unmarshal(manifest(t, module).Driver["linked"], &d); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range d.Functions {
		if !strings.HasPrefix(f.Name, "__nv_static_") {
			want = append(want, f.Name)
		}
	}
	if got := kernelNames(p); !slices.Equal(got, want) {
		t.Errorf("kernels in the order %v, the driver's is %v", got, want)
	}
}

func resultOf(t *testing.T, err error) string {
	t.Helper()
	var e *link.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	if !errors.Is(err, e.Class) || err.Error() == "" {
		t.Errorf("an error without class or text: %#v", e)
	}
	return e.Result().String()
}

// brokenKnown are damaged images that this linker answers otherwise, with the reason.
var brokenKnown = map[string]string{
	"cubin_type_dyn": "machine code",
	"cubin_type_rel": "machine code",
}

// TestBrokenInputs gives the linker each damaged or mismatched image that the driver's linker was given (broken.json,
// "cuLink").
func TestBrokenInputs(t *testing.T) {
	dir := filepath.Join(fullCorpus, "broken")
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Join(keptInputs, "broken")
		t.Log("the full corpus is not beside the repository; using what is kept")
	}
	b, err := os.ReadFile(filepath.Join(dir, "broken.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, Image string
		Link        *struct {
			Stage, Name string
			Class       string `json:"error_log_class"`
		} `json:"cuLink"`
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, c := range cases {
		image, err := gunzip(t, filepath.Join(dir, c.Image+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		kind := strings.TrimPrefix(filepath.Ext(c.Image), ".")
		var log []string
		o := options()
		o.Log = func(level link.Level, line string) {
			if level == link.Fatal {
				log = append(log, line)
			}
		}
		l := link.New(o)
		if kind == "ptx" {
			image = append(image, 0)
		}
		stage, result := "add "+kind+" in", ""
		err = l.Add(kinds[kind], image, "in")
		if err == nil {
			stage = "complete"
			_, err = l.Complete()
		}
		result = "CUDA_SUCCESS"
		if err != nil {
			result = resultOf(t, err)
		}
		if c.Link == nil { // the driver crashed: any answer but success to nonsense will do, and we did not crash
			continue
		}
		compared++
		if why := brokenKnown[c.Name]; why != "" {
			if result != "CUDA_ERROR_NO_BINARY_FOR_GPU" || !strings.Contains(strings.Join(log, " "), why) {
				t.Errorf("%s: %s, log %q", c.Name, result, log)
			}
			continue
		}
		if stage != c.Link.Stage || result != c.Link.Name {
			t.Errorf("%s: %s at %s, the driver gave %s at %s (%v)", c.Name, result, stage, c.Link.Name, c.Link.Stage,
				err)
			continue
		}
		if (len(log) > 0) != (c.Link.Class != "none") {
			t.Errorf("%s: log %q, the driver's is of class %s", c.Name, log, c.Link.Class)
		}
	}
	t.Logf("%d answers compared", compared)
	if compared < 24 {
		t.Errorf("only %d answers compared", compared)
	}
}
