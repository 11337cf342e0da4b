package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// template says how to write an operation, nil when the interpreter has to do it. Nothing is written yet.
type template func(op *ir.Op) emitter

// templates has the candidates for each operation, by opcode: the first one that takes it writes it.
var templates = [...][]template{
	// integers
	optab.OpIadd: {addTemplate, narrowTemplate},
	optab.OpIsub: {subTemplate, narrowTemplate},
	optab.OpImul: {mulTemplate, narrowTemplate, mulHigh64},
	optab.OpImad: {madTemplate, narrowTemplate, mulHigh64},
	optab.OpAnd:  {logicTemplate(asm.AndD, asm.AndQ), narrowTemplate},
	optab.OpOr:   {logicTemplate(asm.OrD, asm.OrQ), narrowTemplate},
	optab.OpXor:  {logicTemplate(asm.XorD, asm.XorQ), narrowTemplate},
	optab.OpNot:  {notTemplate, narrowTemplate},
	optab.OpLop3: {lop3Template},
	optab.OpShl:  {shlTemplate, narrowTemplate},
	optab.OpShr:  {shrTemplate, narrowTemplate},
	optab.OpShf:  {shfTemplate},
	optab.OpIneg: {negTemplate, narrowTemplate},
	optab.OpIabs: {absTemplate, narrowTemplate},
	optab.OpImin: {minTemplate, narrowTemplate},
	optab.OpImax: {minTemplate, narrowTemplate},
	optab.OpClz:  {clzTemplate, countTemplate},
	optab.OpBfe:  {bfeTemplate, fieldTemplate},
	optab.OpPrmt: {prmtTemplate, permuteTemplate, permuteMode},

	// f32 and f64
	optab.OpFadd: {arith(asm.AddPS, asm.AddPD, true), floatTemplate},
	optab.OpFsub: {arith(asm.SubPS, asm.SubPD, false), floatTemplate},
	optab.OpFmul: {arith(asm.MulPS, asm.MulPD, true), floatTemplate},
	optab.OpFfma: {fmaTemplate, floatTemplate},
	optab.OpFdiv: {divTemplate, floatTemplate, flushedDivTemplate},
	optab.OpSqrt: {sqrtTemplate, floatTemplate},
	optab.OpRcp:  {rcpTemplate, floatTemplate, approx64Template},
	optab.OpFmin: {extremum(0), extremumTemplate},
	optab.OpFmax: {extremum(1), extremumTemplate},
	optab.OpFabs: {signTemplate, signedTemplate},
	optab.OpFneg: {signTemplate, signedTemplate},

	// comparisons
	optab.OpSetp: {setpTemplate, narrowCompare},
	optab.OpSelp: {selpTemplate},

	// moves
	optab.OpMov:       {movTemplate, narrowMove, wideMove},
	optab.OpCvta:      {cvtaTemplate, windowTemplate},
	optab.OpCvtaTo:    {cvtaTemplate, windowTemplate},
	optab.OpMovPack:   {packTemplate, narrowMove, wideMove},
	optab.OpMovUnpack: {unpackTemplate, narrowMove, wideMove},

	// conversions
	optab.OpCvt: {cvtTemplate, narrowCvt, wideCvt},

	// memory
	optab.OpLd:            {loadTemplate, laneLoad, wideLoad},
	optab.OpLdu:           {loadTemplate, laneLoad, wideLoad},
	optab.OpSt:            {storeTemplate, laneStore, wideStore},
	optab.OpPrefetch:      {nothing},
	optab.OpPrefetchu:     {nothing},
	optab.OpApplypriority: {nothing},
	optab.OpRed:           {atomTemplate, laneAtom},
	optab.OpAtom:          {atomTemplate, laneAtom, wideAtom},

	// warps
	optab.OpShfl:       {shflTemplate},
	optab.OpVote:       {voteTemplate},
	optab.OpBarWarp:    {barWarpTemplate},
	optab.OpWgmmaFence: {barWarpTemplate},
	optab.OpActivemask: {activeMaskTemplate},
	optab.OpMatch:      {matchTemplate},
	optab.OpRedux:      {reduxTemplate},
	optab.OpElect:      {electTemplate},

	// approximations
	optab.OpRsqrt: {approxTemplate, approx64Template},
	optab.OpEx2:   {approxTemplate},
	optab.OpLg2:   {approxTemplate},
	optab.OpSin:   {approxTemplate},
	optab.OpCos:   {approxTemplate},
	optab.OpTanh:  {approxTemplate},

	// other floating-point types
	optab.OpSet:      {setTemplate},
	optab.OpCopysign: {copysignTemplate},
	optab.OpCvtPair:  {pairCvt, toMiniTemplate},

	// integers lane by lane
	optab.OpIdiv:      {divideTemplate},
	optab.OpRem:       {divideTemplate},
	optab.OpPopc:      {popcTemplate, countTemplate},
	optab.OpBfind:     {countTemplate},
	optab.OpBrev:      {brevTemplate},
	optab.OpBfi:       {insertTemplate},
	optab.OpBmsk:      {bmskTemplate},
	optab.OpSzext:     {szextTemplate},
	optab.OpSad:       {sadTemplate},
	optab.OpMul24:     {mul24Template},
	optab.OpMad24:     {mul24Template},
	optab.OpDp4a:      {dotTemplate},
	optab.OpDp2a:      {dotTemplate},
	optab.OpCnot:      {cnotTemplate},
	optab.OpFns:       {fnsTemplate},
	optab.OpVmad:      {videoMad},
	optab.OpVadd:      {scalarVideo},
	optab.OpVsub:      {scalarVideo},
	optab.OpVabsdiff:  {scalarVideo},
	optab.OpVmin:      {scalarVideo},
	optab.OpVmax:      {scalarVideo},
	optab.OpVshl:      {scalarVideo},
	optab.OpVshr:      {scalarVideo},
	optab.OpVset:      {scalarVideo},
	optab.OpVadd2:     {simdVideo},
	optab.OpVsub2:     {simdVideo},
	optab.OpVavrg2:    {simdVideo},
	optab.OpVabsdiff2: {simdVideo},
	optab.OpVmin2:     {simdVideo},
	optab.OpVmax2:     {simdVideo},
	optab.OpVadd4:     {simdVideo},
	optab.OpVsub4:     {simdVideo},
	optab.OpVavrg4:    {simdVideo},
	optab.OpVabsdiff4: {simdVideo},
	optab.OpVmin4:     {simdVideo},
	optab.OpVmax4:     {simdVideo},

	// carry flags
	optab.OpAddcc: {carryTemplate},
	optab.OpSubcc: {carryTemplate},
	optab.OpAddc:  {carryTemplate},
	optab.OpSubc:  {carryTemplate},
	optab.OpMadcc: {carryTemplate},
	optab.OpMadc:  {carryTemplate},

	// memory lane by lane
	optab.OpCpAsync:            {laneCopy},
	optab.OpCpAsyncCommitGroup: {nothing},
	optab.OpCpAsyncWaitGroup:   {nothing},
	optab.OpFence:              {fenceTemplate},
	optab.OpGriddepcontrol:     {nothing},
	optab.OpSetmaxnreg:         {nothing},

	// rare
	optab.OpCvtWiden:     {fromMiniTemplate},
	optab.OpCvtPack:      {packCvt},
	optab.OpSlct:         {slctTemplate},
	optab.OpTestp:        {testpTemplate},
	optab.OpCreatepolicy: {policyTemplate},

	// synchronisation
	optab.OpMbarrierInit:          {mbarrierTemplate},
	optab.OpMbarrierInval:         {mbarrierTemplate},
	optab.OpMbarrierExpectTx:      {mbarrierTemplate},
	optab.OpMbarrierCompleteTx:    {mbarrierTemplate},
	optab.OpMbarrierArrive:        {mbarrierTemplate},
	optab.OpMbarrierArriveDrop:    {mbarrierTemplate},
	optab.OpCpAsyncMbarrierArrive: {mbarrierTemplate},
	optab.OpMbarrierTestWait:      {mbarrierWait},
	optab.OpMbarrierTryWait:       {mbarrierWait},
	optab.OpMbarrierPendingCount:  {pendingTemplate},
	optab.OpStacksave:             {stackTemplate},
	optab.OpStackrestore:          {stackTemplate},
	optab.OpAlloca:                {stackTemplate},

	// clusters
	optab.OpMapa:       {mapaTemplate},
	optab.OpGetctarank: {ctarankTemplate},
	optab.OpIsspacep:   {spaceTemplate},

	// bulk copies
	optab.OpCpAsyncBulk:         {bulkTemplate},
	optab.OpCpAsyncBulkPrefetch: {nothing},
	optab.OpStAsync:             {asyncStore},

	// products of matrices
	optab.OpMma:      {mmaTemplate},
	optab.OpWgmmaMma: {wgmmaTemplate},

	// moves of matrices
	optab.OpLdmatrix:  {ldmatrixTemplate},
	optab.OpStmatrix:  {stmatrixTemplate},
	optab.OpMovmatrix: {movmatrixTemplate},
}

