package nccl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/env"
)

// freeAddress is an address of this machine where nobody listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Ranks meet at an address, twice one after the other, while others connect that are none: they send nothing, too
// little, too much and nonsense, and none of that gets in the way.
func TestTCP(t *testing.T) {
	n := min(8, most(t))
	contexts := devices(t, n)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	r := TCP{Address: freeAddress(t)}
	stop := make(chan struct{})
	var others sync.WaitGroup
	for _, b := range [][]byte{nil, {1}, bytes.Repeat([]byte{7}, 1<<16), []byte(tcpMagic),
		append(encodeTCPHello(1, n), make([]byte, 1000)...), []byte("GET / HTTP/1.1\r\n\r\n")} {
		others.Add(1)
		go func() {
			defer others.Done()
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				if conn, err := net.Dial("tcp", r.Address); err == nil {
					_, _ = conn.Write(b)
					time.Sleep(5 * time.Millisecond)
					_ = conn.Close()
				}
			}
		}()
	}
	ids := make([][2]ID, n)
	var wg sync.WaitGroup
	for rank := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range ids[rank] {
				var err error
				if ids[rank][k], err = r.ID(ctx, rank, n, contexts[rank], Config{}); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	others.Wait()
	for rank := range ids {
		if ids[rank] != ids[0] || ids[rank][0] == ids[rank][1] || ids[rank][0] == (ID{}) {
			t.Errorf("rank %d has %x", rank, ids[rank])
		}
	}
}

