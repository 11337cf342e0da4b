package tileir

// buffer collects text up to a limit. Beyond it, it is full and takes no more: text can be far longer than the module
// that it is made of.
type buffer struct {
	b    []byte
	max  int
	full bool
}

func (b *buffer) string(s string) {
	if b.full || len(b.b)+len(s) > b.max {
		b.full = true
		return
	}
	b.b = append(b.b, s...)
}
