package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestMeant(t *testing.T) {
	for _, c := range []struct {
		name  string
		names []string
		want  string
	}{
		{"godo", []string{"bad", "fill", "good", "zero"}, "good"}, // two neighbours exchanged
		{"saxpie", []string{"saxpy", "scale"}, "saxpy"},
		{"scale", []string{"_Z5scalePf", "scald"}, "_Z5scalePf"},
		{"transpose", []string{"add", "mul"}, ""},
		{"", []string{"add"}, ""},
		{"x", nil, ""},
		{strings.Repeat("a", 5000), []string{strings.Repeat("a", 4999)}, ""}, // too long to say
	} {
		before := slices.Clone(c.names)
		if got := Meant(c.name, c.names); got != c.want || !slices.Equal(before, c.names) {
			t.Errorf("%.20q in %.40q: %.20q, want %q", c.name, c.names, got, c.want)
		}
	}
	names := []string{"zz", "b", "abc", "xabx", "acb"}
	Sort("ab", names)
	if want := []string{"abc", "xabx", "acb", "b", "zz"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

// The distances of pairs whose edits can be counted by hand.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
