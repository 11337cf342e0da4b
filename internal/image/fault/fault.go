// Package fault holds the errors of every image parser: what is wrong, where, and which answer the
// CUDA driver gives to that class of damage.
//
// The classes are those an NVIDIA driver (580, CUDA 13.0) was seen to tell apart when it was handed
// damaged images. The package names the driver's result codes as text only, so that the parsers
// stay free of the driver table.
package fault

import "fmt"

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

var classTable = [...]struct{ text, result, log string }{
	Format:      {"not a recognised image", "CUDA_ERROR_INVALID_IMAGE", "error   : Binary format for key='0', ident='' is not recognized"},
	Malformed:   {"malformed image", "CUDA_ERROR_INVALID_IMAGE", ""},
	Arch:        {"not a 64-bit CUDA ELF", "CUDA_ERROR_UNKNOWN", "fatal   : Unknown arch name ''"},
	Corrupt:     {"corrupt compressed payload", "CUDA_ERROR_UNKNOWN", "error   : Uncompress failed"},
	Obfuscated:  {"obfuscated payload", "CUDA_ERROR_INVALID_PTX", ""},
	Target:      {"image for another processor", "CUDA_ERROR_NO_BINARY_FOR_GPU", ""},
	NoBinary:    {"no image for this device", "CUDA_ERROR_NO_BINARY_FOR_GPU", ""},
	JITDisabled: {"PTX compilation is disabled", "CUDA_ERROR_JIT_COMPILATION_DISABLED", ""},
	Source:      {"entry header and image disagree", "CUDA_ERROR_INVALID_SOURCE", ""},
	Unsupported: {"unsupported image feature", "CUDA_ERROR_NOT_SUPPORTED", ""},
	TooLarge:    {"image beyond the size limit", "CUDA_ERROR_INVALID_IMAGE", ""},
}

// Error says what the class means.
func (c Class) Error() string { return c.row().text }

// Result is the C name of the CUresult with which cuModuleLoadData of driver 580 answers an image of
// this class. It was recorded for Format, Malformed, Arch, Corrupt, Target and NoBinary; Obfuscated
// and Source are third-party measurements; the rest is this project's choice.
func (c Class) Result() string { return c.row().result }

// Log is the line the driver writes to the JIT error log for this class; empty for most.
func (c Class) Log() string { return c.row().log }

func (c Class) row() struct{ text, result, log string } {
	if int(c) < len(classTable) && c != 0 {
		return classTable[c]
	}
	return struct{ text, result, log string }{"unknown fault class", "CUDA_ERROR_UNKNOWN", ""}
}

// Error is a parser's complaint about one place in an image.
type Error struct {
	Class  Class
	Part   string // the format or structure that was being read: "fatbin entry", "ELF section"
	Offset uint64 // bytes from the start of the data the parser was given
	Detail string // what was found and what was expected
	Cause  error  // the decompressor's or memory's own error, or nil
}

// New makes an *Error with a formatted detail.
func New(c Class, part string, offset uint64, format string, args ...any) *Error {
	return &Error{Class: c, Part: part, Offset: offset, Detail: fmt.Sprintf(format, args...)}
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
