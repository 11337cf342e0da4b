package api

import (
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

// nullFamilies are the functions that nullCases calls with nothing but zeros.
var nullFamilies = []string{"cuModule", "cuLink", "cuLibrary", "cuKernel", "cuFunc", "cuOccupancy", "cuLaunch", "cuParam", "cuEvent", "cuCtx", "cuStream", "cuPointer"}

// nullLeft are left out: they belong to parts of the API with tables of their own (graphs, capture, green contexts, stream memory operations).
var nullLeft = []string{"cuStreamBeginCapture", "cuStreamEndCapture", "cuStreamUpdateCapture", "cuStreamWaitValue", "cuStreamWriteValue", "cuStreamBatchMemOp", "cuCtxFromGreenCtx", "cuStreamGetGreenCtx",
	"cuCtxGetDevResource", "cuLaunchCooperativeKernelMultiDevice", "cuParamSetTexRef", "cuCtxGetExecAffinity"}

// nullCases: every function of the families with 0 for every argument, in the three starts.
func nullCases(c *cases) {
	for _, start := range []Start{NoInit, NoContext, WithContext} {
		for s := range driver.Symbols() {
			if !s.Exported || !hasPrefix(s.Name, nullFamilies) || hasPrefix(s.Name, nullLeft) {
				continue
			}
			name := map[Start]string{NoInit: "before-init", NoContext: "no-context", WithContext: "context"}[start]
			*c = append(*c, Case{Name: "zeros/" + name + "/" + s.Name, Start: start, Run: func(e *Env) { e.zeros(s) }})
		}
	}
}

func hasPrefix(s string, list []string) bool {
	for _, p := range list {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// zeros calls a function with zeros.
func (e *Env) zeros(s driver.Symbol) {
	args := make([]any, len(s.Params))
	e.Do(s.Name, args...)
}
