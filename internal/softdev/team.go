package softdev

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/profiles"
)

// team is the state of a multicast object: its properties, its devices in the order in which they were added, and the
// memory that is bound. Processes that share the object have it in pages that they share, so what stands there may be
// anything: it is checked when it is read.
//
// Entries are only added. One that is written counts from the moment its state says so, and one that was unbound stays
// where it is.
type team struct {
	page *mem.Page       // nil for an object that no other process can open
	own  []atomic.Uint64 // then

	// the properties as they were when the object was made or opened
	n, size, handleTypes uint64
}

// The words of a team. Entries follow.
const (
	teamMagic = iota
	teamDevices
	teamSize
	teamHandleTypes
	teamChanges // how often something was added or taken away
	teamCount   // entries
	teamLock    // the process that changes it
	teamProcess // who made the page, and the file's number in it
	teamCookie

	teamFirst = 16
	teamPages = 32
	teamWords = teamPages * 4096 / 8
	teamMost  = (teamWords - teamFirst) / entryWords
	// teamMark is the first word of every team.
	teamMark = 0x6d61_6574_6463_6f67
)

// The words of an entry.
const (
	entryState = iota
	entryKind
	entryDevice // two words
	_
	entryOffset // of the bound memory in the object, and its size
	entrySize
	entryFrom // where it begins in the store
	entryProcess
	entryCookie
	entryStore // size of the store

	entryWords = 16
)

// The states and kinds of an entry.
const (
	entryValid = 1
	entryGone  = 2

	entryJoined = 1 // a device
	entryBound  = 2 // memory of a device
)

// teamEntry is one entry of a team.
type teamEntry struct {
	kind         uint64
	device       [16]byte
	offset, size uint64
	from         uint64
	store        mem.Published
}

func (t *team) word(i int) *atomic.Uint64 {
	if t.page != nil {
		return t.page.Word(i)
	}
	return &t.own[i]
}

// get and put are for single words. The pages go when nobody has the team any more.
func (t *team) get(i int) uint64 {
	defer runtime.KeepAlive(t)
	return t.word(i).Load()
}

func (t *team) put(i int, v uint64) {
	defer runtime.KeepAlive(t)
	t.word(i).Store(v)
}

// withPage is a team in pages.
func withPage(page *mem.Page) *team {
	t := &team{page: page}
	runtime.AddCleanup(t, func(p *mem.Page) { _ = p.Close() }, page)
	return t
}

// newTeam makes an object's state; shared says that other processes are to open it.
func newTeam(devices, size, handleTypes uint64, shared bool) (*team, error) {
	var t *team
	if shared {
		page, err := mem.NewPage(teamPages)
		if err != nil {
			return nil, err
		}
		t = withPage(page)
		p := page.Published()
		t.put(teamProcess, processWord(p))
		t.put(teamCookie, p.Cookie)
	} else {
		t = &team{own: make([]atomic.Uint64, teamWords)}
	}
	t.put(teamDevices, devices)
	t.put(teamSize, size)
	t.put(teamHandleTypes, handleTypes)
	t.put(teamMagic, teamMark)
	t.n, t.size, t.handleTypes = devices, size, handleTypes
	return t, nil
}

var errNoTeam = errors.New("the handle is none of a multicast object")

// openTeam makes a team of pages that were opened.
func openTeam(page *mem.Page, err error) (*team, error) {
	if err != nil {
		return nil, err
	}
	t := withPage(page)
	t.n, t.size, t.handleTypes = t.get(teamDevices), t.get(teamSize), t.get(teamHandleTypes)
	if t.get(teamMagic) != teamMark || t.n == 0 || t.n > profiles.MaxDevices || t.size == 0 ||
		t.size%mem.Granule != 0 || t.handleTypes&^uint64(shareableTypes) != 0 {
		return nil, errNoTeam
	}
	return t, nil
}

// published says how other processes open it.
func (t *team) published() mem.Published {
	w := t.get(teamProcess)
	return mem.Published{Process: int32(w >> 32), File: int32(w), Cookie: t.get(teamCookie),
		Size: teamWords * 8, Bytes: teamWords * 8}
}

// processWord is a process and the number of a file in it.
func processWord(p mem.Published) uint64 {
	return uint64(uint32(p.Process))<<32 | uint64(uint32(p.File))
}

// entries are those that count, by their places.
func (t *team) entries(f func(place int, e *teamEntry)) {
	n := min(t.get(teamCount), teamMost)
	for i := range int(n) {
		at := teamFirst + i*entryWords
		if t.get(at+entryState) != entryValid {
			continue
		}
		get := func(k int) uint64 { return t.get(at + k) }
		e := &teamEntry{kind: get(entryKind), offset: get(entryOffset), size: get(entrySize), from: get(entryFrom)}
		binary.LittleEndian.PutUint64(e.device[:8], get(entryDevice))
		binary.LittleEndian.PutUint64(e.device[8:], get(entryDevice+1))
		p := get(entryProcess)
		e.store = mem.Published{Process: int32(p >> 32), File: int32(p), Cookie: get(entryCookie),
			Size: get(entryStore), Bytes: get(entryStore)}
		f(i, e)
	}
}

// devices are the team's, in its order.
func (t *team) devices() (list [][16]byte) {
	t.entries(func(_ int, e *teamEntry) {
		if e.kind == entryJoined {
			list = append(list, e.device)
		}
	})
	return list
}

// complete says whether all devices have been added.
func (t *team) complete() bool { return uint64(len(t.devices())) >= t.n }

// change runs f as the only one of all processes that changes the team.
func (t *team) change(f func()) {
	defer runtime.KeepAlive(t)
	me, lock := uint64(os.Getpid()), t.word(teamLock)
	for wait := time.Microsecond; !lock.CompareAndSwap(0, me); wait = min(2*wait, time.Millisecond) {
		// Whoever ended while he had it leaves an entry without state.
		if o := lock.Load(); o != 0 && o != me && mem.ProcessGone(int(int32(o))) && lock.CompareAndSwap(o, me) {
			break
		}
		time.Sleep(wait)
	}
	defer lock.Store(0)
	f()
	t.word(teamChanges).Add(1)
}

// add writes a new entry, in change. ok is false when there is no place left.
func (t *team) add(e *teamEntry) (place int, ok bool) {
	n := t.get(teamCount)
	if n >= teamMost {
		return 0, false
	}
	at := teamFirst + int(n)*entryWords
	put := func(k int, v uint64) { t.put(at+k, v) }
	put(entryState, 0)
	put(entryKind, e.kind)
	put(entryDevice, binary.LittleEndian.Uint64(e.device[:8]))
	put(entryDevice+1, binary.LittleEndian.Uint64(e.device[8:]))
	put(entryOffset, e.offset)
	put(entrySize, e.size)
	put(entryFrom, e.from)
	put(entryProcess, processWord(e.store))
	put(entryCookie, e.store.Cookie)
	put(entryStore, e.store.Size)
	t.put(teamCount, n+1)
	put(entryState, entryValid)
	return int(n), true
}

// remove takes an entry away, in change.
func (t *team) remove(place int) { t.put(teamFirst+place*entryWords+entryState, entryGone) }
