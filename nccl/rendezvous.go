package nccl

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gocuda/cuda"
)

// Rendezvous hands the identifier of a communicator from rank 0 to the others.
type Rendezvous interface {
	// ID makes the identifier in rank 0 and returns it in all ranks. It ends with ctx.
	ID(ctx context.Context, rank, n int, c *cuda.Context, cfg Config) (ID, error)
}

// Join is [Init] with the identifier of a rendezvous.
func Join(ctx context.Context, r Rendezvous, rank, n int, c *cuda.Context, cfg Config) (*Comm, error) {
	ctx, cancel := cfg.bound(ctx)
	defer cancel()
	id, err := r.ID(ctx, rank, n, c, cfg)
	if err != nil {
		return nil, err
	}
	return Init(ctx, id, rank, n, c, cfg)
}

// File is a rendezvous through a file that all ranks see: on one machine, or on a shared file system. Rank 0 writes it.
// It must not exist before, so a program that runs again uses another name or removes it. It may be removed when all
// ranks have joined.
type File struct {
	Path string
}

const fileMagic = "gocuda nccl 1 "

// ID implements [Rendezvous]. A file that exists before rank 0 writes it is an error in rank 0 (os.ErrExist).
func (f File) ID(ctx context.Context, rank, n int, c *cuda.Context, cfg Config) (ID, error) {
	const op = "nccl.File"
	if rank == 0 {
		id, err := NewID(c, cfg)
		if err != nil {
			return ID{}, err
		}
		if err := f.write(id, n); err != nil {
			return ID{}, &Error{Op: op, Code: ErrSystem, Detail: err.Error(), cause: err}
		}
		return id, nil
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		b, err := os.ReadFile(f.Path)
		switch {
		case err == nil:
			id, size, err := parseFile(b)
			if err == nil && size != n {
				err = fmt.Errorf("rank 0 has written for %d ranks, there are %d", size, n)
			}
			if err != nil {
				return ID{}, &Error{Op: op, Code: ErrInvalidUsage, Detail: f.Path + ": " + err.Error(), cause: err}
			}
			return id, nil
		case !errors.Is(err, os.ErrNotExist):
			return ID{}, &Error{Op: op, Code: ErrSystem, Detail: err.Error(), cause: err}
		}
		select {
		case <-ctx.Done():
			return ID{}, &Error{Op: op, Code: ErrTimeout, Detail: "rank 0 has not written " + f.Path,
				cause: context.Cause(ctx)}
		case <-time.After(pause):
		}
	}
}

// write makes the file whole or not at all.
func (f File) write(id ID, n int) error {
	tmp, err := os.CreateTemp(filepath.Dir(f.Path), filepath.Base(f.Path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = fmt.Fprintf(tmp, "%s%d %x\n", fileMagic, n, id[:])
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Link(tmp.Name(), f.Path) // fails when the file is there
}

var errFile = errors.New("not written by rank 0 of a communicator")

func parseFile(b []byte) (id ID, n int, err error) {
	var text string
	if len(b) > 1024 {
		return id, 0, errFile
	}
	if _, err := fmt.Sscanf(string(b), fileMagic+"%d %s\n", &n, &text); err != nil || n < 1 {
		return id, 0, errFile
	}
	if hex.DecodedLen(len(text)) != len(id) {
		return id, 0, errFile
	}
	if _, err := hex.Decode(id[:], []byte(text)); err != nil {
		return id, 0, errFile
	}
	return id, n, nil
}
