package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// rulesTMA are the rules of bulk tensor copies and tensor maps.
var rulesTMA = ruleSet{
	"tma":       ruleTMA,
	"tensormap": ruleTensormap,
}

// ruleTMA: as many coordinates as dimensions, each 32 bits; the im2col modes need three dimensions, and as many offsets
// as there are dimensions between the first and the last (PTX ISA 9.7.9.27.1.1).
func ruleTMA(ic *instCheck) string {
	mismatch := "Arguments mismatch for instruction '" + longCp(ic) + "'"
	dims := int(ic.One("1d", "2d", "3d", "4d", "5d")[0] - '0')
	coords := dims
	if ic.One("tile::gather4", "tile::scatter4") != "" {
		if dims != 2 {
			return fmt.Sprintf("Illegal dimension '.%dd' for instruction '%s'", dims, longCp(ic))
		}
		coords = 5
	}
	im2col := ic.One("im2col", "im2col_no_offs", "im2col::w", "im2col::w::128")
	if im2col != "" && dims < 3 {
		return fmt.Sprintf("Modifier '.%s' requires at least 3 dimensions for instruction '%s'", im2col, longCp(ic))
	}
	t := ic.Arg("t")
	if len(t.Extra) != 1 {
		return mismatch
	}
	cs := ic.Elems(&t.Extra[0])
	if len(cs) != coords {
		return mismatch
	}
	for i := range cs {
		if !intOperand(&cs[i], 32) {
			return mismatch
		}
	}
	if i := ic.Arg("i"); i != nil {
		want := dims - 2
		if im2col != "im2col" {
			want = 2
		}
		if len(ic.Elems(i)) != want {
			return mismatch
		}
	}
	if !hintAgrees(ic) || ic.Has("multicast::cluster") != (ic.Arg("k") != nil) {
		return mismatch
	}
	return ""
}

// intOperand says whether a loosely resolved operand is an integer constant or an integer register of the given width.
func intOperand(a *Arg, bits int) bool {
	switch a.Kind {
	case ArgImm:
		return true
	case ArgReg:
		return a.Var.Type.Bits == bits && a.Var.Type.Class <= optab.Signed
	}
	return false
}

// ruleTensormap: ordinals are dimensions, new values of enumerated fields are those of the manual's table, and a copy
// moves a whole map (PTX ISA 9.7.9.28 and 9.7.13.16).
func ruleTensormap(ic *instCheck) string {
	name := "tensormap." + ic.One("replace", "cp_fenceproxy")
	if n, ok := ic.Imm("n"); ok && n != 128 {
		return fmt.Sprintf("Argument 2 of instruction '%s': unexpected value '%d', expected to be 128", name, n)
	}
	top, arg, value := uint64(0), "b", uint64(0)
	switch ic.One("box_dim", "global_dim", "element_stride", "global_stride", "elemtype", "interleave_layout",
		"swizzle_mode", "fill_mode", "swizzle_atomicity") {
	case "box_dim", "global_dim", "element_stride":
		arg, top = "o", 4
	case "global_stride":
		arg, top = "o", 3
	case "elemtype":
		top = 15
	case "interleave_layout":
		top = 2
	case "swizzle_mode":
		top = 4
	case "fill_mode":
		top = 1
	case "swizzle_atomicity":
		top = 3
	default:
		return ""
	}
	if value, _ = ic.Imm(arg); value > top {
		return fmt.Sprintf("Argument %d of instruction '%s': unexpected value '%d', expected to be in the range 0..%d",
			ic.index(arg), name, value, top)
	}
	return ""
}
