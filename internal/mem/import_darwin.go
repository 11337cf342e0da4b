package mem

import "errors"

func isEventfd(uintptr) bool { return false }

func (b *backing) post() error         { return errors.ErrUnsupported }
func (b *backing) take() (bool, error) { return false, errors.ErrUnsupported }
