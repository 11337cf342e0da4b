package softdev

import (
	"cmp"
	"errors"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/profiles"
)

// multicast is a multicast object as this process has it. Each device's part of it, its replica, has addresses of its
// own in the window, which no program is told of: memory that is bound need not be mapped anywhere else. Addresses of
// the object itself, where cuMemMap puts it, have no memory: only multimem instructions reach what is behind them.
//
// No answer of a driver is recorded but those without multicast (zeros/context): on a machine that is shared a
// multicast object of a real driver can put its GPUs out of service. What is here is as NVIDIA documents it (CUDA
// Driver API, "Multicast Object Management"); which of the documented codes an error has is our choice.
type multicast struct {
	d      *Driver
	shared bool // it was imported, or can be exported
	team   *team
	gone   atomic.Bool // the handle is released and nothing is mapped

	mu     sync.Mutex
	stores map[int]*mem.Store // by the place of their entry: those of this process, and opened ones
	at     map[int]uint64     // addresses of replicas, likewise
	view   atomic.Pointer[multicastView]
}

// multicastView is what is bound, for those who look addresses up. It does not change.
type multicastView struct {
	changes  uint64
	replicas [][]replica // by device of the team, each by offset
}

type replica struct{ offset, size, at uint64 }

// hiddenMapping owns the addresses of replicas.
type hiddenMapping struct{}

// noMulticast is what every call answers where no device can do it (recorded).
func (d *Driver) noMulticast() driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	for _, dev := range d.devices {
		if dev.multicast() {
			return success
		}
	}
	d.explain(nil, "no device can be one of a multicast team: that takes several of compute capability 9.0 with "+
		"NVLink, as GOCUDA_PROFILE=h200*2 makes them")
	return notSupported
}

// multicastHandle is a handle's object.
func (d *Driver) multicastHandle(h driver.CUmemGenericAllocationHandle) (*multicast, driver.CUresult) {
	if r := d.noMulticast(); r != success {
		return nil, r
	}
	m, r := d.memHandle(h)
	if r != success {
		return nil, r
	}
	if m.multi == nil {
		return nil, invalidValue
	}
	return m.multi, success
}

// shareableTypes are the kinds of handles that other processes can have.
const shareableTypes = driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | driver.CU_MEM_HANDLE_TYPE_FABRIC

func multicastProperties(p *driver.CUmulticastObjectProp) driver.CUresult {
	if p == nil || p.Flags != 0 || p.NumDevices == 0 || p.NumDevices > profiles.MaxDevices || p.Size == 0 ||
		p.HandleTypes&^uint64(shareableTypes) != 0 {
		return invalidValue
	}
	return success
}

func (d *Driver) multicastGetGranularity(_ driver.CUcontext, out *uint64, prop *driver.CUmulticastObjectProp,
	option driver.CUmulticastGranularity_flags) driver.CUresult {
	if r := d.noMulticast(); r != success {
		return r
	}
	if out == nil || option > driver.CU_MULTICAST_GRANULARITY_RECOMMENDED {
		return invalidValue
	}
	if r := multicastProperties(prop); r != success {
		return r
	}
	*out = mem.Granule
	return success
}

