// Command record runs recorded sequences of API calls on a device and writes its answers. With -join it writes what was
// recorded in the files that are its arguments.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/gocuda/cuda/internal/conform/sequence"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/softdev"
)

func main() {
	in := flag.String("i", "", "sequences, compressed with gzip")
	out := flag.String("o", "h200.txt.gz", "file to write")
	workers := flag.Int("j", 12, "processes at a time")
	per := flag.Int("per", 4, "sequences that a process makes")
	limit := flag.Duration("limit", 5*time.Second, "time for one sequence")
	budget := flag.Duration("budget", 140*time.Second, "time for all")
	kind := flag.String("device", "driver", "driver or software")
	join := flag.Bool("join", false, "join recordings")
	flag.Parse()
	if *join {
		if err := joinFiles(*out, flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(*in, *out, *kind, *workers, *per, *limit, *budget); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(in, out, kind string, workers, per int, limit, budget time.Duration) error {
	list, err := sequence.ReadFile(in)
	if err != nil {
		return err
	}
	open := func() (*driver.Table, error) { return openDevice(kind) }
	if sequence.Worker(list, open) {
		return nil
	}
	if _, err := open(); err != nil { // before every worker finds it out
		return err
	}
	began := time.Now()
	r := sequence.Recorder{Workers: workers, PerWork: per, Limit: limit, Until: began.Add(budget / 2)}
	first, err := r.Record(list)
	if err != nil {
		return err
	}
	half := time.Since(began)
	// Twice, with another number of processes: what is not the same both times is no answer.
	r.Workers, r.Until = max(1, workers-3), began.Add(budget)
	second, err := r.Record(list)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for i := range first {
		if len(first[i].Lines) == 0 {
			counts["not recorded"]++
		}
		if len(second[i].Lines) == 0 {
			counts["recorded once"]++
		}
		first[i] = sequence.Merge(first[i], second[i])
		for _, l := range first[i].Lines {
			counts["calls"]++
			counts[strings.Fields(l.Answer + " ?")[0]]++
		}
	}
	if err := sequence.WriteFile(out, first); err != nil {
		return err
	}
	fmt.Printf("%d sequences, %d calls, %.0f s and %.0f s: %d crashed, %d hang, %d vary, %d skipped, %d wrong, %d not recorded, %d recorded once\n", len(first), counts["calls"], half.Seconds(),
		(time.Since(began) - half).Seconds(), counts[sequence.Crash], counts[sequence.Hang], counts[sequence.Varies],
		counts["SKIPPED"], counts["WRONG"], counts["not recorded"], counts["recorded once"])
	return nil
}

func joinFiles(out string, files []string) error {
	var lists [][]sequence.Recorded
	for _, path := range files {
		list, err := sequence.ReadFile(path)
		if err != nil {
			return err
		}
		lists = append(lists, list)
	}
	all := sequence.Join(lists...)
	fmt.Printf("%d sequences\n", len(all))
	return sequence.WriteFile(out, all)
}

func openDevice(kind string) (*driver.Table, error) {
	switch kind {
	case "driver":
		d, err := nvidia.Open(nvidia.Options{})
		if err != nil {
			return nil, err
		}
		return d.Table(), nil
	case "software":
		d, err := softdev.New(softdev.Options{Stdout: io.Discard, Stderr: io.Discard})
		if err != nil {
			return nil, err
		}
		return d.Table(), nil
	}
	return nil, fmt.Errorf("no device %q", kind)
}
