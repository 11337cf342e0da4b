package nccl

import (
	"time"
	"unsafe"

	"github.com/gocuda/cuda/nccl/raw"
)

// Config configures communicators. The zero value leaves everything to NCCL.
type Config struct {
	// Timeout bounds how long a rank waits for others where no context.Context does: on software devices each
	// operation, and everywhere each call and [Comm.Wait]. Zero is no bound. The communicator fails when it passes.
	Timeout time.Duration
	// Name appears in NCCL's messages (2.27).
	Name string
	// MinCTAs and MaxCTAs bound how many blocks of a GPU NCCL uses; CGAClusterSize is the size of their clusters.
	MinCTAs, MaxCTAs, CGAClusterSize int
	// NetName chooses the network plugin.
	NetName string
	// SplitShare lets communicators made by Split use the resources of the one that they are made of.
	SplitShare bool
	// Raw changes the structure that NCCL gets, for what this one does not have. It has no effect on software devices.
	Raw func(*raw.Config)
	// Library is the NCCL library; nil is the one that [raw.Open] finds.
	Library *raw.Library
}

// raw is the structure for the library. Communicators are non-blocking.
func (c *Config) raw() *raw.Config {
	r := raw.NewConfig()
	r.Blocking = 0
	for _, f := range []struct {
		to   *int32
		from int
	}{{&r.MinCTAs, c.MinCTAs}, {&r.MaxCTAs, c.MaxCTAs}, {&r.CgaClusterSize, c.CGAClusterSize}} {
		if f.from > 0 {
			*f.to = int32(min(f.from, 1<<30))
		}
	}
	if c.SplitShare {
		r.SplitShare = 1
	}
	r.CommName, r.NetName = text(c.Name), text(c.NetName)
	if c.Raw != nil {
		c.Raw(&r)
	}
	return &r
}

// text is a string for C; NCCL copies it.
func text(s string) *byte {
	if s == "" {
		return nil
	}
	return unsafe.SliceData(append([]byte(s), 0))
}
