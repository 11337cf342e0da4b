//go:build !linux

package softnccl

import "errors"

// segment would be memory that other processes see: there are no memory files here.
type segment struct {
	name segmentName
	mem  []byte
}

var errSegment = errors.New("software devices of several processes need Linux")

func newSegment(uint64) (*segment, error) { return nil, errSegment }

func openSegment(segmentName) (*segment, error) { return nil, errSegment }

func (s *segment) close() {}
