package main

import (
	"os"
	"strings"
	"testing"
)

// TestParse reads the table and refuses rows that are wrong.
func TestParse(t *testing.T) {
	text, err := os.ReadFile("../../tileir/ops.tab")
	if err != nil {
		t.Fatal(err)
	}
	ops, err := parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(ops) != 105 {
		t.Errorf("%d operations", len(ops))
	}
	good := "00|AbsF|absf|AbsFOp|1|result:FloatTile|source:FloatTile|||Types(source,result)|{source} : {:result}|"
	if _, err := parse(good); err != nil {
		t.Error(err)
	}
	for _, c := range [][2]string{{"00|", "xx|"}, {"Types", "Kinds"}, {"|||Types", "||Q|Types"},
		{"source:FloatTile", "source"}} {
		if row := strings.Replace(good, c[0], c[1], 1); row != good {
			if _, err := parse(row); err == nil {
				t.Errorf("%s is accepted", row)
			}
		}
	}
	if _, err := parse(good + "|more"); err == nil {
		t.Error("a row with one column more is accepted")
	}
}
