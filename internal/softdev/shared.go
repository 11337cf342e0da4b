package softdev

import (
	"strconv"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// sharedVariable is a __managed__ variable of a library. It has one address in all contexts of all devices and lives as
// long as the library.
type sharedVariable struct {
	at, size uint64
}

// share gives the library's managed variables their memory, with initial values where they have none so far. address
// tells where the other variables lie in the context that asks first.
func (l *library) share(p *program, address func(*check.Var) uint64) (map[*check.Var]uint64, driver.CUresult) {
	if len(p.managed.vars) == 0 {
		return nil, success
	}
	l.sharing.Lock() // held until the values are written: who comes second must see them
	defer l.sharing.Unlock()
	if l.unshared {
		return nil, badHandle
	}
	if l.shared == nil {
		// The memory belongs to none of the contexts that come and go.
		l.shared, l.home = map[string]sharedVariable{}, &context{d: l.d, dev: l.d.devices[0]}
	}
	at := map[*check.Var]uint64{}
	var fresh []*check.Var
	var keys []string // of the fresh ones
	count := map[string]int{}
	for _, v := range p.managed.vars {
		// Programs for different compute capabilities are different texts with the same variables; private ones may
		// share a name.
		key := v.Name + " " + strconv.Itoa(count[v.Name]) + " " + strconv.FormatUint(v.Size, 10)
		count[v.Name]++
		s, ok := l.shared[key]
		if !ok {
			q, r := l.home.allocate(l.d.memory.managed, max(v.Size, 1), max(v.Align, mem.MinAlign),
				&allocation{use: useVariable})
			if r != success {
				for _, k := range keys {
					_ = l.d.memory.managed.Free(l.shared[k].at)
					delete(l.shared, k)
				}
				return nil, r
			}
			keys = append(keys, key)
			s = sharedVariable{uint64(q), v.Size}
			l.shared[key] = s
			fresh = append(fresh, v)
		}
		at[v] = s.at
	}
	for _, v := range fresh {
		l.d.initialize(p, v, func(w *check.Var) uint64 {
			w = p.linked.Var(w)
			if a, ok := at[w]; ok {
				return a
			}
			return address(w)
		})
	}
	return at, success
}

// unshare gives the memory back.
func (l *library) unshare() {
	l.sharing.Lock()
	defer l.sharing.Unlock()
	for _, s := range l.shared {
		_ = l.d.memory.managed.Free(s.at) // allocated by share
	}
	l.shared, l.unshared = nil, true
}

// contextFree says whether the managed variables need nothing of a context for their initial values.
func (p *program) contextFree() bool {
	for _, v := range p.managed.vars {
		for i := range v.Relocs {
			if w := v.Relocs[i].Var; w != nil && !p.linked.Var(w).Managed {
				return false
			}
		}
	}
	return true
}

// managedVariable is cuLibraryGetManaged where no context is current.
func (l *library) managedVariable(p *program, out *driver.CUdeviceptr, size *uint64, name string) driver.CUresult {
	v := p.global(name)
	if v == nil || !v.Managed {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	at, r := l.share(p, func(*check.Var) uint64 { return 0 }) // nothing asks: the program is context-free
	if r != success {
		return r
	}
	if out != nil {
		*out = driver.CUdeviceptr(at[v])
	}
	if size != nil {
		*size = v.Size
	}
	return success
}

// loadEagerly does at once what CUDA_MODULE_LOADING=EAGER asks for: the library is compiled, and loaded in every
// context that there is. Failures show at the first use, as they do under lazy loading (recorded).
func (d *Driver) loadEagerly(l *library) {
	for _, dev := range d.devices {
		_, _ = l.program(dev)
	}
	for _, c := range d.contexts.all() {
		if !c.dead.Load() {
			_, _ = l.module(c)
		}
	}
}

// joinLibraries brings the libraries into a new context under eager loading; otherwise they come when they are used.
func (d *Driver) joinLibraries(c *context) {
	if !d.env.EagerLoading {
		return
	}
	for _, l := range d.libraries.all() {
		_, _ = l.module(c)
	}
}
