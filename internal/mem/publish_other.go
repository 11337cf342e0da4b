//go:build !linux && !darwin

package mem

import "errors"

func newCookieBacking(_, _ uint64) (*backing, error)  { return nil, errors.ErrUnsupported }
func openCookieBacking(Published) (*backing, error)   { return nil, errors.ErrUnsupported }
func (b *backing) published(uint64) Published         { return Published{} }
func (b *backing) number() int32                      { return -1 }
func (b *backing) mapAll(int) ([]byte, error)         { return nil, errors.ErrUnsupported }
func unmapAll([]byte) error                           { return errors.ErrUnsupported }
func (m *mapping) move(_, _ uint64, _ *backing) error { return errors.ErrUnsupported }

// ProcessGone says whether a process has ended; here nobody knows.
func ProcessGone(int) bool { return false }
