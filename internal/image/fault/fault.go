// Package fault holds the errors of every image parser: what is wrong, where, and which answer the
// CUDA driver gives to that class of damage.
//
// The classes are those an NVIDIA driver (580, CUDA 13.0) was seen to tell apart when it was handed
// damaged images. The package has the driver's result codes as numbers of its own, so that the parsers
// stay free of the driver table.
package fault

import (
	"fmt"
	"maps"
	"slices"
)

// Class is a kind of damage or mismatch. It is an error itself, so that errors.Is(err, fault.Format)
// asks for the class of any parser's error.
type Class uint8

// The classes. Result and Log hold what the driver answers to each.
const (
	// Format: the bytes are no image that can be loaded: unknown magic, a container version other
	// than 1, text that does not start with .version, a host object, an ELF header cut off.
	Format Class = iota + 1
	// Malformed: the format is recognised, but its structure contradicts itself or leaves the data.
	Malformed
	// Arch: the image chosen for the device is no 64-bit CUDA ELF at all.
	Arch
	// Corrupt: a compressed payload does not decompress to what its header says.
	Corrupt
	// Obfuscated: the payload is stored transformed and cannot be read without a key.
	Obfuscated
	// Target: a whole image for another processor than the device.
	Target
	// NoBinary: a container in which nothing runs on the device.
	NoBinary
	// JITDisabled: only PTX fits and compiling PTX was switched off (CUDA_DISABLE_PTX_JIT).
	JITDisabled
	// Source: the container's entry header promised another processor than the ELF inside names.
	Source
	// Unsupported: a known format or feature that this package does not take apart.
	Unsupported
	// TooLarge: a declared size is beyond a documented limit of this package.
	TooLarge
)

// Result is a result code of the driver, by its number in cuda.h.
type Result uint32

// The results with which a driver answers images.
const (
	InvalidValue        Result = 1
	InvalidImage        Result = 200
	NoBinaryForGPU      Result = 209
	InvalidPTX          Result = 218
	CompilerNotFound    Result = 221
	UnsupportedVersion  Result = 222
	CompilationDisabled Result = 223
	InvalidSource       Result = 300
	InvalidHandle       Result = 400
	NotSupported        Result = 801
	Unknown             Result = 999
)

var resultNames = map[Result]string{
	InvalidValue:        "CUDA_ERROR_INVALID_VALUE",
	InvalidImage:        "CUDA_ERROR_INVALID_IMAGE",
	NoBinaryForGPU:      "CUDA_ERROR_NO_BINARY_FOR_GPU",
	InvalidPTX:          "CUDA_ERROR_INVALID_PTX",
	CompilerNotFound:    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
	UnsupportedVersion:  "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	CompilationDisabled: "CUDA_ERROR_JIT_COMPILATION_DISABLED",
	InvalidSource:       "CUDA_ERROR_INVALID_SOURCE",
	InvalidHandle:       "CUDA_ERROR_INVALID_HANDLE",
	NotSupported:        "CUDA_ERROR_NOT_SUPPORTED",
	Unknown:             "CUDA_ERROR_UNKNOWN",
}

// Results are the results that have names here.
func Results() []Result { return slices.Sorted(maps.Keys(resultNames)) }

// String is the C name.
func (r Result) String() string {
	if s, ok := resultNames[r]; ok {
		return s
	}
	return fmt.Sprintf("Result(%d)", uint32(r))
}

// row is what is known of a class.
type row struct {
	text   string
	result Result
	log    string
}

var classTable = [...]row{
	Format: {"not a recognised image", InvalidImage,
		"error   : Binary format for key='0', ident='' is not recognized"},
	Malformed:   {"malformed image", InvalidImage, ""},
	Arch:        {"not a 64-bit CUDA ELF", Unknown, "fatal   : Unknown arch name ''"},
	Corrupt:     {"corrupt compressed payload", Unknown, "error   : Uncompress failed"},
	Obfuscated:  {"obfuscated payload", InvalidPTX, ""},
	Target:      {"image for another processor", NoBinaryForGPU, ""},
	NoBinary:    {"no image for this device", NoBinaryForGPU, ""},
	JITDisabled: {"PTX compilation is disabled", CompilationDisabled, ""},
	Source:      {"entry header and image disagree", InvalidSource, ""},
	Unsupported: {"unsupported image feature", NotSupported, ""},
	TooLarge:    {"image beyond the size limit", InvalidImage, ""},
}

// Error says what the class means.
func (c Class) Error() string { return c.row().text }

// Result is the CUresult with which cuModuleLoadData of driver 580 answers an image of
// this class. It was recorded for Format, Malformed, Arch, Corrupt, Target and NoBinary; Obfuscated
// and Source are third-party measurements; the rest is this project's choice.
func (c Class) Result() Result { return c.row().result }

// Log is the line the driver writes to the JIT error log for this class; empty for most.
func (c Class) Log() string { return c.row().log }

func (c Class) row() row {
	if int(c) < len(classTable) && c != 0 {
		return classTable[c]
	}
	return row{"unknown fault class", Unknown, ""}
}

// Error is a parser's complaint about one place in an image.
type Error struct {
	Class  Class
	Part   string // the format or structure that was being read: "fatbin entry", "ELF section"
	Offset uint64 // bytes from the start of the data the parser was given
	Detail string // what was found and what was expected
	Cause  error  // the decompressor's or memory's own error, or nil
	// Here says that a GPU could go on and only this project's device cannot: its user has to be told what is missing.
	Here bool
}

// New makes an *Error with a formatted detail.
func New(c Class, part string, offset uint64, format string, args ...any) *Error {
	return &Error{Class: c, Part: part, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}

// Only is New of an error for which Here holds.
func Only(c Class, part string, offset uint64, format string, args ...any) *Error {
	e := New(c, part, offset, format, args...)
	e.Here = true
	return e
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s at %#x: %s", e.Part, e.Offset, e.Detail)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives the class and the cause, so that errors.Is finds both.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Class}
	}
	return []error{e.Class, e.Cause}
}
