package ptx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/defect"
)

// Limits of the parser.
const (
	// maxErrors ends a parse: what follows so many faults is noise.
	maxErrors = 20
	// maxDepth bounds nested blocks, expressions and braces together, and so
	// the Go stack: one level costs well under a kilobyte.
	maxDepth = 1000
	// maxText keeps offsets within int32.
	maxText = math.MaxInt32 - 16
)

// Parse reads one module. The text ends at its first NUL byte. On faults the
// error is an [ErrorList] and the module holds what could be read; it is nil
// when nothing could (no header, bytes above 0x7f).
//
// The version is not judged: see [Module.Version]. A text that does not begin
// with .version gives [MissingVersion].
func Parse(text []byte) (*Module, error) { return ParseUntil(text, nil) }

// ErrStopped is the error of work that was given up because its caller set the flag that it had given for that.
var ErrStopped = errors.New("stopped")

// ParseUntil is Parse that ends with [ErrStopped] soon after stop is set; nil never is.
func ParseUntil(text []byte, stop *atomic.Bool) (*Module, error) {
	if i := bytes.IndexByte(text, 0); i >= 0 {
		text = text[:i]
	}
	if len(text) > maxText {
		return nil, ErrorList{{Pos: Pos{1, 1}, Kind: TooLarge, Text: "text longer than 2 GiB"}}
	}
	if i := nonASCII(text); i >= 0 {
		line := 1 + bytes.Count(text[:i], []byte{'\n'})
		col := i - bytes.LastIndexByte(text[:i], '\n')
		return nil, ErrorList{{
			Pos: Pos{int32(line), int32(col)}, Kind: NonASCII,
			Text: fmt.Sprintf("Unexpected non-ASCII character encountered on line %d", line),
		}}
	}
	p := parser{scanner: scanner{src: string(text), line: 1}, stop: stop, operations: map[string]*Operation{}}
	p.next()
	m := p.module()
	if p.stopped() {
		return nil, ErrStopped
	}
	if len(p.errs) > 0 {
		return m, p.errs
	}
	return m, nil
}

// nonASCII returns the offset of the first byte above 0x7f, or -1.
func nonASCII(b []byte) int {
	i := 0
	for ; i+8 <= len(b); i += 8 { // eight at a time
		if binary.LittleEndian.Uint64(b[i:])&0x8080808080808080 != 0 {
			break
		}
	}
	for ; i < len(b); i++ {
		if b[i] >= 0x80 {
			return i
		}
	}
	return -1
}

// bailout unwinds the parser to the nearest recovery point; the fault is in
// errs already.
type bailout struct{}

type parser struct {
	scanner
	tok   token
	errs  ErrorList
	depth int
	stop  *atomic.Bool // may be nil

	resumed int32 // offset where the last recovery went on, to see progress
	bodyEnd int   // offset up to which room has looked

	inSection bool // debug data: dotted names are symbols, names have no components

	unit *Module

	instrs  slab[Instr]
	idents  slab[Ident]
	ints    slab[Int]
	addrs   slab[Addr]
	vars    slab[Var]
	vectors slab[Vector]
	guards  slab[Guard]
	labels  slab[Label]
	locs    slab[Loc]
	args    arena[Operand]

	operations map[string]*Operation // by their text
	words      []string              // of the operation in hand
}

// slab hands out nodes from blocks, to spare allocations.
type slab[T any] struct {
	free []T
	size int // of the last block
}

func (s *slab[T]) new() *T {
	if len(s.free) == 0 {
		s.size = min(max(8, 2*s.size), 512)
		s.free = make([]T, s.size)
	}
	t := &s.free[0]
	s.free = s.free[1:]
	return t
}

// arena collects slices of unknown length: push on a stack, then take
// what was pushed since a mark.
type arena[T any] struct {
	stack []T
	block []T
}

func (a *arena[T]) mark() int { return len(a.stack) }

func (a *arena[T]) push(t T) { a.stack = append(a.stack, t) }

// take returns the elements pushed since mark and drops them from the stack.
func (a *arena[T]) take(mark int) []T {
	n := len(a.stack) - mark
	if n == 0 {
		return nil
	}
	if cap(a.block)-len(a.block) < n {
		a.block = make([]T, 0, max(n, min(max(16, 2*cap(a.block)), 1024)))
	}
	from := len(a.block)
	a.block = append(a.block, a.stack[mark:]...)
	a.stack = a.stack[:mark]
	return a.block[from:len(a.block):len(a.block)]
}

func (p *parser) next() { p.scanner.next(&p.tok) }

func (p *parser) pos() Pos { return Pos{p.tok.line, p.tok.col} }

