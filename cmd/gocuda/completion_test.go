package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/gocuda/cuda/internal/skip"
)

// model is the command line as kong sees it.
func model(t *testing.T) *kong.Application {
	t.Helper()
	var c cli
	p, err := kong.New(&c, kong.Vars{"argumentHelp": argumentHelp})
	if err != nil {
		t.Fatal(err)
	}
	return p.Model
}

// The scripts name every command and every flag, and the shells that are here read them.
func TestCompletionHasAll(t *testing.T) {
	m := model(t)
	if len(commands(m)) < 9 {
		t.Fatalf("%d commands", len(commands(m)))
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := works(t, "completion", shell)
		for _, n := range commands(m) {
			if !strings.Contains(script, n.Name) {
				t.Errorf("%s: no command %s", shell, n.Name)
			}
			for _, f := range flags(m, n) {
				if !strings.Contains(script, f.Name) {
					t.Errorf("%s: no flag --%s of %s", shell, f.Name, n.Name)
				}
			}
		}
		if path, err := exec.LookPath(shell); err == nil {
			file := filepath.Join(t.TempDir(), "script")
			if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s -n: %v\n%s", shell, err, out)
			}
		}
	}
	if code, _, errs := gocuda("completion", "tcsh"); code != 2 || !strings.Contains(errs, "bash") {
		t.Errorf("another shell: %d, %s", code, errs)
	}
}

// bash completes commands, flags and values.
func TestCompletionBash(t *testing.T) {
	bash := skip.Command(t, "bash")
	script := works(t, "completion", "bash")
	for _, c := range []struct {
		words []string // the last one is completed
		want  []string
	}{
		{[]string{"gocuda", "dev"}, []string{"devices"}},
		{[]string{"gocuda", "--ver"}, []string{"--version"}},
		{[]string{"gocuda", "run", "--gr"}, []string{"--grid"}},
		{[]string{"gocuda", "run", "k.ptx", "k", "--device", ""}, []string{"auto", "driver", "software"}},
		{[]string{"gocuda", "run", "--device", "=", "s"}, []string{"software"}}, // as bash splits --device=s
		{[]string{"gocuda", "run", "--device", "="}, []string{"auto", "driver", "software"}},
		{[]string{"gocuda", "completion", "z"}, []string{"zsh"}},
		{[]string{"gocuda", "run", "k"}, nil}, // files
	} {
		var line bytes.Buffer
		line.WriteString(script + "\nCOMP_WORDS=(")
		for _, w := range c.words {
			line.WriteString(quote(w) + " ")
		}
		line.WriteString(")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_gocuda\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n")
		cmd := exec.Command(bash, "--norc", "-s")
		cmd.Stdin = &line
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", c.words, err, out)
		}
		if got := strings.Fields(string(out)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.words, got, c.want)
		}
	}
}

// The manual page has every command, flag and exit code, and groff has nothing to say against it.
func TestMan(t *testing.T) {
	page := works(t, "man")
	m := model(t)
	for _, n := range commands(m) {
		contains(t, "the manual page", page, ".SS "+roff(n.Name))
		for _, f := range n.Flags {
			contains(t, "the manual page", page, `\-\-`+roff(f.Name))
		}
	}
	contains(t, "the manual page", page, ".SH NAME\ngocuda \\- ", ".SH EXIT STATUS\n.TP\n.B 0\n")
	if groff, err := exec.LookPath("groff"); err == nil {
		cmd := exec.Command(groff, "-man", "-Tascii", "-ww", "-b")
		cmd.Stdin = strings.NewReader(page)
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if errs.Len() > 0 || err != nil && out.Len() > 0 {
			t.Errorf("groff: %v\n%s", err, errs.String())
		}
	}
}

func TestVersion(t *testing.T) {
	contains(t, "version", works(t, "version"), "gocuda (devel)", runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH,
		"device  ", ", CUDA ")
	if out := works(t, "--version"); strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "gocuda (devel)") {
		t.Errorf("--version: %q", out)
	}
	var b build
	if err := json.Unmarshal([]byte(works(t, "version", "--json")), &b); err != nil {
		t.Fatal(err)
	}
	if b.Go != runtime.Version() || b.Device == "" || b.CUDA == "" || b.Error != "" {
		t.Errorf("%+v", b)
	}
	code, out, _ := gocuda("version", "--jsn")
	if code != 2 {
		t.Errorf("exit code %d of a wrong command line\n%s", code, out)
	}
}
