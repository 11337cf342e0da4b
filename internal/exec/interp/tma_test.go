package interp

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/num"
	"github.com/gocuda/cuda/internal/tensormap"
)

// tensor is a tensor in device memory whose element number n (dense, innermost first) holds value(n).
type tensor struct {
	m    tensormap.Map
	b    *bench
	data []byte
	at   uint64 // of the map
	maps []byte
}

// tensorOf puts a tensor and its map into device memory. Strides are tight, rounded up to 16 bytes.
func tensorOf(t *testing.T, b *bench, m tensormap.Map, value func(n uint64) uint64) *tensor {
	t.Helper()
	stride := uint64(m.Type.Bytes())
	for d := 0; d < m.Rank; d++ {
		m.Stride[d] = stride
		stride = (stride*m.Dim[d] + 15) &^ 15
		if m.ElementStride[d] == 0 {
			m.ElementStride[d] = 1
		}
	}
	x := &tensor{b: b}
	m.Address, x.data = b.alloc(t, int(stride))
	x.m = m
	n := uint64(1)
	for d := 0; d < m.Rank; d++ {
		n *= m.Dim[d]
	}
	for i := uint64(0); i < n; i++ {
		put(x.element(i), value(i))
	}
	packed, err := tensormap.Encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	x.at, x.maps = b.alloc(t, tensormap.Size)
	copy(x.maps, packed[:])
	return x
}

// element returns the bytes of a dense element number.
func (x *tensor) element(n uint64) []byte {
	off, size := uint64(0), uint64(x.m.Type.Bytes())
	for d := 0; d < x.m.Rank; d++ {
		off += n % x.m.Dim[d] * x.m.Stride[d]
		n /= x.m.Dim[d]
	}
	return x.data[off : off+size]
}

// coordinate returns the bytes of an element, nil when it is out of bounds.
func (x *tensor) coordinate(c []int64) []byte {
	n, f := uint64(0), uint64(1)
	for d := range c {
		if c[d] < 0 || c[d] >= int64(x.m.Dim[d]) {
			return nil
		}
		n += uint64(c[d]) * f
		f *= x.m.Dim[d]
	}
	return x.element(n)
}

func put(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}

func value(b []byte) (v uint64) {
	for i := range b {
		v |= uint64(b[i]) << (8 * i)
	}
	return v
}

func braces(c []int64) string {
	s := make([]string, len(c))
	for i := range c {
		s[i] = fmt.Sprint(c[i])
	}
	return "{" + strings.Join(s, ", ") + "}"
}

// loadKernel loads one tile of n bytes and writes shared memory out as it stands; 0xee is what no copy wrote.
func loadKernel(mods string, c []int64, offs string, total, tx int) string {
	return kernel("", fmt.Sprintf(`
	.shared .align 1024 .b8 sm[%d]; .shared .align 8 .b64 mb;
	mov.u32 %%r1, sm; mov.u32 %%r2, mb; mov.u32 %%r3, 0;
F:
	add.u32 %%r4, %%r1, %%r3; st.shared.u32 [%%r4], 0xeeeeeeee; add.u32 %%r3, %%r3, 4; setp.lt.u32 %%p0, %%r3, %d;
	@%%p0 bra F;
	mbarrier.init.shared.b64 [mb], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], %d;
	cp.async.bulk.tensor.%dd.shared::cluster.global.%smbarrier::complete_tx::bytes [%%r1], [%%arg, %s], [%%r2]%s;
W:
	mbarrier.try_wait.parity.shared::cta.b64 %%p1, [mb], 0;
	@!%%p1 bra W;
	mov.u32 %%r3, 0; mov.b64 %%q1, %%base;
C:
	add.u32 %%r4, %%r1, %%r3; ld.shared.u32 %%r5, [%%r4]; st.global.u32 [%%q1], %%r5; add.s64 %%q1, %%q1, 4;
	add.u32 %%r3, %%r3, 4; setp.lt.u32 %%p0, %%r3, %d;
	@%%p0 bra C;`, total, total, tx, len(c), mods, braces(c), offs, total))
}

