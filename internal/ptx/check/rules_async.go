package check

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rulesAsync are the rules of asynchronous copies.
var rulesAsync = ruleSet{
	"cpasync":    ruleCpAsync,
	"bulk":       ruleBulk,
	"bulkreduce": ruleBulkReduce,
	"stasync":    ruleStAsync,
	"multimem":   ruleMultimem,
}

// hintAgrees: a cache policy and .L2::cache_hint come together.
func hintAgrees(ic *instCheck) bool { return ic.Has("L2::cache_hint") == (ic.Arg("p") != nil) }

// ruleCpAsync: .ca copies 4, 8 or 16 bytes, .cg 16 (PTX ISA 9.7.9.25.3.1).
func ruleCpAsync(ic *instCheck) string {
	n, _ := ic.Imm("n")
	switch {
	case ic.Has("cg") && n != 16:
		return fmt.Sprintf("Argument 2 of instruction 'cp.async': unexpected value '%d', expected to be 16", n)
	case n != 4 && n != 8 && n != 16:
		return fmt.Sprintf("Argument 2 of instruction 'cp.async': unexpected value '%d', expected to be 4 or 8 or 16",
			n)
	}
	if s, ok := ic.Imm("s"); ok && s > n {
		return fmt.Sprintf("Argument 3 of instruction 'cp.async': unexpected value '%d', expected to be at most %d", s,
			n)
	}
	return ""
}

// ruleBulk: sizes are multiples of sixteen bytes, and a cache policy needs its modifier.
func ruleBulk(ic *instCheck) string {
	if !hintAgrees(ic) {
		return "Arguments mismatch for instruction '" + longCp(ic) + "'"
	}
	if n, ok := ic.Imm("n"); ok && n%16 != 0 {
		return fmt.Sprintf("Argument %d of instruction '%s': unexpected value '%d', expected to be a multiple of 16",
			ic.index("n"), longCp(ic), n)
	}
	return ""
}

// longCp is what ptxas calls a copy.
func longCp(ic *instCheck) string { return longName("cp", ic.Match.Words) }

// bulkTypes are the types of bulk reductions to global memory (PTX ISA 9.7.9.25.4.2).
var bulkTypes = map[string]string{
	"and": "b32 b64", "or": "b32 b64", "xor": "b32 b64", "inc": "u32", "dec": "u32",
	"add": "u32 s32 u64 f16 bf16 f32 f64", "min": "u32 s32 u64 s64 f16 bf16", "max": "u32 s32 u64 s64 f16 bf16",
}

// ruleBulkReduce: types by operation, fewer for shared memory; 16-bit floats are added without flushing.
func ruleBulkReduce(ic *instCheck) string {
	op := ic.One("and", "or", "xor", "inc", "dec", "add", "min", "max")
	typ := ic.Match.Type(0)
	if ic.Has("shared::cluster") && ic.Type(0).Class == optab.Float {
		return "Arguments mismatch for instruction 'cp.reduce.async.bulk'"
	}
	if !containsWord(bulkTypes[op], typ) {
		return wrongType("cp.reduce.async.bulk", op, typ)
	}
	half := typ == "f16" || typ == "bf16"
	if ic.Has("noftz") && !(half && op == "add") {
		return "Illegal modifier '.noftz' for instruction 'cp.reduce.async.bulk'"
	}
	if half && op == "add" && !ic.Has("noftz") {
		return fmt.Sprintf("Modifier '.noftz' required for instruction 'cp.reduce.async.bulk' with type '.%s' and operation '.add'", typ)
	}
	if ic.Has("shared::cluster") {
		switch {
		case typ == "b64":
			return "Illegal reduction operation for instruction 'cp.reduce.async.bulk.shared::cluster.shared::cta.b64'"
		case typ == "s64", typ == "u64" && op != "add":
			return "Illegal type for cp.reduce.async.bulk with .shared::cluster destination state space"
		}
	}
	return ruleBulk(ic)
}

func containsWord(list, word string) bool {
	for list != "" {
		var w string
		w, list, _ = strings.Cut(list, " ")
		if w == word {
			return true
		}
	}
	return false
}

// ruleStAsync: four elements of 64 bits are too many.
func ruleStAsync(ic *instCheck) string {
	if ic.Has("v4") && ic.Type(0).Bits == 64 {
		return "Vector type too large, exceeds 128 bit limit"
	}
	return ""
}

// ruleMultimem: which types an operation takes and which vectors fill at most 128 bits (PTX ISA 9.7.9.14).
func ruleMultimem(ic *instCheck) string {
	op, t := ic.One("add", "min", "max", "and", "or", "xor"), ic.Type(0)
	name := "multimem." + ic.One("ld_reduce", "st", "red")
	bad := false
	switch op {
	case "and", "or", "xor":
		bad = t.Class != optab.Bits
	case "add":
		bad = t.Class == optab.Bits || t.Name == "s64"
	case "min", "max":
		bad = t.Class == optab.Bits || t.Name == "f32" || t.Name == "f64"
	}
	if bad {
		return wrongType(name, op, t.Name)
	}
	n := 1
	switch ic.One("v2", "v4", "v8") {
	case "v2":
		n = 2
	case "v4":
		n = 4
	case "v8":
		n = 8
	}
	if bits := n * t.Bits; bits > 128 || bits < 32 {
		return ic.Mismatch()
	}
	if ic.One("acc::f32", "acc::f16") != "" && (op != "add" || t.Bits > 32 || t.Name == "f32") {
		return ic.Illegal(ic.One("acc::f32", "acc::f16"))
	}
	return ""
}
