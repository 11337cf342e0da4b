package api

import "github.com/gocuda/cuda/internal/driver"

// nullCases: every function with 0 for every argument, in the three starts.
func nullCases(c *cases) {
	for _, start := range []Start{NoInit, NoContext, WithContext} {
		for s := range driver.Symbols() {
			if !s.Exported || s.Name == "cuInit" {
				continue
			}
			name := map[Start]string{NoInit: "before-init", NoContext: "no-context", WithContext: "context"}[start]
			*c = append(*c, Case{Name: "zeros/" + name + "/" + s.Name, Start: start, run: func(e *Env) { e.zeros(s) }})
		}
	}
}

// zeros calls a function with zeros.
func (e *Env) zeros(s driver.Symbol) {
	args := make([]any, len(s.Params))
	e.Do(s.Name, args...)
}
