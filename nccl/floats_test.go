package nccl

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/crc64"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/internal/skip"
)

var recordFlag = flag.String("record", "", "file for the results of two ranks (TestTwoRanks)")

// recordedTwo is what NCCL computed on two GPUs: lines of reduction, type, kind and the CRC-64 (ECMA) of each 4096
// elements.
const recordedTwo = "testdata/two.txt.gz"

// operands are elements of a type for two ranks: all pairs of the 8-bit types, all values of the 16-bit types against
// others in an order that looks random, special values and random bits of the larger ones.
func operands[T Number]() (x, y []T) {
	var v T
	put := func(a, b uint64) {
		x = append(x, *(*T)(unsafe.Pointer(&a)))
		y = append(y, *(*T)(unsafe.Pointer(&b)))
	}
	rng := rand.New(rand.NewPCG(19, uint64(unsafe.Sizeof(v))))
	switch unsafe.Sizeof(v) {
	case 1:
		for i := range uint64(1 << 16) {
			put(i&255, i>>8)
		}
		return x, y
	case 2:
		for i := range uint64(1 << 18) {
			put(i&0xffff, (i*40503+i>>16*7919+12345)&0xffff)
		}
	}
	var special []uint64
	for _, f := range []float64{0, 1, 1.5, 2, 3, 1e-310, math.SmallestNonzeroFloat64, 0x1p-1022, math.MaxFloat64, 1e-40,
		math.SmallestNonzeroFloat32, math.MaxFloat32, 0x1p-126, 0x1p24, 0x1p53, 1e9, 7, math.Pi, math.Inf(1)} {
		special = append(special, math.Float64bits(f), math.Float64bits(-f), uint64(math.Float32bits(float32(f))),
			uint64(math.Float32bits(float32(-f))))
	}
	special = append(special, 0x7fc00000, 0x7f800001, 0xffc12345, 0x7fffffff, 0x7ff8000000000000, 0x7ff0000000000001,
		0xfff8123400000000, math.MaxUint64, 1, 2, math.MaxInt64, math.MaxInt32, 1<<31, 1<<63)
	for _, a := range special {
		for _, b := range special {
			put(a, b)
		}
	}
	for len(x)%4096 != 0 || len(x) < 1<<15 {
		put(rng.Uint64(), rng.Uint64())
	}
	return x, y
}

