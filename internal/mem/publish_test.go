package mem

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

const publishChild = "GOCUDA_PUBLISHED"

// TestMain is also the other process of the tests here.
func TestMain(m *testing.M) {
	if text := os.Getenv(publishChild); text != "" {
		os.Exit(otherProcess(text))
	}
	os.Exit(m.Run())
}

func (p Published) text() string {
	var b strings.Builder
	for _, v := range []uint64{uint64(p.Process), uint64(p.File), p.Cookie, p.Size, p.Offset, p.Bytes} {
		b.WriteString(strconv.FormatUint(v, 10) + " ")
	}
	return b.String()
}

func published(text string) (p Published) {
	var v [6]uint64
	for i, s := range strings.Fields(text) {
		v[i], _ = strconv.ParseUint(s, 10, 64)
	}
	return Published{int32(v[0]), int32(v[1]), v[2], v[3], v[4], v[5]}
}

// otherProcess opens memory and a page: it adds one to each byte and says so on the page.
func otherProcess(text string) int {
	memory, page, _ := strings.Cut(text, ";")
	w, err := Open(1)
	if err != nil {
		return 10
	}
	h := w.NewHeap(Device, 64<<20)
	r, err := h.OpenPublished(published(memory), "owner")
	if err != nil {
		os.Stderr.WriteString(err.Error())
		return 11
	}
	if got, ok := w.Lookup(r.Base + 1); !ok || got.Base != r.Base || got.Size != r.Size || got.Owner != "owner" ||
		h.Usage().Used != published(memory).Size {
		return 12
	}
	if _, ok := w.Lookup(r.Base - 1); ok {
		return 13
	}
	b, err := w.Slice(r.Base, r.Size)
	if err != nil {
		return 14
	}
	for i := range b {
		b[i]++
	}
	p, err := OpenPage(published(page), 1)
	if err != nil {
		return 15
	}
	p.Word(1).Store(p.Word(0).Load() + 1)
	if w.ClosePublished(r.Base) != nil || h.Usage().Used != 0 || p.Close() != nil || w.Close() != nil {
		return 16
	}
	return 0
}

