package softdev

import "github.com/gocuda/cuda/internal/driver"

// notification is a registered cuDeviceRegisterAsyncNotification callback. It never runs: its one reason, a device over
// its memory budget (CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET), does not come up, since no other program shares the
// device's memory.
type notification struct{ dev *device }

func (d *Driver) deviceRegisterAsyncNotification(_ driver.CUcontext, ordinal driver.CUdevice, fn driver.CUasyncCallback,
	_ uintptr, out *driver.CUasyncCallbackHandle) driver.CUresult {
	dev, r := d.asked(out != nil && !fn.IsNil(), ordinal)
	if r != success {
		return r
	}
	h := d.notifications.add(&notification{dev})
	if h == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = driver.CUasyncCallbackHandle(h)
	return success
}

func (d *Driver) deviceUnregisterAsyncNotification(_ driver.CUcontext, ordinal driver.CUdevice,
	h driver.CUasyncCallbackHandle) driver.CUresult {
	dev, r := d.asked(true, ordinal)
	if r != success {
		return r
	}
	n := d.notifications.get(uintptr(h))
	if n == nil || n.dev != dev || d.notifications.remove(uintptr(h)) == nil {
		return invalidValue
	}
	return success
}

// partitionTable fills in green contexts, notifications and what the device does not have.
func (d *Driver) partitionTable(t *driver.Table) {
	t.DeviceGetDevResource = d.deviceGetDevResource
	t.CtxGetDevResource = d.ctxGetDevResource
	t.DevSmResourceSplitByCount = d.devSmResourceSplit
	t.DevSmResourceSplit = d.devSmResourceGroups
	t.StreamGetDevResource = d.streamGetDevResource
	t.DevResourceGenerateDesc = d.devResourceGenerateDesc
	t.GreenCtxCreate = d.greenCtxCreate
	t.GreenCtxDestroy = d.greenCtxDestroy
	t.CtxFromGreenCtx = d.ctxFromGreenCtx
	t.GreenCtxGetDevResource = d.greenCtxGetDevResource
	t.GreenCtxGetId = d.greenCtxGetID
	t.GreenCtxStreamCreate = d.greenCtxStreamCreate
	t.GreenCtxRecordEvent = d.greenCtxRecordEvent
	t.GreenCtxWaitEvent = d.greenCtxWaitEvent
	t.DeviceRegisterAsyncNotification = d.deviceRegisterAsyncNotification
	t.DeviceUnregisterAsyncNotification = d.deviceUnregisterAsyncNotification
	d.absentTable(t)
}
