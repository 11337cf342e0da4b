package lower

import "github.com/gocuda/cuda/internal/tileir/devmath"

// mathSource gives the text of a mathematical function and the names of those that have to stand before it.
func mathSource(name string) (text string, needs []string, ok bool) { return devmath.Source(name) }