func (d *Driver) multicastCreate(_ driver.CUcontext, out *driver.CUmemGenericAllocationHandle,
	prop *driver.CUmulticastObjectProp) driver.CUresult {
	if r := d.noMulticast(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	if r := multicastProperties(prop); r != success {
		return r
	}
	if prop.Size%mem.Granule != 0 {
		return invalidValue
	}
	t, err := newTeam(uint64(prop.NumDevices), prop.Size, prop.HandleTypes, prop.HandleTypes != 0)
	if err != nil {
		d.explain(nil, "%s", err.Error())
		if errors.Is(err, errors.ErrUnsupported) {
			return notSupported
		}
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return d.addMulticast(out, t)
}

// addMulticast gives an object its handle.
func (d *Driver) addMulticast(out *driver.CUmemGenericAllocationHandle, t *team) driver.CUresult {
	m := &multicast{d: d, team: t, shared: t.page != nil, stores: map[int]*mem.Store{}, at: map[int]uint64{}}
	m.view.Store(&multicastView{replicas: make([][]replica, t.n)})
	h := &memHandle{multi: m, refs: 1, dev: d.devices[0]}
	h.prop.RequestedHandleTypes = driver.CUmemAllocationHandleType(t.handleTypes)
	h.handle = driver.CUmemGenericAllocationHandle(d.memHandles.add(h))
	if h.handle == 0 {
		m.close()
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = h.handle
	return success
}

// multicastAddDevice: the team has to be one whose devices reach each other.
func (d *Driver) multicastAddDevice(_ driver.CUcontext, h driver.CUmemGenericAllocationHandle,
	ordinal driver.CUdevice) driver.CUresult {
	m, r := d.multicastHandle(h)
	if r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if !dev.multicast() {
		return notSupported
	}
	r = success
	m.team.change(func() {
		have := m.team.devices()
		switch {
		case uint64(len(have)) >= m.team.n:
			d.explain(nil, "all devices of the multicast object have been added")
			r = invalidValue
		case slices.Contains(have, dev.uuid()):
			d.explain(nil, "device %d has been added to the multicast object before", ordinal)
			r = driver.CUDA_ERROR_INVALID_DEVICE
		default:
			for _, id := range have {
				if o, found := d.deviceWithID(id); found == success && !dev.joined(o) {
					r = driver.CUDA_ERROR_INVALID_DEVICE
					return
				}
			}
			if _, ok := m.team.add(&teamEntry{kind: entryJoined, device: dev.uuid()}); !ok {
				r = driver.CUDA_ERROR_OUT_OF_MEMORY
			}
		}
	})
	return r
}

// assembled waits until all devices have been added, as memory can be bound and the object mapped from then on only
// (cuMulticastAddDevice). The driver waits for ever; here the wait ends after as long as work of a context may take.
func (m *multicast) assembled() driver.CUresult {
	deadline := time.Now().Add(m.d.endLimit)
	for !m.team.complete() {
		if m.gone.Load() || m.d.state.Load() == driverClosed {
			return invalidValue
		}
		if time.Now().After(deadline) {
			m.d.explain(nil, "%d of %d devices have been added to the multicast object within %v",
				len(m.team.devices()), m.team.n, m.d.endLimit)
			return driver.CUDA_ERROR_ILLEGAL_STATE
		}
		time.Sleep(100 * time.Microsecond)
	}
	return success
}

// place checks a part of the object.
func (m *multicast) place(offset, size uint64) driver.CUresult {
	most := m.team.size
	if offset%mem.Granule != 0 || size == 0 || size%mem.Granule != 0 || offset > most || size > most-offset {
		return invalidValue
	}
	return success
}

func (d *Driver) multicastBindMem(_ driver.CUcontext, h driver.CUmemGenericAllocationHandle, offset uint64,
	memory driver.CUmemGenericAllocationHandle, from, size, flags uint64) driver.CUresult {
	m, r := d.multicastHandle(h)
	if r != success {
		return r
	}
	s, r := d.memHandle(memory)
	if r != success {
		return r
	}
	if flags != 0 {
		return invalidValue
	}
	return m.bind(s, offset, from, size)
}

// multicastBindAddr: memory of pools, which the driver takes, too, has no store that could be bound.
func (d *Driver) multicastBindAddr(_ driver.CUcontext, h driver.CUmemGenericAllocationHandle, offset uint64,
	p driver.CUdeviceptr, size, flags uint64) driver.CUresult {
	m, r := d.multicastHandle(h)
	if r != success {
		return r
	}
	rng, a, ok := d.memory.find(p)
	switch {
	case flags != 0 || !ok:
		return invalidValue
	case a.pool != nil:
		d.explain(nil, "memory of a pool cannot be bound to a multicast object here; that of cuMemCreate can")
		return notSupported
	case a.mapped == nil:
		return invalidValue
	}
	return m.bind(a.mapped.h, offset, uint64(p)-rng.Base, size)
}

// multicastBindMemV2 names the device whose memory is bound (its documentation), which here is where the memory lies.
func (d *Driver) multicastBindMemV2(cur driver.CUcontext, h driver.CUmemGenericAllocationHandle,
	ordinal driver.CUdevice, offset uint64, memory driver.CUmemGenericAllocationHandle, from, size,
	flags uint64) driver.CUresult {
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if s, r := d.memHandle(memory); r != success || s.dev != dev {
		return cmp.Or(r, driver.CUDA_ERROR_INVALID_DEVICE)
	}
	return d.multicastBindMem(cur, h, offset, memory, from, size, flags)
}

// multicastBindAddrV2: as multicastBindMemV2.
func (d *Driver) multicastBindAddrV2(cur driver.CUcontext, h driver.CUmemGenericAllocationHandle,
	ordinal driver.CUdevice, offset uint64, p driver.CUdeviceptr, size, flags uint64) driver.CUresult {
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if _, a, ok := d.memory.find(p); ok && a.mapped != nil && a.mapped.h.dev != dev {
		return driver.CUDA_ERROR_INVALID_DEVICE
	}
	return d.multicastBindAddr(cur, h, offset, p, size, flags)
}

func (m *multicast) bind(s *memHandle, offset, from, size uint64) driver.CUresult {
	if r := m.place(offset, size); r != success {
		return r
	}
	if s.store == nil || onHost(s.prop.Location) || from%mem.Granule != 0 || from > s.store.Size() ||
		size > s.store.Size()-from {
		return invalidValue
	}
	e := teamEntry{kind: entryBound, device: s.dev.uuid(), offset: offset, size: size, from: from}
	if m.shared {
		var ok bool
		if e.store, ok = s.store.Published(); !ok {
			m.d.explain(nil, "a multicast object that processes share takes memory only that they can share, too")
			return invalidValue
		}
	}
	if r := m.assembled(); r != success {
		return r
	}
	if !slices.Contains(m.team.devices(), e.device) {
		m.d.explain(nil, "the memory is of device %d, which is not one of the multicast object's", s.dev.ordinal)
		return driver.CUDA_ERROR_INVALID_DEVICE
	}
	if err := s.store.Retain(); err != nil {
		return invalidValue
	}
	r, place := success, 0
	m.mu.Lock()
	defer m.mu.Unlock()
	m.team.change(func() {
		m.team.entries(func(_ int, o *teamEntry) {
			if o.kind == entryBound && o.device == e.device && o.offset < offset+size && offset < o.offset+o.size {
				r = invalidValue
			}
		})
		if r != success {
			m.d.explain(nil, "memory of the device is bound there")
			return
		}
		var ok bool
		if place, ok = m.team.add(&e); !ok {
			r = driver.CUDA_ERROR_OUT_OF_MEMORY
			return
		}
		m.stores[place] = s.store
	})
	if r != success {
		_ = s.store.Release()
		return r
	}
	m.look()
	if _, ok := m.at[place]; !ok {
		m.team.change(func() { m.team.remove(place) })
		m.drop(place)
		m.look()
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return success
}

// multicastUnbind takes what one call has bound ("must match the corresponding values specified during the bind
// call"). Work that may use it comes to an end before.
func (d *Driver) multicastUnbind(_ driver.CUcontext, h driver.CUmemGenericAllocationHandle, ordinal driver.CUdevice,
	offset, size uint64) driver.CUresult {
	m, r := d.multicastHandle(h)
	if r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if r := m.place(offset, size); r != success {
		return r
	}
	for _, c := range d.contexts.all() {
		if !c.dead.Load() {
			c.wait()
		}
	}
	r = invalidValue
	m.mu.Lock()
	defer m.mu.Unlock()
	m.team.change(func() {
		m.team.entries(func(place int, e *teamEntry) {
			if e.kind == entryBound && e.device == dev.uuid() && e.offset == offset && e.size == size {
				m.team.remove(place)
				m.drop(place)
				r = success
			}
		})
	})
	if r != success {
		d.explain(nil, "no memory of device %d was bound with that offset and size", ordinal)
		return r
	}
	m.look()
	return success
}

// drop gives back what this process has of an entry; m.mu is held.
func (m *multicast) drop(place int) {
	if at, ok := m.at[place]; ok {
		_ = m.d.memory.w.ClosePublished(at) // mapped by look
		delete(m.at, place)
	}
	if s := m.stores[place]; s != nil {
		_ = s.Release()
		delete(m.stores, place)
	}
}

// look brings the view up to date: memory that was bound since gets its addresses. What cannot be opened, as that of a
// process that has ended, is left out, as if nothing was bound. m.mu is held.
func (m *multicast) look() {
	v := &multicastView{changes: m.team.get(teamChanges)}
	devices := m.team.devices()
	v.replicas = make([][]replica, m.team.n)
	m.team.entries(func(place int, e *teamEntry) {
		i := slices.Index(devices, e.device)
		if e.kind != entryBound || i < 0 || i >= len(v.replicas) || m.place(e.offset, e.size) != success {
			return
		}
		at, ok := m.at[place]
		if !ok {
			var err error
			if at, err = m.open(place, e); err != nil {
				m.d.explain(nil, "memory that is bound to a multicast object: %s", err.Error())
				return
			}
			m.at[place] = at
		}
		v.replicas[i] = append(v.replicas[i], replica{e.offset, e.size, at})
	})
	for _, list := range v.replicas {
		sort.Slice(list, func(i, j int) bool { return list[i].offset < list[j].offset })
	}
	m.view.Store(v)
}

// open gives an entry's memory addresses in the window.
func (m *multicast) open(place int, e *teamEntry) (uint64, error) {
	s := m.stores[place]
	if s == nil { // another process's, of whose device it counts
		var err error
		if s, err = m.d.devices[0].heap.OpenPublishedStore(e.store, false, nil); err != nil {
			return 0, err
		}
		m.stores[place] = s
	}
	r, err := m.d.memory.w.MapAlone(s, e.from, e.size, hiddenMapping{})
	return r.Base, err
}

// close is for an object whose handle is released and that is mapped nowhere.
func (m *multicast) close() {
	m.gone.Store(true)
	m.mu.Lock()
	defer m.mu.Unlock()
	for place := range m.stores {
		m.drop(place)
	}
	m.view.Store(&multicastView{changes: ^uint64(0)})
}

// resolve appends the places of a part of the object in each replica, nothing when one of them has no memory there.
func (m *multicast) resolve(offset, size uint64, to []unsafe.Pointer) []unsafe.Pointer {
	v := m.view.Load()
	if m.gone.Load() {
		return to
	}
	if v.changes != m.team.get(teamChanges) {
		m.mu.Lock()
		m.look()
		m.mu.Unlock()
		v = m.view.Load()
	}
	have := len(to)
	for _, list := range v.replicas {
		i := sort.Search(len(list), func(i int) bool { return list[i].offset+list[i].size > offset })
		if i == len(list) || offset < list[i].offset || size > list[i].offset+list[i].size-offset {
			return to[:have]
		}
		to = append(to, m.d.memory.w.Ptr(list[i].at+offset-list[i].offset))
	}
	return to
}

// replicas is exec.Memory.Multicast for a device.
func (m *memory) replicas(dev *device, addr, size uint64, write bool, to []unsafe.Pointer) []unsafe.Pointer {
	r, a, ok := m.find(driver.CUdeviceptr(addr))
	if !ok || a.mapped == nil || a.mapped.h.multi == nil || size > r.Size-(addr-r.Base) {
		return to
	}
	here := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: dev.ordinal}
	a.mapped.mu.Lock()
	access := a.mapped.access[here]
	a.mapped.mu.Unlock()
	if access != driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE &&
		(write || access != driver.CU_MEM_ACCESS_FLAGS_PROT_READ) {
		return to
	}
	return a.mapped.h.multi.resolve(addr-r.Base, size, to)
}

func (d *Driver) multicastTable(t *driver.Table) {
	t.MulticastCreate = d.multicastCreate
	t.MulticastAddDevice = d.multicastAddDevice
	t.MulticastBindMem = d.multicastBindMem
	t.MulticastBindAddr = d.multicastBindAddr
	t.MulticastBindMem_v2 = d.multicastBindMemV2
	t.MulticastBindAddr_v2 = d.multicastBindAddrV2
	t.MulticastUnbind = d.multicastUnbind
	t.MulticastGetGranularity = d.multicastGetGranularity
}
