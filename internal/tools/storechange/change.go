package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// text is a PTX module in a file.
type text struct {
	at   int // offset in the file
	body []byte
}

// texts finds the PTX modules that lie in data as they are, neither compressed nor encrypted: each begins with its
// .version and ends with a NUL.
func texts(data []byte) []text {
	var all []text
	for at := 0; ; {
		i := bytes.Index(data[at:], []byte(".version "))
		if i < 0 {
			return all
		}
		i += at
		end := bytes.IndexByte(data[i:], 0)
		if end < 0 {
			return all
		}
		// Comments stand before the .version; they are left as they are.
		if body := data[i : i+end]; bytes.Contains(body[:min(len(body), 200)], []byte(".target")) {
			all = append(all, text{i, body})
		}
		at = i + end
	}
}

// store is an instruction that writes memory, in lines of a module without comments.
type store struct {
	text, line int
	before     string // label and predicate
	op         string // with its modifiers
	address    string // with brackets and comma
	value      string // the first register or number that is written
	after      string // what follows it
}

// instruction takes apart a store, a store to a surface, a matrix fragment's store, a reduction and an atomic
// operation. Parameters and thread-local memory (.param, .local) are left out: the compiler keeps values of its own
// there.
var instruction = regexp.MustCompile(`^(\s*(?:\{\s*)?(?:@!?[\w%$]+\s+)?)` +
	`((?:st|sust|red|wmma\.store\.d)(?:[.:][\w:]+)*|atom(?:[.:][\w:]+)*\s+[\w%$]+,)` +
	`(\s*\[[^\]]+\]\s*,\s*\{?\s*)([\w%$.+-]+)(.*;.*)$`)

// stores finds the stores of modules, each given as lines without comments.
func stores(modules [][]string) []store {
	var all []store
	for t, lines := range modules {
		for n, line := range lines {
			m := instruction.FindStringSubmatch(line)
			if m == nil || strings.Contains(m[2], ".param") || strings.Contains(m[2], ".local") ||
				strings.HasPrefix(m[2], "st.async") || strings.HasPrefix(m[2], "st.bulk") ||
				strings.Contains(m[2], ".cas") || strings.Contains(m[2], ".b128") || width(m[2], m[4]) == 0 {
				continue
			}
			all = append(all, store{t, n, m[1], m[2], m[3], m[4], m[5]})
		}
	}
	return all
}

var (
	kindOf     = regexp.MustCompile(`\.([busf]|bf)(8|16|32|64)(x2)?\b`)
	registerOf = regexp.MustCompile(`^%(rs|rd|r|fd|f|h)\d+$`)
)

// width is the number of bits of a register that holds the value, and 0 when that is not known. Registers are as the
// compilers name them; others have the width of the instruction's type.
func width(op, value string) int {
	if m := registerOf.FindStringSubmatch(value); m != nil {
		return map[string]int{"rs": 16, "h": 16, "r": 32, "f": 32, "rd": 64, "fd": 64}[m[1]]
	}
	all := kindOf.FindAllStringSubmatch(op, -1)
	if len(all) == 0 {
		return 0
	}
	m := all[len(all)-1]
	switch {
	case m[2] == "8" || m[2] == "16" && m[3] == "":
		return 16
	case m[2] == "16" || m[2] == "32":
		return 32
	}
	return 64
}

// changed is the line with another value written: all bits of an integer are turned over; of a floating-point number
// the highest bit of the fraction, so that it stays a number of nearly the same size.
func (s *store) changed() string {
	n := width(s.op, s.value)
	turn := fmt.Sprintf("not.b%d zq,%s;", n, s.integer())
	if all := kindOf.FindAllStringSubmatch(s.op, -1); len(all) > 0 {
		switch m := all[len(all)-1]; {
		case m[1] == "f" && m[2] == "32":
			turn = fmt.Sprintf("xor.b32 zq,%s,0x400000;", s.integer())
		case m[1] == "f" && m[2] == "64":
			turn = fmt.Sprintf("xor.b64 zq,%s,0x8000000000000;", s.integer())
		case m[2] == "16" && (m[1] == "f" || m[1] == "bf"):
			turn = fmt.Sprintf("xor.b%d zq,%s,0x40;", n, s.integer())
		}
	}
	before := s.before
	open := ""
	if i := strings.IndexByte(before, '{'); i >= 0 {
		open, before = before[:i+1], before[i+1:]
	}
	return fmt.Sprintf("%s{.reg .b%d zq;%s%s%s%szq%s}", open, n, turn, before, s.op, s.address, s.after)
}

// integer is the value as an operand of an instruction on bits.
func (s *store) integer() string {
	if strings.HasPrefix(s.value, "0f") || strings.HasPrefix(s.value, "0d") {
		return "0x" + s.value[2:]
	}
	return s.value
}

// bare is a module's lines without comments, blank lines and indentation, which makes room for the change.
func bare(body []byte) []string {
	var lines []string
	inside := false // a comment of several lines
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(line)
		if inside {
			_, rest, found := strings.Cut(line, "*/")
			if !found {
				continue
			}
			inside, line = false, strings.TrimSpace(rest)
		}
		if !strings.Contains(line, `"`) {
			if i := strings.Index(line, "//"); i >= 0 {
				line = strings.TrimSpace(line[:i])
			}
			for {
				i := strings.Index(line, "/*")
				if i < 0 {
					break
				}
				j := strings.Index(line[i:], "*/")
				if j < 0 {
					line, inside = strings.TrimSpace(line[:i]), true
					break
				}
				line = strings.TrimSpace(line[:i] + " " + line[i+j+2:])
			}
		}
		if line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// room is the number of bytes by which the lines of a module may grow.
func room(t text, lines []string) int {
	n := len(t.body)
	for _, l := range lines {
		n -= len(l) + 1
	}
	return n
}

// write puts lines in a module's place in data, with blanks behind them. It fails when they do not fit.
func write(data []byte, t text, lines []string) error {
	body := strings.Join(lines, "\n") + "\n"
	if len(body) > len(t.body) {
		return fmt.Errorf("a changed module takes %d bytes; there are %d", len(body), len(t.body))
	}
	copy(data[t.at:], body+strings.Repeat(" ", len(t.body)-len(body)))
	return nil
}
