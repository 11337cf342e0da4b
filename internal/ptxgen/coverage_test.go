package ptxgen

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// refused are the words of the table that package check refuses in every combination on sm_90a, by the form's rule or
// name. The rules stand in package check, with their sources; wmma's .satfinite went with PTX 6.5.
var refused = []struct{ rule, words, form string }{
	{"signedonly", "u16 u32 u64", ""},
	{"carry", "u16 s16 sat", ""},
	{"intsat", "sat", ""}, // of u16x2 and s16x2
	{"intrelu", "u16 u32 u64 s16 s64", ""},
	{"compare", "lo ls hi hs ftz", ""}, // of f16 and bf16
	{"ld", "v8 L2::evict_normal L2::evict_first L2::evict_last", ""},
	{"st", "v8 L2::evict_normal L2::evict_first L2::evict_last", ""},
	{"tma", "1d 2d", ""}, // with .im2col
	{"bulkreduce", "b64 s64 f16 bf16 f32 f64 noftz", ""},
	{"wmmasat", "satfinite", ""},
	{"entryspace", "u32", ""},
	{"ld", "const local param param::entry param::func", ".volatile"},
	{"ld", "const local param param::entry param::func", "relaxed"},
	{"ld", "const local param param::entry param::func", "acquire"},
	{"st", "local param param::func", ".volatile"},
	{"st", "local param param::func", "relaxed"},
	{"st", "local param param::func", "release"},
	{"atom", "v8", ""}, // a result of eight different registers of 16 bits that may hold floats: a program has four
}

func isRefused(f Feature) bool {
	for _, r := range refused {
		if (r.rule == f.Form.Rule || r.rule == f.Form.Name && f.Form.Rule == "") &&
			slices.Contains(strings.Fields(r.words), f.Word) && strings.Contains(f.Form.Syntax, r.form) {
			return true
		}
	}
	return false
}

// later says whether a later program that should hold a feature does: some need what a program is at its first choice,
// as multiplications that may be fused.
func later(i int, f Feature) bool {
	n := uint64(len(Features()))
	for seed := range 20 * n {
		for k := range uint64(FeaturesPerProgram) {
			if (seed*FeaturesPerProgram+k)%n == uint64(i) && !slices.Contains(Generate(seed).Missing, f) {
				return true
			}
		}
	}
	return false
}

// TestCoverage: as many seeds as hold every feature once use every form of the table that sm_90a has, with every word
// of it that package check accepts.
func TestCoverage(t *testing.T) {
	forms, words := map[int]bool{}, map[string]bool{}
	n := (uint64(len(Features())) + FeaturesPerProgram - 1) / FeaturesPerProgram
	if testing.Short() {
		n /= 8
	}
	held := map[string]bool{}
	for seed := range n {
		p := Generate(seed)
		for i := range uint64(FeaturesPerProgram) {
			held[Features()[(seed*FeaturesPerProgram+i)%uint64(len(Features()))].String()] = true
		}
		for _, u := range p.Uses {
			forms[u.Form.Index] = true
			for i, w := range u.Words {
				words[fmt.Sprint(u.Form.Index, i, w)] = true
			}
		}
	}
	missing := 0
	for i, f := range Features() {
		used := forms[f.Form.Index] && (f.Slot < 0 || words[fmt.Sprint(f.Form.Index, f.Slot, f.Word)])
		switch {
		case !used && isRefused(f):
			if held[f.String()] {
				missing++
			}
		case !used && held[f.String()] && !later(i, f):
			t.Errorf("no program has %s", f)
		}
	}
	if missing > 180 {
		t.Errorf("%d words are refused in every combination", missing)
	}
	t.Logf("%d programs use %d forms; of %d words %d are refused in every combination", n, len(forms), len(Features()),
		missing)
}
