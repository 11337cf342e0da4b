package softdev

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// logKeep is how many entries the log holds; older ones are lost (cuLogsCurrent: "up to 100").
const logKeep = 100

// logDump is the most that cuLogsDumpToMemory writes, in bytes (its documentation).
const logDump = 25600

// errorLog keeps the explanations of failures (explain) as entries of the driver's error log.
type errorLog struct {
	mu        sync.Mutex
	next      uint32 // number of the next entry
	entries   []string
	callbacks handles[logCallback]
}

type logCallback struct {
	fn     driver.CUlogsCallback
	data   uintptr
	handle atomic.Uintptr
}

// logError enters a message and tells the callbacks. One that panics is not called again.
func (d *Driver) logError(text string) {
	l := &d.log
	l.add(text)
	if l.callbacks.count() == 0 {
		return
	}
	message := append([]byte(text), 0)
	for _, c := range l.callbacks.all() {
		returned := false
		d.runHostAlone("CUlogsCallback", func() {
			defer func() {
				if !returned { // telling of its panic would call it again
					l.callbacks.remove(c.handle.Load())
				}
			}()
			if c.fn.Go != nil {
				c.fn.Go(c.data, driver.CU_LOG_LEVEL_ERROR, &message[0], uint64(len(text)))
			} else {
				d.callC(c.fn.C, c.data, uintptr(driver.CU_LOG_LEVEL_ERROR), uintptr(unsafe.Pointer(&message[0])),
					uintptr(len(text)))
			}
			returned = true
		})
	}
}

func (l *errorLog) add(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	if len(l.entries) == logKeep {
		l.entries = append(l.entries[:0], l.entries[1:]...)
	}
	l.entries = append(l.entries, text)
}

// since formats the entries from a number on; 0 is all.
func (l *errorLog) since(from uint32) (lines []string, next uint32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.next - uint32(len(l.entries))
	for i, e := range l.entries {
		if first+uint32(i) >= from {
			lines = append(lines, fmt.Sprintf("[%d][ERROR] %s\n", first+uint32(i), e))
		}
	}
	return lines, l.next
}

func (d *Driver) logsRegisterCallback(_ driver.CUcontext, fn driver.CUlogsCallback, data uintptr,
	out *driver.CUlogsCallbackHandle) driver.CUresult {
	if fn.IsNil() {
		return invalidValue
	}
	if d.state.Load() == driverClosed {
		return d.notReady()
	}
	if fn.Go == nil && d.table.CallC == nil {
		return notSupported
	}
	c := &logCallback{fn: fn, data: data}
	h := d.log.callbacks.add(c)
	if h == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	c.handle.Store(h)
	if out != nil {
		*out = driver.CUlogsCallbackHandle(h)
	}
	return success
}

func (d *Driver) logsUnregisterCallback(_ driver.CUcontext, h driver.CUlogsCallbackHandle) driver.CUresult {
	if d.log.callbacks.remove(uintptr(h)) == nil {
		return invalidValue
	}
	return success
}

// logsCurrent gives an iterator. The flags of this and the dumps "must be 0" and are not looked at (recorded).
func (d *Driver) logsCurrent(_ driver.CUcontext, out *driver.CUlogIterator, _ uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	_, next := d.log.since(0)
	*out = driver.CUlogIterator(next)
	return success
}

// logsDumpToFile appends the entries from the iterator on (all without one) and moves it behind them.
func (d *Driver) logsDumpToFile(_ driver.CUcontext, it *driver.CUlogIterator, path *byte, _ uint32) driver.CUresult {
	if path == nil {
		return invalidValue
	}
	var from uint32
	if it != nil {
		from = uint32(*it)
	}
	lines, next := d.log.since(from)
	f, err := os.OpenFile(driver.String(path), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return invalidValue
	}
	for _, s := range lines {
		if _, e := f.WriteString(s); err == nil {
			err = e
		}
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return driver.CUDA_ERROR_OPERATING_SYSTEM
	}
	if it != nil {
		*it = driver.CUlogIterator(next)
	}
	return success
}

// logsDumpToMemory writes the newest entries that fit, NUL-terminated, and how many bytes those are.
func (d *Driver) logsDumpToMemory(_ driver.CUcontext, it *driver.CUlogIterator, buf *byte, size *uint64,
	_ uint32) driver.CUresult {
	if buf == nil || size == nil {
		return invalidValue
	}
	room := min(*size, logDump)
	if room == 0 {
		return invalidValue
	}
	var from uint32
	if it != nil {
		from = uint32(*it)
	}
	lines, next := d.log.since(from)
	first, total := len(lines), uint64(0)
	for first > 0 && total+uint64(len(lines[first-1])) < room {
		first--
		total += uint64(len(lines[first]))
	}
	out := unsafe.Slice(buf, room)
	at := 0
	for _, s := range lines[first:] {
		at += copy(out[at:], s)
	}
	out[at] = 0
	*size = uint64(at)
	if it != nil {
		*it = driver.CUlogIterator(next)
	}
	return success
}
