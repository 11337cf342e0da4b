// Package mem is the memory of the software device: one reserved window of host address space, what is allocated in it,
// and the host ranges that a program has registered.
//
// A device address is a host address, so a copy is a copy, pinned and managed memory are plain slices, and an engine
// reaches memory by one base pointer and an offset. Nothing on that path takes a lock or asks a table: an access to an
// address that holds no memory faults in hardware, and [Faulted] turns what debug.SetPanicOnFault made of it back into
// an address.
//
// The window is aligned to its size, so that address&(size-1) is an offset in it. Its first [Special] bytes never hold
// memory: they are the NULL guard and the numbers of the generic windows of shared and local memory ([SharedOffset],
// [LocalOffset]).
//
// A window may have parts, which are given out one by one: what one device has lies together then, and an engine that
// is not to reach the memory of another is told so by two addresses.
//
// Memory is committed in granules of 2 MiB, the granularity of a GPU's own mappings (CU_MEM_ALLOC_GRANULARITY_MINIMUM
// on every recent device). Allocations of a MiB or more have granules of their own; smaller ones are packed into shared
// ones, as an H200 does. When the last allocation of a granule is freed the granule loses its memory and its access
// rights, and its address goes through a quarantine before it is used again, so that a stale pointer faults, as on a
// GPU, where the driver unmaps the block.
package mem
