package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
)

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// build is what the program was made of.
type build struct {
	Version  string `json:"version"`            // of the module, "(devel)" for a build of the source tree
	Commit   string `json:"commit,omitempty"`   // of the source tree; absent in builds of the module proxy
	Time     string `json:"time,omitempty"`     // of the commit
	Modified bool   `json:"modified,omitempty"` // files differed from the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Device   string `json:"device,omitempty"` // what runs kernels when nothing chooses
	CUDA     string `json:"cuda,omitempty"`   // version of its driver
	Error    string `json:"error,omitempty"`  // why there is no device
}

// built reads what the Go tool has written into the program.
func built() build {
	b := build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

// line is version and commit in one line.
func (b *build) line() string {
	s := "gocuda " + b.Version
	if b.Commit != "" {
		s += ", commit " + b.Commit[:min(len(b.Commit), 12)]
		if b.Modified {
			s += " with changes"
		}
	}
	return s + ", " + b.Go + ", " + b.Platform
}

func (c *versionCmd) Run(con *console) error {
	b := built()
	if d, err := device.Open(device.Options{}); err != nil {
		b.Error = err.Error()
	} else {
		b.Device = d.String()
		var v int32
		if r := d.Table.DriverGetVersion(0, &v); r == driver.CUDA_SUCCESS {
			b.CUDA = fmt.Sprintf("%d.%d", v/1000, v%1000/10)
		} else {
			err = &callError{"cuDriverGetVersion", r, d.LastDetail(0)}
		}
		if err := errors.Join(err, d.Close()); err != nil {
			b.Error = err.Error()
		}
	}
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetIndent("", "  ")
		return e.Encode(b)
	}
	fmt.Fprintln(con.out, b.line())
	if b.Device != "" {
		fmt.Fprintf(con.out, "device  %s, CUDA %s\n", b.Device, b.CUDA)
	}
	if b.Error != "" {
		fmt.Fprintf(con.out, "error   %s\n", b.Error)
	}
	return nil
}

// versionFlag is --version, which opens no device.
type versionFlag bool

// BeforeReset prints the version and ends the program.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	b := built()
	fmt.Fprintln(app.Stdout, b.line())
	app.Exit(0)
	return nil
}
