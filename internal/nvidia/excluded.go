//go:build gocuda_nodriver || !((linux || windows) && (amd64 || arm64))

package nvidia

import (
	"runtime"

	"github.com/gocuda/cuda/internal/driver"
)

// Driver is never made in this build.
type Driver struct{}

// Open fails: see [ErrExcluded].
func Open(Options) (*Driver, error) {
	return nil, &LoadError{Reason: ErrExcluded, Detail: "build tag gocuda_nodriver, or no driver exists for " +
		runtime.GOOS + "/" + runtime.GOARCH}
}

// Table returns nil.
func (*Driver) Table() *driver.Table { return nil }

// Path returns the empty string.
func (*Driver) Path() string { return "" }

// Close does nothing.
func (*Driver) Close() error { return nil }

// Missing returns nil.
func (*Driver) Missing() []MissingSymbol { return nil }

// LastDetail returns the empty string.
func (*Driver) LastDetail() string { return "" }

// CallbackPanic returns nil.
func (*Driver) CallbackPanic() *CallbackPanic { return nil }