// twoRanks is a program of two ranks that makes every reduction of every type; its result is the lines of recordedTwo.
func twoRanks(ctx context.Context, c *Comm) ([]byte, error) {
	var b bytes.Buffer
	for _, f := range []func(context.Context, *Comm, io.Writer) error{
		reductions[int8], reductions[uint8], reductions[int32], reductions[uint32], reductions[int64],
		reductions[uint64], reductions[Float16], reductions[Bfloat16], reductions[Float8E4M3],
		reductions[Float8E5M2], reductions[float32], reductions[float64],
	} {
		if err := f(ctx, c, &b); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func reductions[T Number](ctx context.Context, c *Comm, w io.Writer) (err error) {
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	in, other := operands[T]()
	if c.Rank() == 1 {
		in, other = other, in
	}
	x, err := cuda.Upload(c.Context(), in)
	if err != nil {
		return err
	}
	sc.Add(x)
	y, err := cuda.Alloc[T](c.Context(), len(in))
	if err != nil {
		return err
	}
	sc.Add(y)
	var zero T
	half, err := PreMulSum(c, in[len(in)/3])
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name string
		op   Op
	}{{"sum", Sum}, {"prod", Prod}, {"max", Max}, {"min", Min}, {"avg", Avg}, {"premulsum", half}} {
		for _, kind := range []string{"AllReduce", "Reduce", "ReduceScatter"} {
			part := y.View
			switch kind {
			case "AllReduce":
				err = AllReduce(c, nil, x.View, y.View, r.op)
			case "Reduce":
				err = Reduce(c, nil, x.View, y.View, r.op, 0)
			case "ReduceScatter":
				part = y.View.Slice(0, len(in)/2)
				err = ReduceScatter(c, nil, x.View, part, r.op)
			}
			if err = errors.Join(err, c.Wait(ctx, nil)); err != nil {
				return fmt.Errorf("%T %s: %w", zero, r.name, err)
			}
			if kind == "Reduce" && c.Rank() != 0 {
				continue
			}
			got := make([]T, part.Len())
			if err := part.CopyTo(got); err != nil {
				return err
			}
			fmt.Fprintf(w, "%s %T %s", kind, zero, r.name)
			for ; len(got) > 0; got = got[min(4096, len(got)):] {
				fmt.Fprintf(w, " %016x", crc64.Checksum(bytesOf(got[:min(4096, len(got))]), ecma))
			}
			fmt.Fprintln(w)
			if kind == "AllReduce" && c.Rank() == 0 {
				if err := y.View.CopyTo(in); err != nil {
					return err
				}
				if err := keep(fmt.Sprintf("%T-%s", zero, r.name), bytesOf(in)); err != nil {
					return err
				}
				if err := x.View.CopyTo(in); err != nil {
					return err
				}
			}
		}
	}
	return half.Close()
}

var ecma = crc64.MakeTable(crc64.ECMA)

// keep writes the bytes of a result, where the test records.
func keep(name string, b []byte) error {
	if *recordFlag == "" {
		return nil
	}
	f, err := os.Create(*recordFlag + "." + strings.TrimPrefix(name, "nccl.") + ".gz")
	if err != nil {
		return err
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(b)
	return errors.Join(err, z.Close(), f.Close())
}

// Every reduction of two ranks gives what NCCL 2.28.9 gave on two H100, but for what otherInNCCL names: all integers,
// all 8-bit floats, and all sums, products, minima and maxima of 16 and 32 bits.
func TestTwoRanks(t *testing.T) {
	need(t, 2)
	var text strings.Builder
	for i, lines := range inProcess(t, 2, twoRanks) {
		for l := range strings.Lines(string(lines)) {
			fmt.Fprintf(&text, "%d %s", i, l)
		}
	}
	if *recordFlag != "" {
		if err := os.WriteFile(*recordFlag, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	f, err := os.Open(recordedTwo)
	if errors.Is(err, os.ErrNotExist) {
		skip.Without(t, skip.Testdata, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	want, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	truth, got := strings.Split(string(want), "\n"), strings.Split(text.String(), "\n")
	if len(truth) != len(got) {
		t.Fatalf("%d lines, recorded %d", len(got), len(truth))
	}
	equal := 0
	for i := range truth {
		a, b := strings.Fields(truth[i]), strings.Fields(got[i])
		known := ""
		if len(a) > 4 {
			known = otherInNCCL(a[1], a[2], a[3])
		}
		switch {
		case truth[i] == got[i] && known != "" && a[0] == "0":
			t.Errorf("%v is equal, and is said to be another: %s", a[:4], known)
		case truth[i] == got[i]:
			equal++
		case known == "":
			for k := range min(len(a), len(b)) {
				if a[k] != b[k] {
					t.Errorf("%v: elements from %d on are other ones", b[:4], (k-4)*4096)
					break
				}
			}
		}
	}
	t.Logf("%d lines, %d equal", len(truth), equal)
}

// otherInNCCL says why a result is not NCCL's in every bit, if it is not.
func otherInNCCL(kind, typ, op string) string {
	scaled := op == "avg" || op == "premulsum"
	switch {
	case typ == "float64" && (op == "min" || op == "max"):
		return "of two NaN, NCCL keeps one"
	case typ == "float64" && scaled:
		return "NaN and the rank whose product is rounded by itself"
	case kind == "AllReduce" && typ == "float64" && (op == "sum" || op == "prod"):
		return "the payload of a NaN follows the order of the ranks"
	case kind == "AllReduce" && scaled && strings.Contains(strings.ToLower(typ), "float") &&
		!strings.Contains(typ, "8E"):
		return "the rank whose product is rounded by itself follows NCCL's channels"
	}
	return ""
}
