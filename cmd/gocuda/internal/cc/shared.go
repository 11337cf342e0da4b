package cc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// sharedObject is the error with which clang refuses a __shared__ variable whose type has a constructor. nvcc takes
// it and calls none.
var sharedObject = regexp.MustCompile(
	`(?m)^(.+):(\d+):(\d+): error: initialization is not supported for __shared__ variables`)

// sharedBefore is a declaration up to the name of a shared variable, and sharedAfter the rest of it.
var (
	sharedBefore = regexp.MustCompile(
		`__shared__((?:\s+static\b|\s*\b(?:alignas|__align__)\s*\((?:[^()]|\([^()]*\))*\))*)([^;{}=]*[^;{}=\w])$`)
	sharedAfter = regexp.MustCompile(`^(\w+)((?:\s*\[[^\]]*\])*)\s*;`)
)

// sharedOverlay writes copies of the files in which text, clang's messages, names shared objects: there they are bytes
// of the headers' __gocuda_shared, and the variable a reference to what they hold. It gives clang's arguments that put
// the copies in the files' places. Lines stay where they are. It gives none when text has no such message, or one about
// a declaration that is written otherwise.
func (d *Driver) sharedOverlay(text []byte) ([]string, error) {
	type place struct{ line, column int }
	files := map[string][]place{}
	for _, m := range sharedObject.FindAllSubmatch(text, -1) {
		line, e1 := strconv.Atoi(string(m[2]))
		column, e2 := strconv.Atoi(string(m[3]))
		if e1 != nil || e2 != nil {
			return nil, errors.Join(e1, e2)
		}
		name, p := string(m[1]), place{line, column}
		if !slices.Contains(files[name], p) { // once for each instance of a template
			files[name] = append(files[name], p)
		}
	}
	type entry struct {
		Name     string  `json:"name"`
		Type     string  `json:"type"`
		Contents string  `json:"external-contents,omitempty"`
		Entries  []entry `json:"contents,omitempty"`
	}
	overlay := struct {
		Version  int     `json:"version"`
		External string  `json:"use-external-names"`
		Roots    []entry `json:"roots"`
	}{External: "false"}
	for name, places := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		lines := bytes.SplitAfter(src, []byte("\n"))
		slices.SortFunc(places, func(a, b place) int { // backwards, so that what is still to be changed stays in place
			return (b.line-a.line)<<16 + b.column - a.column
		})
		for _, p := range places {
			if p.line > len(lines) || p.column > len(lines[p.line-1]) {
				return nil, nil
			}
			at := len(bytes.Join(lines[:p.line-1], nil)) + p.column - 1
			before, after := sharedBefore.FindSubmatchIndex(src[:at]), sharedAfter.FindSubmatch(src[at:])
			if before == nil || after == nil {
				return nil, nil
			}
			declared := fmt.Sprintf("__shared__%s ::__gocuda_shared<%s%s> __gocuda_%s; auto &%[4]s = __gocuda_%[4]s.object();",
				src[before[2]:before[3]], src[before[4]:before[5]], after[2], after[1])
			src = slices.Concat(src[:before[0]], []byte(declared), src[at+len(after[0]):])
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		file, err := os.CreateTemp(d.work, "shared-*"+filepath.Ext(name))
		if err != nil {
			return nil, err
		}
		_, err = file.Write(src)
		if err = errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		overlay.Roots = append(overlay.Roots, entry{Name: filepath.Dir(abs), Type: "directory",
			Entries: []entry{{Name: filepath.Base(abs), Type: "file", Contents: file.Name()}}})
	}
	if len(overlay.Roots) == 0 {
		return nil, nil
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp(d.work, "overlay-*.yaml")
	if err != nil {
		return nil, err
	}
	_, err = file.Write(list)
	return []string{"-ivfsoverlay", file.Name()}, errors.Join(err, file.Close())
}
