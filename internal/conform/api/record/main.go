// Command record runs the API cases on the NVIDIA driver and writes the transcript.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gocuda/cuda/internal/conform/api"
	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
)

func main() {
	kind := flag.String("device", "driver", "driver or software")
	out := flag.String("o", "h200.txt", "file to write")
	workers := flag.Int("j", 8, "processes at a time")
	flag.Parse()
	if v := os.Getenv("GOCUDA_API_DEVICE"); v != "" {
		*kind = v
	}
	open := func(noInit bool) (*device.Device, error) {
		k, err := device.ParseKind(*kind)
		if err != nil {
			return nil, err
		}
		return device.Open(device.Options{Kind: k, NoInit: noInit})
	}
	if api.Child(func() (*driver.Table, error) {
		d, err := open(true)
		if err != nil {
			return nil, err
		}
		return d.Table, nil
	}) {
		return
	}
	if err := os.Setenv("GOCUDA_API_DEVICE", *kind); err != nil {
		fail(err)
	}
	d, err := open(false)
	if err != nil {
		fail(err)
	}
	var version int32
	d.Table.DriverGetVersion(0, &version)
	texts, err := api.Record(*workers)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# device %s\n# cuda %d.%d\n# date %s\n", d.Name, version/1000, version%1000/10, time.Now().UTC().Format("2006-01-02"))
	for _, t := range texts {
		b.WriteString(t)
	}
	if err := os.WriteFile(*out, []byte(b.String()), 0o666); err != nil {
		fail(err)
	}
	fmt.Printf("%d cases, %d crashed\n", len(texts), strings.Count(b.String(), "-> CRASH"))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "record:", err)
	os.Exit(1)
}
