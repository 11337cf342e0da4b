package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Machine names the processor.
func Machine() string {
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
				return strings.TrimSpace(v)
			}
		}
	}
	return runtime.GOOS + "/" + runtime.GOARCH
}

// Quiet waits until the rest of the machine is idle, so that other work falls between samples and not on them; no
// longer than limit. It says whether that came.
func Quiet(limit time.Duration) bool {
	for begin := time.Now(); ; time.Sleep(250 * time.Millisecond) {
		idle, total, ok := processorTime()
		if !ok {
			return true // nobody can tell
		}
		time.Sleep(150 * time.Millisecond)
		idle2, total2, _ := processorTime()
		if float64(idle2-idle) >= 0.85*float64(total2-total) {
			return true
		}
		if time.Since(begin) > limit {
			return false
		}
	}
}

// processorTime reads the first line of Linux's /proc/stat.
func processorTime() (idle, total uint64, ok bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n")
	for i, f := range strings.Fields(line) {
		v, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			continue
		}
		total += v
		if i == 4 || i == 5 { // idle, iowait
			idle += v
		}
	}
	return idle, total, total > 0
}
