package cc

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// item is a statement of a PTX module: a directive, a declaration or a function.
type item struct {
	text string
	name string // of a function or variable
	link string // extern, visible, weak, or "" for what the module keeps to itself
	fn   bool   // .func or .entry
	kern bool   // .entry
	body bool   // a function with a body
	head string // of a function: what a declaration repeats
}

var (
	word     = regexp.MustCompile(`[A-Za-z_$%][\w$]*`)
	lineLoc  = regexp.MustCompile(`(\.loc\s+|inlined_at\s+)(\d+)`)
	fileLine = regexp.MustCompile(`^\.file\s+(\d+)(.*)`)
	variable = regexp.MustCompile(`([A-Za-z_$%][\w$]*)\s*(?:\[[^\]]*\]\s*)*(?:=|;)`)
	function = regexp.MustCompile(`^(?s)((?:\.\w+\s+)*\.(?:func|entry)\s+(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)\s*(?:\([^)]*\))?)`)
)

// statements takes a PTX text apart at its outermost level. Comments go.
func statements(ptx []byte) []item {
	var items []item
	s := stripComments(ptx)
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		if s == "" {
			return items
		}
		var end int
		switch {
		case strings.HasPrefix(s, ".version"), strings.HasPrefix(s, ".target"), strings.HasPrefix(s, ".address_size"),
			strings.HasPrefix(s, ".file"):
			if end = strings.IndexByte(s, '\n'); end < 0 {
				end = len(s)
			}
		default:
			end = statementEnd(s)
		}
		it := item{text: s[:end]}
		s = s[end:]
		if strings.HasPrefix(it.text, ".section") {
			continue // debugging tables number what is about to be joined
		}
		for _, l := range []string{"extern", "visible", "weak", "common"} {
			if strings.HasPrefix(it.text, "."+l) {
				it.link = l
			}
		}
		if m := function.FindStringSubmatch(it.text); m != nil {
			it.fn, it.head, it.name = true, m[1], m[2]
			it.kern = strings.Contains(m[1], ".entry")
			it.body = strings.HasSuffix(it.text, "}")
		} else if m := variable.FindStringSubmatch(it.text); m != nil {
			it.name = m[1]
		}
		items = append(items, it)
	}
}

func stripComments(ptx []byte) string {
	var b strings.Builder
	for len(ptx) > 0 {
		switch {
		case bytes.HasPrefix(ptx, []byte("//")):
			n := bytes.IndexByte(ptx, '\n')
			if n < 0 {
				return b.String()
			}
			ptx = ptx[n:]
		case bytes.HasPrefix(ptx, []byte("/*")):
			n := bytes.Index(ptx, []byte("*/"))
			if n < 0 {
				return b.String()
			}
			ptx = ptx[n+2:]
		case ptx[0] == '"':
			n := bytes.IndexByte(ptx[1:], '"')
			if n < 0 {
				n = len(ptx) - 2
			}
			b.Write(ptx[:n+2])
			ptx = ptx[n+2:]
		default:
			b.WriteByte(ptx[0])
			ptx = ptx[1:]
		}
	}
	return b.String()
}

// statementEnd is where a declaration ends: at its semicolon, a function at its closing brace.
func statementEnd(s string) int {
	depth, fn := 0, function.MatchString(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			if n := strings.IndexByte(s[i+1:], '"'); n >= 0 {
				i += n + 1
			}
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 && (fn || strings.HasPrefix(s, ".section")) {
				return i + 1
			}
		case ';':
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// merge makes one PTX module of several that have been linked without an error: names that a module keeps to itself
// get its number, declarations go where there is a definition, and of weak definitions the first stays.
func merge(units [][]byte) []byte {
	var header, declarations, variables, functions bytes.Buffer
	parts := make([][]item, len(units))
	defined := map[string]int{} // unit that defines a name; a strong definition goes before weak ones
	strong := map[string]bool{}
	for u, ptx := range units {
		parts[u] = statements(ptx)
		own := map[string]string{}
		for _, it := range parts[u] {
			if it.name == "" || it.link == "extern" || it.fn && !it.body {
				continue
			}
			switch _, known := defined[it.name]; {
			case it.link == "" && !it.kern:
				own[it.name] = fmt.Sprintf("%s$unit%d", it.name, u)
			case it.link == "weak" && known:
			case !strong[it.name]:
				defined[it.name], strong[it.name] = u, it.link != "weak"
			}
		}
		if len(own) == 0 {
			continue
		}
		rename := func(s string) string {
			return word.ReplaceAllStringFunc(s, func(t string) string {
				if to, ok := own[t]; ok {
					return to
				}
				return t
			})
		}
		for i := range parts[u] {
			it := &parts[u][i]
			it.text, it.head, it.name = rename(it.text), rename(it.head), rename(it.name)
		}
	}
	files, declared := 0, map[string]bool{}
	var pending []item
	for u, items := range parts {
		most := 0
		for _, it := range items {
			switch {
			case strings.HasPrefix(it.text, ".file"):
				if m := fileLine.FindStringSubmatch(it.text); m != nil {
					n, _ := strconv.Atoi(m[1])
					most = max(most, n)
					fmt.Fprintf(&declarations, ".file %d%s\n", n+files, m[2])
				}
			case it.name == "":
				if u == 0 {
					fmt.Fprintln(&header, it.text)
				}
			case it.link == "extern" || it.fn && !it.body:
				if _, ok := defined[it.name]; !ok && !declared[it.name] {
					declared[it.name] = true
					fmt.Fprintln(&declarations, it.text)
				}
			case it.link != "" && defined[it.name] != u:
			case it.fn:
				if !it.kern {
					fmt.Fprintf(&declarations, "%s;\n", it.head)
				}
				fmt.Fprintln(&functions, lineLoc.ReplaceAllStringFunc(it.text, func(s string) string {
					m := lineLoc.FindStringSubmatch(s)
					n, _ := strconv.Atoi(m[2])
					return m[1] + strconv.Itoa(n+files)
				}))
			default:
				pending = append(pending, it)
			}
		}
		files += most
	}
	order(&variables, pending)
	return bytes.Join([][]byte{header.Bytes(), declarations.Bytes(), variables.Bytes(), functions.Bytes()},
		[]byte("\n"))
}

// order writes variables so that those whose initial value has the address of another come behind it.
func order(to *bytes.Buffer, pending []item) {
	for len(pending) > 0 {
		waiting := map[string]bool{}
		for _, it := range pending {
			waiting[it.name] = true
		}
		var later []item
		for _, it := range pending {
			_, value, _ := strings.Cut(it.text, "=")
			free := true
			for _, w := range word.FindAllString(value, -1) {
				free = free && (w == it.name || !waiting[w])
			}
			if free {
				fmt.Fprintln(to, it.text)
				delete(waiting, it.name)
			} else {
				later = append(later, it)
			}
		}
		if len(later) == len(pending) { // a circle, which a declaration would have to break
			for _, it := range later {
				fmt.Fprintln(to, it.text)
			}
			return
		}
		pending = later
	}
}
