package num

// Curve is the table of an approximate function as vector code wants it: the function at x, in units of 2^-40, is
// C0[s] + C1[s]*n + C2[s]*q, where s is x without its low Bits bits, n is those, and q the square of n computed without the partial products
// below column Low, over 2^Low. Scales and the rounding constant are in the coefficients.
type Curve struct {
	C0     []int64
	C1, C2 []int32
	Bits   uint
	Low    uint
}

// CurveOf returns the table of rcp, rsqrt, sqrt, ex2, lg2 or sin.
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
