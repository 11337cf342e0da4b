// Command record runs the API cases on the NVIDIA driver and writes the transcript.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gocuda/cuda/internal/conform/api"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/softdev"
)

// softwareVariable tells child processes to take the software device.
const softwareVariable = "GOCUDA_API_SOFTWARE"

func main() {
	out := flag.String("o", "h200.txt", "file to write")
	workers := flag.Int("j", 8, "processes at a time")
	fresh := flag.Bool("new", false, "only the cases that have no recording yet")
	two := flag.Bool("two", false, "the table for two devices")
	software := flag.Bool("software", false, "on the software device, to see its answers")
	flag.Parse()
	set := api.One
	if *two {
		set = api.Two
	}
	open := func() (*driver.Table, error) {
		if os.Getenv(softwareVariable) != "" {
			d, err := softdev.New(softdev.Options{Profiles: make([]string, 2), Stdout: io.Discard, Stderr: io.Discard})
			if err != nil {
				return nil, err
			}
			return d.Table(), nil
		}
		d, err := nvidia.Open(nvidia.Options{})
		if err != nil {
			return nil, err
		}
		return d.Table(), nil
	}
	if api.Child(open) {
		return
	}
	if *software {
		if err := os.Setenv(softwareVariable, "1"); err != nil {
			fail(err)
		}
	}
	name, version, err := describe(open)
	if err != nil {
		fail(err)
	}
	wanted := func(c api.Case) bool { return !*fresh || set.Awaited(c.Name) }
	texts, err := set.RecordSome(*workers, wanted)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	var b strings.Builder
	write := func() {
		b.Reset()
		fmt.Fprintf(&b, "# device %s\n# cuda %d.%d\n# driver %s\n# date %s\n", name, version/1000, version%1000/10,
			release(), time.Now().UTC().Format("2006-01-02"))
		for _, t := range texts {
			b.WriteString(t)
		}
		if err := os.WriteFile(*out, []byte(b.String()), 0o666); err != nil {
			fail(err)
		}
	}
	write()
	// Twice, with another number of processes: what is not the same both times is no answer.
	again, err := set.RecordSome((*workers+1)/2, wanted)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	for i := range texts {
		texts[i] = api.Merge(texts[i], again[i])
	}
	write()
	fmt.Printf("%d lines, %d crashed, %d vary\n", strings.Count(b.String(), "\n"),
		strings.Count(b.String(), "-> CRASH"),
		strings.Count(b.String(), "-> VARIES"))
}

// describe asks the driver for the name of the device and its own version; the process makes no other call.
func describe(open func() (*driver.Table, error)) (string, int32, error) {
	t, err := open()
	if err != nil {
		return "", 0, err
	}
	var version int32
	var dev driver.CUdevice
	name := new([256]byte)
	if r := t.Init(0, 0); r != driver.CUDA_SUCCESS {
		return "", 0, fmt.Errorf("cuInit: %v", r)
	}
	if r := t.DriverGetVersion(0, &version); r != driver.CUDA_SUCCESS {
		return "", 0, fmt.Errorf("cuDriverGetVersion: %v", r)
	}
	if r := t.DeviceGetName(0, &name[0], 255, dev); r != driver.CUDA_SUCCESS {
		return "", 0, fmt.Errorf("cuDeviceGetName: %v", r)
	}
	return driver.String(&name[0]), version, nil
}

// release is the driver's own version, which Linux tells in a file; the API has no call for it.
func release() string {
	b, _ := os.ReadFile("/proc/driver/nvidia/version")
	for _, word := range strings.Fields(string(b)) {
		if strings.Count(word, ".") == 2 && word[0] >= '1' && word[0] <= '9' {
			return word
		}
	}
	return "unknown"
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "record:", err)
	os.Exit(1)
}
