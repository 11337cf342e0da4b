package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
)

// bigText is a kernel of n lines in the style of compilers: parameterised registers, moves, branches.
func bigText(n int) string {
	var b strings.Builder
	b.WriteString(head)
	fmt.Fprintf(&b, ".visible .entry k(.param .u64 p)\n{\n.reg .pred %%p<%d>;\n.reg .b32 %%r<%d>;\n.reg .b64 %%rd<%d>;\n.reg .f32 %%f<%d>;\n", n, n, n, n)
	for i := 5; i+8 < n; i += 8 {
		fmt.Fprintf(&b, "mov.u32 %%r%d, %%tid.x;\nmov.b64 %%rd%d, {%%r%d, %%r%d};\nmov.f32 %%f%d, 0f3F800000;\nmov.u32 %%r%d, %%r%d;\nmov.b64 {%%r%d, %%r%d}, %%rd%d;\n@%%p%d bra $L%d;\nmov.b32 %%r%d, %%f%d;\n$L%d:\n",
			i, i, i, i-1, i, i+1, i, i+2, i+3, i, i, i, i, i, i)
	}
	b.WriteString("ret;\n}\n")
	return b.String()
}

func BenchmarkCheck(b *testing.B) {
	text := []byte(bigText(50000))
	m, err := ptx.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Check(m, Options{SM: 90}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBig50k checks the 50,000-line kernel of the benchmark set, when it is beside the repository.
func BenchmarkBig50k(b *testing.B) {
	text := readText(b, shared(b, "bench", "kernels", "ptx", "big50k.ptx"))
	m, err := ptx.Parse(text)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Check(m, Options{SM: 90}); err != nil {
			b.Fatal(err)
		}
	}
}
