//go:build !linux && !darwin && !windows

package mem

import (
	"errors"
	"unsafe"
)

type mapping struct {
	base unsafe.Pointer
	size uint64
}

func reserve(uint64) (*mapping, error)        { return nil, errors.ErrUnsupported }
func (m *mapping) commit(_, _ uint64) error   { return errors.ErrUnsupported }
func (m *mapping) decommit(_, _ uint64) error { return errors.ErrUnsupported }
func (m *mapping) adviseHuge(_, _ uint64)     {}
func (m *mapping) release() error             { return errors.ErrUnsupported }

// PhysicalMemory returns the bytes of memory the host has, 0 when it does not say.
func PhysicalMemory() uint64 { return 0 }
