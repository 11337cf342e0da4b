module github.com/gocuda/cuda

go 1.25.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/ebitengine/purego v0.11.3
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/sbinet/npyio v0.6.0
	golang.org/x/sys v0.41.0
)

require gonum.org/v1/gonum v0.9.3 // indirect
