package tileir

import "fmt"

// checkHints says what is wrong with a dictionary of hints, "" when nothing is. What hints there are and which
// architectures is left to those who heed them.
func checkHints(a *Attr) string {
	for i, arch := range a.Keys {
		if v := a.List[i]; v.Kind != DictionaryValue {
			b := buffer{max: maxTypeText}
			b.attr(v, false)
			return fmt.Sprintf("expected dictionary attribute for optimization_hints entry `%s` got value=%s", arch,
				b.b)
		}
	}
	return ""
}

func signExtend(v uint64, bits int) int64 {
	if bits >= 64 {
		return int64(v)
	}
	return int64(v<<(64-bits)) >> (64 - bits)
}
