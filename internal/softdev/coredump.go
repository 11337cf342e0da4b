package softdev

import (
	"fmt"
	"os"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// coredumpNameSize is the room for a file name (cuCoredumpGetAttribute: 1023 characters).
const coredumpNameSize = 1024

// coredumps are the attributes of GPU core dumps. The software device writes none: what would turn them on is refused, the rest can be set and read.
type coredumps struct {
	mu         sync.Mutex
	file, pipe string
	flags      uint32
	noHost     bool // CU_COREDUMP_TRIGGER_HOST was set to false
	light      bool // CU_COREDUMP_LIGHTWEIGHT
}

// inherit takes over what is set for the process, as a new context does.
func (x *coredumps) inherit(from *coredumps) {
	from.mu.Lock()
	defer from.mu.Unlock()
	x.file, x.pipe, x.flags, x.noHost, x.light = from.file, from.pipe, from.flags, from.noHost, from.light
}

// names are the driver's defaults: core.cuda.HOSTNAME.PID in the working directory.
func (x *coredumps) name(attr driver.CUcoredumpSettings) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	if attr == driver.CU_COREDUMP_FILE {
		if x.file != "" {
			return x.file
		}
		return fmt.Sprintf("core.cuda.%s.%d", host, os.Getpid())
	}
	if x.pipe != "" {
		return x.pipe
	}
	return fmt.Sprintf("corepipe.cuda.%s.%d", host, os.Getpid())
}

// coredumpGet: with a NULL value only the size is given.
func (d *Driver) coredumpGet(x *coredumps, attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	x.mu.Lock()
	defer x.mu.Unlock()
	var data []byte
	switch attr {
	case driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, driver.CU_COREDUMP_ENABLE_USER_TRIGGER:
		data = []byte{0}
	case driver.CU_COREDUMP_LIGHTWEIGHT:
		data = []byte{0}
		if x.light {
			data[0] = 1
		}
	case driver.CU_COREDUMP_TRIGGER_HOST:
		data = []byte{1}
		if x.noHost {
			data[0] = 0
		}
	case driver.CU_COREDUMP_GENERATION_FLAGS:
		data = []byte{byte(x.flags), byte(x.flags >> 8), byte(x.flags >> 16), byte(x.flags >> 24)}
	case driver.CU_COREDUMP_FILE, driver.CU_COREDUMP_PIPE:
		data = append([]byte(x.name(attr)), 0)
	default:
		return invalidValue
	}
	if v == nil {
		*size = uint64(len(data))
		return success
	}
	if *size < uint64(len(data)) {
		return invalidValue
	}
	copy(unsafe.Slice((*byte)(v), len(data)), data)
	*size = uint64(len(data))
	return success
}

func (d *Driver) coredumpSet(c *context, x *coredumps, attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	x.mu.Lock()
	defer x.mu.Unlock()
	switch attr {
	case driver.CU_COREDUMP_LIGHTWEIGHT: // says what is in a dump, and makes none
		if *size < 1 {
			return invalidValue
		}
		x.light = *(*byte)(v) != 0
	case driver.CU_COREDUMP_ENABLE_ON_EXCEPTION, driver.CU_COREDUMP_ENABLE_USER_TRIGGER:
		if *size < 1 {
			return invalidValue
		}
		if *(*byte)(v) != 0 {
			d.explain(c, "the software device writes no core dumps; a fault's report is in its detail")
			return notSupported
		}
	case driver.CU_COREDUMP_TRIGGER_HOST:
		if *size < 1 {
			return invalidValue
		}
		x.noHost = *(*byte)(v) == 0
	case driver.CU_COREDUMP_GENERATION_FLAGS:
		if *size < 4 {
			return invalidValue
		}
		const known = 1<<6 - 1 // CUCoredumpGenerationFlags
		flags := load32(v)
		if flags&^uint32(known) != 0 {
			return invalidValue
		}
		x.flags = flags
	case driver.CU_COREDUMP_FILE, driver.CU_COREDUMP_PIPE:
		if *size == 0 || *size > coredumpNameSize {
			return invalidValue
		}
		b := unsafe.Slice((*byte)(v), *size)
		n := 0
		for n < len(b) && b[n] != 0 {
			n++
		}
		if attr == driver.CU_COREDUMP_FILE {
			x.file = string(b[:n])
		} else {
			x.pipe = string(b[:n])
		}
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) coredumpGetAttribute(cur driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	if size == nil {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	return d.coredumpGet(&c.coredump, attr, v, size)
}

func (d *Driver) coredumpSetAttribute(cur driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	if v == nil || size == nil {
		return invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	return d.coredumpSet(c, &c.coredump, attr, v, size)
}

func (d *Driver) coredumpGetAttributeGlobal(_ driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	if size == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	return d.coredumpGet(&d.coredump, attr, v, size)
}

func (d *Driver) coredumpSetAttributeGlobal(_ driver.CUcontext, attr driver.CUcoredumpSettings, v unsafe.Pointer, size *uint64) driver.CUresult {
	if v == nil || size == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	return d.coredumpSet(nil, &d.coredump, attr, v, size)
}

// diagnosisTable fills in the error log and core dumps.
func (d *Driver) diagnosisTable(t *driver.Table) {
	t.LogsRegisterCallback = d.logsRegisterCallback
	t.LogsUnregisterCallback = d.logsUnregisterCallback
	t.LogsCurrent = d.logsCurrent
	t.LogsDumpToFile = d.logsDumpToFile
	t.LogsDumpToMemory = d.logsDumpToMemory
	t.CoredumpGetAttribute = d.coredumpGetAttribute
	t.CoredumpSetAttribute = d.coredumpSetAttribute
	t.CoredumpGetAttributeGlobal = d.coredumpGetAttributeGlobal
	t.CoredumpSetAttributeGlobal = d.coredumpSetAttributeGlobal
}
