package softdev

// clusterGroups are multiprocessors by GPC as far as clusters of more than two blocks can use them: a cluster lies in
// one GPC. The numbers for 132 multiprocessors follow from what an H200 answers to cuOccupancyMaxActiveClusters; other
// devices are taken to have GPCs of 16.
func (dev *device) clusterGroups() []uint64 {
	if dev.limits.sms == 132 {
		return []uint64{18, 16, 16, 16, 16, 16, 14, 12}
	}
	var g []uint64
	for n := uint64(dev.limits.sms); n > 0; n -= min(n, 16) {
		g = append(g, min(n, 16))
	}
	return g
}

// coscheduled is in how many groups of n multiprocessors that lie in one GPC the device falls apart; those that no
// cluster of more than two blocks uses are one more GPC (recorded on an H200: 15 groups of 8).
func (dev *device) coscheduled(n uint32) uint32 {
	rest, total := uint64(dev.limits.sms), uint64(0)
	for _, sms := range dev.clusterGroups() {
		total += sms / uint64(n)
		rest -= min(sms, rest)
	}
	return uint32(total + rest/uint64(n))
}

// mostClusterBlocks is the most blocks of clusters on a multiprocessor (seen on an H200).
const mostClusterBlocks = 8

// activeClusters is how many clusters of n blocks are on the device at once.
func (f *function) activeClusters(n uint64, threads int32, dynamic uint64) uint64 {
	dev := f.mod.ctx.dev
	if dynamic > uint64(f.tune.maxDynamicShared(dev, f.entry.shared(f.kernel))) {
		return 0
	}
	per := min(f.residentBlocks(threads, dynamic), mostClusterBlocks)
	if n <= 2 {
		return per * uint64(dev.limits.sms) / n
	}
	var total uint64
	for _, sms := range dev.clusterGroups() {
		total += sms * per / n
	}
	return total
}
