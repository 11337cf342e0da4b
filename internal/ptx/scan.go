package ptx

// kind is the kind of a token. Single-character tokens are their own kind.
type kind uint8

const (
	tEOF kind = iota
	tIllegal
	tIdent  // add %r1 $L__BB0_1 _
	tDot    // .global .shared::cta .v4 .16x64b: a dot and a word
	tInt    // 12 0x1F 017 0b11 5U
	tFloat  // 0f3F800000 0d... 1.5 1e10
	tString // "text"
	tShl    // <<
	tShr    // >>
	tLE
	tGE
	tEQ
	tNE
	tLAnd
	tLOr
)

// Character classes.
const (
	cWord  = 1 << iota // may continue a name
	cStart             // may start a name, % excepted
	cDigit
	cHex
	cBlank // blank, tab, carriage return, form feed, vertical tab
)

var class = [256]uint8{
	'a': cWord | cStart | cHex, 'b': cWord | cStart | cHex, 'c': cWord | cStart | cHex, 'd': cWord | cStart | cHex,
	'e': cWord | cStart | cHex, 'f': cWord | cStart | cHex,
	'A': cWord | cStart | cHex, 'B': cWord | cStart | cHex, 'C': cWord | cStart | cHex, 'D': cWord | cStart | cHex,
	'E': cWord | cStart | cHex, 'F': cWord | cStart | cHex,
	'g': cWord | cStart, 'h': cWord | cStart, 'i': cWord | cStart, 'j': cWord | cStart, 'k': cWord | cStart,
	'l': cWord | cStart,
	'm': cWord | cStart, 'n': cWord | cStart, 'o': cWord | cStart, 'p': cWord | cStart, 'q': cWord | cStart,
	'r': cWord | cStart,
	's': cWord | cStart, 't': cWord | cStart, 'u': cWord | cStart, 'v': cWord | cStart, 'w': cWord | cStart,
	'x': cWord | cStart,
	'y': cWord | cStart, 'z': cWord | cStart, 'G': cWord | cStart, 'H': cWord | cStart, 'I': cWord | cStart,
	'J': cWord | cStart,
	'K': cWord | cStart, 'L': cWord | cStart, 'M': cWord | cStart, 'N': cWord | cStart, 'O': cWord | cStart,
	'P': cWord | cStart,
	'Q': cWord | cStart, 'R': cWord | cStart, 'S': cWord | cStart, 'T': cWord | cStart, 'U': cWord | cStart,
	'V': cWord | cStart,
	'W': cWord | cStart, 'X': cWord | cStart, 'Y': cWord | cStart, 'Z': cWord | cStart, '_': cWord | cStart,
	'$': cWord | cStart,
	'0': cWord | cDigit | cHex, '1': cWord | cDigit | cHex, '2': cWord | cDigit | cHex, '3': cWord | cDigit | cHex,
	'4': cWord | cDigit | cHex, '5': cWord | cDigit | cHex,
	'6': cWord | cDigit | cHex, '7': cWord | cDigit | cHex, '8': cWord | cDigit | cHex, '9': cWord | cDigit | cHex,
	' ': cBlank, '\t': cBlank, '\r': cBlank, '\f': cBlank, '\v': cBlank,
}

// token is a piece of the source; off and end are byte offsets.
type token struct {
	off, end  int32
	line, col int32
	kind      kind
}

// scanner cuts the source into tokens. src holds neither NUL nor bytes above
// 0x7f.
type scanner struct {
	src       string
	off       int32
	line      int32
	lineStart int32 // offset of the line's first byte
}

