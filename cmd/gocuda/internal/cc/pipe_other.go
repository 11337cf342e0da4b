//go:build !unix

package cc

import "errors"

// makePipe fails: the system has no pipes with names in the file system.
func makePipe(string) error { return errors.ErrUnsupported }

func feed(string, []byte, <-chan struct{}) error { return errors.ErrUnsupported }
