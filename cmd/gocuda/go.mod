module github.com/gocuda/cuda/cmd/gocuda

go 1.25.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/gocuda/cuda v0.0.0-20261124170806-b133067685a1
	github.com/ianlancetaylor/demangle v0.0.0-20260724033716-83e58baca724
)

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
