package softdev

import "github.com/gocuda/cuda/internal/driver"

// virtualTable fills in reserved and mapped memory, memory shared between processes and batches of copies.
func (d *Driver) virtualTable(t *driver.Table) {
	t.MemAddressReserve = d.memAddressReserve
	t.MemAddressFree = d.memAddressFree
	t.MemGetAllocationGranularity = d.memGetAllocationGranularity
	t.MemCreate = d.memCreate
	t.MemRelease = d.memRelease
	t.MemMap = d.memMap
	t.MemUnmap = d.memUnmap
	t.MemSetAccess = d.memSetAccess
	t.MemGetAccess = d.memGetAccess
	t.MemGetAllocationPropertiesFromHandle = d.memGetAllocationProperties
	t.MemRetainAllocationHandle = d.memRetainAllocationHandle
	t.MemExportToShareableHandle = d.memExportToShareableHandle
	t.MemImportFromShareableHandle = d.memImportFromShareableHandle
	t.MemGetHandleForAddressRange = d.memGetHandleForAddressRange
	t.MemcpyBatchAsync = d.memcpyBatchAsync1
	t.MemcpyWithAttributesAsync = d.memcpyWithAttributesAsync
	t.Memcpy3DWithAttributesAsync = d.memcpy3DWithAttributesAsync
	t.MemcpyBatchAsync_v2 = d.memcpyBatchAsync
	t.Memcpy3DBatchAsync = d.memcpy3DBatchAsync1
	t.Memcpy3DBatchAsync_v2 = d.memcpy3DBatchAsync
	t.MemPoolSetAccess = d.memPoolSetAccess
	t.MemGetDefaultMemPool = d.memGetDefaultMemPool
	t.MemGetMemPool = d.memGetMemPool
	t.MemSetMemPool = d.memSetMemPool
	t.MemPoolExportPointer = d.memPoolExportPointer
	t.MemPoolExportToShareableHandle = d.memPoolExportToShareableHandle
	t.MemPoolImportFromShareableHandle = d.memPoolImportFromShareableHandle
	t.MemPoolImportPointer = d.memPoolImportPointer
	t.MemBatchDecompressAsync = d.memBatchDecompressAsync
	d.oldMemoryTable(t)
	d.ipcTable(t)
	d.multicastTable(t)
}
