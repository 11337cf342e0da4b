package bench

import (
	"fmt"
	"slices"
	"strings"
)

// engine is the implementation that the bounds are for.
const engine = "jit"

// jitAVX2 is the engine with code for AVX2, also where the processor has more.
const jitAVX2 = "jit-avx2"

// isa is an instruction set with bounds of its own. Its index is that of a column.
type isa int

const (
	avx512 isa = iota
	avx2
)

func (i isa) String() string { return [...]string{"AVX-512", "AVX2"}[i] }

// impl is the implementation that was measured for an instruction set; empty when none was.
func (r *Report) impl(i isa) string {
	switch {
	case r.ISA == i.String():
		return engine
	case i == avx2 && slices.Contains(r.Impls, jitAVX2):
		return jitAVX2
	}
	return ""
}

// bound is what machine code is to reach.
type bound struct {
	what   string
	limits [2]float64 // by instruction set; 0: none
	text   func(v float64) string
	// measure gives the value of an implementation; ok is false when the run does not say.
	measure func(r *Report, impl string) (v float64, ok bool)
}

// The benches that bounds speak of: the first sixteen of the project. Two of them compute with approximate functions of
// the GPU's bits and have a bound of their own over C with -ffast-math, which takes the processor's approximations.
var (
	sixteen = []string{
		"vecadd", "saxpy", "mandelbrot", "nbody", "sgemm_naive", "sgemm_tiled", "reduce_shared", "reduce_shfl",
		"hist_shared",
		"hist_global", "transpose", "stencil5", "blackscholes", "hash64", "sha256", "big5k",
	}
	approximate = []string{"nbody", "blackscholes"}
)

// worst is the limit of the worst bench over the better native form.
var worst = [2]float64{2.5, 3}

// cell is an implementation's cell of a bench.
func (r *Report) cell(bench, impl string) (Cell, bool) {
	for i := range r.Rows {
		if r.Rows[i].Bench == bench {
			c, ok := r.Rows[i].Cells[impl]
			return c, ok && c.Seconds > 0
		}
	}
	return Cell{}, false
}

// over sums the ratios of some benches up, all of which must have been measured.
func over(benches []string, of func(Cell) float64, sum func([]float64) float64) func(*Report, string) (float64, bool) {
	return func(r *Report, impl string) (float64, bool) {
		var list []float64
		for _, name := range benches {
			c, ok := r.cell(name, impl)
			if v := of(c); ok && v > 0 {
				list = append(list, v)
			}
		}
		if len(list) < len(benches) {
			return 0, false
		}
		return sum(list), true
	}
}

func seconds(bench string, of func(Cell) float64) func(*Report, string) (float64, bool) {
	return func(r *Report, impl string) (float64, bool) {
		c, ok := r.cell(bench, impl)
		return of(c), ok
	}
}

func toNative(c Cell) float64 { return c.Native }
func toBest(c Cell) float64   { return c.Best }
func toPoCL(c Cell) float64   { return c.PoCL }

// behindPoCL is how much longer than PoCL's a time may be: within it the two are even.
const behindPoCL = 1.05

// bounds are all of them, in the order of the document.
func bounds() []bound {
	others := slices.DeleteFunc(slices.Clone(sixteen), func(n string) bool { return slices.Contains(approximate, n) })
	list := []bound{
		{"geometric mean over native, the first sixteen benches", [2]float64{0.80, 1.00}, ratio,
			over(sixteen, toNative, geomean)},
		{"the same over the better native form", [2]float64{1.15, 1.40}, ratio, over(sixteen, toBest, geomean)},
		{"the same over PoCL, the better of its two forms", [2]float64{0.20, 0.30}, ratio,
			over(sixteen, toPoCL, geomean)},
		{"the worst of the sixteen over the better native form, without " + strings.Join(approximate, " and "), worst,
			ratio, over(others, toBest, slices.Max[[]float64])},
		{"the worst of all over PoCL", [2]float64{behindPoCL, behindPoCL}, ratio,
			func(r *Report, impl string) (v float64, ok bool) {
				for i := range r.Rows {
					v = max(v, r.Rows[i].Cells[impl].PoCL)
				}
				return v, v > 0
			}},
	}
	for _, n := range approximate {
		list = append(list, bound{n + " over native with -ffast-math", [2]float64{3, 6}, ratio,
			over([]string{n}, toBest, geomean)})
	}
	return append(list,
		bound{"matmul_f16 over a blocked product of f32 in C", [2]float64{6, 6}, ratio,
			over([]string{"matmul_f16"}, toNative, geomean)},
		bound{"bilinear over a sampler in C", [2]float64{3, 3}, ratio, over([]string{"bilinear"}, toNative, geomean)},
		bound{"launch of a kernel that stores a word, with its wait", [2]float64{1e-6, 1e-6}, duration,
			seconds("store_1", func(c Cell) float64 {
				return c.Seconds
			})},
		bound{"big50k (50 thousand PTX lines) loaded and first launched", [2]float64{0.3, 0.3}, duration,
			seconds("big50k", func(c Cell) float64 { return c.Build + c.First })},
	)
}

