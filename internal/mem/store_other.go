//go:build !linux && !darwin

package mem

import (
	"errors"
	"os"
)

// backing does not exist here. Windows maps sections only in place of placeholders of exactly their size, which the one
// reservation of the window is not.
type backing struct{ f *os.File }

func newBacking(uint64) (*backing, error) { return nil, errors.ErrUnsupported }

func (b *backing) punch(_, _ uint64) error                       { return errors.ErrUnsupported }
func (b *backing) close() error                                  { return nil }
func (m *mapping) share(_, _ uint64, _ *backing, _ uint64) error { return errors.ErrUnsupported }
func (m *mapping) unshare(_, _ uint64) error                     { return errors.ErrUnsupported }
func (m *mapping) protect(_, _ uint64, _ Access) error           { return errors.ErrUnsupported }
