package link

import (
	"encoding/binary"

	"github.com/gocuda/cuda/internal/ptx/check"
)

// Compile is what the compiler is told beside a text: JIT options that show in a kernel's attributes and results.
// Images keep it with every unit, so that it holds wherever they are loaded. The zero value is the compiler's own
// choice.
type Compile struct {
	MaxRegisters uint32 // CU_JIT_MAX_REGISTERS, within the compiler's bounds
	MaxThreads   uint32 // of a block: CU_JIT_MAX_THREADS_PER_BLOCK
	MinBlocks    uint32 // CU_JIT_MIN_CTA_PER_SM
	Override     bool   // CU_JIT_OVERRIDE_DIRECTIVE_VALUES: these count instead of the text's directives
	NoContract   bool   // mul and add stay apart (CU_JIT_OPTIMIZATION_LEVEL 0, CU_JIT_FMA 0)
}

// compileWords is the size of a Compile in a program: three numbers and the flags below.
const compileWords = 4

const (
	compileOverride   = 1
	compileNoContract = 2
)

func (c *Compile) append(b []byte) []byte {
	flags := uint32(0)
	if c.Override {
		flags |= compileOverride
	}
	if c.NoContract {
		flags |= compileNoContract
	}
	for _, x := range [compileWords]uint32{c.MaxRegisters, c.MaxThreads, c.MinBlocks, flags} {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// parseCompile reads what append wrote; ok is false for flags that nobody writes.
func parseCompile(b []byte) (c Compile, ok bool) {
	le := binary.LittleEndian
	flags := le.Uint32(b[12:])
	c = Compile{MaxRegisters: le.Uint32(b), MaxThreads: le.Uint32(b[4:]), MinBlocks: le.Uint32(b[8:]),
		Override: flags&compileOverride != 0, NoContract: flags&compileNoContract != 0}
	return c, flags&^(compileOverride|compileNoContract) == 0
}

// Compile is what the function's text was compiled with.
func (p *Linked) Compile(f *check.Func) Compile { return p.compiled[f] }