// behind says whether a bench is to be explained: behind PoCL, or beyond the worst bound over the better native form.
func (c Cell) behind(i isa) bool { return c.PoCL > behindPoCL || c.Best > worst[i] }

// verdict writes a bound's cells for an instruction set: the limit, what was measured, and whether it is reached.
func (b *bound) verdict(r *Report, i isa) string {
	impl := r.impl(i)
	v, ok := 0.0, false
	if impl != "" {
		v, ok = b.measure(r, impl)
	}
	switch limit := b.text(b.limits[i]); {
	case !ok:
		return fmt.Sprintf("%s | - | not measured", limit)
	case v > b.limits[i]:
		return fmt.Sprintf("%s | %s | **missed**", limit, b.text(v))
	default:
		return fmt.Sprintf("%s | %s | yes", limit, b.text(v))
	}
}

// mmaTried is what is known of mma.sync with f16 and bf16.
const mmaTried = "native adds products in f32, in any order; an mma.sync has the tensor core's sum, cut once at the largest exponent. " +
	"A warp's m16n8k16, with all that belongs to it in a block of this kernel, took 280 ns of one core (AVX2: 590), and takes 150 (260) since exact products are cut by conversions to integers. " +
	"By samples of one core with AVX-512, a third of that is products and cuts, a fifth exponents, C and rounding, a fifth preparing A and B, and a quarter the kernel's own loads, ldmatrix and fragments that pass through memory. " +
	"A shorter loop for ldmatrix brought 2 %, four prepared A instead of one nothing."

