// Package env is the one place where the module reads environment variables: all of them, whenever a device or a
// library is opened.
package env

import (
	"os"
	"strconv"
	"strings"
)

// The variables of this project. docs/environment.md says what each does.
const (
	Device        = "GOCUDA_DEVICE"         // which device: auto, driver or software
	TestDevice    = "GOCUDA_TEST_DEVICE"    // the same for tests of package cudatest
	Driver        = "GOCUDA_LIBCUDA"        // path of the NVIDIA driver library
	NVRTC         = "GOCUDA_NVRTC"          // path of the NVRTC library
	NCCL          = "GOCUDA_NCCL"           // path of the NCCL library
	Profile       = "GOCUDA_PROFILE"        // the software devices, by package profiles, with commas between them
	Engine        = "GOCUDA_ENGINE"         // what runs kernels: auto, jit, jit-avx512, jit-avx2 or interpreter
	ISA           = "GOCUDA_JIT_ISA"        // instruction set of machine code: avx512 or avx2
	Memory        = "GOCUDA_MEMORY"         // memory of each software device
	DriverVersion = "GOCUDA_DRIVER_VERSION" // CUDA version of the software device as a driver, for example 13.5
	PTX           = "GOCUDA_PTX"            // newest version of PTX that the software device takes
	Memcheck      = "GOCUDA_MEMCHECK"       // 1, true or on: the memory checker
	Check         = "GOCUDA_CHECK"          // what to look for while programs run: memory, race, init, sync, leak, all
	CheckOut      = "GOCUDA_CHECK_OUT"      // files for what checks find
	CheckSkip     = "GOCUDA_CHECK_SUPPRESS"
	CheckExit     = "GOCUDA_CHECK_EXIT" // exit code of a process in which checks have found errors
	Stack         = "GOCUDA_STACK"      // 1: internal errors write the stack to standard error
	Trace         = "GOCUDA_TRACE"      // errors: libcuda.so.1 logs each call that fails
	Clang         = "GOCUDA_CLANG"      // the clang++ of gocuda cc
	Lib           = "GOCUDA_LIB"        // folders of the CUDA runtime library that gocuda cc links
	CCCL          = "GOCUDA_CCCL"       // folder of CCCL's headers: thrust, cub, libcu++
	Cache         = "GOCUDA_CACHE"      // folder for what gocuda cc keeps
)

// The variables of the CUDA driver that the software device obeys (CUDA Programming Guide, "CUDA Environment
// Variables").
const (
	Visible    = "CUDA_VISIBLE_DEVICES" // which devices there are, and their order
	Loading    = "CUDA_MODULE_LOADING"  // EAGER: functions are loaded with their module
	ForcePTX   = "CUDA_FORCE_PTX_JIT"   // 1: machine code in fat binaries is left aside
	DisablePTX = "CUDA_DISABLE_PTX_JIT" // 1: PTX is refused

	CoredumpOnException = "CUDA_ENABLE_COREDUMP_ON_EXCEPTION" // 1: a fault of a kernel is written to a file
	CoredumpFile        = "CUDA_COREDUMP_FILE"                // its name
	CoredumpLight       = "CUDA_ENABLE_LIGHTWEIGHT_COREDUMP"  // 1: without memory
	CoredumpFlags       = "CUDA_COREDUMP_GENERATION_FLAGS"    // what is left out
)

// The variables of a Python environment that is active: package nvrtc looks there.
const (
	virtualEnv  = "VIRTUAL_ENV"
	condaPrefix = "CONDA_PREFIX"
)

// The variables that say where libraries lie on Windows.
const (
	cudaPath   = "CUDA_PATH"
	systemRoot = "SystemRoot"
)

// What go generate sets: the package that it is in.
const goPackage = "GOPACKAGE"

// The variables that say where a user's own Python packages lie, among them NCCL.
const (
	home = "HOME"
	path = "PATH"
)

