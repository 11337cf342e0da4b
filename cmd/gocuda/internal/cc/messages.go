package cc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// begins is how a message of clang begins.
var begins = regexp.MustCompile(`(?m)^(In file included from |[^\n:]+:\d+:\d+: (warning|error|fatal error|remark): |(clang[^:\n]*: )?(warning|error): )`)

// counts is clang's last line, which says how many messages there were.
var counts = regexp.MustCompile(`(?m)^\d+ (warnings?|errors?)( and \d+ errors?)? generated.*\n`)

// say writes what clang said of device and host code, that which is in both once.
func (d *Driver) say(device, host []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.Stderr.Write(device)
	if len(device) == 0 {
		d.Stderr.Write(host)
		return
	}
	known := map[string]bool{}
	for _, m := range messages(device) {
		known[m] = true
	}
	for _, m := range messages(host) {
		if !known[m] {
			fmt.Fprint(d.Stderr, m)
		}
	}
}

// messages takes text apart.
func messages(text []byte) []string {
	text = counts.ReplaceAll(text, nil)
	var all []string
	start, include := 0, false
	for _, at := range begins.FindAllIndex(text, -1) {
		if !include && at[0] > start {
			all = append(all, string(text[start:at[0]]))
			start = at[0]
		}
		include = bytes.HasPrefix(text[at[0]:], []byte("In file"))
	}
	if start < len(text) {
		all = append(all, string(text[start:]))
	}
	return all
}

// explain says more of what clang refuses by design.
func explain(text []byte) string {
	switch s := string(text); {
	case strings.Contains(s, "reference to __global__ function"):
		return "kernels are launched by the host: clang has no dynamic parallelism, that is kernels that launch kernels"
	case sharedObject.Match(text):
		return "one declaration for each such variable, without an initializer"
	case strings.Contains(s, "unsupported CUDA gpu architecture"):
		return "-arch=sm_90, or a newer clang"
	}
	return ""
}
