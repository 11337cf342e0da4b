package tileset

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/gocuda/cuda/internal/image"
)

// maxMemory is how much the buffers of a case may have together, in bytes: the host holds their contents too.
const maxMemory = 1 << 30

// check refuses a set whose cases cannot be run or compared as they are recorded. Nothing after it looks at bounds.
func (s *Set) check() error {
	modules := map[string]bool{}
	for i := range s.Modules {
		m := &s.Modules[i]
		code, err := m.Code.of(s.code)
		if err == nil && image.Detect(code) != image.TileIR {
			err = errors.New("no Tile IR")
		}
		if err == nil {
			err = image.Cut(code) // a driver is not told how long an image is and would read on
		}
		if err != nil {
			return fmt.Errorf("module %s: %w", m.Name, err)
		}
		if modules[m.Name] {
			return fmt.Errorf("module %s is there twice", m.Name)
		}
		modules[m.Name] = true
	}
	for i := range s.Cases {
		c := &s.Cases[i]
		if !modules[c.Module] {
			return fmt.Errorf("case %s: no module %q", c.Name, c.Module)
		}
		if c.Expect.Sync == "" {
			return fmt.Errorf("case %s: how the kernel ends is not recorded", c.Name)
		}
		if n := len(c.Expect.Parameters); c.Expect.Parameters != nil && n != len(c.Args) {
			return fmt.Errorf("case %s: %d arguments for %d parameters", c.Name, len(c.Args), n)
		}
		left := maxMemory
		for j := range c.Buffers {
			b := &c.Buffers[j]
			if b.Size <= 0 || b.Size > left {
				return fmt.Errorf("case %s: buffer %d of %d bytes; a case has 1 to %d in all", c.Name, j, b.Size,
					maxMemory)
			}
			left -= b.Size
			if err := s.checkBuffer(b, len(c.Buffers)); err != nil {
				return fmt.Errorf("case %s: buffer %d: %w", c.Name, j, err)
			}
		}
		for j := range c.Args {
			if err := c.Args[j].check(len(c.Buffers)); err != nil {
				return fmt.Errorf("case %s: argument %d: %w", c.Name, j, err)
			}
		}
	}
	return nil
}

func (s *Set) checkBuffer(b *Buffer, buffers int) error {
	if string(b.Compare) == "null" { // what json.RawMessage makes of it
		b.Compare = nil
	}
	for _, r := range []*Range{b.Init.Data, b.Result} {
		if r == nil {
			continue
		}
		if _, err := s.Bytes(*r); err != nil {
			return err
		}
		if r[1] != b.Size {
			return fmt.Errorf("%d bytes recorded of %d", r[1], b.Size)
		}
	}
	for _, p := range b.Pointers {
		if p.At < 0 || p.At > b.Size-8 || p.Buffer < 0 || p.Buffer >= buffers {
			return fmt.Errorf("an address of buffer %d at byte %d of %d", p.Buffer, p.At, b.Size)
		}
	}
	if (b.Result == nil) != (b.Compare == nil) {
		return errors.New("a result and how it is compared go together")
	}
	if b.Compare == nil {
		return nil
	}
	if n := sizes[b.Type]; n == 0 || b.Size%n != 0 {
		return fmt.Errorf("%d bytes of element type %q", b.Size, b.Type)
	}
	tol, bits, err := ParseTolerance(b.Compare)
	switch {
	case err != nil:
		return err
	case !bits && !tolerant[b.Type]:
		return fmt.Errorf("a tolerance for %s", b.Type)
	case tol.ULP != nil && *tol.ULP < 0 || tol.Rel < 0 || tol.Abs < 0:
		return fmt.Errorf("a tolerance of %s", b.Compare)
	}
	return nil
}

func (a *Arg) check(buffers int) error {
	if a.Buffer != nil {
		if *a.Buffer < 0 || *a.Buffer >= buffers {
			return fmt.Errorf("buffer %d of %d", *a.Buffer, buffers)
		}
		return nil
	}
	b, err := hex.DecodeString(a.Value)
	if err == nil && (len(b) == 0 || len(b) > 8) {
		err = fmt.Errorf("%d bytes", len(b))
	}
	return err
}
