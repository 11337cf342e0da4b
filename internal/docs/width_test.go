package docs

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The width of lines, with a tab as four columns.
const (
	columns = 120
	tab     = 4
)

func width(line string) (n int) {
	for _, r := range line {
		if r == '\t' {
			n += tab - n%tab
		} else {
			n++
		}
	}
	return n
}

// long are lines that no break makes short enough: a word, the text of a string, a row of a table.
var (
	longWord   = regexp.MustCompile(`\S{60}`)
	tableRow   = regexp.MustCompile(`^\s*\|`)
	codeFence  = regexp.MustCompile("^\\s*```")
	codeInDocs = regexp.MustCompile(`^(\t| {4})`)
)

// TestWidth: comments and the documents' sentences stay within 120 columns, and so does code where it can be broken.
func TestWidth(t *testing.T) {
	t.Run("Go", func(t *testing.T) {
		walk(t, ".go", func(path string) {
			name := filepath.Base(path)
			if strings.HasPrefix(name, "zz_generated") || strings.Contains(path, "/testdata/") {
				return
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			whole := texts(b)
			for i, line := range strings.Split(string(b), "\n") {
				if w := width(line); w > columns && !whole[i] {
					t.Errorf("%s:%d: %d columns", path, i+1, w)
				}
			}
		})
	})
	t.Run("Markdown", func(t *testing.T) {
		for path, text := range pages(t) {
			if strings.Contains(path, "/testdata/") || written(text) {
				continue
			}
			code := false
			for i, line := range strings.Split(text, "\n") {
				code = code != codeFence.MatchString(line)
				if w := width(line); w > columns && !code && !tableRow.MatchString(line) &&
					!codeInDocs.MatchString(line) &&
					!longWord.MatchString(line) {
					t.Errorf("%s:%d: %d columns", path, i+1, w)
				}
			}
		}
	})
}

// written says whether a command writes a page.
func written(text string) bool {
	head, _, _ := strings.Cut(text, "\n\n| ")
	return strings.Contains(head, "written by") || strings.Contains(head, "Written by")
}

// texts are the lines of a Go file that have a long string, a comment in several lines, or a comment that no space
// divides.
func texts(src []byte) map[int]bool {
	set := token.NewFileSet()
	f := set.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(f, src, nil, scanner.ScanComments)
	whole := map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return whole
		}
		n := bytes.Count([]byte(lit), []byte("\n"))
		at := f.Line(pos) - 1
		comment := tok == token.COMMENT && (strings.HasPrefix(lit, "//go:") || strings.HasPrefix(lit, "// \t") ||
			strings.HasPrefix(lit, "//\t") || strings.HasPrefix(lit, "// Output:") || longWord.MatchString(lit))
		// the scanner calls the end of a line that ends a statement a semicolon with that text
		if n > 0 && tok != token.SEMICOLON || tok == token.STRING && len(lit) > 40 || comment {
			for i := range n + 1 {
				whole[at+i] = true
			}
		}
	}
}
