//go:build gocuda_nodriver || !linux || !(amd64 || arm64)

package nccl

// Library cannot be opened in this build.
type Library struct{}

// Open fails: the build has no way to open a library.
func Open(string) (*Library, error) {
	return nil, &LoadError{Reason: "this build cannot open shared libraries (the tag gocuda_nodriver, or a system " +
		"without NCCL)"}
}

// Path is empty.
func (*Library) Path() string { return "" }

// Call fails.
func (*Library) Call(name string, _ ...uintptr) (uintptr, error) {
	return 0, &MissingError{Symbol: name}
}

// CallStruct fails.
func (*Library) CallStruct(name string, _ [128]byte, _ int, _ ...uintptr) (uintptr, error) {
	return 0, &MissingError{Symbol: name}
}
