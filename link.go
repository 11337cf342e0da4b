package cuda

import (
	"io/fs"
	"runtime"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/image"
)

// Linker links several pieces of device code into one image: PTX, cubins, fat binaries, objects and archives with
// relocatable device code.
type Linker struct {
	owned
	c      *Context
	handle cu.CUlinkState
	jit    *cu.JITOptions
}

// NewLinker starts a link for the device of the context.
func (c *Context) NewLinker(options ...JITOption) (*Linker, error) {
	const op = "cuLinkCreate"
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	if err := checkOptions(op, "", options); err != nil {
		return nil, err
	}
	j := newJIT(options)
	h, err := c.api.LinkCreate(j.IDs(), j.Values())
	if err != nil {
		defer j.Close()
		return nil, errorWithLog(c.fail(op, "", err), logOf(j))
	}
	l := &Linker{c: c, handle: h, jit: j}
	l.born(&c.owned, "linker", 0, c.giveBack("cuLinkDestroy", "", func(api cu.API) error {
		defer j.Close()
		return api.LinkDestroy(h)
	}))
	watch(l, &l.owned)
	return l, nil
}

// Add adds a piece. Its kind is recognised by its contents. The name is for messages.
func (l *Linker) Add(name string, data []byte, options ...JITOption) error {
	const op = "cuLinkAddData"
	if l.isClosed() {
		return closedError(op, "linker")
	}
	if err := checkOptions(op, name, options); err != nil {
		return err
	}
	kind, ok := inputKind(data)
	if !ok {
		return invalid(op, name, "the data is neither PTX nor cubin, fat binary, object or archive")
	}
	if kind == cu.CU_JIT_INPUT_PTX && data[len(data)-1] != 0 {
		data = append(append([]byte(nil), data...), 0) // the driver wants PTX with its NUL
	}
	var ids []cu.CUjit_option
	var values []uintptr
	for _, o := range options {
		ids, values = append(ids, o.id), append(values, uintptr(o.value))
	}
	err := l.c.api.LinkAddData(l.handle, kind, data, name, ids, values)
	runtime.KeepAlive(l.jit)
	return errorWithLog(l.c.fail(op, name, err), logOf(l.jit))
}

// AddFS adds a file, for example of an embed.FS.
func (l *Linker) AddFS(fsys fs.FS, name string, options ...JITOption) error {
	data, err := readImage("cuLinkAddData", fsys, name)
	if err != nil {
		return err
	}
	return l.Add(name, data, options...)
}

func inputKind(data []byte) (cu.CUjitInputType, bool) {
	switch image.Detect(data) {
	case image.PTX:
		return cu.CU_JIT_INPUT_PTX, true
	case image.Cubin:
		return cu.CU_JIT_INPUT_CUBIN, true
	case image.Fatbin:
		return cu.CU_JIT_INPUT_FATBINARY, true
	case image.HostObject:
		return cu.CU_JIT_INPUT_OBJECT, true
	case image.Archive:
		return cu.CU_JIT_INPUT_LIBRARY, true
	}
	return 0, false
}

// Complete links the pieces and returns the image, for [Context.Load] or a file.
func (l *Linker) Complete() ([]byte, error) {
	const op = "cuLinkComplete"
	if l.isClosed() {
		return nil, closedError(op, "linker")
	}
	data, err := l.c.api.LinkComplete(l.handle)
	runtime.KeepAlive(l.jit)
	return data, errorWithLog(l.c.fail(op, "", err), logOf(l.jit))
}

// Log returns the messages of compiler and linker so far.
func (l *Linker) Log() string { return logOf(l.jit) }

// Close ends the link. The image of [Linker.Complete] is a copy and stays valid.
func (l *Linker) Close() error { return l.end() }
