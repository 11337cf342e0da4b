//go:build !linux && !darwin

package mem

import "errors"

func fileSize(uintptr) (uint64, error) { return 0, errors.ErrUnsupported }
func closeDescriptor(uintptr)          {}
func isEventfd(uintptr) bool           { return false }
func (b *backing) post() error         { return errors.ErrUnsupported }
func (b *backing) take() (bool, error) { return false, errors.ErrUnsupported }
func (b *backing) id() uint64          { return 0 }
