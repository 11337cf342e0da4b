module github.com/gocuda/cuda/internal/gen

go 1.25.0
