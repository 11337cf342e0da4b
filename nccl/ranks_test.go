package nccl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda"
)

// deadline is far beyond what any of the tests takes, for machines with other things to do.
const deadline = 2 * time.Minute

// rankFunc is a test as one rank sees it. Its result is compared between one process and several.
type rankFunc func(ctx context.Context, c *Comm) (digest []byte, err error)

// programs are the tests that run in one process and in several.
var programs = map[string]rankFunc{}

const rankVariable = "GOCUDA_TEST_NCCL_RANK"

// TestMain is a rank where the test binary was started as one: name, rank, size, identifier.
func TestMain(m *testing.M) {
	if v := os.Getenv(rankVariable); v != "" {
		if err := rankMain(v); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func rankMain(v string) error {
	f := strings.Split(v, ",")
	rank, err := strconv.Atoi(f[1])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	_, c, err := openDevices(1)
	if err != nil {
		return err
	}
	var id ID
	if strings.HasPrefix(f[3], "file:") {
		if id, err = (File{Path: f[3][5:]}).ID(ctx, rank, n, c[0], Config{}); err != nil {
			return err
		}
	} else if _, err := hex.Decode(id[:], []byte(f[3])); err != nil {
		return err
	}
	comm, err := Init(ctx, id, rank, n, c[0], Config{Timeout: deadline})
	if err != nil {
		return err
	}
	digest, err := programs[f[0]](ctx, comm)
	if err != nil {
		return fmt.Errorf("rank %d: %w", rank, err)
	}
	fmt.Printf("%d %x\n", rank, digest)
	return comm.Close()
}

func openDevices(n int) (*cuda.System, []*cuda.Context, error) {
	profiles := make([]string, n)
	for i := range profiles {
		profiles[i] = "h200"
	}
	sys, err := cuda.Open(cuda.WithSoftware(profiles...))
	if err != nil {
		return nil, nil, err
	}
	contexts := make([]*cuda.Context, n)
	for i := range contexts {
		if contexts[i], err = sys.Context(i); err != nil {
			return nil, nil, err
		}
	}
	return sys, contexts, nil
}

// devices opens software devices for a test.
func devices(t testing.TB, n int) []*cuda.Context {
	t.Helper()
	sys, contexts, err := openDevices(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, c := range contexts {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := sys.Close(); err != nil {
			t.Error(err)
		}
	})
	return contexts
}

// inProcess runs a program with n ranks in this process, and returns what each found.
func inProcess(t testing.TB, n int, f rankFunc) [][]byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	comms, err := InitAll(ctx, devices(t, n), Config{Timeout: deadline})
	if err != nil {
		t.Fatal(err)
	}
	return allRanks(ctx, t, comms, f)
}

func allRanks(ctx context.Context, t testing.TB, comms []*Comm, f rankFunc) [][]byte {
	t.Helper()
	digests, errs := make([][]byte, len(comms)), make([]error, len(comms))
	var wg sync.WaitGroup
	for i, c := range comms {
		wg.Add(1)
		go func() {
			defer wg.Done()
			digests[i], errs[i] = f(ctx, c)
			if errs[i] != nil {
				errs[i] = fmt.Errorf("rank %d: %w", i, errs[i])
			}
			errs[i] = errors.Join(errs[i], c.Close())
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return digests
}

// processes runs a program with n ranks in n processes.
func processes(t testing.TB, n int, name string, id string) [][]byte {
	t.Helper()
	digests := make([][]byte, n)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		cmd := exec.Command(os.Args[0], "-test.run=^$")
		cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s,%d,%d,%s", rankVariable, name, i, n, id))
		wg.Add(1)
		go func() {
			defer wg.Done()
			var stderr strings.Builder
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				errs[i] = fmt.Errorf("rank %d: %w\n%s", i, err, stderr.String())
				return
			}
			_, text, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
			digests[i], errs[i] = hex.DecodeString(text)
		}()
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return digests
}

// digest is a hash of memory of the device.
type digest struct{ b []byte }

func (d *digest) add(b []byte) {
	h := fnv.New64a()
	_, _ = h.Write(b)
	d.b = h.Sum(d.b)
}
