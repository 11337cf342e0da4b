//go:build !gocuda_nodriver && (amd64 || arm64)

package nvrtc

// keepSignals calls f; there are no signals here.
func keepSignals(f func()) { f() }
