// Package tensormap is the software device's encoding of CUtensorMap: the opaque 128 bytes that cuTensorMapEncodeTiled,
// cuTensorMapEncodeIm2col and cuTensorMapEncodeIm2colWide make and that bulk tensor copies read (CUDA Driver API,
// "Tensor Map Object Management"; PTX ISA 5.5, "Tensors").
//
// The layout is this package's own, not the hardware's: a map is only good for the device that made it, as the API
// says. Fields that tensormap.replace changes are independent of each other, so a map can be changed piece by piece.
package tensormap

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Size is the size of a tensor map in bytes, and Align what its address must be a multiple of.
const (
	Size  = 128
	Align = 64
)

// MaxRank is the largest number of dimensions.
const MaxRank = 5

// DataType is CUtensorMapDataType.
type DataType uint8

// The data types, with the values of CUtensorMapDataType.
const (
	Uint8 DataType = iota
	Uint16
	Uint32
	Int32
	Uint64
	Int64
	Float16
	Float32
	Float64
	BFloat16
	Float32FTZ
	TFloat32
	TFloat32FTZ
	U4x16Align8  // CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B
	U4x16Align16 // CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B
	U6x16Align16 // CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
	dataTypes
)

var sizes = [dataTypes]uint8{1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4, 0, 0, 0}

// Bytes is the size of an element in global and shared memory, 0 for the packed types of 4 and 6 bits.
func (t DataType) Bytes() uint32 {
	if t >= dataTypes {
		return 0
	}
	return uint32(sizes[t])
}

// Packed says whether elements are 4 or 6 bits.
func (t DataType) Packed() bool { return t >= U4x16Align8 && t < dataTypes }

// Float says whether out-of-bound elements may be filled with NaN.
func (t DataType) Float() bool { return t >= Float16 && t <= TFloat32FTZ }

// Interleave is CUtensorMapInterleave.
type Interleave uint8

// The interleaved layouts.
const (
	InterleaveNone Interleave = iota
	Interleave16B
	Interleave32B
)

// Swizzle is CUtensorMapSwizzle.
type Swizzle uint8

// The swizzling patterns of shared memory.
const (
	SwizzleNone Swizzle = iota
	Swizzle32B
	Swizzle64B
	Swizzle128B
	Swizzle128BAtom32B
	Swizzle128BAtom32BFlip8B
	Swizzle128BAtom64B
)

// Span is the number of bytes within which a pattern moves chunks, 0 for none.
func (s Swizzle) Span() uint32 {
	switch s {
	case SwizzleNone:
		return 0
	case Swizzle32B:
		return 32
	case Swizzle64B:
		return 64
	}
	return 128
}

// Mode says which of the encoding functions made a map.
type Mode uint8

// The modes of access.
const (
	Tiled Mode = iota
	Im2col
	Im2colWide
)

// Map is a tensor map in the clear. Dimension 0 is the innermost.
type Map struct {
	Mode          Mode
	Type          DataType
	Rank          int                // dimensions
	Address       uint64             // of element 0, a device address
	Dim           [MaxRank]uint64    // elements
	Stride        [MaxRank]uint64    // bytes between elements of dimensions 1 and up; Stride[0] is not used
	Box           [MaxRank]uint32    // Tiled: elements traversed
	ElementStride [MaxRank]uint32    // traversal strides
	Lower, Upper  [MaxRank - 2]int32 // Im2col: corners of the pixel box in dimensions 1 and up (W first)
	Channels      uint32             // Im2col: elements of dimension 0 for each pixel
	Pixels        uint32             // Im2col: pixels of a column
	Wide128       bool               // Im2colWide: CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128
	Interleave    Interleave
	Swizzle       Swizzle
	L2Promotion   uint8 // CUtensorMapL2promotion, 0 to 3; has no effect
	NaN           bool  // fill elements out of bounds with NaN instead of zero
}

// Error is an argument that the driver refuses with CUDA_ERROR_INVALID_VALUE.
type Error struct {
	Param string // the parameter of the encoding function, by its C name
	Text  string
}

func (e *Error) Error() string { return "tensor map: " + e.Param + " " + e.Text }

func bad(param, format string, args ...any) error { return &Error{param, fmt.Sprintf(format, args...)} }

// Encode checks a map as the encoding function of its mode does and packs it. A value that the driver refuses gives an
// *Error.
func Encode(m *Map) ([Size]byte, error) {
	if err := m.Check(); err != nil {
		return [Size]byte{}, err
	}
	return m.Pack(), nil
}