// skip moves over blanks, comments, line markers and @@DWARF lines. It returns
// false at a comment without end.
func (s *scanner) skip() bool {
	src := s.src
	i := int(s.off)
	for i < len(src) {
		c := src[i]
		switch {
		case class[c]&cBlank != 0:
			i++
		case c == '\n':
			i++
			s.line++
			s.lineStart = int32(i)
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			for i < len(src) && src[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			start := i
			line, lineStart := s.line, s.lineStart
			i += 2
			for {
				if i+1 >= len(src) {
					// The token that follows is the comment's opening.
					s.line, s.lineStart, s.off = line, lineStart, int32(start)
					return false
				}
				if src[i] == '*' && src[i+1] == '/' {
					i += 2
					break
				}
				if src[i] == '\n' {
					s.line++
					s.lineStart = int32(i + 1)
				}
				i++
			}
		case c == '#' && s.blankBefore(i),
			c == '@' && i+1 < len(src) && src[i+1] == '@':
			// A preprocessor's line marker, or DWARF of PTX ISA 1.x.
			for i < len(src) && src[i] != '\n' {
				i++
			}
		default:
			s.off = int32(i)
			return true
		}
	}
	s.off = int32(i)
	return true
}

// blankBefore reports whether only blanks stand between the line's start and
// offset i.
func (s *scanner) blankBefore(i int) bool {
	for i--; i >= int(s.lineStart); i-- {
		if class[s.src[i]]&cBlank == 0 {
			return false
		}
	}
	return true
}

// next reads one token into t.
func (s *scanner) next(t *token) {
	whole := s.skip()
	src := s.src
	i := int(s.off)
	t.off, t.line, t.col = s.off, s.line, s.off-s.lineStart+1
	if i >= len(src) {
		t.kind, t.end = tEOF, s.off
		return
	}
	if !whole {
		t.kind, t.end = tIllegal, int32(len(src))
		s.off = t.end
		return
	}
	c := src[i]
	switch cl := class[c]; {
	case cl&cStart != 0:
		i++
		for i < len(src) && class[src[i]]&cWord != 0 {
			i++
		}
		t.kind = tIdent
	case cl&cDigit != 0:
		s.number(t)
		return
	case c == '.':
		j := wordEnd(src, i+1)
		if j == i+1 {
			t.kind = tIllegal
			i = j
			break
		}
		for j+2 < len(src) && src[j] == ':' && src[j+1] == ':' {
			k := wordEnd(src, j+2)
			if k == j+2 {
				break
			}
			j = k
		}
		t.kind, i = tDot, j
	case c == '%':
		j := wordEnd(src, i+1)
		if j == i+1 {
			t.kind = '%'
		} else {
			t.kind = tIdent
		}
		i = j
	case c == '"':
		i = s.str(t)
	default:
		i = punct(src, i, t)
	}
	t.end = int32(i)
	s.off = t.end
}

func wordEnd(src string, i int) int {
	for i < len(src) && class[src[i]]&cWord != 0 {
		i++
	}
	return i
}

// str reads a string; it must end on its line.
func (s *scanner) str(t *token) int {
	src := s.src
	i := int(s.off) + 1
	for i < len(src) && src[i] != '\n' {
		switch src[i] {
		case '"':
			t.kind = tString
			return i + 1
		case '\\':
			i++
			if i >= len(src) || src[i] == '\n' {
				t.kind = tIllegal
				return i
			}
		}
		i++
	}
	t.kind = tIllegal
	return i
}

func punct(src string, i int, t *token) int {
	c := src[i]
	var d byte
	if i+1 < len(src) {
		d = src[i+1]
	}
	t.kind = kind(c)
	switch c {
	case '<':
		if d == '<' {
			t.kind = tShl
		} else if d == '=' {
			t.kind = tLE
		}
	case '>':
		if d == '>' {
			t.kind = tShr
		} else if d == '=' {
			t.kind = tGE
		}
	case '=':
		if d == '=' {
			t.kind = tEQ
		}
	case '!':
		if d == '=' {
			t.kind = tNE
		}
	case '&':
		if d == '&' {
			t.kind = tLAnd
		}
	case '|':
		if d == '|' {
			t.kind = tLOr
		}
	case '(', ')', '[', ']', '{', '}', ',', ';', ':', '+', '-', '*', '/', '~', '^', '?', '@':
	default:
		t.kind = tIllegal
	}
	if t.kind != kind(c) && t.kind != tIllegal {
		return i + 2
	}
	return i + 1
}

// number reads an integer or floating literal that starts at s.off with a
// digit, or with a dot before a digit.
func (s *scanner) number(t *token) {
	src := s.src
	i := int(s.off)
	t.kind = tInt
	done := func(k kind, end int) {
		t.kind, t.end, s.off = k, int32(end), int32(end)
	}
	if src[i] == '0' && i+1 < len(src) {
		switch src[i+1] {
		case 'x', 'X':
			j := i + 2
			for j < len(src) && class[src[j]]&cHex != 0 {
				j++
			}
			if j > i+2 {
				done(tInt, suffix(src, j))
				return
			}
		case 'b', 'B':
			j := i + 2
			for j < len(src) && (src[j] == '0' || src[j] == '1') {
				j++
			}
			if j > i+2 {
				done(tInt, suffix(src, j))
				return
			}
		case 'f', 'F', 'd', 'D':
			n := 8
			if src[i+1]|0x20 == 'd' {
				n = 16
			}
			j := i + 2
			for j < len(src) && j < i+2+n && class[src[j]]&cHex != 0 {
				j++
			}
			if j == i+2+n {
				done(tFloat, j)
				return
			}
		}
	}
	j := digits(src, i)
	float := false
	if j < len(src) && src[j] == '.' {
		j = digits(src, j+1)
		float = true
	}
	if j < len(src) && src[j]|0x20 == 'e' {
		k := j + 1
		if k < len(src) && (src[k] == '+' || src[k] == '-') {
			k++
		}
		if e := digits(src, k); e > k {
			j = e
			float = true
		}
	}
	if float {
		done(tFloat, j)
		return
	}
	done(tInt, suffix(src, j))
}

func digits(src string, i int) int {
	for i < len(src) && class[src[i]]&cDigit != 0 {
		i++
	}
	return i
}

func suffix(src string, i int) int {
	if i < len(src) && src[i] == 'U' {
		i++
	}
	return i
}
