package sequence

import (
	"fmt"
	"strconv"
	"strings"
)

// Call is one line of a sequence.
type Call struct {
	Thread int
	Fn     string
	Args   []string
}

// String is the line.
func (c Call) String() string {
	var b strings.Builder
	if c.Thread != 1 {
		fmt.Fprintf(&b, "[%d] ", c.Thread)
	}
	b.WriteString(c.Fn)
	if !c.api() {
		b.WriteString(" " + strings.Join(c.Args, " "))
		return b.String()
	}
	b.WriteString("(" + strings.Join(c.Args, ", ") + ")")
	return b.String()
}

// api says whether the line is a call of the driver, and not one of the interpreter's own statements.
func (c Call) api() bool { return strings.HasPrefix(c.Fn, "cu") }

// Parse reads a line.
func Parse(line string) (Call, error) {
	c := Call{Thread: 1}
	rest := line
	if strings.HasPrefix(rest, "[") {
		n, after, ok := strings.Cut(rest[1:], "] ")
		t, err := strconv.Atoi(n)
		if !ok || err != nil || t < 1 || t > 16 {
			return c, fmt.Errorf("no thread in %q", line)
		}
		c.Thread, rest = t, after
	}
	if !strings.HasPrefix(rest, "cu") {
		f := strings.Fields(rest)
		if len(f) == 0 {
			return c, fmt.Errorf("empty line")
		}
		c.Fn, c.Args = f[0], f[1:]
		return c, nil
	}
	name, args, ok := strings.Cut(rest, "(")
	if !ok || !strings.HasSuffix(args, ")") {
		return c, fmt.Errorf("no call: %q", line)
	}
	c.Fn = name
	c.Args = split(strings.TrimSuffix(args, ")"), ',')
	return c, nil
}

// split cuts a list at a separator outside brackets and quotes.
func split(s string, sep byte) []string {
	var list []string
	depth, start, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		case c == sep && depth == 0:
			list = append(list, strings.TrimSpace(s[start:i]))
			start = i + 1
		}
	}
	if last := strings.TrimSpace(s[start:]); last != "" || len(list) > 0 {
		list = append(list, last)
	}
	return list
}
