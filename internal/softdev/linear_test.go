//go:build unix

package softdev

import (
	"flag"
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gocuda/cuda/internal/driver"
)

func many(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

// oneKernel is a module of a kernel with registers t, u, r, a and pr, which stores t.
func oneKernel(regs, body string) string {
	return sizesHead + ".visible .entry k(.param .u64 p){ .reg .u32 t,u,r; .reg .u64 a; .reg .pred pr;" + regs +
		" mov.u32 t,%tid.x; ld.param.u64 a,[p];\n" + body + " st.global.u32 [a],t; ret;}\n"
}

// linearShapes are modules with n of something: declarations, references, blocks, live registers, all in the shapes
// that a pass could take more than linear time for.
var linearShapes = map[string]func(n int) string{
	"zigzag": func(n int) string {
		return oneKernel("", "bra L0;\n"+many(n, func(i int) string {
			return fmt.Sprintf("M%d: add.u32 t,t,%d; bra L%d;\nL%d: setp.gt.u32 pr,t,%d; @pr bra M%d; add.u32 t,t,3;\n",
				i, i, i+1, i, i*7%50, i)
		})+fmt.Sprintf("L%d:", n))
	},
	"backward": func(n int) string { // blocks in reverse order
		return oneKernel("", fmt.Sprintf("bra L%d;\n", n-1)+"L0: bra E;\n"+many(n-1, func(i int) string {
			return fmt.Sprintf("L%d: add.u32 t,t,1; bra L%d;\n", i+1, i)
		})+"E:")
	},
	"loops": func(n int) string { // one after the other
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("L%d: add.u32 t,t,1; setp.lt.u32 pr,t,%d; @pr bra L%d;\n", i, i, i)
		}))
	},
	"nested": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("L%d: add.u32 t,t,1;\n", i)
		})+many(n, func(i int) string { return fmt.Sprintf("setp.lt.u32 pr,t,%d; @pr bra L%d;\n", i, n-1-i) }))
	},
	"nestif": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("setp.gt.u32 pr,t,%d; @!pr bra E%d; add.u32 u,t,%d;\n", i%32, i, i)
		})+many(n, func(i int) string { return fmt.Sprintf("E%d: xor.b32 t,t,%d;\n", n-1-i, n-1-i) }))
	},
	"forward": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("L%d: setp.eq.u32 pr,t,%d; @pr bra L%d;\n", i, i%40, i+1)
		})+fmt.Sprintf("L%d:", n))
	},
	"labels": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return fmt.Sprintf("L%d:\n", i) }))
	},
	"straight": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return fmt.Sprintf("add.u32 t,t,%d;\n", i) }))
	},
	"live": func(n int) string {
		return oneKernel(fmt.Sprintf(".reg .u32 %%x<%d>;", n), many(n, func(i int) string {
			return fmt.Sprintf("add.u32 %%x%d,t,%d;\n", i, i)
		})+many(n, func(i int) string { return fmt.Sprintf("add.u32 t,t,%%x%d;\n", i) }))
	},
	"liveblocks": func(n int) string { // registers that live across many blocks
		return oneKernel(fmt.Sprintf(".reg .u32 %%x<%d>;", n), many(n, func(i int) string {
			return fmt.Sprintf("add.u32 %%x%d,t,%d; setp.eq.u32 pr,t,%d; @pr bra E;\n", i, i, i)
		})+"E:"+many(n, func(i int) string { return fmt.Sprintf("add.u32 t,t,%%x%d;\n", i) }))
	},
	"names": func(n int) string {
		return oneKernel(many(n, func(i int) string {
			return fmt.Sprintf(".reg .u32 y%d;\n", i)
		}), many(n, func(i int) string { return fmt.Sprintf("mov.u32 y%d,t;\n", i) }))
	},
	"sets": func(n int) string {
		return oneKernel(many(n, func(i int) string {
			return fmt.Sprintf(".reg .u32 %%y%dz<9>;\n", i)
		}), many(n, func(i int) string { return fmt.Sprintf("mov.u32 %%y%dz3,t;\n", i) }))
	},
	"scopes": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return "{ .reg .u32 z; mov.u32 z,t; add.u32 t,t,z; }\n" }))
	},
	"params": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf(".param .b32 y%d; st.param.b32 [y%d],t;\n", i, i)
		})+many(n, func(i int) string { return fmt.Sprintf("ld.param.b32 u,[y%d]; add.u32 t,t,u;\n", i) }))
	},
	"paramsunused": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return fmt.Sprintf(".param .b32 y%d;\n", i) }))
	},
	"arguments": func(n int) string {
		list := func(f string) string {
			return strings.TrimSuffix(many(n, func(i int) string { return fmt.Sprintf(f, i) }), ",")
		}
		return strings.Replace(oneKernel("", "call (u),f,("+list("%d,")+"); add.u32 t,t,u;"), ".visible",
			".func (.reg .u32 r) f("+list(".reg .u32 x%d,")+") { mov.u32 r,x0; ret; }\n.visible", 1)
	},
	"argparams": func(n int) string {
		list := func(f string) string {
			return strings.TrimSuffix(many(n, func(i int) string { return fmt.Sprintf(f, i) }), ",")
		}
		return strings.Replace(oneKernel("", "call (u),f,("+list("%d,")+"); add.u32 t,t,u;"), ".visible",
			".func (.reg .u32 r) f("+list(".param .u32 x%d,")+") { ld.param.u32 r,[x0]; ret; }\n.visible", 1)
	},
	"calls": func(n int) string {
		return strings.Replace(oneKernel("", many(n, func(i int) string {
			return "call (t),f,(t);\n"
		})), ".visible", ".func (.reg .u32 r) f(.reg .u32 x) { add.u32 r,x,1; ret; }\n.visible", 1)
	},
	"callparams": func(n int) string {
		return strings.Replace(oneKernel("", many(n, func(i int) string {
			return "{ .param .b32 i; .param .b32 o; st.param.b32 [i],t; call (o),f,(i); ld.param.b32 t,[o]; }\n"
		})), ".visible", ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 a; ld.param.b32 a,[x]; st.param.b32 [r],a; ret; }\n.visible", 1)
	},
	"functions": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".func (.reg .u32 r) f%d(.reg .u32 x){ add.u32 r,x,1; ret; }\n", i)
		}) + strings.TrimPrefix(oneKernel("", ""), sizesHead)
	},
	"chain": func(n int) string {
		return sizesHead + ".func (.reg .u32 r) f0(.reg .u32 x){add.u32 r,x,1;ret;}\n" + many(n-1, func(i int) string {
			return fmt.Sprintf(".func (.reg .u32 r) f%d(.reg .u32 x){.reg .u32 y; call (y),f%d,(x); add.u32 r,y,%d;ret;}\n", i+1, i, i)
		}) + strings.TrimPrefix(oneKernel("", fmt.Sprintf("call (t),f%d,(t);", n-1)), sizesHead)
	},
	"entries": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".visible .entry k%d(.param .u64 p){ .reg .u32 t; .shared .u32 s; st.shared.u32 [s],3; ret; }\n", i)
		}) + strings.TrimPrefix(oneKernel("", ""), sizesHead)
	},
	"entriescalls": func(n int) string { // all reach all
		return sizesHead + ".shared .u32 sh;\n.func f0(){ret;}\n" + many(n-1, func(i int) string {
			return fmt.Sprintf(".func f%d(){ call f%d; ret;}\n", i+1, i)
		}) +
			many(n, func(i int) string {
				return fmt.Sprintf(".visible .entry k%d(){ call f%d; ret; }\n", i, n-1)
			}) + strings.TrimPrefix(oneKernel("", ""), sizesHead)
	},
	"globals": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".global .u32 g%d = %d;\n", i, i)
		}) + strings.TrimPrefix(oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("ld.global.u32 u,[g%d]; add.u32 t,t,u;\n", i)
		})), sizesHead)
	},
	"shared": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".shared .b8 g%d;\n", i)
		}) + strings.TrimPrefix(oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("st.shared.u8 [g%d],t;\n", i)
		})), sizesHead)
	},
	"externs": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".extern .global .u32 g%d;\n", i)
		}) + many(n, func(i int) string {
			return fmt.Sprintf(".extern .func f%d();\n", i)
		}) + strings.TrimPrefix(oneKernel("", ""), sizesHead)
	},
	"init": func(n int) string {
		return sizesHead + ".global .u32 x[] = {" + many(n, func(i int) string {
			return fmt.Sprintf("%d,", i)
		}) + "0};\n" + strings.TrimPrefix(oneKernel("", ""), sizesHead)
	},
	"relocs": func(n int) string {
		return sizesHead + ".global .u32 y; .global .u64 x[] = {" + many(n, func(i int) string {
			return "y,"
		}) + "0};\n" + strings.TrimPrefix(oneKernel("", "mov.u64 a,x;"), sizesHead)
	},
	"pointers": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".func f%d(){ret;}\n", i)
		}) + ".global .u64 x[] = {" + many(n, func(i int) string { return fmt.Sprintf("f%d,", i) }) + "0};\n" +
			strings.TrimPrefix(oneKernel("", "P: .callprototype _ (); ld.global.u64 a,[x]; call a,P;"), sizesHead)
	},
	"brx": func(n int) string {
		return oneKernel("", "T: .branchtargets "+strings.TrimSuffix(many(n, func(i int) string {
			return fmt.Sprintf("L%d,", i)
		}), ",")+"; brx.idx t,T;\n"+many(n, func(i int) string {
			return fmt.Sprintf("L%d: add.u32 t,t,%d; bra E;\n", i, i)
		})+"E:")
	},
	"brxmany": func(n int) string { // n tables of the square root's length would be n in all: here each has 8
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("L%d: add.u32 t,t,1;\n", i)
		})+many(n/8, func(i int) string {
			return fmt.Sprintf("T%d: .branchtargets L%d,L%d,L%d,L%d; brx.idx t,T%d;\n", i, i, i*2%n, i*3%n, i*5%n, i)
		}))
	},
	"consts": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("mad.lo.u32 t,t,%d,%d;\n", i*7+100000, i*3+77)
		}))
	},
	"errors": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return fmt.Sprintf("add.u32 t,t,zz%d;\n", i) }))
	},
	"loc": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return fmt.Sprintf(".loc 1 %d 3\nadd.u32 t,t,1;\n", i) }))
	},
	"files": func(n int) string {
		return sizesHead + many(n, func(i int) string {
			return fmt.Sprintf(".file %d \"f%d\"\n", i+1, i)
		}) + strings.TrimPrefix(oneKernel("", ""), sizesHead)
	},
	"aliases": func(n int) string {
		return sizesHead + ".func f(){ret;}\n" + many(n, func(i int) string {
			return fmt.Sprintf(".func g%d();\n.alias g%d, f;\n", i, i)
		}) + strings.TrimPrefix(oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("call g%d;\n", i)
		})), sizesHead)
	},
	"floats": func(n int) string {
		return oneKernel(fmt.Sprintf(".reg .f32 %%f<%d>;", n+2), many(n, func(i int) string {
			return fmt.Sprintf("mul.f32 %%f%d,%%f%d,%%f%d; add.f32 %%f%d,%%f%d,%%f%d;\n", i+1, i, i, i+2, i+1, i)
		}))
	},
	"barriers": func(n int) string {
		return oneKernel("", many(n, func(i int) string { return "bar.sync 0; add.u32 t,t,1;\n" }))
	},
	"preds": func(n int) string {
		return oneKernel(fmt.Sprintf(".reg .pred %%q<%d>;", n), many(n, func(i int) string {
			return fmt.Sprintf("setp.eq.u32 %%q%d,t,%d; @%%q%d add.u32 t,t,1;\n", i, i, i)
		}))
	},
	"memory": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf("ld.global.u32 u,[a+%d]; st.global.u32 [a+%d],u;\n", 4*i, 4*i+8)
		}))
	},
	"locals": func(n int) string {
		return oneKernel("", many(n, func(i int) string {
			return fmt.Sprintf(".local .b8 l%d; st.local.u8 [l%d],t;\n", i, i)
		}))
	},
}