func TestTCPErrors(t *testing.T) {
	c := devices(t, 1)[0]
	short, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	r := TCP{Address: freeAddress(t)}
	_, err := r.ID(short, 0, 3, c, Config{})
	if !errors.Is(err, ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(fmt.Sprint(err),
		"2 of 3 ranks have not come, among them [1 2]") {
		t.Errorf("rank 0 alone: %v", err)
	}
	if _, err := r.ID(short, 1, 3, c, Config{}); !errors.Is(err, ErrTimeout) {
		t.Errorf("rank 1 alone: %v", err)
	}
	for _, address := range []string{"", "nowhere", "127.0.0.1"} {
		if _, err := (TCP{Address: address}).ID(context.Background(), 0, 2, c, Config{}); !errors.Is(err,
			ErrInvalidArgument) {
			t.Errorf("address %q: %v", address, err)
		}
	}
	// other numbers of ranks, and what is no rank 0
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	done := make(chan error)
	go func() {
		_, err := r.ID(ctx, 0, 3, c, Config{})
		done <- err
	}()
	if _, err := r.ID(ctx, 1, 4, c, Config{}); !errors.Is(err, ErrInvalidArgument) {
		t.Errorf("rank 1 of 4 at 3: %v", err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "a rank 1 of 4 came") {
		t.Errorf("rank 0: %v", err)
	}
	l, err := net.Listen("tcp", r.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, strings.Repeat("HTTP/1.1 400 Bad Request\r\n", 20))
		_, _ = io.Copy(io.Discard, conn)
	}()
	_, err = r.ID(context.Background(), 1, 3, c, Config{})
	if !errors.Is(err, ErrSystem) || !errors.Is(err, errNoMaster) {
		t.Errorf("another server: %v", err)
	}
}

// FuzzTCP: whatever comes, decoding ends, and what is taken is what is written again.
func FuzzTCP(f *testing.F) {
	f.Add(encodeTCPHello(1, 2))
	f.Add(encodeTCPAnswer(tcpOK, &ID{1, 2, 3}))
	f.Add([]byte(tcpMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		if rank, n, err := decodeTCPHello(b); err == nil {
			if rank < 1 || rank >= n || !bytes.Equal(encodeTCPHello(rank, n), b) {
				t.Errorf("%x is rank %d of %d", b, rank, n)
			}
		}
		if status, id, err := decodeTCPAnswer(b); err == nil && !bytes.Equal(encodeTCPAnswer(status, &id), b) {
			t.Errorf("%x is another answer", b)
		}
		if _, n, err := parseFile(b); err == nil && n < 1 {
			t.Errorf("%q: %d ranks", b, n)
		}
		if host, ok := firstOfNodes(string(b)); ok && (host == "" || strings.ContainsAny(host, "[], ")) {
			t.Errorf("%q begins with %q", b, host)
		}
	})
}

func TestEnvironment(t *testing.T) {
	for _, c := range []struct {
		name string
		l    env.Launch
		want World
		err  string
	}{
		{"none", env.Launch{}, World{}, "no launcher"},
		{"torchrun", env.Launch{env.Rank: "3", env.WorldSize: "8", env.LocalRank: "1", env.MasterAddr: "n1",
			env.MasterPort: "29400", env.AgentStore: "True"}, World{"torchrun", 3, 8, 1, TCP{"n1:29401"}}, ""},
		{"kubernetes", env.Launch{env.Rank: "3", env.WorldSize: "8", env.MasterAddr: "n1", env.MasterPort: "23456"},
			World{"torchrun", 3, 8, 0, TCP{"n1:23456"}}, ""},
		{"no master", env.Launch{env.Rank: "0", env.WorldSize: "2"}, World{}, "MASTER_ADDR is not set"},
		{"rank", env.Launch{env.Rank: "8", env.WorldSize: "8", env.MasterAddr: "n"}, World{}, `RANK is "8"`},
		{"size", env.Launch{env.Rank: "0", env.WorldSize: "x", env.MasterAddr: "n"}, World{}, `WORLD_SIZE is "x"`},
		{"local", env.Launch{env.Rank: "1", env.WorldSize: "2", env.LocalRank: "-1", env.MasterAddr: "n"}, World{},
			`LOCAL_RANK is "-1"`},
		{"port", env.Launch{env.Rank: "1", env.WorldSize: "2", env.MasterAddr: "n", env.MasterPort: "65536"}, World{},
			`MASTER_PORT is "65536"`},
		{"open mpi", env.Launch{env.OMPIRank: "1", env.OMPISize: "2", env.OMPILocalRank: "1", env.OMPILocalSize: "2"},
			World{"Open MPI", 1, 2, 1, TCP{"127.0.0.1:29500"}}, ""},
		{"open mpi, two machines", env.Launch{env.OMPIRank: "1", env.OMPISize: "2", env.OMPILocalRank: "0",
			env.OMPILocalSize: "1"}, World{}, "mpirun -x MASTER_ADDR"},
		{"slurm", env.Launch{env.SlurmRank: "5", env.SlurmSize: "8", env.SlurmLocalRank: "1", env.SlurmJob: "123456",
			env.SlurmStep: "2", env.SlurmStepNodes: "gpu[07-09,12],login1"},
			World{"Slurm", 5, 8, 1, TCP{"gpu07:24194"}}, ""},
		{"slurm by name", env.Launch{env.SlurmRank: "0", env.SlurmStepSize: "1", env.SlurmLocalRank: "0",
			env.MasterAddr: "::1", env.MasterPort: "7"}, World{"Slurm", 0, 1, 0, TCP{"[::1]:7"}}, ""},
		{"slurm list", env.Launch{env.SlurmRank: "0", env.SlurmSize: "1", env.SlurmLocalRank: "0",
			env.SlurmNodes: "a[1"}, World{}, "no list of machines"},
	} {
		w, err := worldOf(c.l)
		if c.err != "" {
			if !errors.Is(err, ErrInvalidArgument) || !strings.Contains(fmt.Sprint(err), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
		} else if err != nil || w != c.want {
			t.Errorf("%s: %+v, %v, want %+v", c.name, w, err, c.want)
		}
	}
	for list, want := range map[string]string{"n1": "n1", "n1,n2": "n1", "rack[1-2]n[01-16]": "rack1n01",
		"a-b.c_d[3]x,y": "a-b.c_d3x", "": "", "[": "", "a]": "", "a[]": "", "a[x-y]": "", "a b": "", "$(id)": ""} {
		if got, ok := firstOfNodes(list); got != want && ok || ok != (want != "") {
			t.Errorf("%q begins with %q, want %q", list, got, want)
		}
	}
}

// Each launcher's environment, set as it sets it, brings processes together.
func TestLaunched(t *testing.T) {
	n := min(3, most(t))
	need(t, 2)
	address := freeAddress(t)
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	for launcher, vars := range map[string][]string{
		"torchrun": {"RANK={rank}", "WORLD_SIZE={n}", "LOCAL_RANK={rank}", "MASTER_ADDR=" + host,
			"MASTER_PORT=" + port},
		"mpirun": {"OMPI_COMM_WORLD_RANK={rank}", "OMPI_COMM_WORLD_SIZE={n}", "OMPI_COMM_WORLD_LOCAL_RANK={rank}",
			"OMPI_COMM_WORLD_LOCAL_SIZE={n}", "MASTER_PORT=" + port},
		"srun": {"SLURM_PROCID={rank}", "SLURM_NTASKS={n}", "SLURM_LOCALID={rank}", "SLURM_JOB_NODELIST=localhost",
			"MASTER_PORT=" + port},
	} {
		t.Run(launcher, func(t *testing.T) {
			done := make(chan error, n)
			for rank := range n {
				cmd := exec.Command(os.Args[0], "-test.run=^$")
				cmd.Env = append(os.Environ(), rankVariable+"=features,-1,-1,launcher")
				for _, v := range vars {
					cmd.Env = append(cmd.Env, strings.NewReplacer("{rank}", fmt.Sprint(rank), "{n}",
						fmt.Sprint(n)).Replace(v))
				}
				go func() {
					out, err := cmd.CombinedOutput()
					if err != nil {
						err = fmt.Errorf("rank %d: %w\n%s", rank, err, out)
					}
					done <- err
				}()
			}
			for range n {
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
}
