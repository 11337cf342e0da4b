package lower

import "github.com/gocuda/cuda/internal/tileir/devmath"

func mathSource(name string) (string, []string, bool) { return devmath.Source(name) }
