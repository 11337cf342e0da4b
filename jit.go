package cuda

import (
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/image"
)

// JITOption is an option of the driver's compiler and linker, for [Context.Load], [System.LoadLibrary] and
// [Context.NewLinker].
type JITOption struct {
	id    cu.CUjit_option
	value uint32
	wrong string // the option as it was asked for, if its number does not fit
}

// numberOption is an option whose value is a C unsigned int.
func numberOption(id cu.CUjit_option, name string, n int) JITOption {
	if n < 0 || n > math.MaxUint32 {
		return JITOption{id: id, wrong: fmt.Sprintf("%s(%d)", name, n)}
	}
	return JITOption{id: id, value: uint32(n)}
}

// checkOptions refuses options whose values do not fit.
func checkOptions(op, name string, options []JITOption) error {
	for i := range options {
		if o := &options[i]; o.wrong != "" {
			return invalid(op, name, "the option %s: the number is negative or above 32 bits", o.wrong)
		}
	}
	return nil
}

// MaxRegisters limits the registers of a thread.
func MaxRegisters(n int) JITOption { return numberOption(cu.CU_JIT_MAX_REGISTERS, "MaxRegisters", n) }

// ThreadsPerBlock is the smallest block size that the compiled kernels must support. It cannot be combined with
// [MaxRegisters].
func ThreadsPerBlock(n int) JITOption {
	return numberOption(cu.CU_JIT_THREADS_PER_BLOCK, "ThreadsPerBlock", n)
}

// OptLevel sets the optimisation level, 0 to 4; the driver's default is 4.
func OptLevel(n int) JITOption { return numberOption(cu.CU_JIT_OPTIMIZATION_LEVEL, "OptLevel", n) }

// DebugInfo makes the compiler generate debug information.
func DebugInfo() JITOption { return JITOption{id: cu.CU_JIT_GENERATE_DEBUG_INFO, value: 1} }

// LineInfo makes the compiler generate line numbers.
func LineInfo() JITOption { return JITOption{id: cu.CU_JIT_GENERATE_LINE_INFO, value: 1} }

// VerboseLog adds the registers and memory of each kernel to the log.
func VerboseLog() JITOption { return JITOption{id: cu.CU_JIT_LOG_VERBOSE, value: 1} }

// Target compiles for another architecture than that of the context.
func Target(t cu.CUjit_target) JITOption { return JITOption{id: cu.CU_JIT_TARGET, value: uint32(t)} }

// CacheMode sets whether global loads are cached in L1.
func CacheMode(m cu.CUjit_cacheMode) JITOption {
	return JITOption{id: cu.CU_JIT_CACHE_MODE, value: uint32(m)}
}

// JIT is any option of the driver API whose value is a number. This package sets the options for logs itself.
func JIT(id cu.CUjit_option, value uint32) JITOption { return JITOption{id: id, value: value} }

// newJIT is the C form of options, with logs. The driver may write to it until what was loaded is gone (a library
// compiles when it is first used), so it is closed then.
func newJIT(options []JITOption) *cu.JITOptions {
	j := cu.NewJITOptions(0)
	for _, o := range options {
		j.Set(o.id, o.value)
	}
	return j
}

// logOf is the info log, then the error log.
func logOf(j *cu.JITOptions) string {
	info, fail := j.InfoLog(), j.ErrorLog()
	if info != "" && fail != "" {
		return info + "\n" + fail
	}
	return info + fail
}

// errorWithLog adds the log of a failed compilation to the error.
func errorWithLog(err error, log string) error {
	var e *Error
	if err != nil && errors.As(err, &e) {
		e.Log = log
	}
	return err
}

// readImage reads an image out of a file system, for example an embed.FS.
func readImage(op string, fsys fs.FS, name string) ([]byte, error) {
	data, err := image.ReadFS(fsys, name)
	if err != nil {
		code := ErrOperatingSystem
		var f *image.FileError
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
			code = ErrFileNotFound
		case errors.As(err, &f):
			code = ErrInvalidImage
		}
		return nil, &Error{Op: op, Code: code, Symbol: name, Detail: err.Error(), cause: err}
	}
	return data, nil
}
