package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/skip"
)

// root makes the repository's root the current folder, as the examples expect.
func root(t *testing.T) { t.Chdir("../..") }

// gocuda runs a command line.
func gocuda(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

// works runs a command line that must succeed and returns its output.
func works(t *testing.T, args ...string) string {
	t.Helper()
	code, out, err := gocuda(args...)
	if code != 0 || err != "" {
		t.Fatalf("gocuda %s: exit code %d\n%s%s", strings.Join(args, " "), code, out, err)
	}
	return out
}

func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s does not say %q:\n%s", what, p, text)
		}
	}
}

// TestExamples types every example of the help text.
func TestExamples(t *testing.T) {
	root(t)
	n := 0
	for _, l := range strings.Split(examples, "\n") {
		args := strings.Fields(l)
		if len(args) < 2 || args[0] != "gocuda" {
			continue
		}
		n++
		works(t, args[1:]...)
	}
	if n < 6 {
		t.Errorf("%d examples", n)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}} {
		out := works(t, args...)
		contains(t, "the help", out, "devices", "inspect", "run", "check", "Examples", "testdata/saxpy/saxpy.fatbin")
	}
	for _, c := range []string{"devices", "inspect", "run", "check"} {
		contains(t, "the help of "+c, works(t, c, "--help"), "Usage: gocuda "+c)
	}
	contains(t, "the help of run", works(t, "run", "--help"), "TYPE[N]~SEED", "--expect", "--shared")
}

