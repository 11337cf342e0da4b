package ir

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// mmaProduct lowers mma.sync. One with elements of 8-bit floats becomes products of halves, which hold all such
// numbers: as num.FP8Sync has it, the elements with k mod 4 < 2 are multiplied first, the others are added to that, and
// C comes last with an ordinary addition. Those are the lower and the upper halves of each register, and as halves they
// stand in the fragments where their order in k does not matter.
func (b *body) mmaProduct(op *Op) error {
	mods := op.Mods()
	from := [2]optab.TypeID{mods.Type(1), mods.Type(2)}
	for _, t := range from {
		if t != optab.E4m3 && t != optab.E5m2 {
			b.ops = append(b.ops, *op)
			return nil
		}
	}
	x := &expander{body: b, op: op}
	d, c := op.Args[0].Elements(), op.Args[3].Elements()
	typ, reg := mods.Type(0).String(), "f32"
	if mods.Type(0) == optab.F16 {
		reg = "b32"
	}
	var sum []Arg
	for range d {
		sum = append(sum, x.imm(reg, 0))
	}
	words := []string{"sync", "aligned", fmt.Sprintf("m16n8k%d", mods.Shape.K/2), "row", "col", typ, "f16", "f16", typ}
	for half := range uint64(2) {
		var list [2][]Arg
		for i, t := range from {
			for _, r := range op.Args[1+i].Elements() {
				if half == 1 {
					r = x.value("shr", []string{"u32"}, "u32", r, x.imm("u32", 16))
				}
				pair := x.value("cvt", []string{"u16", "u32"}, "u16", x.as(r, "u32"))
				list[i] = append(list[i], x.value("cvt", []string{"rn", "f16x2", t.String() + "x2"}, "b32",
					x.as(pair, "b16")))
			}
		}
		to := x.fresh(reg, len(d))
		x.guarded("mma", words, x.vector(to), x.vector(list[0]), x.vector(list[1]), x.vector(sum))
		sum = to
	}
	add := []string{"rn", "f32"}
	if reg == "b32" {
		add[1] = "f16x2"
	}
	for i := range d {
		x.guarded("add", add, d[i], sum[i], c[i])
	}
	return x.err
}
