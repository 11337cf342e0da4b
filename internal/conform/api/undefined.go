package api

import "github.com/gocuda/cuda/internal/driver"

var _ driver.CUresult
