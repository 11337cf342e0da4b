package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

var long = flag.Bool("long", false, "build and start what go install gives")

const tried = "v0.999.0"

// TestVersions: the command's module and the workspace mean the same version of the library, and the tool can change
// both.
func TestVersions(t *testing.T) {
	t.Chdir("../../..")
	var have []string
	for _, name := range []string{folder + "/go.mod", workspace} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m := required.FindSubmatch(text)
		if m == nil || !version.Match(m[2]) {
			t.Fatalf("%s names no version of %s", name, library)
		}
		have = append(have, string(m[2]))
		changed, err := require(name, tried)
		if want := bytes.Replace(text, m[2], []byte(tried), 1); err != nil || !bytes.Equal(changed, want) {
			t.Errorf("%s with %s: %q, %v", name, tried, changed, err)
		}
	}
	if have[0] != have[1] {
		t.Errorf("%s/go.mod requires %s, %s replaces %s", folder, have[0], workspace, have[1])
	}
	skip.Command(t, "git")
	if v, err := head(); err != nil || !regexp.MustCompile(`^v0\.0\.0-\d{14}-[0-9a-f]{12}$`).MatchString(v) {
		t.Errorf("the last commit is %q, %v", v, err)
	}
	for _, v := range []string{"", "0.1.0", "v2.0.0", "v0.1", "v0.1.0 "} {
		if err := run(v, t.TempDir()); err == nil {
			t.Errorf("version %q is taken", v)
		}
	}
}

// user is a module of a user's own with a proxy that has this tree, and the modules that the machine has already.
type user struct {
	t    *testing.T
	tool string
	dir  string
	env  []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	tool := skip.Command(t, "go")
	skip.Command(t, "git")
	cache, err := exec.Command(tool, "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	u := &user{t, tool, t.TempDir(), nil}
	proxy := t.TempDir()
	t.Chdir("../../..")
	if err := run(tried, proxy); err != nil {
		t.Fatal(err)
	}
	url := func(dir string) string { return "file:///" + strings.TrimPrefix(filepath.ToSlash(dir), "/") }
	u.env = append(os.Environ(), "GOWORK=off", "GOSUMDB=off", "GOFLAGS=-modcacherw -mod=mod",
		"GOMODCACHE="+t.TempDir(), "GOBIN="+u.dir, "GOPROXY="+url(proxy)+","+
			url(filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")))
	return u
}

func (u *user) run(args ...string) string {
	u.t.Helper()
	cmd := exec.Command(u.tool, args...)
	cmd.Dir, cmd.Env = u.dir, u.env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		u.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

func (u *user) file(name, text string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.dir, name), []byte(text), 0o666); err != nil {
		u.t.Fatal(err)
	}
}

// TestLibraryUser: a program with the library has four modules of others, and its packages are in the library's module.
func TestLibraryUser(t *testing.T) {
	u := newUser(t)
	u.file("go.mod", "module example.com/user\n\ngo 1.25.0\n\nrequire "+library+" "+tried+"\n")
	u.file("main.go", "package main\n\nimport (\n\t_ \""+library+"\"\n\t_ \""+library+"/cu\"\n\t_ \""+library+
		"/cudatest\"\n\t_ \""+library+"/nccl\"\n\t_ \""+library+"/nvrtc\"\n)\n\nfunc main() {}\n")
	u.run("list", "-deps", ".")
	var got []string
	for _, l := range strings.Split(u.run("mod", "graph"), "\n") {
		_, to, _ := strings.Cut(l, " ")
		to, _, _ = strings.Cut(to, "@")
		if strings.Contains(to, ".") && to != library {
			got = append(got, to)
		}
	}
	slices.Sort(got)
	want := []string{"github.com/ebitengine/purego", "github.com/klauspost/compress", "github.com/pierrec/lz4/v4",
		"golang.org/x/sys"}
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("go mod graph names %q, want %q", got, want)
	}
}

// TestInstall: the packages of the command are all there for go install with a version; with -long it is installed and
// says the version.
func TestInstall(t *testing.T) {
	u := newUser(t)
	if *long {
		u.run("install", library+"/"+folder+"@"+tried)
		exe := filepath.Join(u.dir, "gocuda")
		if runtime.GOOS == "windows" {
			exe += ".exe"
		}
		if out, err := exec.Command(exe, "--version").CombinedOutput(); err != nil ||
			!strings.HasPrefix(string(out), "gocuda "+tried+",") {
			t.Errorf("gocuda --version: %v\n%s", err, out)
		}
		return
	}
	u.file("go.mod", "module example.com/user\n\ngo 1.25.0\n\nrequire "+library+"/"+folder+" "+tried+"\n")
	if out := u.run("list", "-deps", library+"/"+folder); !strings.Contains(out, library+"\n") &&
		!strings.Contains(out, library+"/internal/device\n") {
		t.Errorf("the command stands on\n%s", out)
	}
}
