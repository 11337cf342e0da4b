// Command 05-errors makes mistakes on purpose, to show what the errors tell.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/gocuda/cuda"
)

//go:embed faulty.ptx
var code []byte

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	// On a GPU the process has lost the device after a fault. The software device can be told to get over it.
	sys, err := cuda.Open(cuda.WithRecovery())
	if err != nil {
		return err
	}
	defer sys.Close()
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	defer c.Close()

	fmt.Fprintf(w, "device: %v\n\n", sys.Kind())

	// 1. The compiler's messages are in the error.
	_, err = c.Load([]byte(strings.Replace(string(code), "st.global.u32", "st.global.u33", 1)))
	var e *cuda.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("bad code was loaded: %v", err)
	}
	fmt.Fprintf(w, "%v; the compiler says:\n%s\n\n", e.Code, e.Log)

	mod, err := c.Load(code)
	if err != nil {
		return err
	}
	defer mod.Close()
	overrun, err := mod.Kernel("overrun")
	if err != nil {
		return err
	}
	x, err := cuda.Alloc[int32](c, 4)
	if err != nil {
		return err
	}
	defer x.Close()

	// 2. Wrong arguments are found before the launch. Go's int has 8 bytes, C's has 4.
	err = overrun.Launch(nil, cuda.Linear(4), cuda.Ptr(x), cuda.Val(4))
	fmt.Fprintf(w, "%v\n\n", err)

	// 3. Codes compare with errors.Is.
	_, err = cuda.Alloc[byte](c, 1<<50)
	if !errors.Is(err, cuda.ErrOutOfMemory) {
		return fmt.Errorf("a pebibyte: %v", err)
	}
	fmt.Fprintf(w, "a pebibyte: %v\n\n", err)

	// 4. A fault in a kernel shows at the next call that waits, and the context is lost. The software device says where
	//    it happened.
	if err := overrun.Launch(nil, cuda.Linear(4), cuda.Ptr(x), cuda.Val(int32(4))); err != nil {
		return err
	}
	err = c.Synchronize()
	if !errors.As(err, &e) {
		return fmt.Errorf("the kernel wrote where it must not, and: %v", err)
	}
	fmt.Fprintln(w, e)
	if e.Sticky() {
		fmt.Fprintln(w, "The context is lost: every later call in it fails with this code.")
	}
	return nil
}