// runTile runs a kernel of one thread with the map as argument and returns the words that it wrote.
func runTile(t *testing.T, src string, words int, build func(b *bench) *tensor) ([]byte, *tensor, error) {
	t.Helper()
	var x *tensor
	out, err := do(t, job{src: src, grid: 1, block: 1, words: words, prepare: func(b *bench, j *job) {
		x = build(b)
		j.arg = x.at
	}})
	raw := make([]byte, 4*words)
	for i, w := range out {
		binary.LittleEndian.PutUint32(raw[4*i:], w)
	}
	return raw, x, err
}

// The expected contents of shared memory follow from the definitions in PTX ISA 5.5 ("Tensors"): element by element, in
// the order of the box, out-of-bound ones filled, and 16-byte chunks exchanged as the swizzling tables show.
func TestTileLoad(t *testing.T) {
	for _, c := range []struct {
		name  string
		m     tensormap.Map
		coord []int64
	}{
		{"1d", tensormap.Map{Type: tensormap.Uint8, Rank: 1, Dim: [5]uint64{100}, Box: [5]uint32{64}}, []int64{16}},
		{"1d past the end", tensormap.Map{Type: tensormap.Uint8, Rank: 1, Dim: [5]uint64{100}, Box: [5]uint32{64}},
			[]int64{64}},
		{"2d before the start", tensormap.Map{Type: tensormap.Int32, Rank: 2, Dim: [5]uint64{20, 9},
			Box: [5]uint32{16, 4}}, []int64{-8, -2}},
		{"2d corner", tensormap.Map{Type: tensormap.Float16, Rank: 2, Dim: [5]uint64{20, 9}, Box: [5]uint32{16, 4},
			NaN: true}, []int64{8, 7}},
		{"2d far out", tensormap.Map{Type: tensormap.Float32, Rank: 2, Dim: [5]uint64{20, 9}, Box: [5]uint32{16, 4},
			NaN: true}, []int64{400, -70}},
		{"3d steps", tensormap.Map{Type: tensormap.Uint16, Rank: 3, Dim: [5]uint64{24, 11, 7}, Box: [5]uint32{8, 7, 5},
			ElementStride: [5]uint32{4, 3, 2}}, []int64{8, -1, 1}},
		{"4d", tensormap.Map{Type: tensormap.Uint64, Rank: 4, Dim: [5]uint64{6, 5, 4, 3}, Box: [5]uint32{4, 3, 2, 2}},
			[]int64{2, 3, 1, 2}},
		{"5d", tensormap.Map{Type: tensormap.Uint8, Rank: 5, Dim: [5]uint64{32, 3, 4, 3, 5},
			Box: [5]uint32{16, 2, 2, 2, 3}}, []int64{16, 2, 3, 2, -1}},
		{"swizzle 32", tensormap.Map{Type: tensormap.Uint8, Rank: 2, Dim: [5]uint64{64, 40}, Box: [5]uint32{32, 32},
			Swizzle: tensormap.Swizzle32B}, []int64{16, 3}},
		{"swizzle 64", tensormap.Map{Type: tensormap.Uint16, Rank: 2, Dim: [5]uint64{64, 40}, Box: [5]uint32{32, 16},
			Swizzle: tensormap.Swizzle64B}, []int64{8, 30}},
		{"swizzle 128", tensormap.Map{Type: tensormap.Float32, Rank: 2, Dim: [5]uint64{64, 40}, Box: [5]uint32{32, 8},
			Swizzle: tensormap.Swizzle128B}, []int64{44, 2}},
		{"swizzle 128 narrow", tensormap.Map{Type: tensormap.Float32, Rank: 2, Dim: [5]uint64{64, 40},
			Box: [5]uint32{16, 8}, Swizzle: tensormap.Swizzle128B}, []int64{4, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const total = 2048
			m := c.m
			for d := range m.ElementStride {
				m.ElementStride[d] = max(m.ElementStride[d], 1)
			}
			src := loadKernel("", c.coord, "", total, int(m.BoxBytes()))
			raw, x, err := runTile(t, src, total/4, func(b *bench) *tensor {
				return tensorOf(t, b, m, func(n uint64) uint64 { return n*0x9e3779b97f4a7c15 | 1 })
			})
			if err != nil {
				t.Fatal(err)
			}
			size := int(m.Type.Bytes())
			fill := uint64(0)
			if m.NaN {
				fill = 1<<(8*size-1) - 1
			}
			if m.NaN && size == 2 {
				// what fma.oob of an H200 makes zero of (testdata/generated); the copy itself is not recorded
				fill = num.OOBNaN16
			}
			wanted := make([]byte, total)
			for i := range wanted {
				wanted[i] = 0xee
			}
			span := int(m.Swizzle.Span())
			row := max(int(m.Box[0])*size, span)
			n := 0
			var walk func(d int, at []int64)
			walk = func(d int, at []int64) {
				if d > 0 {
					for i := uint32(0); i < m.Box[d]; i += m.ElementStride[d] {
						next := append([]int64(nil), at...)
						next[d] += int64(i)
						walk(d-1, next)
					}
					return
				}
				for i := 0; i < int(m.Box[0]); i++ {
					at[0] = c.coord[0] + int64(i)
					v := fill
					if e := x.coordinate(at); e != nil {
						v = value(e)
					}
					off := n*row + i*size
					if span != 0 { // chunk number xor line number, within the span
						chunk, line := off%span/16, off/128%(span/16)
						off = off/span*span + (chunk^line)*16 + off%16
					}
					put(wanted[off:off+size], v)
				}
				n++
			}
			walk(m.Rank-1, append([]int64(nil), c.coord...))
			for i := range wanted {
				if raw[i] != wanted[i] {
					t.Fatalf("byte %d of shared memory is %#x, want %#x", i, raw[i], wanted[i])
				}
			}
		})
	}
}

