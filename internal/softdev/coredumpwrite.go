package softdev

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// core is what a core dump has (docs/coredumps.md). NVIDIA's format is an ELF file for cuda-gdb whose sections are not
// published; this one is the software device's own.
type core struct {
	Format  string `json:"format"`
	Time    string `json:"time"`
	Process int    `json:"process"`
	Device  struct {
		Ordinal int32  `json:"ordinal"`
		Name    string `json:"name"`
	} `json:"device"`
	Result   string     `json:"result"`
	Fault    string     `json:"fault"`
	Kernel   string     `json:"kernel"`
	Function string     `json:"function,omitempty"`
	Line     int32      `json:"ptxLine,omitempty"`
	Source   string     `json:"source,omitempty"`
	Block    *[3]uint32 `json:"block,omitempty"`
	Thread   *[3]uint32 `json:"thread,omitempty"`
	Address  string     `json:"address,omitempty"`
	Size     uint32     `json:"size,omitempty"`
	Write    bool       `json:"write,omitempty"`
	Space    string     `json:"space,omitempty"`
	Grid     *coreGrid  `json:"launch,omitempty"`
	Warp     *coreWarp  `json:"warp,omitempty"`
	Shared   string     `json:"sharedMemory,omitempty"`
}

type coreGrid struct {
	Grid          [3]uint32   `json:"grid"`
	Block         [3]uint32   `json:"block"`
	DynamicShared uint32      `json:"dynamicShared"`
	Parameters    []coreParam `json:"parameters"`
}

type coreParam struct {
	Name   string `json:"name"`
	Offset uint64 `json:"offset"`
	Bytes  string `json:"bytes"`
}

type coreWarp struct {
	Index     int            `json:"index"`
	Live      string         `json:"live"`   // lanes that have not exited
	Active    string         `json:"active"` // lanes that execute the operation
	Registers []coreRegister `json:"registers,omitempty"`
	Local     []string       `json:"localMemory,omitempty"` // by lanes
}

type coreRegister struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // by lanes
}

const coreFormat = "gocuda core dump 1"

// dumping has a launch write a core dump when it faults, if that was asked for.
func (c *context) dumping(l *exec.Launch) {
	if !c.coredump.wanted() {
		return
	}
	l.Dump = func(f *exec.Fault, w *exec.Warp) {
		if !dumped(f) || c.coredump.written.Swap(true) {
			return
		}
		c.d.tellDump(c.dev, false)
		defer c.d.tellDump(c.dev, true)
		x := c.newCore(f)
		// What the warp has may be of no use where the defect is in the device itself.
		attempt(func() { x.take(l, w, c.coredump.skipped()) })
		c.writeCore(x)
	}
}

// dumped says whether a fault is an exception of the kernel.
func dumped(f *exec.Fault) bool { return f.Kind != exec.FaultStopped && f.Kind != exec.FaultInternal }

// dumpFault writes a core dump of a fault alone, where its launch has written none.
func (c *context) dumpFault(f *exec.Fault) {
	if c.coredump.wanted() && dumped(f) && !c.coredump.written.Swap(true) {
		c.d.tellDump(c.dev, false)
		defer c.d.tellDump(c.dev, true)
		c.writeCore(c.newCore(f))
	}
}

func (c *context) newCore(f *exec.Fault) *core {
	x := &core{Format: coreFormat, Time: time.Now().UTC().Format(time.RFC3339), Process: os.Getpid(),
		Result: faultResults[f.Kind].String(), Fault: f.Error(), Kernel: f.Kernel, Function: f.Func, Line: f.Line,
		Block: &f.Block}
	x.Device.Ordinal, x.Device.Name = c.dev.ordinal, c.dev.profile.Name
	if f.Loc.Line > 0 {
		x.Source = f.File + ":" + strconv.Itoa(int(f.Loc.Line))
	}
	if f.HasThread {
		x.Thread = &f.Thread
	}
	if f.HasAddr {
		x.Address, x.Size, x.Write, x.Space = fmt.Sprintf("%#x", f.Addr), f.Size, f.Write, f.Space
	}
	return x
}

// take copies what the warp and its block have.
func (x *core) take(l *exec.Launch, w *exec.Warp, skip uint32) {
	k := l.Code.Kernel()
	x.Grid = &coreGrid{Grid: l.Grid, Block: l.Block, DynamicShared: l.Shared, Parameters: []coreParam{}}
	for _, p := range k.Params {
		if p.Offset+p.Size <= uint64(len(l.Params)) {
			x.Grid.Parameters = append(x.Grid.Parameters, coreParam{p.Name, p.Offset,
				hex.EncodeToString(l.Params[p.Offset : p.Offset+p.Size])})
		}
	}
	x.Warp = &coreWarp{Index: w.Index, Live: fmt.Sprintf("%08x", w.Live)}
	if w.Cur != nil {
		x.Warp.Active = fmt.Sprintf("%08x", w.Cur.Mask)
	}
	if skip&uint32(driver.CU_COREDUMP_SKIP_SHARED_MEMORY) == 0 && w.CTA.Shared != nil &&
		w.CTA.SharedSize > ir.ReservedShared {
		x.Shared = hex.EncodeToString(unsafe.Slice((*byte)(unsafe.Add(w.CTA.Shared, ir.ReservedShared)),
			w.CTA.SharedSize-ir.ReservedShared))
	}
	if w.LocalBase != nil && w.LocalSize > 0 && skip&uint32(driver.CU_COREDUMP_SKIP_LOCAL_MEMORY) == 0 {
		for lane := range 32 {
			at := unsafe.Add(w.LocalBase, uint64(lane)*uint64(w.LocalSize))
			x.Warp.Local = append(x.Warp.Local, hex.EncodeToString(unsafe.Slice((*byte)(at), w.LocalSize)))
		}
	}
	if w.Act != nil {
		for _, r := range w.Act.Func.Registers {
			x.Warp.Registers = append(x.Warp.Registers, coreRegister{r.Name, registerValues(w, r)})
		}
	}
}

