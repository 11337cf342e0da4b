package softdev

import (
	"sync/atomic"

	"github.com/gocuda/cuda/internal/driver"
)

// tuning is what cuFuncSetAttribute and cuKernelSetAttribute change of a kernel on a device. A function of a module has
// its own. A kernel of a library has one for each device, which its functions begin with and which cuKernelSetAttribute
// sets in them too; cuFuncSetAttribute leaves the kernel's alone (recorded).
type tuning struct {
	maxDynamic    atomic.Int32 // MAX_DYNAMIC_SHARED_SIZE_BYTES, -1 while not set
	carveout      atomic.Int32
	nonPortable   atomic.Int32
	clusterPolicy atomic.Int32
	clusterDim    [3]atomic.Int32
}

func newTuning() *tuning {
	t := new(tuning)
	t.maxDynamic.Store(-1)
	t.carveout.Store(-1)
	return t
}

// copy takes over what is set in another.
func (t *tuning) copy(from *tuning) {
	t.maxDynamic.Store(from.maxDynamic.Load())
	t.carveout.Store(from.carveout.Load())
	t.nonPortable.Store(from.nonPortable.Load())
	t.clusterPolicy.Store(from.clusterPolicy.Load())
	for i := range t.clusterDim {
		t.clusterDim[i].Store(from.clusterDim[i].Load())
	}
}

// maxDynamicShared is how much dynamic shared memory a launch may ask for, where static is what the kernel itself
// declares.
func (t *tuning) maxDynamicShared(dev *device, static uint32) int32 {
	if v := t.maxDynamic.Load(); v >= 0 {
		return v
	}
	return max(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)-int32(static), 0)
}

// attribute is a value of cuFuncGetAttribute; the error is that of the lowering.
func (e *entry) attribute(dev *device, t *tuning, attr driver.CUfunction_attribute) (int32, driver.CUresult, error) {
	k, _, err := e.lower(nil)
	if err != nil {
		return 0, notSupported, err
	}
	required, fixed := e.requiredCluster()
	switch attr {
	case driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		return e.maxThreads(dev), success, nil
	case driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		return int32(e.shared(k)), success, nil
	case driver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
		return int32(e.prog.consts.layout.Size), success, nil // of the whole module (recorded)
	case driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		return int32(k.Local), success, nil
	case driver.CU_FUNC_ATTRIBUTE_NUM_REGS:
		if e.shape != nil {
			return int32(e.shape.reported), success, nil
		}
		return int32(e.registers()), success, nil
	case driver.CU_FUNC_ATTRIBUTE_PTX_VERSION:
		return int32(e.target), success, nil
	case driver.CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		return int32(e.prog.sm), success, nil
	case driver.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
		return 0, success, nil
	case driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return t.maxDynamicShared(dev, e.shared(k)), success, nil
	case driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return t.carveout.Load(), success, nil
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
		if e.fn.Attrs.ExplicitCluster {
			return 1, success, nil
		}
		return 0, success, nil
	case driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		i := attr - driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
		if fixed {
			return int32(required[i]), success, nil
		}
		return t.clusterDim[i].Load(), success, nil
	case driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		return t.nonPortable.Load(), success, nil
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return t.clusterPolicy.Load(), success, nil
	}
	return 0, invalidValue, nil
}

// setAttribute is cuFuncSetAttribute.
func (e *entry) setAttribute(dev *device, t *tuning, attr driver.CUfunction_attribute, v int32) (driver.CUresult,
	error) {
	switch attr {
	case driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		k, _, err := e.lower(nil)
		if err != nil {
			return notSupported, err
		}
		if v < 0 || uint64(v)+uint64(e.shared(k)) > dev.maxSharedOptin() {
			return invalidValue, nil
		}
		t.maxDynamic.Store(v)
	case driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		if v < -1 || v > 100 {
			return invalidValue, nil
		}
		t.carveout.Store(v)
	case driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
		driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		i := attr - driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH
		if required, fixed := e.requiredCluster(); v < 0 || fixed && uint32(v) != required[i] {
			return invalidValue, nil // the directive's own value is taken (recorded)
		}
		t.clusterDim[i].Store(v)
	case driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		t.nonPortable.Store(v) // any value (recorded)
	case driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		if p := driver.CUclusterSchedulingPolicy(v); v < 0 || p > driver.CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING {
			return invalidValue, nil
		}
		t.clusterPolicy.Store(v)
	default:
		return invalidValue, nil
	}
	return success, nil
}

// requiredCluster is .reqnctapercluster.
func (e *entry) requiredCluster() (dims [3]uint32, ok bool) {
	a := &e.fn.Attrs
	if a.ReqNCtaPerCluster[0] == 0 {
		return dims, false
	}
	for i := range dims {
		dims[i] = max(a.ReqNCtaPerCluster[i], 1)
	}
	return dims, true
}

// maxThreads is the largest block that the kernel can be launched with; .reqntid does not count (recorded).
func (e *entry) maxThreads(dev *device) int32 {
	most := dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
	given := int32(e.with.MaxThreads)
	if given > 0 && (e.ownThreads() == 0 || e.with.Override) {
		most = min(most, given)
	}
	if dims := e.fn.Attrs.MaxNTid; dims[0] != 0 && !(given > 0 && e.with.Override) {
		most = int32(min(uint64(most), uint64(dims[0])*uint64(max(dims[1], 1))*uint64(max(dims[2], 1))))
	}
	regs := (e.registers()*warpSize + registerUnit - 1) / registerUnit * registerUnit
	return min(most, dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)/int32(regs)*warpSize)
}