func (p *parser) text() string { return p.src[p.tok.off:p.tok.end] }

// word is the text of a tDot without its dot.
func (p *parser) word() string { return p.src[p.tok.off+1 : p.tok.end] }

func (p *parser) report(pos Pos, k ErrorKind, text string) {
	p.errs = append(p.errs, &Error{Pos: pos, Kind: k, Text: text})
}

func (p *parser) fail(pos Pos, k ErrorKind, text string) {
	p.report(pos, k, text)
	panic(bailout{})
}

// unexpected reports the current token in the driver's words.
func (p *parser) unexpected() {
	text := p.text()
	switch p.tok.kind {
	case tDot:
		if text == ".version" {
			// The driver's scanner takes the number into the token.
			pos, tok, save := p.pos(), p.tok, p.scanner
			p.next()
			if (p.tok.kind == tFloat || p.tok.kind == tInt) && p.tok.line == pos.Line {
				text = ".version " + p.text()
			}
			p.tok, p.scanner = tok, save
		}
	case tIllegal:
		if len(text) > 1 && text[0] != '.' {
			text = text[:1]
		}
	}
	p.fail(p.pos(), SyntaxError, "Parsing error near '"+text+"': syntax error")
}

func (p *parser) expect(k kind) {
	if p.tok.kind != k {
		p.unexpected()
	}
	p.next()
}

func (p *parser) accept(k kind) bool {
	if p.tok.kind != k {
		return false
	}
	p.next()
	return true
}

func (p *parser) isDot(word string) bool {
	return p.tok.kind == tDot && p.word() == word
}

func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.pos(), TooLarge, fmt.Sprintf("nesting deeper than %d levels", maxDepth))
	}
}

func (p *parser) leave() { p.depth-- }

// try runs f and reports whether it came to its end; a fault leaves the parser
// where the fault was.
func (p *parser) try(f func()) (ok bool) {
	depth := p.depth
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(bailout); !is {
				panic(defect.Of(r))
			}
			p.depth = depth
			p.inSection = false
			p.args.stack = p.args.stack[:0]
		}
	}()
	f()
	return true
}

// stopped reports whether the caller wants the parse to end.
func (p *parser) stopped() bool { return p.stop != nil && p.stop.Load() }

// goOn ends the parse when the caller wants that.
func (p *parser) goOn() {
	if p.stopped() {
		panic(bailout{})
	}
}

// full reports whether the parse must end: for too many faults, or because it was stopped.
func (p *parser) full() bool { return len(p.errs) >= maxErrors || p.stopped() }

// resync moves to where reading can go on: after a semicolon, before a closing
// brace (inner) or before a declaration (outer). It always makes progress.
func (p *parser) resync(inner bool) {
	if p.tok.off == p.resumed && p.tok.kind != tEOF {
		p.next()
	}
	depth := 0
	for p.tok.kind != tEOF {
		switch p.tok.kind {
		case ';':
			if depth == 0 {
				p.next()
				p.resumed = p.tok.off
				return
			}
		case '{':
			depth++
		case '}':
			if inner {
				if depth == 0 && !p.closesOperand() {
					p.resumed = p.tok.off
					return
				}
				depth = max(depth-1, 0)
				break
			}
			if depth <= 1 {
				p.next()
				p.resumed = p.tok.off
				return
			}
			depth--
		case tDot:
			switch p.word() {
			case "entry", "func":
				if inner || depth > 0 {
					break
				}
				p.resumed = p.tok.off
				return
			}
		}
		p.next()
	}
	p.resumed = p.tok.off
}

// closesOperand reports whether the current brace ends a vector, not a block.
func (p *parser) closesOperand() bool {
	tok, save := p.tok, p.scanner
	p.next()
	k := p.tok.kind
	p.tok, p.scanner = tok, save
	switch k {
	case ',', ';', '|', ']', ')':
		return true
	}
	return false
}

// module reads the whole text.
func (p *parser) module() *Module {
	m := &Module{}
	p.unit = m
	p.resumed = -1
	if !p.try(func() { p.header(m) }) {
		return nil
	}
	for !p.full() {
		if p.try(func() {
			for p.tok.kind != tEOF {
				p.decl(m)
				if p.full() {
					return
				}
			}
		}) {
			break
		}
		p.resync(false)
	}
	return m
}

