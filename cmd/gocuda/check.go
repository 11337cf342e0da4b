package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/conform"
	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/softdev"
)

type checkCmd struct {
	Folder  string   `arg:"" help:"A set of instruction cases (index.json, inputs.bin.gz, ...), of modules (modules/*/manifest.json) or of Tile IR kernels (index.json, modules.bin.gz, data.bin.gz)."`
	Group   []string `help:"Only these groups of cases, or modules; NAME:N is one launch of a module." placeholder:"NAME"`
	Build   string   `help:"Modules: this build, or all that hold PTX; default is the PTX that suits the device." placeholder:"LABEL"`
	Device  string   `help:"driver, software or auto (the driver if it is usable)." default:"auto" enum:"auto,driver,software"`
	Profile string   `help:"Profile of the software device." placeholder:"NAME"`
	Engine  string   `help:"Engine of the software device: interpreter, jit (machine code, linux/amd64) or auto." default:"interpreter" enum:"interpreter,jit,auto"`
	Verbose bool     `short:"v" help:"Every case that is not bit-equal, and every one that is not implemented."`
	JSON    bool     `name:"json" help:"Print JSON."`
}

func (c *checkCmd) Run(con *console) error {
	kind, err := device.ParseKind(c.Device)
	if err != nil {
		return err
	}
	progress := func(done, total int, what string) {
		if st, err := os.Stderr.Stat(); err == nil && st.Mode()&os.ModeCharDevice != 0 && con.err == os.Stderr {
			fmt.Fprintf(con.err, "\r%d/%d %-40.40s", done, total, what)
			if done == total {
				fmt.Fprintf(con.err, "\r%60s\r", "")
			}
		}
	}
	opts := conform.Options{Device: device.Options{Kind: kind, Profile: c.Profile,
		Software: softdev.Options{EngineName: c.Engine}}, Only: c.Group, Build: c.Build, Progress: progress}
	var rep *conform.Report
	switch {
	case !exists(c.Folder):
		return hint(fmt.Errorf("%s does not exist", c.Folder),
			"a folder with a set of recorded cases; testdata/silicon and testdata/corpus are two")
	case exists(filepath.Join(c.Folder, "index.json"), filepath.Join(c.Folder, "index.json.gz")) &&
		exists(filepath.Join(c.Folder, "inputs.bin"), filepath.Join(c.Folder, "inputs.bin.gz")):
		rep, err = conform.Instructions(os.DirFS(c.Folder), opts)
	case exists(filepath.Join(c.Folder, "modules.bin"), filepath.Join(c.Folder, "modules.bin.gz")) &&
		exists(filepath.Join(c.Folder, "data.bin"), filepath.Join(c.Folder, "data.bin.gz")):
		rep, err = conform.Tiles(opts, os.DirFS(c.Folder))
	case exists(filepath.Join(c.Folder, "modules")):
		rep, err = conform.Modules(os.DirFS(c.Folder), opts)
	default:
		return hint(fmt.Errorf("%s is not a set of recorded cases", c.Folder),
			"a folder with index.json and inputs.bin.gz, with modules/*/manifest.json, or with index.json, modules.bin.gz and "+
				"data.bin.gz; testdata/silicon is one")
	}
	var open *conform.DeviceError
	switch {
	case errors.As(err, &open):
		return deviceHint(err)
	case err != nil:
		return hint(err, "gocuda check --help")
	}
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetIndent("", "  ")
		if err := e.Encode(rep); err != nil {
			return err
		}
	} else {
		printReport(con, rep, c.Verbose)
	}
	if n := rep.Unexpected(); n > 0 {
		return hint(fmt.Errorf("%d cases failed", n), "gocuda check -v --group NAME for the details of one group")
	}
	if rep.Total() == (conform.Count{}) {
		return hint(errors.New("no case ran"), "another --group or --build")
	}
	return nil
}

// exists says whether one of some files is there.
func exists(paths ...string) bool {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return true
		}
	}
	return false
}

func printReport(con *console, r *conform.Report, verbose bool) {
	fmt.Fprintf(con.out, "device: %s\n", r.Device)
	fmt.Fprintf(con.out, "%-16s %8s %8s %8s %10s\n", "group", "passed", "failed", "missing", "bit-equal")
	names := make([]string, 0, len(r.Groups))
	for g := range r.Groups {
		names = append(names, g)
	}
	sort.Strings(names)
	var t conform.Count
	row := func(name string, n conform.Count) {
		fmt.Fprintf(con.out, "%-16s %8d %8d %8d %10d\n", name, n.Passed, n.Failed, n.NotImplemented, n.Equal)
	}
	for _, g := range names {
		n := r.Groups[g]
		row(g, n)
		t.Add(n)
	}
	row("all", t)
	if len(r.Kinds) > 1 {
		fmt.Fprintln(con.out)
		kinds := make([]string, 0, len(r.Kinds))
		for k := range r.Kinds {
			kinds = append(kinds, k)
		}
		sort.Strings(kinds)
		for _, k := range kinds {
			row("kind "+k, r.Kinds[k])
		}
	}
	for _, f := range r.Cases {
		if f.Status == "failed" || verbose {
			text, _, more := strings.Cut(f.Text, "\n")
			if more {
				text += " ..."
			}
			if f.Exception != "" {
				text = "known: " + f.Exception
			}
			fmt.Fprintf(con.out, "%s: %s [%s] %s\n", f.Status, f.Name, f.Kind, text)
		}
	}
	for _, l := range r.LeftOut {
		fmt.Fprintf(con.out, "left out: %s ends the use of the device by this process; run it alone: --group %s\n", l,
			l)
	}
	if verbose && len(r.Distances) > 0 {
		fmt.Fprintf(con.out, "\nlargest distance from the recorded silicon, in units of the last place, of forms that are not exact by specification\n")
		for _, d := range r.Distances {
			fmt.Fprintf(con.out, "%-48s %s of %d elements differ, max %s\n", d.Name, fmt.Sprint(d.Different),
				d.Elements, d.ULP)
		}
	}
}