// registerValues are the values of a register in the lanes of a warp, as they stand in its frame.
func registerValues(w *exec.Warp, r ir.Register) (list []string) {
	at := unsafe.Add(w.Base[0], r.Ref.Off)
	for lane := range 32 {
		var v string
		switch r.Class {
		case ir.W32:
			v = fmt.Sprintf("%08x", unsafe.Slice((*uint32)(at), 32)[lane])
		case ir.W64:
			v = fmt.Sprintf("%016x", unsafe.Slice((*uint64)(at), 32)[lane])
		case ir.W128:
			p := unsafe.Slice((*[2]uint64)(at), 32)[lane]
			v = fmt.Sprintf("%016x%016x", p[1], p[0])
		default: // a predicate: a bit for each lane
			v = strconv.Itoa(int(*(*uint32)(at) >> lane & 1))
		}
		list = append(list, v)
	}
	return list
}

// writeCore writes a dump in its two forms. Where that fails, the error log says so.
func (c *context) writeCore(x *core) {
	name := c.coredump.name(time.Now())
	data, err := json.MarshalIndent(x, "", " ")
	if err == nil {
		err = errors.Join(writeNew(name+".json", append(data, '\n')), writeNew(name+".txt", []byte(x.String())))
	}
	if err != nil {
		c.d.explain(c, "the core dump was not written: %v", err)
	}
}

// writeNew writes a file. What is there and is no file, such as a pipe, could hold up the process.
func writeNew(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "write", Path: name, Err: errors.New("not a regular file")}
	}
	return os.WriteFile(name, data, 0o600)
}

// String is the dump as text.
func (x *core) String() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("%s, %s, process %d", x.Format, x.Time, x.Process)
	line("device %d: %s", x.Device.Ordinal, x.Device.Name)
	line("%s: %s", x.Result, x.Fault)
	if g := x.Grid; g != nil {
		line("grid %d x %d x %d, block %d x %d x %d, dynamic shared memory %d bytes", g.Grid[0], g.Grid[1], g.Grid[2],
			g.Block[0], g.Block[1], g.Block[2], g.DynamicShared)
		for _, p := range g.Parameters {
			line("parameter %s at %d: %s", p.Name, p.Offset, p.Bytes)
		}
	}
	if w := x.Warp; w != nil {
		line("warp %d: live lanes %s, active %s", w.Index, w.Live, w.Active)
		for _, r := range w.Registers {
			line("%s: %s", r.Name, strings.Join(r.Values, " "))
		}
		for lane, m := range w.Local {
			line("local memory of lane %d: %s", lane, m)
		}
	}
	if x.Shared != "" {
		line("shared memory: %s", x.Shared)
	}
	return b.String()
}

// wanted says whether faults of the context are to be written.
func (x *coredumps) wanted() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.enabled
}

// skipped are the kinds of memory that are left out (CUCoredumpGenerationFlags).
func (x *coredumps) skipped() uint32 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.light {
		return x.flags | uint32(driver.CU_COREDUMP_LIGHTWEIGHT_FLAGS)
	}
	return x.flags
}

// name is the name of the files without their ends: %h is the host, %p the process and %t the time in seconds
// (CUDA-GDB, "GPU Core Dump Support").
func (x *coredumps) name(now time.Time) string {
	x.mu.Lock()
	pattern := x.file
	x.mu.Unlock()
	if pattern == "" {
		pattern = "core_%t_%h_%p"
	}
	host, _ := os.Hostname()
	return strings.NewReplacer("%h", host, "%p", strconv.Itoa(os.Getpid()), "%t",
		strconv.FormatInt(now.Unix(), 10), "%%", "%").Replace(pattern)
}

// fromEnvironment takes the settings of the environment (docs/environment.md).
func (x *coredumps) fromEnvironment(enabled, light bool, file, flags string) {
	x.enabled, x.light, x.file = enabled, light, file
	if len(x.file) >= coredumpNameSize {
		x.file = x.file[:coredumpNameSize-1]
	}
	names := []string{"skip_nonrelocated_elf_images", "skip_global_memory", "skip_shared_memory", "skip_local_memory",
		"skip_abort", "skip_constbank_memory"}
	for _, word := range strings.Split(flags, ",") {
		for i, name := range names {
			if strings.TrimSpace(word) == name {
				x.flags |= 1 << i
			}
		}
	}
}
