package check

// Huge is what a size or an offset becomes that no memory has: a text may declare arrays of 2^63 bytes, alignments as
// large, and any number of them.
const Huge = 1 << (SizeBits + 1)

// SizeBits is how many bits of a variable's size the driver's compiler keeps, which counts it in bits of 64-bit
// numbers: 2^61 bytes are none (recorded).
const SizeBits = 61

// Layout places variables one behind another. Its sums end at [Huge] instead of wrapping, so that a limit is checked
// once, at the end.
type Layout struct {
	Size  uint64 // bytes up to here
	Align uint64 // the largest alignment
}

// Place takes size bytes at a multiple of align, a power of two or 0, and returns where they begin.
func (l *Layout) Place(size, align uint64) uint64 {
	l.Pad(align)
	at := l.Size
	l.Size = min(at+min(size, Huge), Huge)
	return at
}

// Pad goes on to a multiple of align.
func (l *Layout) Pad(align uint64) {
	l.Align = max(l.Align, align)
	if align > 1 {
		l.Size = min((l.Size+align-1)&^(align-1), Huge) // a sum of at most 2^62 and 2^63
	}
}

// Add places a variable.
func (l *Layout) Add(v *Var) uint64 { return l.Place(v.Size, v.Align) }
