package cu

import (
	"runtime"
	"slices"
	"unsafe"
)

// JITOptions are the options of a call that compiles or links, with room for the two logs of the compiler:
// [ModuleLoadDataEx], [LibraryLoadData], [LinkCreate] and the like take [JITOptions.IDs] and [JITOptions.Values]. It
// keeps in place what the driver writes to, so that programs need no [runtime.Pinner].
//
// Close it when the driver needs the memory no longer: after ModuleLoadDataEx; for LinkCreate after [LinkDestroy]; for
// a library, whose functions may be compiled when they are first used, after [LibraryUnload]. It is not for use by
// several goroutines at once.
type JITOptions struct{ m *jitMemory }

// jitMemory is what the driver may write to.
type jitMemory struct {
	ids        []CUjit_option
	values     []uintptr
	info, fail []byte
	pin        runtime.Pinner
}

// jitLogSize is the room for each log in bytes when nothing else is asked for. The driver cuts longer ones.
const jitLogSize = 32 << 10

// NewJITOptions makes options with room for logs of so many bytes each; 0 is 32 KiB.
func NewJITOptions(logSize uint32) *JITOptions {
	if logSize == 0 {
		logSize = jitLogSize
	}
	m := &jitMemory{info: make([]byte, logSize), fail: make([]byte, logSize)}
	m.pin.Pin(&m.info[0])
	m.pin.Pin(&m.fail[0])
	m.add(CU_JIT_INFO_LOG_BUFFER, uintptr(unsafe.Pointer(&m.info[0])))
	m.add(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, uintptr(logSize))
	m.add(CU_JIT_ERROR_LOG_BUFFER, uintptr(unsafe.Pointer(&m.fail[0])))
	m.add(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, uintptr(logSize))
	o := &JITOptions{m}
	// The runtime ends a program that forgets what it has pinned.
	runtime.AddCleanup(o, (*jitMemory).release, m)
	return o
}

func (m *jitMemory) release() { m.pin.Unpin() }

// add appends an option; lists that move are kept in place anew, and those that the driver may know stay as they are.
func (m *jitMemory) add(id CUjit_option, value uintptr) {
	if len(m.ids) == cap(m.ids) {
		m.ids, m.values = slices.Grow(m.ids, int(CU_JIT_NUM_OPTIONS)), slices.Grow(m.values, int(CU_JIT_NUM_OPTIONS))
		m.values = slices.Grow(m.values, cap(m.ids)-len(m.values))
		m.pin.Pin(unsafe.SliceData(m.ids))
		m.pin.Pin(unsafe.SliceData(m.values))
	}
	m.ids, m.values = append(m.ids, id), append(m.values, value)
}

// Set gives an option a value, for one whose value is a number. The four options of the logs keep the values that they
// have: a number in their place would be an address that the driver writes to.
func (o *JITOptions) Set(id CUjit_option, value uint32) {
	switch id {
	case CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
		CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
		return
	}
	if i := slices.Index(o.m.ids, id); i >= 0 {
		o.m.values[i] = uintptr(value)
		return
	}
	o.m.add(id, uintptr(value))
}

// IDs is the argument for the options of a call.
func (o *JITOptions) IDs() []CUjit_option { return o.m.ids }

// Values is the argument for the values of the options.
func (o *JITOptions) Values() []uintptr { return o.m.values }

// Value is the value of an option as the driver has left it, for example the bits of the float that CU_JIT_WALL_TIME
// is; ok is false for one that was not set.
func (o *JITOptions) Value(id CUjit_option) (value uint32, ok bool) {
	if i := slices.Index(o.m.ids, id); i >= 0 {
		return uint32(o.m.values[i]), true
	}
	return 0, false
}

// InfoLog is what the compiler has reported: with CU_JIT_LOG_VERBOSE the registers and memory of each kernel.
func (o *JITOptions) InfoLog() string { return cut(o.m.info) }

// ErrorLog is why the compiler has refused the input; empty when it has not.
func (o *JITOptions) ErrorLog() string { return cut(o.m.fail) }

// Close lets go of the memory. The logs can still be read.
func (o *JITOptions) Close() { o.m.release() }
