package cc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/hostobj"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/link"
)

// LinkError says why device code of several files was not linked: what nvlink would print, and the reason.
type LinkError struct {
	Log string
	Err error
}

func (e *LinkError) Error() string {
	s := "device code was not linked: " + e.Err.Error()
	if e.Log != "" {
		s += "\n" + e.Log
	}
	return s
}

func (e *LinkError) Unwrap() error { return e.Err }

// linkDevice links the relocatable device code in the objects to one PTX module, and gives an object that registers it
// for all of them; "" when there is none.
func (d *Driver) linkDevice(ctx context.Context, objects []string) (string, error) {
	if d.DryRun {
		return "", nil
	}
	units := map[sm.Arch][][]byte{}
	var archs []sm.Arch
	var ids []string
	files := 0
	var names []string
	for _, o := range objects {
		b, err := os.ReadFile(o)
		if err != nil {
			return "", err
		}
		if !hostobj.IsHost(b) {
			continue
		}
		members, err := moduleIDs(b)
		if err != nil {
			return "", fmt.Errorf("%s: %w", o, err)
		}
		ids = append(ids, members...)
		all, err := hostobj.Containers(b)
		if err != nil {
			return "", fmt.Errorf("%s: %w", o, err)
		}
		for _, c := range all {
			if !c.Relocatable {
				continue
			}
			files++
			names = append(names, filepath.Base(o))
			for i := range c.Entries {
				e := &c.Entries[i]
				if !e.Kind.IsPTX() {
					continue
				}
				text, err := e.Payload()
				if err != nil {
					return "", fmt.Errorf("%s: %w", o, err)
				}
				if !slices.Contains(archs, e.Arch) {
					archs = append(archs, e.Arch)
				}
				units[e.Arch] = append(units[e.Arch], image.Text(text))
			}
		}
	}
	if files == 0 {
		return "", nil
	}
	var linked []code
	for _, a := range archs {
		if len(units[a]) != files {
			continue // not every file was compiled for it
		}
		ptx, err := linkPTX(units[a], names, a)
		if err != nil {
			return "", err
		}
		linked = append(linked, code{a, ptx})
	}
	if len(linked) == 0 {
		return "", &LinkError{Err: errors.New("the files were not compiled for the same architectures")}
	}
	if runtime.GOOS != "linux" {
		return "", &LinkError{Err: fmt.Errorf("programs of several files with device code are linked on Linux, not on %s: %w",
			runtime.GOOS, errors.ErrUnsupported)}
	}
	container, err := pack(linked)
	if err != nil {
		return "", err
	}
	return d.registration(ctx, container, ids)
}

// moduleIDs are the names under which the units of an object or of a library's members register themselves.
func moduleIDs(b []byte) ([]string, error) {
	if !bytes.HasPrefix(b, []byte(hostobj.ArchiveMagic)) {
		f, err := hostobj.Parse(b)
		if err != nil {
			return nil, err
		}
		return f.ModuleIDs, nil
	}
	members, err := hostobj.Members(b)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range members {
		if hostobj.IsHost(m.Data) {
			f, err := hostobj.Parse(m.Data)
			if err != nil {
				return nil, err
			}
			ids = append(ids, f.ModuleIDs...)
		}
	}
	return ids, nil
}

// linkPTX links modules as the driver would and joins their texts.
func linkPTX(units [][]byte, names []string, arch sm.Arch) ([]byte, error) {
	var log bytes.Buffer
	l := link.New(link.Options{SM: arch.Number, Builtin: func(name string) bool {
		return slices.Contains(provided,
			name)
	},
		Log: func(_ link.Level, line string) { fmt.Fprintln(&log, line) }})
	for i, u := range units {
		if err := l.Add(link.InputPTX, u, names[i]); err != nil {
			return nil, &LinkError{log.String(), err}
		}
	}
	if _, err := l.Complete(); err != nil {
		return nil, &LinkError{log.String(), err}
	}
	if len(units) == 1 {
		return units[0], nil
	}
	return merge(units), nil
}

// registration compiles what clang's objects call for each unit: when all have called, the container is registered, and
// each unit's kernels and variables are with it.
func (d *Driver) registration(ctx context.Context, container []byte, ids []string) (string, error) {
	fat := filepath.Join(d.work, "linked.fatbin")
	if err := os.WriteFile(fat, container, 0o666); err != nil {
		return "", err
	}
	var c bytes.Buffer
	fmt.Fprintf(&c, `__asm__(".pushsection .nv_fatbin,\"a\"\n.balign 8\n.globl gocuda_linked_fatbin\n`+
		`.hidden gocuda_linked_fatbin\ngocuda_linked_fatbin: .incbin \"%s\"\n.popsection");
extern const char gocuda_linked_fatbin[] __attribute__((visibility("hidden")));
static struct { int magic, version; const void *data; void *more; }
	wrapper __attribute__((section(".nvFatBinSegment"))) = {%#x, 1, gocuda_linked_fatbin, 0};
extern void **__cudaRegisterFatBinary(void *);
extern void __cudaRegisterFatBinaryEnd(void **);
extern void __cudaUnregisterFatBinary(void **);
extern int atexit(void (*)(void));
enum { count = %d };
static void (*registers[count])(void **);
static int n;
static void **handle;
static void end(void) { __cudaUnregisterFatBinary(handle); }
static void unit(void (*f)(void **)) {
	registers[n++] = f;
	if (n < count) return;
	handle = __cudaRegisterFatBinary(&wrapper);
	for (int i = 0; i < count; i++) registers[i](handle);
	__cudaRegisterFatBinaryEnd(handle);
	atexit(end);
}
`, fat, uint32(fatbin.WrapperMagic), len(ids))
	for _, id := range ids {
		fmt.Fprintf(&c, "void __cudaRegisterLinkedBinary%s(void (*f)(void **), void *w, void *m, void (*g)(void *)) {\n"+
			"\tif (f) unit(f);\n}\n", id)
	}
	src, out := filepath.Join(d.work, "linked.c"), filepath.Join(d.work, "linked.o")
	if err := os.WriteFile(src, c.Bytes(), 0o666); err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := d.run(ctx, []string{"-x", "c", "-O2", "-fPIC", "-c", src, "-o", out}, d.Stdout, &text); err != nil {
		d.say(text.Bytes(), nil)
		return "", &ClangError{File: out, Err: err}
	}
	return out, nil
}
