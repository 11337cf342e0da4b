// Package include holds the headers of CUDA C++ that programs include, written from NVIDIA's public documentation.
package include

import (
	"embed"
	"io/fs"
)

//go:embed *.h *.hpp cooperative_groups crt cub gocuda nvtx3 thrust
var files embed.FS

// FS has the headers under the names that programs include them by.
func FS() fs.FS { return files }
