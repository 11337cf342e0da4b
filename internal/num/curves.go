package num

// Curve is the table of an approximate function as vector code wants it: the function at x, in units of 2^-40, is
// C0[s] + C1[s]*n + C2[s]*q, where s is x without its low Bits bits, n is those, and q the square of n computed without
// the partial products below column Low, over 2^Low. Scales and the rounding constant are in the coefficients.
type Curve struct {
	C0     []int64
	C1, C2 []int32
	Bits   uint
	Low    uint
}

// CurveOf returns the table of rcp, rsqrt, sqrt, ex2, lg2, sin or tanh. That of tanh is for what TanhSegment makes of
// an operand.
func CurveOf(name string) (Curve, bool) {
	var c *curve
	switch name {
	case "rcp":
		c = &rcpCurve
	case "rsqrt":
		c = &rsqrtCurve
	case "sqrt":
		c = &sqrtCurve
	case "ex2":
		c = &ex2Curve
	case "lg2":
		c = &lg2Curve
	case "sin":
		c = &sinCurve
	case "tanh":
		return tanhCurve(), true
	default:
		return Curve{}, false
	}
	out := Curve{Bits: c.n, Low: c.low}
	for s := range c.seg {
		k := &c.seg[s]
		c1 := c.shift[1]
		if s >= len(c.seg)/2 {
			c1 += c.c1Extra
		}
		out.C0 = append(out.C0, int64(k[0])<<c.shift[0]+c.bias)
		out.C1 = append(out.C1, k[1]<<c1)
		out.C2 = append(out.C2, k[2]<<c.shift[2])
	}
	return out, true
}

// TanhSegment says how tanh's operands of one power of two stand in its table: of x with 2^(e-8) <= |x| < 2^(e-7), the
// fraction's 23 bits times 2^Shift, over 64, and First added, are the curve's operand. There are 11 from e = 0 on.
type TanhSegment struct {
	Shift uint8
	First uint32
}

// TanhSegments returns them.
func TanhSegments() (s [len(tanhOctaves)]TanhSegment) {
	for e, o := range tanhOctaves {
		s[e] = TanhSegment{o.man, uint32(o.first) << 17}
	}
	return s
}

func tanhCurve() Curve {
	out := Curve{Bits: 17, Low: 19}
	for _, o := range tanhOctaves {
		for s := range int16(1) << o.man {
			k := &tanhTable[o.first+s]
			out.C0 = append(out.C0, int64(k[0])<<16)
			out.C1 = append(out.C1, k[1]<<o.shift)
			out.C2 = append(out.C2, k[2]<<o.shift)
		}
	}
	return out
}
