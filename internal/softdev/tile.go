package softdev

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/tileir"
	"github.com/gocuda/cuda/internal/tileir/lower"
)

// A shape is how a kernel shows itself where that is not what its PTX says: kernels out of Tile IR leave their
// threads and shared memory to the compiler, and the driver's compiler chooses otherwise than package lower. Nothing
// else in this package knows of Tile IR kernels.
type shape struct {
	blocks    [][3]uint32 // that a launch may ask for
	runs      [3]uint32   // the block that runs for each of them
	reported  int         // CU_FUNC_ATTRIBUTE_NUM_REGS
	registers int         // of a thread, as occupancy counts them
	params    []Param
}

// Of a kernel that copies and adds, made by tileiras 13.5 for sm_90, an H200 with driver 580.159.04 said this: the
// launches that it takes, 11 registers, no shared memory; and of occupancy what 40 registers give (12 blocks of 128
// threads on a multiprocessor, 32 of 1; 264 blocks of 768 as the best size). Other kernels have other numbers of
// registers, which only the driver's compiler could tell.
const (
	tileReported  = 11
	tileRegisters = 40
)

var tileBlocks = [][3]uint32{{1, 1, 1}, {128, 1, 1}}

// shared is the static shared memory of a kernel as the driver tells it.
func (e *entry) shared(k *ir.Kernel) uint32 {
	if e.shape != nil {
		return 0
	}
	return k.SharedSize
}

// takes says whether the kernel's own directives allow a block.
func (e *entry) takes(block [3]uint32) error {
	if e.shape != nil {
		if !slices.Contains(e.shape.blocks, block) {
			return fmt.Errorf("block %v; kernel %s, of Tile IR, takes %v", block, e.fn.Name, e.shape.blocks)
		}
		return nil
	}
	req := e.fn.Attrs.ReqNTid
	if req[0] == 0 {
		return nil
	}
	for i := range 3 {
		if block[i] != max(req[i], 1) {
			return fmt.Errorf("block %v; kernel %s has .reqntid %v", block, e.fn.Name, req)
		}
	}
	return nil
}

// runs gives the block and the dynamic shared memory that run for those of a launch.
func (e *entry) runs(block [3]uint32, shared uint32) ([3]uint32, uint32) {
	if e.shape != nil {
		return e.shape.runs, 0 // such a kernel cannot name dynamic shared memory
	}
	return block, shared
}

// tileProgram makes PTX of Tile IR, and the shapes of its kernels by their names.
func tileProgram(data []byte, o *jitOptions) (text []byte, shapes map[string]*shape, _ *loadError) {
	if _, n, err := image.SizeIn(data); err == nil && n < uint64(len(data)) {
		data = data[:n] // the entry of a container may be longer
	}
	m, err := tileir.Parse(data)
	if err == nil {
		err = m.VerifyUntil(o.stop)
	}
	if err != nil {
		return nil, nil, tileError(err)
	}
	for _, name := range tileNames(m) {
		if !symbol(name) {
			const log = "error   : failed to compile Tile IR program"
			return nil, nil, &loadError{result: driver.CUDA_ERROR_INVALID_SOURCE, log: log,
				err: fmt.Errorf("%q is no name that machine code or PTX can have", name)}
		}
	}
	p, err := lower.Module(m, lower.Options{Stop: o.stop})
	if err != nil {
		return nil, nil, tileError(err)
	}
	shapes = map[string]*shape{}
	for _, f := range m.Funcs {
		s := &shape{blocks: tileBlocks, runs: [3]uint32{lower.Threads, 1, 1}}
		s.reported, s.registers = tileReported, tileRegisters
		for i, q := range f.Layout() {
			s.params = append(s.params, tileParam(i, q.Type))
		}
		shapes[f.Name] = s
	}
	return p.PTX, shapes, nil
}

// symbol says whether PTX takes a name as that of a function or variable (PTX ISA, "Identifiers"). NVIDIA's assembler
// refuses others, too, in the words "failed to compile Tile IR program" (../shared/tileir, bad.json).
func symbol(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		case c == '_' || c == '$':
			if len(name) == 1 {
				return false
			}
		case c < '0' || c > '9' || i == 0:
			return false
		}
	}
	return name != ""
}

func tileNames(m *tileir.Module) []string {
	var names []string
	for _, f := range m.Funcs {
		names = append(names, f.Name)
	}
	for i := range m.Globals {
		names = append(names, m.Globals[i].Name)
	}
	return names
}

// tileParam tells the type of a parameter in PTX's words.
func tileParam(i int, t *tileir.Type) Param {
	p := Param{Name: fmt.Sprintf("param%d", i)}
	switch k := t.Elem.Kind; k {
	case tileir.Pointer:
		p.Type, p.Pointer = "u64", true
	case tileir.F16, tileir.F32, tileir.F64, tileir.BF16:
		p.Type = strings.TrimPrefix(t.Elem.String(), "!cuda_tile.")
	default:
		p.Type = fmt.Sprintf("b%d", 8*t.Elem.Bytes())
	}
	return p
}

// tileError is the result for a module that is damaged, ill-typed, too new or beyond what can be run. What NVIDIA's
// driver answers is not known: 13.0 refuses all Tile IR (recorded), and later ones were not seen.
func tileError(err error) *loadError {
	if errors.Is(err, tileir.ErrStopped) {
		return ptxError(ptx.ErrStopped)
	}
	var bad *tileir.Error
	if errors.As(err, &bad) {
		r := driver.CUDA_ERROR_INVALID_IMAGE
		switch bad.Class {
		case tileir.IllTyped:
			r = driver.CUDA_ERROR_INVALID_SOURCE
		case tileir.Version:
			r = driver.CUDA_ERROR_UNSUPPORTED_PTX_VERSION
		}
		return &loadError{result: r, log: "error   : " + bad.Reference(), err: err}
	}
	return &loadError{result: notSupported, log: "error   : " + err.Error(), err: err}
}
