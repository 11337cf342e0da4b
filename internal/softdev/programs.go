package softdev

import (
	"crypto/sha256"
	"runtime"
	"sync"
	"weak"

	"github.com/gocuda/cuda/internal/link"
)

// programs finds the program of an image that is loaded already, so that a module in several contexts, or loaded again,
// is compiled once. It keeps none alive: a program goes with its last module, and its machine code with it.
type programs struct {
	d     *Driver
	mu    sync.Mutex
	known map[programKey]weak.Pointer[program]
}

// programKey is all that a program is made of: the text, and the device.
type programKey struct {
	sum [sha256.Size]byte
	dev *device
}

// find returns the program of a text, nil when there is none.
func (s *programs) find(k programKey) *program {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[k].Value()
}

// keep makes a program known. One that came in between is as good.
func (s *programs) keep(k programKey, p *program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[programKey]weak.Pointer[program]{}
	}
	s.known[k] = weak.Make(p)
	runtime.AddCleanup(p, s.forget, k)
}

func (s *programs) forget(k programKey) {
	defer s.d.guard()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[k].Value() == nil {
		delete(s.known, k)
	}
}

// plain says that a program depends on no option, and that there is nothing to say to the text but what report says.
func (o *jitOptions) plain() bool {
	return o.refusal == nil && !o.limitRegs && o.maxThreads == 0 && o.compile() == (link.Compile{}) && o.target == 0 &&
		!o.oldTarget && len(o.symbols) == 0
}

// shareable says whether modules can have one program in common. Texture and surface references have one state for each
// program.
func (p *program) shareable() bool { return len(p.opaques.vars) == 0 }
