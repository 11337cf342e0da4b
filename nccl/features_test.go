package nccl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gocuda/cuda"
)

func init() { programs["features"] = features }

// features is what belongs to communicators beside operations: splitting, shrinking, registered memory, reductions with
// scalars, and the orderly end.
func features(ctx context.Context, c *Comm) ([]byte, error) {
	var d digest
	for _, f := range []struct {
		name string
		do   func(ctx context.Context, c *Comm, d *digest) error
	}{{"split", splitTwice}, {"register", registered}, {"scalars", scalars}, {"shrink", shrunk}} {
		if err := f.do(ctx, c, &d); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if err := c.Finalize(ctx); err != nil {
		return nil, err
	}
	return d.b, c.Close()
}

// sumOfRanks sums a number that each rank of a communicator has.
func sumOfRanks(ctx context.Context, c *Comm, d *digest, mine int32, want int32) error {
	return with(ctx, c, d, fmt.Sprintf("sum in %v", c), []int32{mine, 1}, []int32{want, int32(c.Size())},
		func(s *cuda.Stream, x, y cuda.View[int32]) error { return AllReduce(c, s, x, y, Sum) })
}

func splitTwice(ctx context.Context, c *Comm, d *digest) error {
	n, me := c.Size(), c.Rank()
	// even and odd ranks, each in the opposite order
	sub, err := c.Split(ctx, me%2, -me, Config{Name: "half"})
	if err != nil {
		return err
	}
	var members []int
	sum := int32(0)
	for r := n - 1; r >= 0; r-- {
		if r%2 == me%2 {
			members = append(members, r)
			sum += int32(10 + r)
		}
	}
	if sub.Size() != len(members) || sub.Rank() != slices.Index(members, me) {
		return fmt.Errorf("rank %d is %v, want %d of %d", me, sub, slices.Index(members, me), len(members))
	}
	if err := sumOfRanks(ctx, sub, d, int32(10+me), sum); err != nil {
		return err
	}
	// of the part again a part, and none for its first rank
	color := 7
	if sub.Rank() == 0 {
		color = NoColor
	}
	rest, err := sub.Split(ctx, color, 0, Config{})
	switch {
	case err != nil:
		return err
	case (rest == nil) != (sub.Rank() == 0):
		return fmt.Errorf("%v has %v of a colour %d", sub, rest, color)
	case rest != nil:
		err = sumOfRanks(ctx, rest, d, 1, int32(sub.Size()-1))
		if err = errors.Join(err, rest.Close()); err != nil {
			return err
		}
	}
	// the first communicator is as it was
	return errors.Join(sub.Close(), sumOfRanks(ctx, c, d, 2, int32(2*n)))
}

func registered(ctx context.Context, c *Comm, d *digest) error {
	const count = 1 << 16
	in, want := make([]int32, count), make([]int32, count)
	for i := range in {
		in[i], want[i] = int32(i), int32(i*c.Size())
	}
	return with(ctx, c, d, "registered", in, want, func(s *cuda.Stream, x, y cuda.View[int32]) error {
		a, err := Register(c, x)
		if err != nil {
			return err
		}
		b, err := Register(c, y)
		if err != nil {
			return err
		}
		err = errors.Join(AllReduce(c, s, x, y, Sum), c.Wait(ctx, s), a.Close(), b.Close())
		if e := a.Close(); !errors.Is(e, cuda.ErrClosed) {
			err = errors.Join(err, fmt.Errorf("second Close: %v", e))
		}
		return err
	})
}

// scalars multiplies by rank+1 before the sum, by a number of the host and by one of the device.
func scalars(ctx context.Context, c *Comm, d *digest) error {
	n, me := c.Size(), c.Rank()
	x := []float32{float32(me), 1, -2}
	want := make([]float32, len(x))
	for r := range n {
		for i, v := range []float32{float32(r), 1, -2} {
			want[i] += v * float32(r+1)
		}
	}
	host, err := PreMulSum(c, float32(me+1))
	if err != nil {
		return err
	}
	at, err := cuda.Upload(c.Context(), []float32{float32(me + 1)})
	if err != nil {
		return err
	}
	device, err := PreMulSumAt(c, at.View)
	if err != nil {
		return err
	}
	for _, op := range []Op{host, device} {
		err := with(ctx, c, d, "scalar", x, want, func(s *cuda.Stream, x, y cuda.View[float32]) error {
			return AllReduce(c, s, x, y, op)
		})
		if err = errors.Join(err, op.Close()); err != nil {
			return err
		}
	}
	return at.Close()
}

// shrunk leaves out the last rank.
func shrunk(ctx context.Context, c *Comm, d *digest) error {
	n, me := c.Size(), c.Rank()
	if n == 1 || me == n-1 {
		return nil
	}
	sub, err := c.Shrink(ctx, []int{n - 1}, false, Config{})
	if err != nil {
		return err
	}
	if sub.Size() != n-1 || sub.Rank() != me {
		return fmt.Errorf("rank %d of %d is %v", me, n, sub)
	}
	return errors.Join(sumOfRanks(ctx, sub, d, int32(me), int32((n-1)*(n-2)/2)), sub.Close())
}

// What communicators offer beside operations, in one process and in several.
func TestFeatures(t *testing.T) {
	for _, n := range []int{1, 2, 5, 8} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			need(t, n)
			one := inProcess(t, n, features)
			if n == 1 || n == 8 && testing.Short() {
				return
			}
			many := processes(t, n, "features", "file:"+t.TempDir()+"/id")
			for i := range one {
				if !slices.Equal(one[i], many[i]) {
					t.Errorf("rank %d has other results in a process of its own", i)
				}
			}
		})
	}
}
