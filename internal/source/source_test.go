package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("src/a.cu", "kernel")
	write("src/secret", "secret")
	write("long.cu", strings.Repeat("x", MaxFile+1))
	if err := os.Mkdir("folder.cu", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"src/a.cu", "./src/a.cu", "/home/somebody/project/src/a.cu", "a/b/src/a.cu"} {
		if b, err := Read(name); err != nil || string(b) != "kernel" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"", "src/secret", "/etc/passwd", "nothing.cu", "folder.cu", "long.cu", "a\x00.cu"} {
		if b, err := Read(name); err == nil {
			t.Errorf("%q: %d bytes were read", name, len(b))
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc": "a\tb\nc", "\x00\x1b[1m\r": "\uFFFD\uFFFD[1m\uFFFD", "\xffa": "\uFFFDa", "é漢": "é漢",
		"\u202ea\u2066\u200b": "\uFFFDa\uFFFD\uFFFD", "\u2028\u2029\ufeff\u0085": "\uFFFD\uFFFD\uFFFD\uFFFD",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
