//go:build !linux && !darwin

package mem

import "errors"

func (b *backing) descriptor() (uintptr, error)     { return 0, errors.ErrUnsupported }
func openBacking(uintptr) (*backing, uint64, error) { return nil, 0, errors.ErrUnsupported }
