package cc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// kernelHead finds the kernels of a PTX text.
var kernelHead = regexp.MustCompile(`(?m)^\s*(?:\.visible |\.weak )?\.entry\s+([A-Za-z_$%][\w$]*)`)

// Kernels are the names of the kernels in a PTX text, in its order.
func Kernels(ptx []byte) []string {
	var names []string
	for _, m := range kernelHead.FindAllSubmatch(ptx, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// maxWritten is the power of two of the longest name: substitutions let a short symbol stand for a very long one.
const maxWritten = 12

// Written is a kernel's name as the program has it, without parameters: ns::scale<float> for _ZN2ns5scaleIfEEvPT_.
func Written(symbol string) string {
	return strings.TrimSuffix(demangle.Filter(symbol, demangle.NoParams, demangle.NoEnclosingParams,
		demangle.MaxLength(maxWritten)), " ")
}

// AmbiguousError says that a name stands for several kernels.
type AmbiguousError struct {
	Name    string
	Kernels []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s is one of %s", e.Name, strings.Join(e.Kernels, ", "))
}

// FindKernel gives the symbol of the kernel that a person names: by its symbol, as the program writes it, or by the
// last part of that without template arguments. A name that fits nothing is returned as it is. Errors are an
// *AmbiguousError.
func FindKernel(ptx []byte, name string) (string, error) {
	var fits, part []string
	for _, k := range Kernels(bytes.TrimRight(ptx, "\x00")) {
		w := Written(k)
		short, _, _ := strings.Cut(w, "<")
		short = short[strings.LastIndexByte(short, ':')+1:]
		switch name {
		case k:
			return k, nil
		case w:
			fits = append(fits, k)
		case short:
			part = append(part, k)
		}
	}
	if len(fits) == 0 {
		fits = part
	}
	switch len(fits) {
	case 0:
		return name, nil
	case 1:
		return fits[0], nil
	}
	return "", &AmbiguousError{name, fits}
}
