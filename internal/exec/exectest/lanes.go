package exectest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
)

// lanesFile has kernels k(u64 buffer) with what an H200 made of them: stores of many lanes to one address (race/), atomic
// operations on one word (order/), and operations of a warp some of whose lanes are absent (warp/). Every kernel ran
// several times; those whose answers differed, and those that did not end, are not in it.
const lanesFile = "testdata/lanes.json.gz"

// laneCase is a recorded kernel. The buffer's bytes are Fill before the launch, its first ones Out behind it unless the
// launch ended with the driver's result code Fault.
type laneCase struct {
	ID          string
	Grid, Block uint32
	Fill        byte
	Fault       int
	Out         []byte
	PTX         string
}

// laneExceptions are the cases, by the beginning of their names, in which the software device answers otherwise, with
// the reason. The list may only become shorter.
var laneExceptions = []struct {
	prefix string
	n      int
	reason string
}{
	{"race/block/", 30, "which of several warps stores last is a matter of time; here the one with the highest number does"},
	{"race/learner/shared/256", 1, "eight warps store: the fourth one's value stayed"},
	{"race/grid/", 3, "which block is the last is a matter of time"},
	{"order/", 4, "atomic operations on shared memory that are loops on an H200: warps take turns lane by lane"},
	{"warp/", 201, "not followed yet"},
}

// ReplayLanes runs the recorded cases in the file in dir on an engine.
func ReplayLanes(t *testing.T, dir string, e exec.Engine) {
	f, err := os.Open(dir + "/" + lanesFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Device string
		Cases  []laneCase
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	d := Open(t)
	d.Engine = e
	addr, buf := d.Alloc(1 << 17)
	excepted := make([]int, len(laneExceptions))
	for i := range file.Cases {
		c := &file.Cases[i]
		for j := range buf {
			buf[j] = c.Fill
		}
		k, err := d.Load(c.PTX).Kernel("k")
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		err = k.Run(Config{Grid: Dim(c.Grid), Block: Dim(c.Block)}, addr)
		code := 0
		if f := (*exec.Fault)(nil); errors.As(err, &f) {
			code = map[exec.FaultKind]int{exec.FaultInstruction: 715, exec.FaultMisaligned: 716, exec.FaultAddress: 700}[f.Kind]
		}
		if err != nil && code == 0 {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if code == c.Fault && (code != 0 || bytes.HasPrefix(buf, c.Out)) {
			continue
		}
		except := -1
		for j, x := range laneExceptions {
			if strings.HasPrefix(c.ID, x.prefix) {
				except = j
			}
		}
		switch {
		case except >= 0:
			excepted[except]++
		case code != c.Fault:
			t.Errorf("%s: result %d, recorded %d (%v)", c.ID, code, c.Fault, err)
		default:
			n := 0
			for n < len(c.Out) && c.Out[n] == buf[n] {
				n++
			}
			n &^= 3
			t.Errorf("%s: from byte %d on % x, recorded % x", c.ID, n, buf[n:n+4], c.Out[n:n+4])
		}
	}
	for j, x := range laneExceptions {
		t.Logf("%s: %d of at most %d differ: %s", x.prefix, excepted[j], x.n, x.reason)
		if excepted[j] > x.n {
			t.Errorf("%s: %d cases differ, no more than %d may", x.prefix, excepted[j], x.n)
		}
	}
	t.Logf("%d kernels of an %s", len(file.Cases), file.Device)
}