// header reads .version and .target, in this order as the driver demands it.
func (p *parser) header(m *Module) {
	pos := p.pos()
	missing := func(k ErrorKind, what string) {
		p.fail(pos, k, "Missing ."+what+" directive at start of file 'application ptx input'")
	}
	if !p.isDot("version") {
		missing(MissingVersion, "version")
	}
	p.next()
	v, ok := parseVersion(p.text())
	if p.tok.kind != tFloat || !ok {
		missing(MissingVersion, "version")
	}
	m.Version, m.HasVersion, m.VersionPos = v, true, pos
	p.next()
	pos = p.pos()
	if !p.isDot("target") {
		missing(MissingTarget, "target")
	}
	p.target(m)
}

// parseVersion reads "major.minor".
func parseVersion(s string) (v Version, ok bool) {
	for i := range s {
		if s[i] == '.' {
			a, err1 := strconv.ParseUint(s[:i], 10, 31)
			b, err2 := strconv.ParseUint(s[i+1:], 10, 31)
			return Version{int(a), int(b)}, err1 == nil && err2 == nil
		}
	}
	return v, false
}

func (p *parser) target(m *Module) {
	p.next()
	for {
		pos := p.pos()
		m.Target = append(m.Target, TargetWord{pos, p.ident()})
		if !p.accept(',') {
			return
		}
	}
}

// ident reads a name. WARP_SZ is a constant.
func (p *parser) ident() string {
	if p.tok.kind != tIdent || p.atWarpSize() {
		p.unexpected()
	}
	s := p.text()
	p.next()
	return s
}

// identNode reads a name as a node.
func (p *parser) identNode() *Ident {
	id := p.idents.new()
	id.Pos = p.pos()
	id.Name = p.ident()
	return id
}

// uint reads an integer literal without sign.
func (p *parser) uint() uint64 {
	if p.tok.kind != tInt {
		p.unexpected()
	}
	v, _ := p.intValue()
	p.next()
	return v
}

// intValue is the value of the current tInt.
func (p *parser) intValue() (v uint64, unsigned bool) {
	text := p.text()
	if n := len(text); text[n-1] == 'U' {
		unsigned = true
		text = text[:n-1]
	}
	base := 10
	digits := text
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'x', 'X':
			base, digits = 16, text[2:]
		case 'b', 'B':
			base, digits = 2, text[2:]
		default:
			base, digits = 8, text[1:]
		}
	}
	if base == 10 && len(digits) < 19 {
		for i := 0; i < len(digits); i++ {
			v = v*10 + uint64(digits[i]-'0')
		}
		return v, unsigned
	}
	v, err := strconv.ParseUint(digits, base, 64)
	if i := strings.IndexAny(digits, "89"); base == 8 && i >= 0 {
		p.fail(p.pos(), SyntaxError, "Parsing error near '"+digits[i:]+"': syntax error")
	}
	// longer: the driver's compiler counts in 64 bits, and looks in a double whether that was enough (recorded; ptxas
	// 13.0)
	if err != nil {
		v, sum := uint64(0), 0.0
		for i := range len(digits) {
			d, _ := strconv.ParseUint(digits[i:i+1], base, 64)
			v, sum = v*uint64(base)+d, sum*float64(base)+float64(d)
		}
		if sum > 1<<64 {
			p.fail(p.pos(), Overflow, "Constant overflow")
		}
		return v, true
	}
	return v, unsigned || v > math.MaxInt64
}

// constant evaluates an expression that must be an integer constant.
func (p *parser) constant(x Operand) Const {
	c, err := Eval(x)
	if err == nil && c.IsFloat() {
		err = ErrConstType
	}
	if err != nil {
		p.fail(x.Position(), BadConstant, EvalMessage(err))
	}
	return c
}

// quoted reads and decodes a string.
func (p *parser) quoted() string {
	if p.tok.kind != tString {
		p.unexpected()
	}
	s := p.text()
	p.next()
	return unquote(s[1 : len(s)-1])
}

// unquote decodes C escapes. An unknown one stays as it is.
func unquote(s string) string {
	if !bytes.Contains([]byte(s), []byte{'\\'}) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'a':
			b = append(b, '\a')
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'v':
			b = append(b, '\v')
		case '\\', '"', '\'', '?':
			b = append(b, c)
		case 'x':
			j := i + 1
			for j < len(s) && j < i+3 && class[s[j]]&cHex != 0 {
				j++
			}
			v, err := strconv.ParseUint(s[i+1:j], 16, 8)
			if err != nil {
				b = append(b, '\\', c)
				continue
			}
			b = append(b, byte(v))
			i = j - 1
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, j := 0, i
			for j < len(s) && j < i+3 && s[j] >= '0' && s[j] <= '7' {
				v = v*8 + int(s[j]-'0')
				j++
			}
			b = append(b, byte(v))
			i = j - 1
		default:
			b = append(b, '\\', c)
		}
	}
	return string(b)
}
