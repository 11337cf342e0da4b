package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
)

// launchCooperativeMultiDevice launches one cooperative grid on each of several devices (deprecated since CUDA 11.3).
// The grids synchronise with each other by what CUDA's cooperative_groups called up to version 12, for its
// multi_grid_group: cudaCGSynchronize of the device runtime with the handle of that group. Nothing of that is recorded.
//
// The conditions are those of the description of cuLaunchCooperativeKernelMultiDevice: every launch on a device of its
// own, in a stream that is not a default stream, with the same kernel by name and the same sizes.
func (d *Driver) launchCooperativeMultiDevice(_ driver.CUcontext, list *driver.CUDA_LAUNCH_PARAMS, n,
	flags uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	const noPre, noPost = driver.CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_PRE_LAUNCH_SYNC,
		driver.CUDA_COOPERATIVE_LAUNCH_MULTI_DEVICE_NO_POST_LAUNCH_SYNC
	if list == nil || n == 0 || n > uint32(len(d.devices)) || flags&^uint32(noPre|noPost) != 0 {
		return invalidValue
	}
	all := unsafe.Slice(list, n)
	streams := make([]*stream, n)
	kernels := make([]*function, n)
	seen := map[*device]bool{}
	first := &all[0]
	for i := range all {
		p := &all[i]
		s := d.streams.get(uintptr(p.HStream))
		if s == nil || s.kind != streamOrdinary {
			return badHandle
		}
		if r := s.ctx.fault(); r != success {
			return r
		}
		f, r := d.launched(s.ctx, p.Function)
		if r != success {
			return r
		}
		same := p.GridDimX == first.GridDimX && p.GridDimY == first.GridDimY && p.GridDimZ == first.GridDimZ &&
			p.BlockDimX == first.BlockDimX && p.BlockDimY == first.BlockDimY && p.BlockDimZ == first.BlockDimZ &&
			p.SharedMemBytes == first.SharedMemBytes
		if seen[s.ctx.dev] {
			return driver.CUDA_ERROR_INVALID_DEVICE // recorded
		}
		if !same || i > 0 && f.entry.fn.Name != kernels[0].entry.fn.Name {
			return invalidValue
		}
		seen[s.ctx.dev], streams[i], kernels[i] = true, s, f
	}
	for _, s := range streams {
		if s.capturing() { // cannot be captured: a graph's nodes are of one launch each
			return s.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
		}
	}
	if flags&noPre == 0 {
		meet(streams)
	}
	threads := uint64(1) // enqueue refuses what is too large
	for _, v := range [...]uint32{first.GridDimX, first.GridDimY, first.GridDimZ, first.BlockDimX, first.BlockDimY,
		first.BlockDimZ} {
		threads *= uint64(v)
	}
	grids := exec.NewMultiGrid(len(streams), threads)
	for i, s := range streams {
		p := &all[i]
		q := launchRequest{grid: [3]uint32{p.GridDimX, p.GridDimY, p.GridDimZ},
			block: [3]uint32{p.BlockDimX, p.BlockDimY, p.BlockDimZ}, shared: p.SharedMemBytes, cooperative: true,
			multi: grids, multiRank: i}
		if r := d.enqueue(kernels[i], s, &q, p.KernelParams, nil); r != success {
			for ; i < len(streams); i++ { // those that have begun do not wait for the others
				grids.End(i)
			}
			return r
		}
	}
	if flags&noPost == 0 {
		meet(streams)
	}
	return success
}

// meet makes later work of each stream wait for what all of them have queued.
func meet(streams []*stream) {
	points := make([]point, len(streams))
	var all checker.Moment
	for i, s := range streams {
		points[i] = s.tail()
		all = all.And(s.moment())
	}
	for _, s := range streams {
		s.follow(all)
		for _, p := range points {
			s.waitFor(p)
		}
	}
}
