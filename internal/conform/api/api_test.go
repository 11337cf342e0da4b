package api

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
	"github.com/gocuda/cuda/internal/softdev"
)

// TestMain is also the other process of a case.
func TestMain(m *testing.M) {
	if Child(func() (*driver.Table, error) {
		d, err := softdev.New(strict(2))
		if err != nil {
			return nil, err
		}
		return d.Table(), nil
	}) {
		return
	}
	os.Exit(m.Run())
}

// strict are devices that take PTX up to 9.0, as the recorded driver does.
func strict(devices int) softdev.Options {
	return softdev.Options{Profiles: make([]string, devices), PTX: "9.0", Stdout: io.Discard, Stderr: io.Discard}
}

// software runs a case on software devices of its own.
func software(t *testing.T, devices int, c Case) []string {
	t.Helper()
	d, err := softdev.New(strict(devices))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	c.Execute(d.Table(), t.TempDir(), &b)
	if err := d.Close(); err != nil {
		t.Errorf("%s: %v", c.Name, err)
	}
	return Lines(b.String())
}

// recorded reads the driver's transcript for one device.
func recorded(t *testing.T) *Transcript {
	t.Helper()
	f, err := os.Open("testdata/h200.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return transcript(t, f)
}

func transcript(t *testing.T, r io.Reader) *Transcript {
	t.Helper()
	tr, err := ReadTranscript(r)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestTwo: the same for two devices and what two GPUs answered.
func TestTwo(t *testing.T) {
	if runtime.GOOS != "linux" {
		skip.Without(t, skip.Linux, "cases with two processes")
	}
	f, err := os.Open("testdata/h100x2.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	v := Two.Judge(transcript(t, z), func(_ int, c Case) []string { return software(t, 2, c) })
	for _, p := range v.Problems {
		t.Error(p)
	}
	t.Logf("%d cases with %d lines: %d equal, %d known to differ, %d not recorded", v.Cases, v.Lines, v.Equal, v.Known,
		v.Unrecorded)
}

// TestTranscript: the software device gives the driver's line for every call of every case.
func TestTranscript(t *testing.T) {
	v := One.Judge(recorded(t), func(_ int, c Case) []string { return software(t, 1, c) })
	for _, p := range v.Problems {
		t.Error(p)
	}
	t.Logf("%d cases with %d lines: %d equal, %d known to differ, %d not recorded", v.Cases, v.Lines, v.Equal, v.Known,
		v.Unrecorded)
}

// TestCasesShareNothing: a case sees nothing of what one before it has left in a variable of both.
func TestCasesShareNothing(t *testing.T) {
	group := func(c *cases) {
		n := 0
		for _, name := range []string{"a", "b"} {
			c.noInit(name, func(*Env) {
				if n++; n != 1 {
					t.Errorf("%s finds %d", name, n-1)
				}
			})
		}
	}
	var list cases
	group(&list)
	for i, c := range list {
		c.group, c.index = group, i
		c.Execute(new(driver.Table), "", io.Discard)
	}
}

// TestUndefined: what the table of undefined calls names is there.
func TestUndefined(t *testing.T) {
	truth := recorded(t)
	for name := range undefined {
		if truth.Cases[name] == nil {
			t.Errorf("%s is not recorded", name)
		}
	}
}

func TestMerge(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"x: f() -> A\n", "x: f() -> A\n", "x: f() -> A\n"},
		{"x: f() -> A\nx: g(1) -> B\nx: h() -> C\n", "x: f() -> A\nx: g(1) -> CRASH\n",
			"x: f() -> A\nx: g(1) -> VARIES\n"},
	} {
		if got := Merge(c.a, c.b); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