// TestIm2colLoad does the convolution's view of an image by hand: pixels W first, then H, then N, inside the box that
// the corners leave.
func TestIm2colLoad(t *testing.T) {
	m := tensormap.Map{Mode: tensormap.Im2col, Type: tensormap.Float16, Rank: 4, Dim: [5]uint64{16, 7, 5, 3},
		Lower: [3]int32{-1, -1}, Upper: [3]int32{-1, -1},
		Channels: 8, Pixels: 60, ElementStride: [5]uint32{1, 2, 1, 1}}
	const total = 60 * 16
	start := []int64{8, 3, 1, 0} // c, w, h, n
	offW, offH := int64(2), int64(1)
	src := loadKernel("im2col.", start, fmt.Sprintf(", {%d, %d}", offW, offH), total, total)
	raw, x, err := runTile(t, src, total/4, func(b *bench) *tensor {
		return tensorOf(t, b, m, func(n uint64) uint64 { return n + 1 })
	})
	if err != nil {
		t.Fatal(err)
	}
	w, h, n := start[1], start[2], start[3]
	for p := 0; p < 60; p++ {
		for c := int64(0); c < 8; c++ {
			want := uint64(0)
			if e := x.coordinate([]int64{8 + c, w + offW, h + offH, n}); e != nil {
				want = value(e)
			}
			if got := value(raw[p*16+int(c)*2:][:2]); got != want {
				t.Fatalf("pixel %d (w %d h %d n %d) channel %d is %d, want %d", p, w, h, n, c, got, want)
			}
		}
		if w += 2; w >= 7-1 {
			w = -1
			if h++; h >= 5-1 {
				h = -1
				n++
			}
		}
	}
}

// storeKernel writes words first, first+1, ... to shared memory and stores or reduces them as a tile.
func storeKernel(name string, c []int64, words int, first uint32) string {
	return kernel("", fmt.Sprintf(`
	.shared .align 1024 .b8 sm[%d];
	mov.u32 %%r1, sm; mov.u32 %%r3, 0; mov.u32 %%r5, %d;
F:
	mad.lo.u32 %%r4, %%r3, 4, %%r1; st.shared.u32 [%%r4], %%r5; add.u32 %%r5, %%r5, 1; add.u32 %%r3, %%r3, 1; setp.lt.u32 %%p0, %%r3, %d;
	@%%p0 bra F;
	fence.proxy.async.shared::cta;
	%s [%%arg, %s], [%%r1];
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;`, words*4, first, words, name, braces(c)))
}

