// Command storechange says whether a program that checks itself notices a wrong store of its kernels.
//
//	go run ./internal/tools/storechange [-stores 3] [-tries 12] [-time 60s] PROGRAM -- ARGUMENT ...
//
// PROGRAM is an executable of gocuda cc, which has its PTX as text. The command writes copies of it with one store
// changed each (its value turned over, not its place), runs them, and expects one at least to fail. It takes stores
// that lie evenly over all of them, and further ones up to -tries while none was noticed. Before, an unchanged copy
// must pass.
//
// Exit status: 0 when a change was noticed, 1 when none was, 3 when the program has no store, 2 for other errors. A
// program that fails by a fault or by no end counts as one that noticed only when it says FAILED.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

func main() {
	stores := flag.Int("stores", 3, "stores to change, one at a time")
	tries := flag.Int("tries", 12, "further stores are changed, up to so many in all, while no change is noticed")
	limit := flag.Duration("time", time.Minute, "for one run")
	verbose := flag.Bool("v", false, "print each change")
	flag.Parse()
	if flag.NArg() < 1 {
		flag.Usage()
		os.Exit(2)
	}
	t := &trial{program: flag.Arg(0), stores: *stores, tries: *tries, limit: *limit, verbose: *verbose}
	if t.args = flag.Args()[1:]; len(t.args) > 0 && t.args[0] == "--" {
		t.args = t.args[1:]
	}
	status, err := t.run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "storechange:", err)
		os.Exit(2)
	}
	os.Exit(status)
}

// trial is the changes of one program.
type trial struct {
	program       string
	args          []string
	stores, tries int
	limit         time.Duration
	verbose       bool
}

// outcome of a run.
type outcome uint8

const (
	passed  outcome = iota
	noticed         // it says FAILED
	broke           // it ends otherwise: by a signal, or not in time
)

func (t *trial) run() (status int, err error) {
	data, err := os.ReadFile(t.program)
	if err != nil {
		return 0, err
	}
	found := texts(data)
	if len(found) == 0 {
		fmt.Println("no PTX as text in it")
		return 3, nil
	}
	modules := make([][]string, len(found))
	for i, f := range found {
		modules[i] = bare(f.body)
	}
	// Text that the program has for itself, without comments, has no room for a change.
	all := slices.DeleteFunc(stores(modules), func(s store) bool {
		return len(s.changed())-len(modules[s.text][s.line]) > room(found[s.text], modules[s.text])
	})
	if len(all) == 0 {
		fmt.Println("no store in its PTX")
		return 3, nil
	}
	dir, err := os.MkdirTemp("", "storechange")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	copied := filepath.Join(dir, filepath.Base(t.program))
	attempt := func(change *store) (outcome, error) {
		out := bytes.Clone(data)
		for i, f := range found {
			lines := modules[i]
			if change != nil && change.text == i {
				lines = slices.Clone(lines)
				lines[change.line] = change.changed()
				if err := valid(lines); err != nil {
					return 0, fmt.Errorf("%s: %w", lines[change.line], err)
				}
			}
			if err := write(out, f, lines); err != nil {
				return 0, err
			}
		}
		return t.execute(copied, out)
	}
	if o, err := attempt(nil); err != nil {
		return 0, err
	} else if o != passed {
		return 0, errors.New("the program does not pass without a change")
	}
	var ran, told, fell int
	for _, i := range spread(len(all), max(t.stores, t.tries)) {
		if ran >= t.stores && told > 0 || ran >= t.tries {
			break
		}
		o, err := attempt(&all[i])
		if err != nil {
			return 0, err
		}
		ran++
		switch o {
		case noticed:
			told++
		case broke:
			fell++
		}
		if t.verbose {
			fmt.Fprintln(os.Stderr, [...]string{"passes", "is noticed", "breaks"}[o]+":", all[i].changed())
		}
	}
	fmt.Printf("%d of %d changed stores noticed", told, ran)
	if fell > 0 {
		fmt.Printf(", %d ended otherwise", fell)
	}
	fmt.Printf(" (%d stores in all)\n", len(all))
	if told == 0 {
		return 1, nil
	}
	return 0, nil
}

// valid is the error of a changed module: a change that is no PTX would be noticed by loading it.
func valid(lines []string) error {
	var b bytes.Buffer
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	m, err := ptx.Parse(b.Bytes())
	if err != nil {
		return err
	}
	_, err = check.Check(m, check.Options{})
	return err
}

// spread gives n of the numbers below total, or all, those in front lying evenly over all.
func spread(total, n int) []int {
	var order []int
	seen := make([]bool, total)
	for parts := 1; len(order) < min(n, total); parts *= 2 {
		for k := 0; k < parts; k++ {
			if i := (2*k + 1) * total / (2 * parts); !seen[i] {
				seen[i] = true
				order = append(order, i)
			}
		}
		if parts > 2*total {
			break
		}
	}
	return order[:min(n, len(order))]
}

func (t *trial) execute(name string, data []byte) (outcome, error) {
	if err := os.WriteFile(name, data, 0o700); err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(context.Background(), t.limit)
	defer stop()
	cmd := exec.CommandContext(ctx, name, t.args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	said := bytes.TrimSpace(out)
	var exit *exec.ExitError
	switch {
	case err == nil && bytes.HasSuffix(said, []byte("PASSED")):
		return passed, nil
	case err != nil && !errors.As(err, &exit) && ctx.Err() == nil:
		return 0, err
	case bytes.HasSuffix(said, []byte("FAILED")):
		return noticed, nil
	}
	return broke, nil
}