// TestPublish: what another process writes is seen here, at the address that the memory had all the time, and
// neighbours keep what they hold.
func TestPublish(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 64<<20)
	for _, size := range []uint64{100, 3 << 20} {
		addr, err := h.Alloc(size, 0)
		if err != nil {
			t.Fatal(err)
		}
		near, err := h.Alloc(100, 0)
		if err != nil {
			t.Fatal(err)
		}
		fill := func(a, n uint64, v byte) []byte {
			b, err := w.Slice(a, n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range b {
				b[i] = v
			}
			return b
		}
		mine, other := fill(addr, size, 7), fill(near, 100, 9)
		p, err := w.Publish(addr)
		if errors.Is(err, errors.ErrUnsupported) {
			skip.Without(t, skip.Stores, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if again, err := w.Publish(addr); err != nil || again != p {
			t.Errorf("again: %+v, %v", again, err)
		}
		if !w.IsPublished(addr) || w.IsPublished(addr+1<<30) {
			t.Error("what is published is not known")
		}
		page, err := NewPage(1)
		if err != nil {
			t.Fatal(err)
		}
		page.Word(0).Store(41)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), publishChild+"="+p.text()+";"+page.Published().text())
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if page.Word(1).Load() != 42 {
			t.Error("the page is not shared")
		}
		if !bytes.Equal(mine, bytes.Repeat([]byte{8}, int(size))) || !bytes.Equal(other, bytes.Repeat([]byte{9}, 100)) {
			t.Errorf("%d bytes: %v..., %v", size, mine[:4], other[:4])
		}
		if err := page.Close(); err != nil {
			t.Error(err)
		}
		for _, a := range []uint64{addr, near} {
			if err := h.Free(a); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := h.OpenPublished(p, nil); !errors.Is(err, ErrNotPublished) {
			t.Errorf("memory that is gone: %v", err)
		}
		if len(w.published) != 0 || h.Usage().Used != 0 {
			t.Errorf("%d published, %+v", len(w.published), h.Usage())
		}
		// The addresses serve again, with zeros.
		for range 200 {
			a, err := h.Alloc(size, 0)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := w.Slice(a, size)
			if b[0] != 0 || b[size-1] != 0 {
				t.Fatal("memory is not zero")
			}
			b[0], b[size-1] = 1, 1
			if err := h.Free(a); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPublishErrors(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 64<<20)
	if _, err := w.Publish(w.Base() + 8<<30); err == nil {
		t.Error("published what is not there")
	}
	for _, p := range []Published{{}, {Size: 100, Bytes: 1}, {Size: Granule},
		{Size: Granule, Bytes: Granule, Offset: 1}, {Size: Granule, Bytes: ^uint64(0), Offset: 2}} {
		var ae *AddressError
		if _, err := h.OpenPublished(p, nil); !errors.As(err, &ae) {
			t.Errorf("%+v: %v", p, err)
		}
	}
	p := Published{Process: int32(os.Getpid()), File: 1, Cookie: 5, Size: Granule, Bytes: 5}
	if _, err := h.OpenPublished(p, nil); !errors.Is(err, ErrNotPublished) && !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := OpenPage(p, 1); !errors.Is(err, ErrNotPublished) {
		t.Error(err)
	}
}

// TestArena: an arena's allocations count for the heap, are found by others through its descriptor, and their places
// are used again.
func TestArena(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 64<<20)
	a, err := h.NewArena(16<<20, [16]byte{1, 2, 15: 3})
	if errors.Is(err, errors.ErrUnsupported) {
		skip.Without(t, skip.Stores, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.Usage().Used != 0 {
		t.Errorf("%+v", h.Usage())
	}
	var list []Range
	for {
		r, err := a.Alloc(3<<20, len(list))
		var full *OutOfMemoryError
		if errors.As(err, &full) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if len(list) != 4 || h.Usage().Used != 12<<20 {
		t.Fatalf("%d allocations, %+v", len(list), h.Usage())
	}
	fd, err := a.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	w2 := open(t, MaxWindow)
	h2 := w2.NewHeap(Device, 8<<20)
	b, err := h2.OpenArena(fd)
	if err := os.NewFile(fd, "").Close(); err != nil {
		t.Error(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b.Label() != [16]byte{1, 2, 15: 3} || !b.Opened() || b.Cookie() != a.Cookie() || a.Opened() {
		t.Error("not the same arena")
	}
	if _, err := b.Alloc(5, nil); err == nil {
		t.Error("allocated in another's arena")
	}
	mine, err := w.Slice(list[2].Base, list[2].Size)
	if err != nil {
		t.Fatal(err)
	}
	mine[3<<20-1] = 77
	off, ok := a.Offset(list[2].Base)
	if !ok {
		t.Fatal("no offset")
	}
	r, err := b.Open(off, 3<<20, "x")
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := w2.Slice(r.Base, r.Size)
	if err != nil || theirs[3<<20-1] != 77 {
		t.Fatal("the memory is not shared", err)
	}
	theirs[0] = 78
	if mine[0] != 78 {
		t.Error("the memory is not shared back")
	}
	if _, err := b.Open(off+1, 5, nil); err == nil {
		t.Error("odd offset")
	}
	if _, err := b.Open(1<<40, 5, nil); err == nil {
		t.Error("offset beyond the end")
	}
	if err := b.Free(r.Base); err != nil || h2.Usage().Used != 0 {
		t.Errorf("%v, %+v", err, h2.Usage())
	}
	if mine[0] != 78 {
		t.Error("closing it elsewhere emptied the memory")
	}
	for _, i := range []int{2, 0, 3, 1} {
		if err := a.Free(list[i].Base); err != nil {
			t.Fatal(err)
		}
	}
	if a.Free(list[0].Base) == nil {
		t.Error("freed twice")
	}
	whole, err := a.Alloc(16<<20, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := w.Slice(whole.Base, whole.Size); bytes.ContainsAny(s[:8<<20], "\x4d\x4e") {
		t.Error("freed memory is not zero")
	}
	if err := a.Release(); err != nil {
		t.Error(err)
	}
	if err := a.Free(whole.Base); err != nil || h.Usage().Used != 0 || len(w.stores) != 0 {
		t.Errorf("%v, %+v, %d stores", err, h.Usage(), len(w.stores))
	}
	if f, err := os.Open(os.Args[0]); err == nil {
		if _, err := h.OpenArena(f.Fd()); err == nil {
			t.Error("opened a file that is no arena")
		}
		_ = f.Close()
	}
}
