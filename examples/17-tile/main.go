// Command 17-tile loads a kernel in CUDA Tile IR, made by cuTile Python (softmax.py), and checks what it computes.
package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	"github.com/gocuda/cuda"
)

//go:embed softmax.tileirbc
var code embed.FS

const tooOld = "this driver loads no Tile IR: CUDA 13.1 or later does"

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	const rows, columns = 100, 200 // a tile has 256 columns: what lies outside counts for nothing
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	defer sys.Close()
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	defer c.Close()
	mod, err := c.LoadFS(code, "softmax.tileirbc")
	if errors.Is(err, cuda.ErrInvalidImage) {
		fmt.Fprintln(w, tooOld)
		return nil
	}
	if err != nil {
		return err
	}
	defer mod.Close()
	softmax, err := mod.Kernel("softmax")
	if err != nil {
		return err
	}

	data := make([]float32, rows*columns)
	for i := range data {
		data[i] = float32(i*7919%1000) / 100
	}
	x, err := cuda.Upload(c, data)
	if err != nil {
		return err
	}
	defer x.Close()
	y, err := cuda.Upload(c, make([]float32, len(data)))
	if err != nil {
		return err
	}
	defer y.Close()

	// A tile kernel has blocks of one thread to those who launch it, here one for each row. An array of cuTile is a
	// pointer, the shape, and the distance of elements along each dimension.
	array := func(b *cuda.Buffer[float32]) []cuda.Arg {
		shape := []cuda.Arg{cuda.Val(int32(rows)), cuda.Val(int32(columns)), cuda.Val(int32(columns)),
			cuda.Val(int32(1))}
		return append([]cuda.Arg{cuda.Ptr(b)}, shape...)
	}
	if err := softmax.Launch(nil, cuda.LinearBlock(rows, 1), append(array(x), array(y)...)...); err != nil {
		return err
	}
	got, err := y.Download()
	if err != nil {
		return err
	}
	worst := 0.0
	for r := range rows {
		row := data[r*columns:][:columns]
		sum := 0.0
		for _, v := range row {
			sum += math.Exp(float64(v))
		}
		for i, v := range row {
			worst = max(worst, math.Abs(float64(got[r*columns+i])*sum/math.Exp(float64(v))-1))
		}
	}
	fmt.Fprintf(w, "%d rows; the largest relative error is %.1e\n", rows, worst)
	return nil
}
