// Command release prepares a version of the module's two parts, the library and the command gocuda, which is a module
// of its own so that programs with the library do not get the command's dependencies. It is run in the root of the
// repository:
//
//	go run ./internal/tools/release -version v0.1.0            # the command requires that version of the library
//	go run ./internal/tools/release -version head              # ... the version without a tag that the last commit has
//	go run ./internal/tools/release -version v0.1.0 -proxy DIR # both at that version, as a proxy: GOPROXY=file://DIR
//
// The last form writes nothing in the repository. It takes the files that git has or would add.
package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	library   = "github.com/gocuda/cuda"
	folder    = "cmd/gocuda" // of the command's module
	workspace = "go.work"
)

// required finds the library's version in cmd/gocuda/go.mod and in go.work.
var required = regexp.MustCompile(`(` + regexp.QuoteMeta(library) + ` )(v[0-9]\S*)`)

// version is what the go command takes for a module of major version 0 or 1.
var version = regexp.MustCompile(`^v[01]\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func main() {
	v := flag.String("version", "", "the version, v0.1.0 say")
	proxy := flag.String("proxy", "", "write a module proxy into this folder")
	flag.Parse()
	if err := run(*v, *proxy); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(v, proxy string) error {
	if v == "head" {
		var err error
		if v, err = head(); err != nil {
			return err
		}
	}
	if !version.MatchString(v) {
		return fmt.Errorf("-version %q is no version of a module of major version 0 or 1", v)
	}
	if proxy != "" {
		return publish(v, proxy)
	}
	for _, name := range []string{path.Join(folder, "go.mod"), workspace} {
		text, err := require(name, v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// head is the last commit's pseudo-version (Go Modules Reference, "Pseudo-versions"), for a repository without tags.
func head() (string, error) {
	cmd := exec.Command("git", "show", "-s", "--abbrev=12", "--date=format-local:%Y%m%d%H%M%S",
		"--format=%cd-%h", "HEAD")
	cmd.Env = append(os.Environ(), "TZ=UTC")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git show: %w", err)
	}
	return "v0.0.0-" + strings.TrimSpace(string(out)), nil
}

// require is a file with another version of the library.
func require(name, v string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if n := len(required.FindAll(text, -1)); n != 1 {
		return nil, fmt.Errorf("%s names %d versions of %s, not one", name, n, library)
	}
	return required.ReplaceAll(text, []byte("${1}"+v)), nil
}

// publish writes both modules for GOPROXY=file://dir.
func publish(v, dir string) error {
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var nested []string
	for _, f := range files {
		if path.Base(f) == "go.mod" && f != "go.mod" {
			nested = append(nested, path.Dir(f)+"/")
		}
	}
	inside := func(f, dir string) bool { return strings.HasPrefix(f, dir) }
	lib, command := map[string]string{}, map[string]string{"LICENSE": "LICENSE"} // by their names in the module
	for _, f := range files {
		switch {
		case inside(f, folder+"/"):
			command[strings.TrimPrefix(f, folder+"/")] = f
		case !slices.ContainsFunc(nested, func(dir string) bool { return inside(f, dir) }):
			lib[f] = f
		}
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	if err := write(dir, library, v, lib, mod); err != nil {
		return err
	}
	if mod, err = require(path.Join(folder, "go.mod"), v); err != nil {
		return err
	}
	return write(dir, path.Join(library, folder), v, command, mod)
}

// write writes one module in the layout of a proxy; mod is its go.mod.
func write(dir, module, v string, files map[string]string, mod []byte) error {
	at := filepath.Join(dir, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": v, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b := mod
		if name != "go.mod" {
			if b, err = os.ReadFile(files[name]); errors.Is(err, fs.ErrNotExist) {
				continue // removed in the working tree
			} else if err != nil {
				return err
			}
		}
		f, err := w.Create(module + "@" + v + "/" + name)
		if err != nil {
			return err
		}
		if _, err := f.Write(b); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	for name, b := range map[string][]byte{"list": []byte(v + "\n"), v + ".info": info, v + ".mod": mod,
		v + ".zip": archive.Bytes()} {
		if err := os.WriteFile(filepath.Join(at, name), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}