// Check holds a map against the requirements of the Driver API reference.
func (m *Map) Check() error {
	if m.Type >= dataTypes {
		return bad("tensorDataType", "is no CUtensorMapDataType: %d", m.Type)
	}
	lowest := 1
	if m.Mode != Tiled || m.Interleave != InterleaveNone {
		lowest = 3
	}
	if m.Rank < lowest || m.Rank > MaxRank {
		return bad("tensorRank", "must be %d to %d, not %d", lowest, MaxRank, m.Rank)
	}
	align16 := m.Type == U4x16Align16 || m.Type == U6x16Align16
	align := uint64(16)
	if m.Interleave == Interleave32B || align16 {
		align = 32
	}
	switch {
	case m.Interleave > Interleave32B:
		return bad("interleave", "is no CUtensorMapInterleave: %d", m.Interleave)
	case m.Swizzle > Swizzle128BAtom64B:
		return bad("swizzle", "is no CUtensorMapSwizzle: %d", m.Swizzle)
	case m.L2Promotion > 3:
		return bad("l2Promotion", "is no CUtensorMapL2promotion: %d", m.L2Promotion)
	case m.Address == 0:
		return bad("globalAddress", "must not be NULL")
	case m.Address%align != 0:
		return bad("globalAddress", "must be a multiple of %d, not %#x", align, m.Address)
	case m.NaN && !m.Type.Float():
		return bad("oobFill", "of NaN needs a floating-point data type")
	case m.Interleave == Interleave32B && m.Swizzle != Swizzle32B:
		return bad("swizzle", "must be CU_TENSOR_MAP_SWIZZLE_32B with CU_TENSOR_MAP_INTERLEAVE_32B")
	case m.Type == U6x16Align16 && m.Interleave != InterleaveNone:
		return bad("interleave", "must be none with CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B")
	}
	if err := m.checkDims(align, align16); err != nil {
		return err
	}
	inner := uint64(m.Channels)
	if m.Mode == Tiled {
		for i := 0; i < m.Rank; i++ {
			if m.Box[i] == 0 || m.Box[i] > 256 {
				return bad("boxDim", "[%d] must be 1 to 256, not %d", i, m.Box[i])
			}
		}
		inner = uint64(m.Box[0])
	} else if err := m.checkPixels(); err != nil {
		return err
	}
	if align16 && inner != 128 {
		return bad("boxDim", "[0] must be 128 with this data type, not %d", inner)
	}
	row := m.bytes(inner)
	if m.Mode == Tiled && m.Interleave == InterleaveNone && row%16 != 0 {
		return bad("boxDim", "[0] times the element size must be a multiple of 16 bytes, not %d", row)
	}
	if span := uint64(m.Swizzle.Span()); m.Interleave == InterleaveNone && span != 0 && row > span {
		return bad("swizzle", "has a span of %d bytes, less than the box's inner dimension of %d", span, row)
	}
	return m.checkSwizzle()
}

// checkDims checks sizes and strides.
func (m *Map) checkDims(align uint64, align16 bool) error {
	for i := 0; i < m.Rank; i++ {
		if m.Dim[i] == 0 || m.Dim[i] > 1<<32 {
			return bad("globalDim", "[%d] must be 1 to 2^32, not %d", i, m.Dim[i])
		}
		if i > 0 && (m.Stride[i]%align != 0 || m.Stride[i] >= 1<<40) {
			return bad("globalStrides", "[%d] must be a multiple of %d less than 2^40, not %d", i-1, align, m.Stride[i])
		}
		if i == 0 && m.Interleave == InterleaveNone && m.ElementStride[i] != 0 {
			continue // the first traversal stride is ignored, but not 0 (recorded)
		}
		if m.ElementStride[i] == 0 || m.ElementStride[i] > 8 {
			return bad("elementStrides", "[%d] must be 1 to 8, not %d", i, m.ElementStride[i])
		}
	}
	if align16 && m.Dim[0]%128 != 0 {
		return bad("globalDim", "[0] must be a multiple of 128 with this data type, not %d", m.Dim[0])
	}
	if m.Type == U4x16Align8 && m.Dim[0]%2 != 0 {
		return bad("globalDim", "[0] must be a multiple of 2 with this data type, not %d", m.Dim[0])
	}
	return nil
}

