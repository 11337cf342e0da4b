// Command 10-picture computes a Julia set on the device, lays a bloom over its bright parts, colours it, and writes a
// PNG.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math"
	"os"

	"github.com/gocuda/cuda"
)

//go:embed picture.ptx
var code []byte

func main() {
	width := flag.Int("width", 800, "width in pixels")
	height := flag.Int("height", 500, "height in pixels")
	out := flag.String("o", "julia.png", "file to write")
	flag.Parse()
	f, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(run(f, *width, *height), f.Close()); err != nil {
		log.Fatal(err)
	}
	fmt.Println("wrote", *out)
}

func run(w io.Writer, width, height int) error {
	pixels, err := render(width, height)
	if err != nil {
		return err
	}
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i, p := range pixels {
		img.SetNRGBA(i%width, i/width, p)
	}
	return png.Encode(w, img)
}

// render runs the pipeline: julia, blur along both directions, colour.
func render(width, height int) (pixels []color.NRGBA, err error) {
	sys, err := cuda.Open()
	if err != nil {
		return nil, err
	}
	sc := cuda.NewScope()
	defer func() { err = errors.Join(err, sc.Close()) }()
	sc.Add(sys)
	c, err := sys.Context(0)
	if err != nil {
		return nil, err
	}
	sc.Add(c)
	mod, err := c.Load(code)
	if err != nil {
		return nil, err
	}
	sc.Add(mod)
	var kernel [3]*cuda.Kernel
	for i, name := range []string{"julia", "blur", "colour"} {
		if kernel[i], err = mod.Kernel(name); err != nil {
			return nil, err
		}
	}
	// The parameters of blur, checked by the compiler from here on.
	blur, err := cuda.Bind7[cuda.Pointer[float32], cuda.Pointer[float32], int32, int32, int32, int32,
		float32](kernel[1])
	if err != nil {
		return nil, err
	}
	weights, err := cuda.GlobalOf[float32](mod, "weights")
	if err != nil {
		return nil, err
	}
	if err := weights.CopyFrom(gauss(weights.Len())); err != nil {
		return nil, err
	}

	n := width * height
	planes, err := cuda.Alloc[float32](c, 3*n)
	if err != nil {
		return nil, err
	}
	sc.Add(planes)
	base, tmp, glow := planes.Slice(0, n), planes.Slice(n, 2*n), planes.Slice(2*n, 3*n)
	// color.NRGBA is uchar4: four bytes.
	result, err := cuda.Alloc[color.NRGBA](c, n)
	if err != nil {
		return nil, err
	}
	sc.Add(result)

	grid := cuda.Grid2D(width, height, 32, 8)
	wd, ht := int32(width), int32(height)
	// The default stream keeps the launches in order.
	if err := kernel[0].Launch(nil, grid, cuda.Ptr(base), cuda.Val(wd), cuda.Val(ht), cuda.Val(float32(-0.8)),
		cuda.Val(float32(0.156)), cuda.Val(int32(300))); err != nil {
		return nil, err
	}
	if err := blur.Launch(nil, grid, base.Ptr(), tmp.Ptr(), wd, ht, 1, 0, 0.35); err != nil {
		return nil, err
	}
	if err := blur.Launch(nil, grid, tmp.Ptr(), glow.Ptr(), wd, ht, 0, 1, 0); err != nil {
		return nil, err
	}
	if err := kernel[2].Launch(nil, cuda.Linear(n), cuda.Ptr(base), cuda.Ptr(glow), cuda.Ptr(result),
		cuda.Val(int32(n))); err != nil {
		return nil, err
	}
	return result.Download()
}

// gauss is a bell curve over n taps with the sum 1.
func gauss(n int) []float32 {
	w := make([]float32, n)
	sum := 0.0
	for i := range w {
		x := float64(i-n/2) / (float64(n) / 5)
		w[i] = float32(math.Exp(-x * x / 2))
		sum += float64(w[i])
	}
	for i := range w {
		w[i] /= float32(sum)
	}
	return w
}