// processorTime is what this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var long = flag.Bool("long", false, "load modules that are nearly three times as long")

// TestLoadIsLinear loads modules of one size and of eight times the size, prepares their kernel and launches it once:
// that takes eight times as long, where a quadratic pass takes up to 64 times. Processor time is compared, of the best
// of some tries, with room for what else the machine does.
func TestLoadIsLinear(t *testing.T) {
	const times, room, slack = 8, 2.5, 60 * time.Millisecond
	n := 1500 // a pass of 64 times the time at eight times the size is beyond room and slack here too
	if *long {
		n = 4000
	}
	for _, engine := range []string{"interpreter", "auto"} {
		d, tab, ctx := open(t, Options{EngineName: engine, Recover: true, Workers: 1})
		x := &sizeRunner{d: d, tab: tab, ctx: ctx}
		x.renew(t)
		x.room(t, 8<<20)
		for _, name := range slices.Sorted(maps.Keys(linearShapes)) {
			cost := func(n, salt int) time.Duration {
				// what is loaded already is not compiled again
				src := linearShapes[name](n) + fmt.Sprintf("// %d\n", salt)
				// The collector works on all processors that have nothing else to do: its share says nothing of the
				// load's.
				runtime.GC()
				defer debug.SetGCPercent(debug.SetGCPercent(-1))
				began := processorTime(t)
				x.broken = false
				if r, _, _ := x.run(t, src, 32); x.broken || r == driver.CUDA_ERROR_OUT_OF_MEMORY {
					x.room(t, 8<<20)
				}
				return processorTime(t) - began
			}
			few, all := time.Hour, time.Hour
			for try := range 4 {
				few, all = min(few, cost(n, try)), min(all, cost(times*n, try))
				if float64(all) < times*room*float64(few)+float64(slack) {
					break
				}
				if try == 3 {
					t.Errorf("%s: %s: %d take %v, %d take %v", engine, name, n, few, times*n, all)
				}
			}
		}
	}
}