// tried says, for benches that are behind, what stands in the way and what was tried. The document shows the lines of
// those that are behind in its run.
var tried = map[string]string{
	"store_1":       "native enters a parallel region of OpenMP. A launch checks its arguments, takes its place in the stream and sets a worker up; it allocates nothing and starts no goroutine for one block.",
	"store_1_batch": "as store_1, with one wait for a thousand launches.",
	"store_10k":     "native stores vectors. Here every block is entered: they are claimed in chunks whose size follows the time that the last chunk took, and each runs in machine code without Go. Warps that have nothing to do are not entered (plan.Idle): 134 to 52 us of processor time, AVX2 139 to 58.",
	"reduce_shared": "a tree with eight barriers for 256 elements, where native keeps a sum in registers. All warps of a block stand in one function, so that a barrier is a jump and not a return to Go; idle warps are left out until the next barrier (plan.Idle): 12.5 to 8.5 ms of processor time, AVX2 18 to 15. Both streams of loads ask for lines 4 KiB ahead, in the second level of caches: 8.5 to 3.9 ms, AVX2 15 to 7.0. Where lanes of a warp differ, which do is the difference of two scalars: AVX2 7.0 to 6.4. Native takes 3 at the same time.",
	"reduce_shfl":   "five shuffles a warp and a barrier a block, where native adds vectors. Shuffles are permutations in registers. What is left is one chain of shuffles and additions a warp, and the branch of lane 0 alone, around which registers are stored. A comparison with a lane's number is a shift, and the one lane's store takes no loop. Lines ahead in the second level of caches: 6.9 to 4.7 ms of processor time.",
	"hist_shared":   "native has private histograms and no atomics. Additions to shared memory are made without locks, since one worker has the block; those of a warp to one address are one addition.",
	"hist_global":   "native has private histograms and no atomics. Additions to one page of global memory go to a shadow of the worker's own and are made at the launch's end; together with the additions to shared memory this was a factor of ten.",
	"big50k":        "parsing, checking, lowering and preparing take 0.09 s in a fresh process (BenchmarkLoadPhases), the launch itself 0.07; the rest is machine code, of that for some lanes only what lanes come to (plan.Values.Near).",
	"saxpy":         "bound by the speed of memory, which all three reach: they are within a tenth or two of each other, now this one ahead, now that. Lines 4 KiB ahead are asked for in the second level of caches: 6.8 to 4.8 ms of processor time against asking in the first, whose loads then waited for the same buffers.",
	"sgemm_naive": "native is blocked for the cache; the kernel reads as it is written, a page further for each product. " +
		"The warps of a block take turns of two steps (plan.Values.Turns), so that seven of eight find the lines near: " +
		"116 to 70 ms of processor time with AVX-512, 119 to 85 with AVX2.",
	"sgemm_tiled": "native has larger tiles, in registers. Two rows of a 16x16 block make a warp; a step is one load and two " +
		"products that take the other operand from memory. The 16 steps of a tile are one chain of additions for each row: " +
		"a loop in C of the same instructions takes 6.6 ns for a warp and tile when nothing else happens and 9 to 10 with " +
		"the tile's stores, this code 17 with its addresses, checks and loads from global memory.",
	"matmul_f16":   mmaTried,
	"matmul_bf16":  mmaTried,
	"matmul_wmma":  mmaTried + " A wmma.mma of 16x16x16 is two mma.sync.",
	"attention":    mmaTried + " A block of 64 rows and 256 keys took 492 us (AVX2: 826) before that and 367 (498) after it, of which 1,024 products of a warp are less than half; the loop has 64 stores to local memory and 58 loads, too.",
	"transpose":    "reading the tile by columns is a stride of 33 words: a gather from shared memory. Lines ahead in the second level of caches: 23 to 15 ms of processor time.",
	"mandelbrot":   "lanes leave the loop one by one and a warp runs until its last has; blocks of which all lanes run have code of their own without masks.",
	"nbody":        "rsqrt.approx has the GPU's bits, from a table of 128 rows; native with -ffast-math takes the processor's approximation.",
	"blackscholes": "ex2, lg2, sqrt and div have the GPU's bits, from tables and exact roundings; native and PoCL with fast math take shorter polynomials.",
	"hash64":       "PTX of this age writes a rotation as two shifts and an or.",
	"sha256": "a rotation is three instructions on AVX2. Straight code by halves of a warp (plan.Stretches), so that the " +
		"registers hold eight values and not four: 0.89 to 0.72 ms (size small, one processor).",
	"half_pairs": "native widens once and stays in f32 for all 64 steps; here each operation rounds to halves, as the GPU " +
		"does. Without rounding modes, both halves of a word at once: 203 to 11 ms on AVX2, 11.7 to 4.6 on AVX-512 " +
		"(size small, one processor). What is left: two conversions for each operand and each result.",
	"softmax": "native with -ffast-math takes a row by vectors, exp too; here a row is a block, with two " +
		"reductions by shuffles, shared memory and barriers, and ex2.approx has the GPU's bits. Addresses made by or " +
		"were vectors that each access took apart, and are scalars: 32 to 24 ms of processor time with AVX2, 13.7 to 13.0 " +
		"with AVX-512.",
	"layernorm": "native has one pass of vectors for a row; here a row is a block, with two reductions by shuffles, " +
		"shared memory and barriers. Addresses made by or are scalars: 18.9 to 10.5 ms of processor time with AVX2, 14.3 " +
		"to 12.1 with AVX-512.",
	"stencil7_f64": "a result in f64 is looked at for NaNs, since an operand's NaN keeps its payload: a comparison, a " +
		"branch and a move for each vector. With what a NaN needs behind the function's code AVX-512 took as long as " +
		"before and AVX2 longer. Warps at the border run with masks.",
	"scan": "each thread loads and stores eight words 32 bytes apart: more than half of the samples with AVX-512 are in " +
		"gathers and scatters. A division of values that are the same for all lanes is one division, and the addresses " +
		"behind it are scalars: 24 to 18.6 ms with AVX-512, 30 to 20 with AVX2.",
	"radix": "eight match.any for each thread, in which nine of ten samples were; they compare vectors and not lanes now, " +
		"and popc is no loop: 210 to 33 ms with AVX-512, 280 to 84 with AVX2, both processors busy with other work. What " +
		"is left with AVX2: a comparison is four, of registers that are loaded for each lane.",
	"bilinear": "two of five samples are in the loads of texels, one lane after the other; " +
		"native knows the texture's size and format when it is compiled. Runs differ from 2 to 4 ms on a machine that " +
		"does other work.",
	"stencil5": "the border test divides the first and last warps of a row.",
	"big5k":    "straight code, larger than the first-level instruction cache.",
}
