package trace

// Report is what is known of a launch, or of several that were the same.
type Report struct {
	Launches  int        `json:"launches"` // whose counts are added up
	Counts    *Summary   `json:"counts"`
	Occupancy *Occupancy `json:"occupancy,omitempty"` // none for kernels of Tile IR
	Speed     *Speed     `json:"speed,omitempty"`
	Metrics   []Value    `json:"metrics"`
	Findings  []Finding  `json:"findings"`
}

// Speed is what a launch took on the CPU that ran it.
type Speed struct {
	Engine string  `json:"engine"` // jit or interpreter
	MS     float64 `json:"ms"`     // the fastest launch
}

// Unit is what a metric is counted in.
type Unit string

// The units.
const (
	UnitCount   Unit = "count"
	UnitLanes   Unit = "lanes"
	UnitPercent Unit = "percent"
	UnitFactor  Unit = "factor" // 1 is the ideal
	UnitBytes   Unit = "bytes"
	UnitMS      Unit = "ms"
	UnitRate    Unit = "per second"
	UnitBytesPS Unit = "bytes/second"
)

// Metric is a number about a launch.
type Metric struct {
	Key, Name string
	Unit      Unit
	Less      bool   // less is better; where neither is, Neutral is set
	Neutral   bool   //
	Meaning   string // how it is counted
	Source    string // where the rule comes from
	value     func(r *Report) (v float64, ok bool)
}

// Value is a metric of a launch.
type Value struct {
	Key   string  `json:"key"`
	Value float64 `json:"value"`
}

// What the sources of rules are called.
const (
	guide     = "CUDA C++ Programming Guide, "
	practices = "CUDA C++ Best Practices Guide, "
	isa       = "PTX ISA, "
)

