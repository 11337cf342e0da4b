//go:build gocuda_nodriver || !(linux || windows) || !(amd64 || arm64)

package nvrtc

// Library cannot be opened in this build.
type Library struct{}

// Program is the result of a compilation.
type Program struct{}

// Open opens the library at a path. An empty path stands for the environment variable GOCUDA_NVRTC, or else for the
// places where CUDA and pip install the library: the active Python environment (VIRTUAL_ENV, CONDA_PREFIX), the names
// known to the system's loader, CUDA toolkits, and the packages of the python3 on PATH. Libraries that it depends on
// are opened too. The error is a [*LoadError]. A library stays loaded until the process ends.
func Open(string) (*Library, error) {
	return nil, &LoadError{Reason: "this build cannot open shared libraries (the tag gocuda_nodriver, or a system without NVRTC)"}
}

var errNone = &LoadError{Reason: "not in this build"}

// Headers are none.
func (*Library) Headers() []string { return nil }

// Path is empty.
func (*Library) Path() string { return "" }

// Version fails.
func (*Library) Version() (major, minor int, err error) { return 0, 0, errNone }

// Architectures fails.
func (*Library) Architectures() ([]int, error) { return nil, errNone }

// Create fails.
func (*Library) Create(_, _ string, _, _ []string) (*Program, error) { return nil, errNone }

// Destroy fails.
func (*Program) Destroy() error { return errNone }

// AddName fails.
func (*Program) AddName(string) error { return errNone }

// Compile fails.
func (*Program) Compile([]string) error { return errNone }

// PTX fails.
func (*Program) PTX() ([]byte, error) { return nil, errNone }

// CUBIN fails.
func (*Program) CUBIN() ([]byte, error) { return nil, errNone }

// HasTileIR fails.
func (*Library) HasTileIR() error { return errNone }

// TileIR fails.
func (*Program) TileIR() ([]byte, error) { return nil, errNone }

// Log fails.
func (*Program) Log() ([]byte, error) { return nil, errNone }

// LoweredName fails.
func (*Program) LoweredName(string) (string, error) { return "", errNone }
