package cu_test

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/cu"
)

// The compiler's logs, without unsafe code: what a good module has reported and why a bad one was refused.
func ExampleJITOptions() {
	api, err := cu.Default()
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := api.Init(0); err != nil {
		fmt.Println(err)
		return
	}
	ctx, err := api.DevicePrimaryCtxRetain(0)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = api.DevicePrimaryCtxRelease(0) }()

	const ptx = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n"
	for _, text := range []string{ptx, strings.Replace(ptx, "ret", "rot", 1)} {
		options := cu.NewJITOptions(0)
		options.Set(cu.CU_JIT_LOG_VERBOSE, 1)
		module, err := api.In(ctx).ModuleLoadDataEx([]byte(text), options.IDs(), options.Values())
		options.Close()
		if err != nil {
			line, _, _ := strings.Cut(options.ErrorLog(), "\n")
			fmt.Println(err)
			fmt.Println(line)
			continue
		}
		fmt.Println("registers reported:", strings.Contains(options.InfoLog(), "registers"))
		if err := api.In(ctx).ModuleUnload(module); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// registers reported: true
	// CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed
	// ptxas application ptx input, line 4; error   : Not a name of any known instruction: 'rot'
}
