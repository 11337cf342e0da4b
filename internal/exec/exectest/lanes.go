package exectest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
)

// lanesFile has kernels k(u64 buffer) with what an H200 made of them: stores of many lanes to one address (race/),
// atomic operations on one word (order/), operations of a warp some of whose lanes are absent (warp/), and testp with
// guards (open/). Every kernel ran several times, but those in open/; of those whose answers differed (Varies) and
// those that did not end (Hangs) it has the names.
const lanesFile = "testdata/lanes.json.gz"

// laneCase is a recorded kernel. The buffer's bytes are Fill before the launch, its first ones Out behind it unless the
// launch ended with the driver's result code Fault.
type laneCase struct {
	ID          string
	Grid, Block uint32
	Fill        byte
	Fault       int
	Out         []byte
	Init        []byte // what lies 64 KiB behind the buffer's start before the launch
	PTX         string
}

// laneExceptions are the cases, by pattern (path.Match), in which the software device answers otherwise, with the
// reason. The list may only become shorter.
var laneExceptions = []struct {
	pattern string
	n       int
	reason  string
}{
	{"race/block/*/*/*/*", 30, "which of several warps stores last is a matter of time; here the one with the highest number does"},
	{"race/learner/shared/256", 1, "eight warps store: the fourth one's value stayed"},
	{"race/grid/*/*", 3, "which block is the last is a matter of time"},
	{"order/*/shared/128", 4, "loops on an H200, in which warps take turns lane by lane"},
	{"warp/*/sides/*/full", 3, "ptxas makes one operation of the same one in both sides of a branch"},
	{"warp/*/sides/*/differ", 1, "the same"},
	{"warp/*/sides/*/none", 4, "an empty mask does not fault there, as it does in one side"},
	{"warp/ldmatrix.*/exit/*/-", 14, "not executed: what stood in the register that ptxas chose, which nothing has written"},
	{"warp/mma.*/exit/*/-", 10, "the same"},
	{"warp/movmatrix/exit/*/-", 1, "the same"},
	{"warp/wmma.*/*/*/-", 16, "the places of elements in fragments are opaque (PTX ISA, wmma) and ours; wmma.load.a is ldmatrix on an H200"},
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
		Device        string
		Varies, Hangs []string
		Cases         []laneCase
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
		copy(buf[1<<16:], c.Init)
		k, err := d.Load(c.PTX).Kernel("k")
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		err = k.Run(Config{Grid: Dim(c.Grid), Block: Dim(c.Block)}, addr)
		code := 0
		if f := (*exec.Fault)(nil); errors.As(err, &f) {
			code = map[exec.FaultKind]int{exec.FaultInstruction: 715, exec.FaultMisaligned: 716,
				exec.FaultAddress: 700}[f.Kind]
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
			if matches(x.pattern, c.ID) {
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
		t.Logf("%s: %d of at most %d differ: %s", x.pattern, excepted[j], x.n, x.reason)
		if excepted[j] > x.n {
			t.Errorf("%s: %d cases differ, no more than %d may", x.pattern, excepted[j], x.n)
		}
	}
	t.Logf("%d kernels of an %s; %d more varied there, %d hung", len(file.Cases), file.Device, len(file.Varies),
		len(file.Hangs))
}

func matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}
