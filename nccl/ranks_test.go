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
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
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
	var rendezvous Rendezvous
	if f[3] == "launcher" {
		w, err := Environment()
		if err != nil {
			return err
		}
		rank, n, rendezvous = w.Rank, w.Size, w.Rendezvous
	}
	_, c, err := openDevices(rank, 1)
	if err != nil {
		return err
	}
	var id ID
	if rendezvous != nil {
		if id, err = rendezvous.ID(ctx, rank, n, c[0], Config{}); err != nil {
			return err
		}
	} else if strings.HasPrefix(f[3], "file:") {
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
	if err := comm.Close(); !errors.Is(err, cuda.ErrClosed) {
		return err
	}
	return nil
}

// onDriver says that the tests run on GPUs.
func onDriver() bool { return env.Read(nil).TestDevice == "driver" }

// openDevices opens n devices: GPUs from number first on, or software devices.
func openDevices(first, n int) (*cuda.System, []*cuda.Context, error) {
	options := cuda.WithDriver()
	if !onDriver() {
		profiles := make([]string, n)
		for i := range profiles {
			profiles[i] = "h200"
		}
		first, options = 0, cuda.WithSoftware(profiles...)
	}
	sys, err := cuda.Open(options)
	if err != nil {
		return nil, nil, err
	}
	contexts := make([]*cuda.Context, n)
	for i := range contexts {
		if contexts[i], err = sys.Context(first + i); err != nil {
			return nil, nil, err
		}
	}
	return sys, contexts, nil
}

// need skips a test that is for more GPUs than there are.
func need(t testing.TB, n int) {
	t.Helper()
	if have := most(t); have < n {
		skip.Without(t, skip.DeviceFeature, fmt.Sprintf("%d GPUs of %d", have, n))
	}
}

// most is how many devices there can be.
func most(t testing.TB) int {
	t.Helper()
	if !onDriver() {
		return 64
	}
	sys, err := cuda.Open(cuda.WithDriver())
	if err != nil {
		t.Fatal(err)
	}
	defer sys.Close()
	return len(sys.Devices())
}

// devices opens devices for a test.
func devices(t testing.TB, n int) []*cuda.Context {
	t.Helper()
	sys, contexts, err := openDevices(0, n)
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
			if err := c.Close(); !errors.Is(err, cuda.ErrClosed) { // a program may have closed it
				errs[i] = errors.Join(errs[i], err)
			}
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
			_, text, _ := strings.Cut(strings.TrimSpace(string(out)), " ") // NCCL may write lines before
			text = text[strings.LastIndexByte(text, ' ')+1:]
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