// lookup returns what writes an operation, nil when the interpreter has to do it.
func lookup(op *ir.Op) emitter {
	switch op.Ctl {
	case ir.Plain:
	case ir.Special:
		return special(op)
	case ir.FrameAddr:
		return frameAddress(op)
	default:
		return nil
	}
	if code := int(op.Opcode()); code < len(templates) {
		for _, f := range templates[code] {
			if e := f(op); e != nil {
				return e
			}
		}
	}
	return nil
}

// emitters are what writes the operations of a function, nil for those without machine code.
func emitters(a *plan.Func) []emitter {
	if e, ok := a.Kept.([]emitter); ok {
		return e
	}
	out := make([]emitter, len(a.IR.Ops))
	for i := range out {
		if !a.Native[i] {
			continue
		}
		e := lookup(&a.IR.Ops[i])
		if a.Bounds != nil && a.Bounds[i] != nil {
			b, inside := a.Bounds[i], e
			e = func(g *gen) {
				if g.v == nil { // code of whole CTAs has asked before (gen.check)
					g.within(b)
				}
				inside(g)
			}
		}
		if a.Told != nil && a.Told[i] != nil {
			t, inside := a.Told[i], e
			e = func(g *gen) {
				if g.v == nil { // code of whole CTAs has noted it before (gen.check)
					g.tell(t)
				}
				inside(g)
			}
		}
		out[i] = e
	}
	a.Kept = out
	return out
}