// checkPixels checks what the im2col modes have instead of a box.
func (m *Map) checkPixels() error {
	limits := [...]int32{32768, 128, 16}
	n, limit := m.Rank-2, int32(0)
	if m.Mode == Im2colWide {
		n, limit = 1, limits[0]
	} else {
		limit = limits[n-1]
	}
	for i := 0; i < n; i++ {
		for k, c := range []int32{m.Lower[i], m.Upper[i]} {
			if c < -limit || c >= limit {
				return bad([]string{"pixelBoxLowerCorner", "pixelBoxUpperCorner"}[k], "[%d] must be %d to %d, not %d",
					i, -limit, limit-1, c)
			}
		}
		if int64(m.Dim[1+i])+int64(m.Upper[i])-int64(m.Lower[i]) <= 0 {
			return bad("pixelBoxUpperCorner", "[%d] leaves an empty box", i)
		}
	}
	if m.Channels == 0 || m.Channels > 256 {
		return bad("channelsPerPixel", "must be 1 to 256, not %d", m.Channels)
	}
	if !m.Wide128 && (m.Pixels == 0 || m.Pixels > 1024) {
		return bad("pixelsPerColumn", "must be 1 to 1024, not %d", m.Pixels)
	}
	if m.Mode == Im2colWide && m.Interleave != InterleaveNone {
		return bad("interleave", "must be none in a wide mode")
	}
	return nil
}

// checkSwizzle checks the patterns that some modes and types are limited to.
func (m *Map) checkSwizzle() error {
	if m.Mode == Im2colWide {
		switch m.Swizzle {
		case SwizzleNone, Swizzle64B, Swizzle128B, Swizzle128BAtom32B:
			// none is not in the reference, and the driver takes it (recorded)
		default:
			return bad("swizzle", "is not supported in a wide mode: %d", m.Swizzle)
		}
	}
	if m.Type == U6x16Align16 || m.Type == U4x16Align16 {
		switch m.Swizzle {
		case SwizzleNone, Swizzle128B, Swizzle128BAtom32B:
		case Swizzle64B:
			if m.Mode == Im2colWide && m.Type == U6x16Align16 {
				return nil
			}
			return bad("swizzle", "is not supported with this data type: %d", m.Swizzle)
		case Swizzle128BAtom64B:
			if m.Type == U6x16Align16 {
				return nil
			}
			fallthrough
		default:
			return bad("swizzle", "is not supported with this data type: %d", m.Swizzle)
		}
	}
	return nil
}

// bytes is the size of n elements of dimension 0 in global memory.
func (m *Map) bytes(n uint64) uint64 {
	switch m.Type {
	case U4x16Align8, U4x16Align16:
		return n / 2
	case U6x16Align16:
		return n / 4 * 3
	}
	return n * uint64(m.Type.Bytes())
}

// magic begins every packed map, so that bytes that are no map are found out.
const magic = 0x70616d74 // "tmap"

// Offsets in a packed map.
const (
	offMagic   = 0
	offMode    = 4 // one byte each from here
	offType    = 5
	offRank    = 6
	offInter   = 7
	offSwizzle = 8
	offL2      = 9
	offFill    = 10
	offWide    = 11
	offAddress = 16
	offDim     = 24 // five u32: elements less one
	offStride  = 44 // four times five bytes: sixteenths
	offBox     = 64 // five u16
	offStep    = 74 // five bytes
	offLower   = 80 // three i16
	offUpper   = 86
	offChans   = 92 // u16
	offPixels  = 94 // u16
)