// Metrics are all metrics, in the order in which they are shown.
var Metrics = []Metric{
	{"warp_instructions", "Warp instructions", UnitCount, true, false,
		"PTX instructions that warps executed, each counted once for a warp, whatever the number of its active lanes. The hardware's own instructions are others: its compiler makes one or several of a PTX instruction, or none.",
		guide + "SIMT Architecture", total(func(w *Work) float64 { return float64(w.Warps) })},
	{"thread_instructions", "Thread instructions", UnitCount, true, false,
		"The same counted for each lane that was active and whose predicate held.",
		guide + "SIMT Architecture", total(func(w *Work) float64 { return float64(w.Threads) })},
	{"active_lanes", "Active lanes", UnitLanes, false, false,
		"Thread instructions by warp instructions: of 32 lanes those that did something.",
		guide + "SIMT Architecture", total((*Work).Lanes)},
	{"branch_efficiency", "Branch efficiency", UnitPercent, false, false,
		"The share of conditional branches (guarded bra, and brx.idx), as executed by warps, after which all lanes went the same way.",
		guide + "Control Flow Instructions", total(func(w *Work) float64 { return 100 * w.Efficiency() })},
	{"global_bytes", "Global memory traffic", UnitBytes, true, false,
		"Bytes that threads read and wrote in global memory; bytes that several lanes read count several times. There is no cache here.",
		guide + "Device Memory Accesses", total(func(w *Work) float64 { return float64(w.Global.Bytes) })},
	{"global_sectors_per_request", "Global sectors per request", UnitCount, true, false,
		"32-byte sectors that the active lanes of a warp touch with one instruction. 32 lanes with neighbouring 4-byte words need 4.",
		practices + "Coalesced Access to Global Memory", ofSpace(global, Traffic.PerRequest)},
	{"global_sector_factor", "Global sectors, of the ideal", UnitFactor, true, false,
		"Sectors by the ideal: the bytes of the active lanes by 32, rounded up, and never more than what was touched (lanes that read the same word need one sector).",
		practices + "Coalesced Access to Global Memory", ofSpace(global, Traffic.Factor)},
	{"shared_bytes", "Shared memory traffic", UnitBytes, true, false,
		"Bytes that threads read and wrote in shared memory.",
		guide + "Shared Memory", total(func(w *Work) float64 { return float64(w.Shared.Bytes) })},
	{"shared_bank_factor", "Bank-conflict factor", UnitFactor, true, false,
		"Passes over the 32 banks of 4 bytes by the ideal. Lanes that want the same word share a pass, different words of one bank take one each. The ideal is the bytes of the active lanes by 128, rounded up.",
		guide + "Shared Memory (of compute capability 5.x and later)", ofSpace(shared, Traffic.Factor)},
	{"local_bytes", "Local memory traffic", UnitBytes, true, false,
		"Bytes that threads read and wrote in local memory: arrays with indices that are known at run time alone, variables whose address is taken, and registers that a compiler spilled in PTX. What the hardware's compiler spills is not seen.",
		guide + "Local Memory", total(func(w *Work) float64 { return float64(w.Local.Bytes) })},
	{"theoretical_occupancy", "Theoretical occupancy", UnitPercent, false, false,
		"The warps of the blocks that fit on a multiprocessor, by the warps that it can hold. The number of registers is an estimate: PTX has no such number.",
		guide + "Occupancy Calculator", occupancy((*Occupancy).Theoretical)},
	{"launch_occupancy", "Occupancy of this launch, at most", UnitPercent, false, false,
		"The same, less where the grid has fewer blocks than fit on the device. How long warps really stay is not known without a GPU, so that this is a bound.",
		guide + "Multiprocessor Level", occupancy((*Occupancy).Launch)},
	{"waves", "Waves", UnitCount, true, true,
		"Blocks of the grid by the blocks that fit on the device at once. A last wave that is nearly empty leaves multiprocessors without work.",
		guide + "Device Level", func(r *Report) (float64, bool) {
			if r.Occupancy == nil || r.Occupancy.Blocks == 0 {
				return 0, false
			}
			return r.Occupancy.Waves(), true
		}},
	{"flops", "Floating point operations", UnitCount, true, true,
		"Additions and multiplications of all precisions; a fused multiply-add is two, an m16n8k16 product of matrices 4096. Divisions, roots and other functions are not counted.",
		isa + "Floating-Point Instructions, Warp-Level Matrix Instructions", total(func(w *Work) float64 {
			return float64(w.Flops.Total())
		})},
	{"intensity", "Arithmetic intensity", UnitCount, false, true,
		"Floating point operations for each byte of the sectors of global memory.",
		guide + "Maximize Memory Throughput", func(r *Report) (float64, bool) {
			t := &r.Counts.Total
			return ratio(t.Flops.Total(), sectorBytes*t.Global.Units), t.Global.Units > 0
		}},
	{"cpu_ms", "Time on this CPU", UnitMS, true, true,
		"Milliseconds that the fastest launch took on the CPU of this machine. It says nothing about a GPU.",
		"measured", func(r *Report) (float64, bool) {
			if r.Speed == nil {
				return 0, false
			}
			return r.Speed.MS, true
		}},
	{"cpu_bytes_per_second", "Global bytes per second, this CPU", UnitBytesPS, false, true,
		"Global memory traffic of a launch by its time on this CPU.",
		"measured", func(r *Report) (float64, bool) { return r.perSecond(float64(r.Counts.Total.Global.Bytes)) }},
	{"cpu_flops_per_second", "Flops per second, this CPU", UnitRate, false, true,
		"Floating point operations of a launch by its time on this CPU.",
		"measured", func(r *Report) (float64, bool) { return r.perSecond(float64(r.Counts.Total.Flops.Total())) }},
}

func total(f func(*Work) float64) func(*Report) (float64, bool) {
	return func(r *Report) (float64, bool) { return f(&r.Counts.Total), true }
}

// ofSpace is a metric of a space's traffic, where there is any.
func ofSpace(s space, f func(Traffic) float64) func(*Report) (float64, bool) {
	return func(r *Report) (float64, bool) {
		t := *r.Counts.Total.space(s)
		return f(t), t.Requests > 0
	}
}

func occupancy(f func(*Occupancy) float64) func(*Report) (float64, bool) {
	return func(r *Report) (float64, bool) {
		if r.Occupancy == nil {
			return 0, false
		}
		return 100 * f(r.Occupancy), true
	}
}

// perSecond is a sum over all launches by launches and by the time of one.
func (r *Report) perSecond(sum float64) (float64, bool) {
	if r.Speed == nil || r.Speed.MS <= 0 || r.Launches <= 0 || sum == 0 {
		return 0, false
	}
	return sum / float64(r.Launches) / (r.Speed.MS / 1000), true
}

// Finish adds metrics and findings to counts, occupancy and time.
func (r *Report) Finish() {
	r.Metrics = []Value{}
	for i := range Metrics {
		if v, ok := Metrics[i].value(r); ok {
			r.Metrics = append(r.Metrics, Value{Metrics[i].Key, v})
		}
	}
	r.Findings = Findings(r.Counts, r.Occupancy)
}

// Metric is the value of a metric.
func (r *Report) Metric(key string) (float64, bool) {
	for _, v := range r.Metrics {
		if v.Key == key {
			return v.Value, true
		}
	}
	return 0, false
}