func TestTileStore(t *testing.T) {
	base := tensormap.Map{Type: tensormap.Uint32, Rank: 2, Dim: [5]uint64{10, 6}, Box: [5]uint32{8, 4}}
	signed := base
	signed.Type = tensormap.Int32
	for _, c := range []struct {
		op string
		m  tensormap.Map
		f  func(old, v uint32) uint32
	}{
		{"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group", base, func(_, v uint32) uint32 { return v }},
		{"cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group", base, func(_, v uint32) uint32 { return v }},
		{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group", base, func(o, v uint32) uint32 {
			return o + v
		}},
		{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group", signed, func(o, v uint32) uint32 {
			return uint32(max(int32(o), int32(v)))
		}},
		{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.min.bulk_group", base, func(o, v uint32) uint32 {
			return min(o, v)
		}},
		{"cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.bulk_group", base, func(o, v uint32) uint32 {
			return o ^ v
		}},
	} {
		t.Run(c.op, func(t *testing.T) {
			before := func(n uint64) uint64 { return n*97 - 1500 }
			_, x, err := runTile(t, storeKernel(c.op, []int64{4, 3}, 32, 1000), 1, func(b *bench) *tensor {
				return tensorOf(t, b, c.m, before)
			})
			if err != nil {
				t.Fatal(err)
			}
			for n := uint64(0); n < 60; n++ {
				want := uint32(before(n))
				if i, j := n%10, n/10; i >= 4 && j >= 3 { // the box reaches over both edges
					want = c.f(want, uint32(1000+(j-3)*8+(i-4)))
				}
				if got := uint32(value(x.element(n))); got != want {
					t.Fatalf("element %d is %d, want %d", n, got, want)
				}
			}
		})
	}
}

func TestTileFaults(t *testing.T) {
	m := tensormap.Map{Type: tensormap.Float32, Rank: 2, Dim: [5]uint64{32, 8}, Box: [5]uint32{8, 4}}
	build := func(edit func(x *tensor)) func(b *bench, j *job) {
		return func(b *bench, j *job) {
			x := tensorOf(t, b, m, func(n uint64) uint64 { return n })
			if edit != nil {
				edit(x)
			}
			j.arg = x.at
		}
	}
	store := "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
	load := func(c ...int64) string { return loadKernel("", c, "", 1024, 128) }
	// Recorded on an H200 (tma_odd, tma_store): an innermost coordinate that is no multiple of 16 bytes, and stores
	// before the tensor, are illegal instructions.
	for name, c := range map[string]struct {
		src  string
		edit func(x *tensor)
		text string
	}{
		"odd load":       {load(3, 0), nil, "16 bytes"},
		"odd store":      {storeKernel(store, []int64{5, 0}, 32, 0), nil, "16 bytes"},
		"negative store": {storeKernel(store, []int64{-4, 0}, 32, 0), nil, "negative"},
		"rank":           {load(0, 0, 0), nil, "dimensions"},
		"no map":         {load(0, 0), func(x *tensor) { clear(x.maps) }, "not a tensor map"},
		"inc of floats": {storeKernel("cp.reduce.async.bulk.tensor.2d.global.shared::cta.inc.bulk_group",
			[]int64{0, 0}, 32, 0), nil, ".inc"},
	} {
		t.Run(name, func(t *testing.T) {
			fault(t, job{src: c.src, grid: 1, block: 1, words: 1024, prepare: build(c.edit)}, exec.FaultInstruction,
				c.text)
		})
	}
	fault(t, job{src: strings.Replace(load(0, 0), "mov.u32 %r3, 0;\nF:", "add.u32 %r1, %r1, 16; mov.u32 %r3, 0;\nF:",
		1), grid: 1, block: 1, words: 1024, prepare: build(nil)}, exec.FaultMisaligned, "")
}