// What launchers tell the processes that they start: torchrun, Open MPI, and Slurm ([ReadLaunch]).
const (
	MasterAddr     = "MASTER_ADDR"
	MasterPort     = "MASTER_PORT"
	Rank           = "RANK"
	WorldSize      = "WORLD_SIZE"
	LocalRank      = "LOCAL_RANK"
	AgentStore     = "TORCHELASTIC_USE_AGENT_STORE" // True: torchrun itself listens at the master's port
	OMPIRank       = "OMPI_COMM_WORLD_RANK"
	OMPISize       = "OMPI_COMM_WORLD_SIZE"
	OMPILocalRank  = "OMPI_COMM_WORLD_LOCAL_RANK"
	OMPILocalSize  = "OMPI_COMM_WORLD_LOCAL_SIZE"
	SlurmRank      = "SLURM_PROCID"
	SlurmSize      = "SLURM_NTASKS"
	SlurmStepSize  = "SLURM_STEP_NUM_TASKS"
	SlurmLocalRank = "SLURM_LOCALID"
	SlurmNodes     = "SLURM_JOB_NODELIST"
	SlurmStepNodes = "SLURM_STEP_NODELIST"
	SlurmJob       = "SLURM_JOB_ID"
	SlurmStep      = "SLURM_STEP_ID"
)

// Settings are the values of the variables; what is not set is empty.
type Settings struct {
	Device, TestDevice                 string
	Driver, NVRTC, NCCL                string
	Profile                            string
	Engine, ISA                        string
	Memory, Check                      string
	PTX                                string
	DriverVersion                      string
	CheckOut                           string
	CheckSuppress                      string
	CheckExit                          int
	Memcheck, Stack                    bool
	Trace                              string
	Visible                            string
	IsVisible                          bool // Visible is set: an empty value leaves no device
	EagerLoading                       bool
	ForcePTX, DisablePTX               bool
	CoredumpOnException, CoredumpLight bool
	CoredumpFile, CoredumpFlags        string
	CUDAPath, SystemRoot               string
	Clang, Lib                         string
	CCCL, Cache                        string
	GoPackage                          string
	// Where Python has its packages: VIRTUAL_ENV, CONDA_PREFIX, HOME and PATH.
	VirtualEnv, CondaPrefix, Home, Path string
}

// Profiles are the names in Profile.
func (s *Settings) Profiles() []string {
	if s.Profile == "" {
		return nil
	}
	names := strings.Split(s.Profile, ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	return names
}

// Lookup finds a variable, as os.LookupEnv does.
type Lookup func(name string) (value string, ok bool)

// Read reads the environment of the process, or what lookup finds when it is not nil: the environment of a C program
// may have changed since its Go runtime took a copy.
func Read(lookup Lookup) Settings {
	if lookup == nil {
		lookup = os.LookupEnv
	}
	get := func(name string) string {
		v, _ := lookup(name)
		return v
	}
	number := func(name string) bool {
		n, err := strconv.Atoi(get(name))
		return err == nil && n != 0
	}
	s := Settings{
		Device: get(Device), TestDevice: get(TestDevice), Driver: get(Driver), NVRTC: get(NVRTC), Profile: get(Profile),
		Engine: get(Engine), ISA: get(ISA), Memory: get(Memory),
		PTX: get(PTX), DriverVersion: get(DriverVersion), Check: get(Check), CheckOut: get(CheckOut),
		CheckSuppress: get(CheckSkip), Stack: number(Stack), Trace: get(Trace),
		EagerLoading: get(Loading) == "EAGER", ForcePTX: number(ForcePTX), DisablePTX: number(DisablePTX),
		CoredumpOnException: number(CoredumpOnException), CoredumpLight: number(CoredumpLight),
		CoredumpFile: get(CoredumpFile), CoredumpFlags: get(CoredumpFlags),
		Clang: get(Clang), Lib: get(Lib), CCCL: get(CCCL), Cache: get(Cache),
		GoPackage: get(goPackage),
		CUDAPath:  get(cudaPath), SystemRoot: get(systemRoot), NCCL: get(NCCL),
		VirtualEnv: get(virtualEnv), CondaPrefix: get(condaPrefix), Home: get(home), Path: get(path),
	}
	s.CheckExit, _ = strconv.Atoi(get(CheckExit))
	s.Visible, s.IsVisible = lookup(Visible)
	switch get(Memcheck) {
	case "1", "true", "on":
		s.Memcheck = true
	}
	return s
}
