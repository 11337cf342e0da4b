package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// array is what a .npy file or an array argument holds: little-endian elements in row order.
type array struct {
	dtype string // f32, i64, ...
	shape []int
	data  []byte
}

// dtypes are the element types of arguments: NumPy's names and sizes.
var dtypes = map[string]struct {
	npy  string
	size int
}{
	"i8": {"i1", 1}, "u8": {"u1", 1}, "i16": {"i2", 2}, "u16": {"u2", 2}, "i32": {"i4", 4}, "u32": {"u4", 4},
	"i64": {"i8", 8}, "u64": {"u8", 8}, "f16": {"f2", 2}, "f32": {"f4", 4}, "f64": {"f8", 8},
}

func dtypeNames() string { return "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64" }

// maxArray bounds an array in bytes: a slip of the finger must not take all memory.
const maxArray = 8 << 30

// readNpy reads a file. Errors name it and say what is wrong.
func readNpy(path string) (*array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, hint(err, "a .npy file that exists")
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	a, err := parseNpy(f, st.Size())
	if err != nil {
		return nil, prefixed(path, err)
	}
	return a, nil
}

// prefixed puts a file's name before an error and keeps its hint.
func prefixed(path string, err error) error {
	var f *failure
	if errors.As(err, &f) {
		return &failure{fmt.Errorf("%s: %w", path, f.err), f.hint}
	}
	return fmt.Errorf("%s: %w", path, err)
}

// parseNpy reads an array from a file of size bytes, and no more memory than that for the data.
func parseNpy(f io.ReadSeeker, size int64) (*array, error) {
	again := "write it again with numpy.save"
	h, err := readNpyHeader(f, size)
	if err != nil {
		return nil, hint(fmt.Errorf("not a .npy file: %w", err), "%s", again)
	}
	a := &array{shape: h.shape}
	code := strings.TrimLeft(h.descr, "<|=")
	for name, d := range dtypes {
		if d.npy == code {
			a.dtype = name
		}
	}
	if a.dtype == "" || strings.HasPrefix(h.descr, ">") {
		return nil, hint(fmt.Errorf("element type %q, which no kernel argument has", h.descr),
			"numpy.save(file, a.astype('<f4')), or another of %s", dtypeNames())
	}
	if h.fortran && len(a.shape) > 1 {
		return nil, hint(errors.New("the array is in Fortran order"), "numpy.save(file, numpy.ascontiguousarray(a))")
	}
	n := uint64(dtypes[a.dtype].size)
	for _, d := range a.shape {
		if d < 0 || d > 0 && n > maxArray/uint64(d) {
			return nil, hint(fmt.Errorf("the header's shape %v is not possible here", a.shape),
				"arrays of at most %d bytes", uint64(maxArray))
		}
		n *= uint64(d)
	}
	at, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, err
	}
	if n > uint64(max(size-at, 0)) {
		return nil, hint(fmt.Errorf("cut short: the header promises %d bytes of data, %d follow", n, max(size-at, 0)),
			"%s", again)
	}
	a.data = make([]byte, n)
	if _, err := io.ReadFull(f, a.data); err != nil {
		return nil, hint(fmt.Errorf("cut short: %w", err), "%s", again)
	}
	return a, nil
}

// npyHead is the longest fixed part of a file: magic, version, length of the header.
const npyHead = 12

// npyHeader is what the header of a file says (numpy.lib.format, "Format Version 1.0" to 3.0).
type npyHeader struct {
	descr   string
	fortran bool
	shape   []int
}

// The entries of the header, a Python dictionary of constants. Other programs than NumPy write other spaces and quotes.
var (
	npyDescr   = regexp.MustCompile(`['"]descr['"]\s*:\s*['"]([^'"]*)['"]`)
	npyFortran = regexp.MustCompile(`['"]fortran_order['"]\s*:\s*(True|False)\b`)
	npyShape   = regexp.MustCompile(`['"]shape['"]\s*:\s*\(([\dL\s,]*)\)`)
)

// readNpyHeader reads the header; the data of the array follow.
func readNpyHeader(f io.Reader, size int64) (*npyHeader, error) {
	var head [npyHead]byte
	_, err := io.ReadFull(f, head[:npyHead-2])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil || string(head[:6]) != "\x93NUMPY" {
		return nil, errors.New("it does not start as one")
	}
	length := int64(binary.LittleEndian.Uint16(head[8:]))
	switch head[6] {
	case 1:
	case 2, 3:
		if _, err := io.ReadFull(f, head[npyHead-2:]); err != nil {
			return nil, fmt.Errorf("damaged header: %w", err)
		}
		length = int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return nil, fmt.Errorf("version %d.%d of the format", head[6], head[7])
	}
	if length > size {
		return nil, fmt.Errorf("damaged header: %d bytes in a file of %d", length, size)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(f, text); err != nil {
		return nil, fmt.Errorf("damaged header: %w", err)
	}
	descr, fortran, shape := npyDescr.FindSubmatch(text), npyFortran.FindSubmatch(text), npyShape.FindSubmatch(text)
	if descr == nil || fortran == nil || shape == nil {
		return nil, fmt.Errorf("damaged header: no description of an array in %q", text)
	}
	h := &npyHeader{descr: string(descr[1]), fortran: string(fortran[1]) == "True", shape: []int{}}
	for _, d := range strings.Split(strings.TrimSuffix(strings.TrimSpace(string(shape[1])), ","), ",") {
		if d = strings.TrimSuffix(strings.TrimSpace(d), "L"); d == "" && len(h.shape) == 0 {
			continue // a scalar
		}
		n, err := strconv.Atoi(d)
		if err != nil {
			return nil, fmt.Errorf("damaged header: shape (%s)", shape[1])
		}
		h.shape = append(h.shape, n)
	}
	return h, nil
}

// formatNpy is the file with an array: version 1.0, the header padded so that the data start at a multiple of 64.
func formatNpy(a *array) []byte {
	shape := "("
	for _, d := range a.shape {
		shape += strconv.Itoa(d) + ", "
	}
	if len(a.shape) != 1 {
		shape = strings.TrimSuffix(shape, ", ")
	} else {
		shape = strings.TrimSuffix(shape, " ")
	}
	order := "<"
	if dtypes[a.dtype].size == 1 {
		order = "|"
	}
	h := fmt.Sprintf("{'descr': '%s%s', 'fortran_order': False, 'shape': %s), }", order, dtypes[a.dtype].npy, shape)
	h += strings.Repeat(" ", (64-(npyHead-2+len(h)+1)%64)%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(h)), byte(len(h)>>8))
	return append(append(b, h...), a.data...)
}

// writeNpy writes an array with its shape.
func writeNpy(path string, a *array) error {
	return hint(os.WriteFile(path, formatNpy(a), 0o666), "a file in a folder that exists and can be written")
}
