// Command static is a program that opens the driver; a test looks at its binary.
package main

import (
	"fmt"

	"github.com/gocuda/cuda/internal/nvidia"
)

func main() {
	_, err := nvidia.Open(nvidia.Options{})
	fmt.Println(err)
}