// TestTensormapReplace changes every field of a map in shared memory, copies it to global memory and reads it back.
func TestTensormapReplace(t *testing.T) {
	src := kernel("", `
	.shared .align 128 .b8 sm[128];
	mov.u32 %r1, sm; mov.u32 %r3, 0;
	setp.ne.u32 %p0, %t, 0;
	@%p0 bra COPY;
L:
	cvt.u64.u32 %q1, %r3; add.u64 %q1, %q1, %arg; ld.global.u32 %r4, [%q1]; add.u32 %r5, %r1, %r3; st.shared.u32 [%r5], %r4;
	add.u32 %r3, %r3, 4; setp.lt.u32 %p1, %r3, 128;
	@%p1 bra L;
	mov.u64 %q2, 0x12340; mov.u64 %q3, 0x1230; mov.u32 %r6, 2; mov.u32 %r7, 77; mov.u32 %r8, 3;
	tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r1], %q2;
	tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r1], %r6;
	tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r1], 1, %r8;
	tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r1], 2, %r7;
	tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r1], 1, %q3;
	tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r1], 2, %r8;
	tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r1], 0xa;
	tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r1], 2;
	tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r1], 1;
	tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r1], 1;
COPY:
	bar.warp.sync 0xffffffff;
	tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%arg], [%r1], 128;
	fence.proxy.tensormap::generic.acquire.gpu [%arg], 128;`)
	m := tensormap.Map{Type: tensormap.Float32, Rank: 2, Dim: [5]uint64{32, 8}, Box: [5]uint32{8, 4},
		ElementStride: [5]uint32{1, 1, 1, 1, 1}}
	var x *tensor
	if _, err := do(t, job{src: src, grid: 1, block: 32, prepare: func(b *bench, j *job) {
		x = tensorOf(t, b, m, func(n uint64) uint64 { return n })
		j.arg = x.at
	}}); err != nil {
		t.Fatal(err)
	}
	got, err := tensormap.Unpack(x.maps)
	if err != nil {
		t.Fatal(err)
	}
	w := x.m
	w.Address, w.Rank, w.Box[1], w.Dim[2], w.Stride[2], w.ElementStride[2] = 0x12340, 3, 3, 77, 0x1230, 3
	w.Type, w.Interleave, w.Swizzle, w.NaN = tensormap.BFloat16, tensormap.Interleave32B, tensormap.Swizzle32B, true
	w.Stride[0], got.Stride[0] = 0, 0
	for d := 2; d < 5; d++ { // of dimensions that the map did not have
		if d > 2 {
			w.Dim[d], got.Dim[d] = 0, 0
		}
	}
	if got != w {
		t.Errorf("got  %+v\nwant %+v", got, w)
	}
}

// TestMulticast loads a tile into both CTAs of a cluster, each half by one of them.
func TestMulticast(t *testing.T) {
	src := kernel("", `
	.shared .align 1024 .b8 sm[256]; .shared .align 8 .b64 mb;
	mov.u32 %r1, sm; mov.u32 %r2, mb; mov.u32 %r3, %cluster_ctarank;
	setp.ne.u32 %p0, %t, 0;
	@%p0 bra READY;
	mbarrier.init.shared::cta.b64 [mb], 1;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [mb], 256;
READY:
	barrier.cluster.arrive.release;
	barrier.cluster.wait.acquire;
	@%p0 bra W;
	mov.b16 %h1, 3; shl.b32 %r4, %r3, 2; mad.lo.u32 %r5, %r3, 128, %r1;
	cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r5], [%arg, {0, %r4}], [%r2], %h1;
W:
	mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [mb], 0;
	@!%p1 bra W;
	mad.lo.u32 %r6, %t, 4, %r1; ld.shared.u32 %r7, [%r6]; st.global.u32 [%o], %r7;
	barrier.cluster.arrive; barrier.cluster.wait;`)
	m := tensormap.Map{Type: tensormap.Uint32, Rank: 2, Dim: [5]uint64{8, 8}, Box: [5]uint32{8, 4}}
	want(t, job{src: src, grid: 2, block: 64, cluster: 2, prepare: func(b *bench, j *job) {
		j.arg = tensorOf(t, b, m, func(n uint64) uint64 { return n * 3 }).at
	}}, func(i int) uint32 { return uint32(i%64) * 3 })
}
