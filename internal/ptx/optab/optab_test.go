package optab

import "testing"

// TestTable compiles every line: Lookup panics at one that it cannot read. Names, numbers and order are those of the lines.
func TestTable(t *testing.T) {
	table := Get()
	forms := table.Forms()
	if len(forms) < 1000 || len(table.Names()) < 100 {
		t.Fatalf("%d forms of %d instructions", len(forms), len(table.Names()))
	}
	for i, f := range forms {
		if f == nil {
			t.Fatalf("no form %d", i)
		}
		if f.Index != i || f.Name == "" || f.Group == "" || i > 0 && f.Group == forms[i-1].Group && f.Line <= forms[i-1].Line {
			t.Errorf("form %d: number %d, %s:%d, %q", i, f.Index, f.Group, f.Line, f.Name)
		}
	}
	for _, name := range table.Names() {
		last := -1
		for _, f := range table.Lookup(name) {
			if f.Name != name || f.Index <= last {
				t.Errorf("%s has form %d of %s after %d", name, f.Index, f.Name, last)
			}
			last = f.Index
		}
	}
	if table.Lookup("nothing") != nil {
		t.Error("forms of a name that is not in the table")
	}
}

// BenchmarkRead reads the table and compiles all of it.
func BenchmarkRead(b *testing.B) {
	for _, all := range []bool{false, true} {
		b.Run(map[bool]string{false: "lines", true: "forms"}[all], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t, err := readAll()
				if err != nil {
					b.Fatal(err)
				}
				if all {
					t.Forms()
				}
			}
		})
	}
}