// Pack returns the 128 bytes of a map without checking it. Fields too large for their place are cut.
func (m *Map) Pack() (b [Size]byte) {
	le := binary.LittleEndian
	le.PutUint32(b[offMagic:], magic)
	b[offMode], b[offType], b[offRank], b[offInter], b[offSwizzle], b[offL2] = byte(m.Mode), byte(m.Type), byte(m.Rank),
		byte(m.Interleave), byte(m.Swizzle), m.L2Promotion
	b[offFill], b[offWide] = flag(m.NaN), flag(m.Wide128)
	le.PutUint64(b[offAddress:], m.Address)
	for i := 0; i < MaxRank; i++ {
		le.PutUint32(b[offDim+4*i:], uint32(m.Dim[i]-1))
		le.PutUint16(b[offBox+2*i:], uint16(m.Box[i]))
		b[offStep+i] = byte(m.ElementStride[i])
		if i > 0 {
			s := m.Stride[i] >> 4
			le.PutUint32(b[offStride+5*(i-1):], uint32(s))
			b[offStride+5*(i-1)+4] = byte(s >> 32)
		}
	}
	for i := 0; i < MaxRank-2; i++ {
		le.PutUint16(b[offLower+2*i:], uint16(m.Lower[i]))
		le.PutUint16(b[offUpper+2*i:], uint16(m.Upper[i]))
	}
	le.PutUint16(b[offChans:], uint16(m.Channels))
	le.PutUint16(b[offPixels:], uint16(m.Pixels))
	return b
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// ErrNotAMap says that bytes were not made by Encode.
var ErrNotAMap = errors.New("tensor map: not a tensor map of this device")

// Unpack reads a packed map. Only what would make it unreadable is checked: a map that tensormap.replace is changing
// may be inconsistent.
func Unpack(b []byte) (Map, error) {
	var m Map
	le := binary.LittleEndian
	if len(b) < Size || le.Uint32(b[offMagic:]) != magic {
		return m, ErrNotAMap
	}
	m.Mode, m.Type, m.Rank = Mode(b[offMode]), DataType(b[offType]), int(b[offRank])
	m.Interleave, m.Swizzle, m.L2Promotion = Interleave(b[offInter]), Swizzle(b[offSwizzle]), b[offL2]
	m.NaN, m.Wide128 = b[offFill] != 0, b[offWide] != 0
	if m.Mode > Im2colWide || m.Type >= dataTypes || m.Rank < 1 || m.Rank > MaxRank || m.Interleave > Interleave32B ||
		m.Swizzle > Swizzle128BAtom64B {
		return m, ErrNotAMap
	}
	m.Address = le.Uint64(b[offAddress:])
	for i := 0; i < MaxRank; i++ {
		m.Dim[i] = uint64(le.Uint32(b[offDim+4*i:])) + 1
		m.Box[i] = uint32(le.Uint16(b[offBox+2*i:]))
		m.ElementStride[i] = uint32(b[offStep+i])
		if i > 0 {
			o := offStride + 5*(i-1)
			m.Stride[i] = (uint64(le.Uint32(b[o:])) | uint64(b[o+4])<<32) << 4
		}
	}
	for i := 0; i < MaxRank-2; i++ {
		m.Lower[i] = int32(int16(le.Uint16(b[offLower+2*i:])))
		m.Upper[i] = int32(int16(le.Uint16(b[offUpper+2*i:])))
	}
	m.Channels, m.Pixels = uint32(le.Uint16(b[offChans:])), uint32(le.Uint16(b[offPixels:]))
	return m, nil
}

// SetAddress changes the address of a packed map, as cuTensorMapReplaceAddress does. Of bytes that are no map the
// driver asks only that the address is aligned (recorded of zeros); they stay no map.
func SetAddress(b []byte, addr uint64) error {
	if m, err := Unpack(b); err == nil {
		m.Address = addr
		p, err := Encode(&m)
		if err != nil {
			return err
		}
		copy(b, p[:])
		return nil
	}
	if len(b) < Size {
		return ErrNotAMap
	}
	if addr == 0 || addr%16 != 0 {
		return bad("globalAddress", "must be a multiple of 16, not %#x", addr)
	}
	binary.LittleEndian.PutUint64(b[offAddress:], addr)
	return nil
}

// BoxBytes is the number of bytes that a copy of the map's box or column moves, elements out of bounds included: what a
// load completes on its mbarrier.
func (m *Map) BoxBytes() uint32 {
	if m.Mode != Tiled {
		return uint32(m.bytes(uint64(m.Channels))) * m.Pixels
	}
	n := uint32(m.bytes(uint64(m.Box[0])))
	for i := 1; i < m.Rank; i++ {
		n *= m.Count(i)
	}
	return n
}

// Count is the number of elements that a tile has along a dimension: the box's size, traversed with the element stride.
func (m *Map) Count(i int) uint32 {
	s := max(m.ElementStride[i], 1)
	if i == 0 && m.Interleave == InterleaveNone {
		s = 1
	}
	return (m.Box[i] + s - 1) / s
}

// SwizzleOffset returns where a byte of a tile stands that the plain layout puts at a shared-memory offset. The pattern
// depends on the address, not on the tile: chunks of 16 bytes are exchanged by the number of the 128-byte line (PTX ISA
// 5.5.7, "Swizzling Modes").
func (s Swizzle) SwizzleOffset(off uint32) uint32 {
	switch s {
	case Swizzle32B:
		return off ^ off>>3&0x10
	case Swizzle64B:
		return off ^ off>>3&0x30
	case Swizzle128B:
		return off ^ off>>3&0x70
	case Swizzle128BAtom32B:
		return off ^ off>>3&0x60
	case Swizzle128BAtom32BFlip8B:
		return off ^ off>>3&0x60 ^ off>>4&8
	case Swizzle128BAtom64B:
		return off ^ off>>3&0x40
	}
	return off
}
