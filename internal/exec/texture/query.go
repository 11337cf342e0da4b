package texture

// Query is an attribute that txq or suq asks for.
type Query uint8

// The attributes (PTX ISA 9.7.10.5 txq, 9.7.11.5 suq).
const (
	Width Query = iota
	Height
	Depth
	ArraySize
	NumLevels
	NumSamples
	DataType
	Order
	NormalizedCoords
	ForceUnnormalized
	FilterMode
	AddressMode0
	AddressMode1
	AddressMode2
	MemoryLayout
)

// Numbers of cl_channel_type and cl_channel_order, in which PTX reports formats (PTX ISA 5.3, "Channel Data Type and
// Channel Order Fields").
const (
	snormInt8   = 0x10d0
	unormInt8   = 0x10d2
	unormPacked = 0x10e0 // CL_UNORM_INT_101010_2
	signedInt8  = 0x10d7
	unsignedInt = 0x10da // of 8 bits; 16 and 32 follow
	halfFloat   = 0x10dd
	singleFloat = 0x10de
	orderR      = 0x10b0
	orderRG     = 0x10b2
	orderRGBA   = 0x10b5
)

// Query answers for an image at a level of its mipmap.
func (m *Image) Query(q Query, level uint32) uint32 {
	l := &m.Levels[0]
	if q <= Depth {
		if int64(level) >= int64(len(m.Levels)) {
			return 0
		}
		l = &m.Levels[level]
	}
	switch q {
	case Width:
		return l.Width
	case Height: // the layers of one dimension stand where others have rows
		switch {
		case m.Dims == 1 && m.Layered:
			return m.layers()
		case m.Dims == 1:
			return 0 // recorded for surfaces
		}
		return l.Height
	case Depth:
		switch {
		case m.Dims == 1, m.Dims == 2 && !m.Layered:
			return 0
		case m.Layered:
			return m.layers()
		}
		return l.Depth
	case ArraySize:
		return m.layers()
	case NumLevels:
		return uint32(len(m.Levels))
	case NumSamples:
		return 1
	case DataType:
		return m.Format.dataType()
	case Order:
		switch m.Format.Channels {
		case 1:
			return orderR
		case 2:
			return orderRG
		}
		return orderRGBA
	}
	return 0 // MemoryLayout: layouts have no numbers in the manual
}

func (f Format) dataType() uint32 {
	if f.Bits == Packed {
		return unormPacked
	}
	width := uint32(0) // 0 for 8 bits, 1 for 16, 2 for 32
	for b := f.Bits; b > 8; b /= 2 {
		width++
	}
	switch f.Kind {
	case Uint:
		return unsignedInt + width
	case Sint:
		return signedInt8 + width
	case Unorm:
		return unormInt8 + width
	case Snorm:
		return snormInt8 + width
	}
	if f.Bits == 16 {
		return halfFloat
	}
	return singleFloat
}

// Query answers for a sampler. Address modes are numbered as the manual's table has them: wrap, mirror, clamp_ogl,
// clamp_to_edge, clamp_to_border.
func (s *Sampler) Query(q Query) uint32 {
	b := func(v bool) uint32 {
		if v {
			return 1
		}
		return 0
	}
	switch q {
	case NormalizedCoords:
		return b(s.Normalized)
	case ForceUnnormalized:
		return b(!s.Normalized)
	case FilterMode:
		return b(s.Linear)
	case AddressMode0, AddressMode1, AddressMode2:
		return [...]uint32{Wrap: 0, Clamp: 3, Mirror: 1, Border: 4}[s.Address[q-AddressMode0]]
	}
	return 0
}
