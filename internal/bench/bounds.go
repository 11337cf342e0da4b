package bench

import "fmt"

// bound is what the machine code engine is to reach.
type bound struct {
	what  string
	limit string
	// reached gives the measured value in words and whether it is within the bound; measured is false when the run does not say.
	reached func(r *Report) (value string, ok, measured bool)
}

// engine is the implementation that the bounds are for.
const engine = "jit"

// Numbers of the bounds.
const (
	boundPoCL    = 0.5 // geometric mean of the times over PoCL's
	boundFaster  = 17  // benches faster than PoCL, of 19
	boundNative  = 3.0 // geometric mean of the times over the better native form's
	boundEach    = 4.0 // times over native, for those that eachBound names
	boundStore   = 1e-6
	boundStore10 = 100e-6
	boundBig     = 0.5
)

// eachBound are the benches with a bound of their own.
var eachBound = []string{"sgemm_tiled", "reduce_shared", "reduce_shfl", "hist_shared", "hist_global", "mandelbrot"}

// cell is the engine's cell of a bench.
func (r *Report) cell(bench string) (Cell, bool) {
	for i := range r.Rows {
		if r.Rows[i].Bench == bench {
			c, ok := r.Rows[i].Cells[engine]
			return c, ok && c.Seconds > 0
		}
	}
	return Cell{}, false
}

func mean(value func(m Means) float64, limit float64) func(*Report) (string, bool, bool) {
	return func(r *Report) (string, bool, bool) {
		v := value(r.Means[engine])
		return ratio(v), v <= limit, v > 0
	}
}

func within(bench string, seconds func(c Cell) float64, limit float64) func(*Report) (string, bool, bool) {
	return func(r *Report) (string, bool, bool) {
		c, ok := r.cell(bench)
		v := seconds(c)
		return duration(v), v <= limit, ok
	}
}

// bounds are all of them, in the order of the document.
func bounds() []bound {
	list := []bound{
		{"geometric mean over PoCL, the better of its two forms", ratio(boundPoCL), mean(func(m Means) float64 { return m.PoCL }, boundPoCL)},
		{"benches faster than PoCL", fmt.Sprintf("%d of 19", boundFaster), func(r *Report) (string, bool, bool) {
			m := r.Means[engine]
			return fmt.Sprintf("%d of %d", m.FasterPoCL, m.WithPoCL), m.FasterPoCL >= boundFaster, m.WithPoCL >= boundFaster
		}},
		{"geometric mean over the better native form", ratio(boundNative), mean(func(m Means) float64 { return m.Best }, boundNative)},
	}
	for _, name := range eachBound {
		list = append(list, bound{name + " over native", ratio(boundEach), func(r *Report) (string, bool, bool) {
			c, ok := r.cell(name)
			return ratio(c.Native), c.Native <= boundEach, ok && c.Native > 0
		}})
	}
	return append(list,
		bound{"launch of a kernel that stores a word, with its wait", duration(boundStore), within("store_1", func(c Cell) float64 { return c.Seconds }, boundStore)},
		bound{"10,000 blocks that store a word each", duration(boundStore10), within("store_10k", func(c Cell) float64 { return c.Seconds }, boundStore10)},
		bound{"big50k (50 thousand PTX lines) loaded and first launched", duration(boundBig), within("big50k", func(c Cell) float64 { return c.Build + c.First }, boundBig)},
	)
}

// tried says, for benches that are behind, what stands in the way and what was tried. The document shows the lines of those that are behind in its run.
var tried = map[string]string{
	"store_1":       "native enters a parallel region of OpenMP. A launch checks its arguments, takes its place in the stream and sets a worker up; it allocates nothing and starts no goroutine for one block.",
	"store_1_batch": "as store_1, with one wait for a thousand launches.",
	"store_10k":     "native stores vectors. Here every block is entered: they are claimed in chunks whose size follows the time that the last chunk took, and each runs in machine code without Go.",
	"reduce_shared": "a tree with eight barriers for 256 elements, where native keeps a sum in registers. All warps of a block stand in one function, so that a barrier is a jump and not a return to Go. Asking for lines 1 KiB ahead did not help, 4 KiB ahead does: without it 4.2 to 4.7.",
	"reduce_shfl":   "five shuffles a warp and a barrier a block, where native adds vectors. Shuffles are permutations in registers. What is left is one chain of shuffles and additions a warp, and the branch of lane 0 alone, around which registers are stored. Without asking for lines 4 KiB ahead of the loads it was 4.2 to 4.8.",
	"hist_shared":   "native has private histograms and no atomics. Additions to shared memory are made without locks, since one worker has the block; those of a warp to one address are one addition.",
	"hist_global":   "native has private histograms and no atomics. Additions to one page of global memory go to a shadow of the worker's own and are made at the launch's end; together with the additions to shared memory this was a factor of ten.",
	"big50k":        "parsing, checking, lowering and preparing take 0.09 s in a fresh process (BenchmarkLoadPhases), the launch itself 0.07; the rest is machine code, both versions of which are written at the same time.",
	"saxpy":         "bound by the speed of memory, which all three reach: they are within a tenth or two of each other, now this one ahead, now that.",
	"sgemm_naive":   "native is blocked for the cache; the kernel reads as it is written.",
	"sgemm_tiled":   "native has larger tiles, in registers. Two rows of a 16x16 block make a warp: their addresses are affine in each half warp, so loads from the tiles are broadcasts and half rows without gathers.",
	"transpose":     "reading the tile by columns is a stride of 33 words: a gather from shared memory.",
	"mandelbrot":    "lanes leave the loop one by one and a warp runs until its last has; blocks of which all lanes run have code of their own without masks.",
	"nbody":         "rsqrt.approx has the GPU's bits, from tables; native with -ffast-math takes the processor's approximation.",
	"blackscholes":  "ex2, lg2, sqrt and div have the GPU's bits, from tables and exact roundings; native and PoCL with fast math take shorter polynomials.",
	"hash64":        "PTX of this age writes a rotation as two shifts and an or.",
	"stencil5":      "the border test divides the first and last warps of a row.",
	"big5k":         "straight code, larger than the first-level instruction cache.",
}
