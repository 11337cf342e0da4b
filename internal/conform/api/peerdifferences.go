package api

// differencesOfTwo are those of the table for two devices. The recording is of two H100 (driver 580.159.04), the
// software devices are H200; their answers are the same but for what is said here.
var differencesOfTwo = []Difference{
	{"two/kernel/another-context", "access that a context of a device has enabled is its other contexts' too: one table " +
		"of pages for the device; here each context has its own"},
	{"two/kernel/another-owner", "access to a context's memory is not to that of other contexts of its device; kernels " +
		"here reach the peer device's part of the window as a whole, without a look at each access"},
	{"two/pool/kernel/context", "access to a context's memory is not to that of pools of its device: as another-owner"},
	{"two/pointer/memory", "two attributes (GPUDirect RDMA, decompression in hardware) are those of the machine: its H100 " +
		"had them, the profile's H200 had not"},
	{"two/pointer/async", "the first mapping of a pool is 32 MiB with the driver, one granule here"},
	{"two/pool/other-stream", "memory that is freed in a stream counts as used until the driver looks at the pool again"},
	{"two/ipc/store", "an imported handle does not know the device that it was made for"},
	{"two/graph/memory", "the driver gives a new node the handle that one of a destroyed graph had, so that the names in " +
		"the transcript differ from there on"},
}