func TestDevices(t *testing.T) {
	out := works(t, "devices")
	contains(t, "devices", out, "NVIDIA driver: ", "Software device: CUDA 13.0",
		"compute capability 9.0", "h200", " on "+runtime.GOOS+"/")
	var r devicesReport
	if err := json.Unmarshal([]byte(works(t, "devices", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if !r.Driver.Usable {
		// One line about a driver that is not there; the libraries that were tried on demand.
		if strings.Contains(r.Driver.Why, "\n") || strings.Contains(out, "cannot open shared object") {
			t.Errorf("why the driver is not used:\n%s", out)
		}
		for _, l := range r.Driver.Tried {
			contains(t, "devices -v", works(t, "devices", "-v"), "\n    "+l+"\n")
		}
	}
	if r.Driver.Usable == (r.Driver.Why != "") {
		t.Errorf("driver usable %v, why not: %q", r.Driver.Usable, r.Driver.Why)
	}
	if len(r.Software.Devices) == 0 || r.Software.Devices[0].Capability != "9.0" || len(r.Software.Profiles) == 0 ||
		r.Software.Engine != "jit" && r.Software.Engine != "interpreter" {
		t.Errorf("%+v", r.Software)
	}
}

func TestInspect(t *testing.T) {
	root(t)
	out := works(t, "inspect", "testdata/saxpy/saxpy.fatbin")
	contains(t, "inspect of a fatbin", out, "fatbin", "entry 0", "kernel saxpy", "parameter 0", "compression",
		"cubin for sm_90")
	out = works(t, "inspect", "testdata/saxpy/saxpy.ptx")
	contains(t, "inspect of PTX", out, "PTX 9.0 for sm_90", "kernel saxpy: ", "parameter 3")
	for _, f := range []string{"testdata/saxpy/saxpy.fatbin", "testdata/saxpy/saxpy.ptx"} {
		var r struct {
			Modules []struct {
				Kernels []struct {
					Name   string
					Params []struct{ Size, Offset int }
				} `json:"kernels"`
			} `json:"ptx_modules"`
		}
		if err := json.Unmarshal([]byte(works(t, "inspect", "--json", f)), &r); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, k := range r.Modules[0].Kernels {
			if k.Name == "saxpy" { // the manifest of the corpus module has the same from the driver
				found = len(k.Params) == 4 && k.Params[0].Size == 4 && k.Params[1].Size == 8 &&
					k.Params[1].Offset == 8 && k.Params[3].Offset == 24
			}
		}
		if !found {
			t.Errorf("%s: %+v", f, r)
		}
	}
}

const readmeRun = "run testdata/saxpy/saxpy.fatbin saxpy --grid 4 --block 256 f32:2.5 @testdata/saxpy/x.npy @testdata/saxpy/y.npy i32:1000"

func runSaxpy(more ...string) []string { return append(strings.Fields(readmeRun), more...) }

func TestRun(t *testing.T) {
	root(t)
	out := works(t, runSaxpy("--expect", "2=testdata/saxpy/want.npy", "--repeat", "1")...)
	contains(t, "run", out, "device  ", "kernel  saxpy, grid 4, block 256", "time    load ",
		"check   argument 2 equals testdata/saxpy/want.npy (exact): ok")
	var r runReport
	if err := json.Unmarshal([]byte(works(t, runSaxpy("--expect", "2=testdata/saxpy/want.npy", "--json")...)),
		&r); err != nil {
		t.Fatal(err)
	}
	if len(r.Checks) != 1 || !r.Checks[0].OK || r.Kernel != "saxpy" || r.Device == "" || r.LoadMS <= 0 || r.RunMS <= 0 {
		t.Errorf("%+v", r)
	}

	// Arrays out, back in, and compared: y = 2 * 0 + 0.5 in the first 70 of 100 elements.
	dir := t.TempDir()
	y, want := filepath.Join(dir, "y.npy"), filepath.Join(dir, "want.npy")
	out = works(t, "run", "testdata/saxpy/saxpy.ptx", "saxpy", "--block", "100", "f32:2", "f32[100]=3",
		"f32[100]=0.5>"+y, "i32:70")
	contains(t, "run", out, "wrote   "+y, "changed argument 2, f32[100]: 6.5 6.5")
	got, err := readNpy(y)
	if err != nil {
		t.Fatal(err)
	}
	exp := &array{dtype: "f32", shape: []int{100}}
	for i := range 100 {
		v := "6.5"
		if i >= 70 {
			v = "0.5"
		}
		b, err := encode("f32", v)
		if err != nil {
			t.Fatal(err)
		}
		exp.data = append(exp.data, b...)
	}
	if !bytes.Equal(got.data, exp.data) {
		t.Error("the written array is not what saxpy gives")
	}
	if err := writeNpy(want, exp); err != nil {
		t.Fatal(err)
	}
	works(t, "run", "testdata/saxpy/saxpy.ptx", "saxpy", "--block", "100", "f32:2", "f32[100]=3", "f32[100]=0.5",
		"i32:70", "--expect", "2="+want)

	// What the command line leaves out is told.
	out = works(t, "run", "testdata/saxpy/saxpy.ptx", "saxpy", "f32:2", "f32[4]=3", "f32[4]", "i32:4")
	contains(t, "no grid and no block", out, "note    neither --grid nor --block was given: one block of one thread")
	out = works(t, "run", "testdata/saxpy/saxpy.ptx", "saxpy", "--block", "4", "f32:2", "f32[4]=3", "f32[4]", "i32:4")
	contains(t, "no grid", out, "note    no --grid was given: one block\n", "6 6 6 6")

	// A comparison that fails, and one that a tolerance saves.
	exp.data[0]++
	if err := writeNpy(want, exp); err != nil {
		t.Fatal(err)
	}
	line := []string{"run", "testdata/saxpy/saxpy.ptx", "saxpy", "--block", "100", "f32:2", "f32[100]=3",
		"f32[100]=0.5", "i32:70", "--expect", "2=" + want}
	var code int
	var errText string
	code, out, errText = gocuda(line...)
	contains(t, "a failed check", out, "check   argument 2 differs from", "1 of 100 elements differ", "[0] 6.5")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	contains(t, "a failed check", errText, "1 of 1 checks failed; try: ")
	works(t, append(line, "--tolerance", "ulp:1")...)

	// Seeded arrays are the same every time.
	a := works(t, "run", "testdata/saxpy/saxpy.ptx", "saxpy", "--block", "8", "f32:1", "f32[8]~7", "f32[8]", "i32:8",
		"--device", "software")
	b := works(t, "run", "testdata/saxpy/saxpy.ptx", "saxpy", "--block", "8", "f32:1", "f32[8]~7", "f32[8]", "i32:8",
		"--device", "software")
	pick := func(s string) string {
		for _, l := range strings.Split(s, "\n") {
			if strings.HasPrefix(l, "changed argument 2") {
				return l
			}
		}
		return ""
	}
	if pick(a) == "" || pick(a) != pick(b) {
		t.Errorf("%q, then %q", pick(a), pick(b))
	}
}

// structPTX has a parameter that is a struct by value, more shared memory than the default limit, and a dependence on
// clusters.
const structPTX = `.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 pool[];
.visible .entry k(.param .align 8 .b8 s[16], .param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %d<3>;
	ld.param.u32 %r0, [s];
	ld.param.u32 %r1, [s+12];
	add.u32 %r0, %r0, %r1;
	mov.u32 %r2, pool;
	st.shared.u32 [%r2+65532], %r0;
	ld.shared.u32 %r1, [%r2+65532];
	mov.u32 %r3, %cluster_nctaid.x;
	mad.lo.u32 %r1, %r3, 1000, %r1;
	ld.param.u64 %d0, [out];
	st.global.u32 [%d0], %r1;
	ret;
}
`

func TestRunOptions(t *testing.T) {
	f := filepath.Join(t.TempDir(), "k.ptx")
	if err := os.WriteFile(f, []byte(structPTX), 0o666); err != nil {
		t.Fatal(err)
	}
	out := works(t, "run", f, "k", "--shared", "65536", "--cluster", "2", "--grid", "2,1,1", "--block", "1",
		"hex:05000000000000000000000007000000", "u32[1]")
	contains(t, "run with a cluster of two", out, "changed argument 1, u32[1]: 2012")
	out = works(t, "run", f, "k", "--shared", "65536", "--cooperative", "--grid", "1x1",
		"hex:05000000000000000000000007000000", "u32[2]")
	contains(t, "run", out, "grid 1, block 1", "changed argument 1, u32[2]: 1012 0")
}

func TestCheck(t *testing.T) {
	root(t)
	out := works(t, "check", "testdata/silicon", "--group", "int", "--group", "approx", "--device", "software", "-v")
	contains(t, "check", out, "device: software", "group ", "int ", "approx ", "kind exact", "kind approx",
		"largest distance from the recorded silicon")
	out = works(t, "check", "testdata/corpus", "--group", "saxpy", "--build", "all", "--device", "software")
	contains(t, "check", out, "saxpy                  32        0        0         32") // 4 launches, 8 builds
	out = works(t, "check", "internal/tileir/lower/testdata/own", "--device", "software")
	contains(t, "check", out, "own                    88        0        0", "kind exact", "kind tolerance")
	var r struct {
		Groups map[string]struct{ Passed, Failed int }
	}
	if err := json.Unmarshal([]byte(works(t, "check", "testdata/corpus", "--group", "traps", "--json", "--device",
		"software")), &r); err != nil {
		t.Fatal(err)
	}
	if g := r.Groups["traps"]; g.Passed != 15 || g.Failed != 0 {
		t.Errorf("%+v", r)
	}
	// Kernels that launch kernels, linked with the device runtime library.
	out = works(t, "check", "testdata/corpus", "--group", "cdp", "--device", "software")
	contains(t, "check", out, "cdp                     2        0        0          2")
}

// TestCheckFails changes a recorded scalar and expects the replay to notice.
func TestCheckFails(t *testing.T) {
	dir := t.TempDir()
	from := filepath.FromSlash("../../testdata/corpus/modules/saxpy")
	to := filepath.Join(dir, "modules", "saxpy")
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	m := filepath.Join(to, "manifest.json")
	b, err := os.ReadFile(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m, bytes.Replace(b, []byte(`"hex":"00002040"`), []byte(`"hex":"00002041"`), 1),
		0o666); err != nil {
		t.Fatal(err)
	}
	code, out, errText := gocuda("check", dir, "--device", "software")
	if code != 1 {
		t.Errorf("exit code %d", code)
	}
	contains(t, "a failed check", out, "failed: saxpy:0 saxpy (ptx90)", "1000 of 1000 elements differ")
	contains(t, "a failed check", errText, "gocuda: 1 cases failed; try: ")
}

// TestBadInput: one line that says what is wrong and what to do next, and an exit code.
func TestBadInput(t *testing.T) {
	root(t)
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, b, 0o666); err != nil {
			t.Fatal(err)
		}
		return p
	}
	read := func(p string) []byte {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	fatbin, ptx, npy := read("testdata/saxpy/saxpy.fatbin"), read("testdata/saxpy/saxpy.ptx"),
		read("testdata/saxpy/x.npy")
	empty := file("empty.ptx", nil)
	cutFatbin, cutPTX := file("cut.fatbin", fatbin[:len(fatbin)/2]), file("cut.ptx", ptx[:len(ptx)*2/3])
	header := file("header.fatbin", fatbin[:10])
	noise := file("noise.bin", bytes.Repeat([]byte{0x5a}, 500))
	badNpy, cutNpy := file("bad.npy", ptx), file("cut.npy", npy[:2000])
	damaged := file("damaged.npy", bytes.Replace(npy, []byte("'shape'"), []byte("'sharp'"), 1))
	fortran := file("fortran.npy", formatNpy(&array{dtype: "f32", shape: []int{2, 3}, data: make([]byte, 24)}))
	column := bytes.Replace(read(fortran), []byte("False"), []byte("True"), 1)
	column = bytes.Replace(column, []byte("\n"), []byte(" \n"), 1)
	if err := os.WriteFile(fortran, column, 0o666); err != nil {
		t.Fatal(err)
	}
	big := file("big.npy", bytes.Replace(npy, []byte("'<f4'"), []byte("'>f4'"), 1))
	huge := file("huge.npy", []byte(strings.Replace(string(formatNpy(&array{dtype: "f64", shape: []int{1, 1},
		data: make([]byte, 8)})), "(1, 1)", "(1<<2)", 1)))
	saxpy := func(more ...string) []string {
		return append([]string{"run", "testdata/saxpy/saxpy.ptx", "saxpy", "--device", "software"}, more...)
	}
	good := []string{"f32:1", "f32[4]", "f32[4]", "i32:4"}
	for _, c := range []struct {
		name string
		args []string
		code int
		want []string // in the line
	}{
		{"unknown command", []string{"runn"}, 2, []string{"runn", "gocuda --help"}},
		{"unknown flag", []string{"run", "--gird", "4"}, 2, []string{"--gird", "gocuda --help"}},
		{"no kernel", []string{"run", "x.ptx"}, 2, []string{"<kernel>", "gocuda --help"}},
		{"unknown device", saxpy("--device", "gpu"), 2, []string{"gpu", "software"}},
		{"missing file", []string{"run", "nowhere.ptx", "k"}, 1, []string{"nowhere.ptx", "image"}},
		{"missing file, inspect", []string{"inspect", "nowhere.ptx"}, 1, []string{"nowhere.ptx", "a file that exists"}},
		{"empty image", []string{"run", empty, "k"}, 1, []string{empty + " is empty", "image"}},
		{"empty image, inspect", []string{"inspect", empty}, 1, []string{empty + " is empty"}},
		{"truncated fatbin", []string{"run", cutFatbin, "saxpy"}, 1, []string{"cut.fatbin", "gocuda inspect"}},
		{"truncated fatbin, inspect", []string{"inspect", cutFatbin}, 1,
			[]string{"cut.fatbin", "building the file again"}},
		{"a fatbin's first bytes", []string{"run", header, "saxpy"}, 1, []string{"header.fatbin", "gocuda inspect"}},
		{"truncated PTX", []string{"run", cutPTX, "saxpy", "--device", "software"}, 1,
			[]string{"cut.ptx", "CUDA_ERROR_INVALID_PTX", "gocuda inspect"}},
		{"truncated PTX, inspect", []string{"inspect", cutPTX}, 1, []string{"cut.ptx", "building the file again"}},
		{"no image at all", []string{"run", noise, "k", "--device", "software"}, 1,
			[]string{"noise.bin", "gocuda inspect"}},
		{"no image at all, inspect", []string{"inspect", noise}, 1, []string{"try: a PTX, cubin, fatbin"}},
		{"unknown kernel", []string{"run", "testdata/saxpy/saxpy.ptx", "saxpie", "--device", "software"}, 1,
			[]string{"no kernel saxpie", "try: saxpy, if you meant that; there are the kernels saxpy, saxpy_vec4, "}},
		{"two characters exchanged", []string{"run", "testdata/kernels/kernels.ptx", "flil", "--device", "software"}, 1,
			[]string{"no kernel flil", "try: fill, if you meant that; there are the kernels fill, "}},
		{"too few arguments", saxpy("f32:1"), 1, []string{"takes 4 arguments, 1 were given", "gocuda inspect"}},
		{"too many arguments", saxpy(append(good, "i32:1")...), 1, []string{"takes 4 arguments, 5 were given"}},
		{"wrong size", saxpy("f64:1", "f32[4]", "f32[4]", "i32:4"), 1,
			[]string{"argument 0 (f64:1): 8 bytes given, kernel saxpy wants 4", "gocuda inspect"}},
		{"scalar for an array", saxpy("f32:1", "f32:1", "f32[4]", "i32:4"), 1,
			[]string{"argument 1 (f32:1): 4 bytes given, kernel saxpy wants 8"}},
		{"unknown type", saxpy("float:1"), 1, []string{`unknown type "float"`, "one of i8 u8"}},
		{"no number", saxpy("f32:one"), 1, []string{`"one" is no f32`}},
		{"out of range", saxpy("i8:200"), 1, []string{`"200" is no i8`}},
		{"float out of range", saxpy("f32:1e39"), 1, []string{`"1e39" is no f32`}},
		{"no colon", saxpy("17"), 1, []string{`"17" is neither a scalar nor an array`, "i32:5"}},
		{"no struct", saxpy("hex:123"), 1, []string{`"123" is no even number of hexadecimal digits`}},
		{"bad length", saxpy("f32[-1]"), 1, []string{"bad array length", "f32[1024]"}},
		{"too long", saxpy("f64[9000000000000000000]"), 1, []string{"bad array length"}},
		{"rubbish after the length", saxpy("f32[4]!"), 1, []string{`"!" after the length`}},
		{"bad seed", saxpy("f32[4]~x"), 1, []string{"bad seed", "f32[1024]~1"}},
		{"no file after >", saxpy("f32[4]>"), 1, []string{"no file after >"}},
		{"bad grid", saxpy("--grid", "0"), 1, []string{`--grid "0"`, "--grid 16,16"}},
		{"bad block", saxpy("--block", "1,2,3,4"), 1, []string{"one to three numbers"}},
		{"block too large", saxpy(append(good, "--block", "2048")...), 1,
			[]string{"CUDA_ERROR_INVALID_VALUE", "a smaller --block"}},
		{"too much shared memory", saxpy(append(good, "--shared", "10000000")...), 1,
			[]string{"CUDA_ERROR_INVALID_VALUE", "less --shared"}},
		{"a kernel that faults", saxpy("f32:1", "f32[4]", "f32[4]", "i32:2000000000", "--grid", "2000000", "--block",
			"1024"), 1, []string{"CUDA_ERROR_ILLEGAL_ADDRESS", "--grid, --block and array lengths"}},
		{"bad tolerance", saxpy(append(good, "--tolerance", "ulp")...), 1,
			[]string{`"ulp" is no rule`, "--tolerance ulp:1"}},
		{"expectation without an array", saxpy(append(good, "--expect", "0=testdata/saxpy/want.npy")...), 1,
			[]string{"number of an array argument; they count from 0", "--expect 1=want.npy for f32[4]"}},
		{"expectation of another size", saxpy(append(good, "--expect", "2=testdata/saxpy/want.npy")...), 1,
			[]string{"f32[1000]", "f32[4]", "the same type"}},
		{"missing .npy", saxpy("f32:1", "@nowhere.npy"), 1, []string{"nowhere.npy", "a .npy file that exists"}},
		{"no .npy", saxpy("f32:1", "@"+badNpy), 1, []string{"bad.npy: not a .npy file", "numpy.save"}},
		{"empty .npy", saxpy("f32:1", "@"+empty), 1, []string{"not a .npy file", "numpy.save"}},
		{"cut .npy", saxpy("f32:1", "@"+cutNpy), 1,
			[]string{"cut.npy: cut short: the header promises 4000 bytes", "numpy.save"}},
		{"damaged .npy", saxpy("f32:1", "@"+damaged), 1, []string{"damaged.npy: ", "numpy.save"}},
		{"column order", saxpy("f32:1", "@"+fortran), 1, []string{"Fortran order", "ascontiguousarray"}},
		{"big-endian .npy", saxpy("f32:1", "@"+big), 1, []string{`element type ">f4"`, "astype"}},
		{"impossible .npy", saxpy("f32:1", "@"+huge), 1, []string{"huge.npy: "}},
		{"no place for the output", saxpy("f32:1", "f32[4]", "f32[4]>"+filepath.Join(dir, "no", "y.npy"), "i32:4"), 1,
			[]string{"y.npy", "a folder that exists"}},
		{"unknown profile", saxpy(append(good, "--profile", "h2000")...), 1, []string{"h2000", "gocuda devices"}},
		{"missing set", []string{"check", "nowhere"}, 1, []string{"nowhere does not exist", "testdata/silicon"}},
		{"no set", []string{"check", dir}, 1, []string{"not a set of recorded cases", "testdata/silicon"}},
		{"unknown group", []string{"check", "testdata/silicon", "--group", "integers", "--device", "software"}, 1,
			[]string{`no group "integers"`, "int"}},
		{"unknown build", []string{"check", "testdata/corpus", "--group", "saxpy", "--build", "ptx10", "--device",
			"software"}, 1, []string{`no module of the set has a build "ptx10"`}},
	} {
		t.Run(c.name, func(t *testing.T) { refused(t, c.args, c.code, c.want) })
	}
	t.Run("no driver", func(t *testing.T) {
		if d, err := device.Open(device.Options{Kind: device.Driver}); err == nil {
			d.Close()
			skip.Without(t, skip.NoDriver, d)
		}
		args := append([]string{"run", "testdata/saxpy/saxpy.ptx", "saxpy", "--device", "driver"}, good...)
		refused(t, args, 1, []string{"driver", "--device software"})
		refused(t, []string{"check", "testdata/silicon", "--group", "int", "--device", "driver"}, 1,
			[]string{"driver", "--device software"})
	})
	t.Run("unknown device in the environment", func(t *testing.T) {
		t.Setenv("GOCUDA_DEVICE", "gpu")
		refused(t, append([]string{"run", "testdata/saxpy/saxpy.ptx", "saxpy"}, good...), 1,
			[]string{`GOCUDA_DEVICE="gpu"`, "auto, driver or software"})
	})
}

func refused(t *testing.T, args []string, code int, want []string) {
	t.Helper()
	got, out, errText := gocuda(args...)
	if got != code {
		t.Errorf("exit code %d, want %d\n%s%s", got, code, out, errText)
	}
	first, rest, _ := strings.Cut(errText, "\n")
	if !strings.HasPrefix(first, "gocuda: ") || !strings.Contains(first, "; try: ") {
		t.Errorf("no line that says what to do next: %q", first)
	}
	for _, l := range strings.Split(rest, "\n") {
		if l != "" && !strings.HasPrefix(l, "  ") {
			t.Errorf("a second message: %q", l)
		}
	}
	contains(t, "the line", first, want...)
}
