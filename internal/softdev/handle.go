package softdev

import (
	"sync"
	"sync/atomic"
)

// Handles look like host pointers and are checked: a destroyed, foreign or invented handle is recognised, with the one
// exception that a slot must be used 65536 times before a stale handle of it matches again (slots are used in turn, so
// that takes long).
//
//	bits  0..3   zero (C programs expect alignment; 1 and 2 are special streams)
//	bits  4..23  slot
//	bits 24..39  generation, which starts at a number of the Driver's own
//	bits 40..45  kind
//	bit  46      one
const (
	handleSlotShift = 4
	handleSlotBits  = 20
	handleGenShift  = handleSlotShift + handleSlotBits
	handleGenBits   = 16
	handleKindShift = handleGenShift + handleGenBits
	handleMark      = 1 << 46

	handleChunkBits = 10
	handleChunk     = 1 << handleChunkBits
	handleChunks    = 1 << (handleSlotBits - handleChunkBits)
)

type handleKind uintptr

// The kinds of handles.
const (
	kindContext handleKind = iota + 1
	kindStream
	kindEvent
	kindModule
	kindFunction
	kindLibrary
	kindKernel
	kindPool
	kindGraph
	kindGraphNode
	kindGraphExec
	kindUserObject
	kindConditional
	kindStore
	kindGreen
	kindResource
	kindNotification
	kindLogs
	kindDump
	kindLink
	kindExternalMemory
	kindExternalSemaphore
)

type handleSlot[T any] struct {
	handle atomic.Uintptr // 0 when free
	object atomic.Pointer[T]
	gen    uint16 // of the next handle
}

// handles is a table of one kind. Lookup takes no lock.
type handles[T any] struct {
	kind   handleKind
	first  uint16 // generation of a slot's first handle
	mu     sync.Mutex
	free   []uint32 // a queue: slots are used again in the order in which they came free
	next   uint32   // first slot never used
	live   int
	chunks [handleChunks]atomic.Pointer[[handleChunk]handleSlot[T]]
}

func (t *handles[T]) init(kind handleKind, first uint16) { t.kind, t.first = kind, first }

// add gives the object a handle; 0 when the table is full (2^20 objects).
func (t *handles[T]) add(object *T) uintptr {
	t.mu.Lock()
	defer t.mu.Unlock()
	var slot uint32
	// Slots rest in the queue until there are some, so that a handle just destroyed does not come back at once.
	const rest = 64
	switch {
	case len(t.free) > rest || t.next == 1<<handleSlotBits && len(t.free) > 0:
		slot = t.free[0]
		t.free = t.free[1:]
	case t.next < 1<<handleSlotBits:
		slot = t.next
	default:
		return 0
	}
	chunk := t.chunks[slot>>handleChunkBits].Load()
	if chunk == nil {
		chunk = new([handleChunk]handleSlot[T])
		for i := range chunk {
			chunk[i].gen = t.first
		}
		t.chunks[slot>>handleChunkBits].Store(chunk)
	}
	if slot == t.next { // after its chunk is there: all looks at the slots before next
		t.next++
	}
	s := &chunk[slot%handleChunk]
	h := handleMark | uintptr(t.kind)<<handleKindShift | uintptr(s.gen)<<handleGenShift | uintptr(slot)<<handleSlotShift
	s.gen++
	s.object.Store(object)
	s.handle.Store(h)
	t.live++
	return h
}

func (t *handles[T]) slot(h uintptr) *handleSlot[T] {
	if h>>handleKindShift != handleMark>>handleKindShift|uintptr(t.kind) || h%(1<<handleSlotShift) != 0 {
		return nil
	}
	slot := h >> handleSlotShift % (1 << handleSlotBits)
	chunk := t.chunks[slot>>handleChunkBits].Load()
	if chunk == nil {
		return nil
	}
	return &chunk[slot%handleChunk]
}

// get returns the object of a handle, nil when there is none.
func (t *handles[T]) get(h uintptr) *T {
	s := t.slot(h)
	if s == nil {
		return nil
	}
	object := s.object.Load()
	if s.handle.Load() != h {
		return nil
	}
	return object
}

// remove takes the handle away and returns its object; nil when it is not valid (or somebody else removed it first).
func (t *handles[T]) remove(h uintptr) *T {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slot(h)
	if s == nil || s.handle.Load() != h {
		return nil
	}
	object := s.object.Load()
	s.handle.Store(0)
	s.object.Store(nil)
	t.free = append(t.free, uint32(h>>handleSlotShift%(1<<handleSlotBits)))
	t.live--
	return object
}

// was says whether a handle of this table and this Driver was valid once and is no longer.
func (t *handles[T]) was(h uintptr) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slot(h)
	if s == nil || s.handle.Load() == h {
		return false
	}
	made := s.gen - t.first                    // handles made of this slot
	age := uint16(h>>handleGenShift) - t.first // which of them this would be
	return uint32(h>>handleSlotShift%(1<<handleSlotBits)) < t.next && age < made
}

// all returns the live objects in no order.
func (t *handles[T]) all() []*T {
	t.mu.Lock()
	defer t.mu.Unlock()
	var objects []*T
	for i := range t.next {
		s := &t.chunks[i>>handleChunkBits].Load()[i%handleChunk]
		if s.handle.Load() != 0 {
			objects = append(objects, s.object.Load())
		}
	}
	return objects
}

// replace puts another object behind a live handle.
func (t *handles[T]) replace(h uintptr, object *T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s := t.slot(h); s != nil && s.handle.Load() == h {
		s.object.Store(object)
	}
}

// count is the number of live objects.
func (t *handles[T]) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}
