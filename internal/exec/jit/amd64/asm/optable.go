package asm

// Op is an EVEX opcode: prefix (pp), opcode space (mmm), W and opcode byte; tuple is the unit of compressed
// displacements.
type Op struct {
	prefix, space, w, op byte
	tuple                int8
}

// Units of displacements beside fixed numbers of bytes: the whole vector, a half, a quarter of it.
const (
	vector  = 0
	half    = -1
	quarter = -2
)

// The EVEX opcodes.
var (
	MovU32     = Op{2, 1, 0, 0x6f, vector}  // vmovdqu32
	MovU32St   = Op{2, 1, 0, 0x7f, vector}  // vmovdqu32 (register to memory)
	MovU64     = Op{2, 1, 1, 0x6f, vector}  // vmovdqu64
	MovU64St   = Op{2, 1, 1, 0x7f, vector}  // vmovdqu64 (register to memory)
	MovA32     = Op{1, 1, 0, 0x6f, vector}  // vmovdqa32
	MovA64     = Op{1, 1, 1, 0x6f, vector}  // vmovdqa64
	MovU8St    = Op{3, 1, 0, 0x7f, vector}  // vmovdqu8 (register to memory)
	AddD       = Op{1, 1, 0, 0xfe, vector}  // vpaddd
	AddQ       = Op{1, 1, 1, 0xd4, vector}  // vpaddq
	SubD       = Op{1, 1, 0, 0xfa, vector}  // vpsubd
	SubQ       = Op{1, 1, 1, 0xfb, vector}  // vpsubq
	MulLD      = Op{1, 2, 0, 0x40, vector}  // vpmulld
	MulLQ      = Op{1, 2, 1, 0x40, vector}  // vpmullq
	MulUDQ     = Op{1, 1, 1, 0xf4, vector}  // vpmuludq
	MulDQ      = Op{1, 2, 1, 0x28, vector}  // vpmuldq
	AndD       = Op{1, 1, 0, 0xdb, vector}  // vpandd
	AndQ       = Op{1, 1, 1, 0xdb, vector}  // vpandq
	AndND      = Op{1, 1, 0, 0xdf, vector}  // vpandnd
	OrD        = Op{1, 1, 0, 0xeb, vector}  // vpord
	OrQ        = Op{1, 1, 1, 0xeb, vector}  // vporq
	XorD       = Op{1, 1, 0, 0xef, vector}  // vpxord
	XorQ       = Op{1, 1, 1, 0xef, vector}  // vpxorq
	TernD      = Op{1, 3, 0, 0x25, vector}  // vpternlogd
	TernQ      = Op{1, 3, 1, 0x25, vector}  // vpternlogq
	SllVD      = Op{1, 2, 0, 0x47, vector}  // vpsllvd
	SllVQ      = Op{1, 2, 1, 0x47, vector}  // vpsllvq
	SrlVD      = Op{1, 2, 0, 0x45, vector}  // vpsrlvd
	SrlVQ      = Op{1, 2, 1, 0x45, vector}  // vpsrlvq
	SraVD      = Op{1, 2, 0, 0x46, vector}  // vpsravd
	SraVQ      = Op{1, 2, 1, 0x46, vector}  // vpsravq
	RolVD      = Op{1, 2, 0, 0x15, vector}  // vprolvd
	RorVD      = Op{1, 2, 0, 0x14, vector}  // vprorvd
	MinSD      = Op{1, 2, 0, 0x39, vector}  // vpminsd
	MinSQ      = Op{1, 2, 1, 0x39, vector}  // vpminsq
	MinUD      = Op{1, 2, 0, 0x3b, vector}  // vpminud
	MinUQ      = Op{1, 2, 1, 0x3b, vector}  // vpminuq
	MaxSD      = Op{1, 2, 0, 0x3d, vector}  // vpmaxsd
	MaxSQ      = Op{1, 2, 1, 0x3d, vector}  // vpmaxsq
	MaxUD      = Op{1, 2, 0, 0x3f, vector}  // vpmaxud
	MaxUQ      = Op{1, 2, 1, 0x3f, vector}  // vpmaxuq
	AddW       = Op{1, 1, 0, 0xfd, vector}  // vpaddw
	AddB       = Op{1, 1, 0, 0xfc, vector}  // vpaddb
	SubW       = Op{1, 1, 0, 0xf9, vector}  // vpsubw
	MaxSB      = Op{1, 2, 0, 0x3c, vector}  // vpmaxsb
	MaxSW      = Op{1, 1, 0, 0xee, vector}  // vpmaxsw
	MaxUW      = Op{1, 2, 0, 0x3e, vector}  // vpmaxuw
	MinUW      = Op{1, 2, 0, 0x3a, vector}  // vpminuw
	MulHUW     = Op{1, 1, 0, 0xe4, vector}  // vpmulhuw
	MAddWD     = Op{1, 1, 0, 0xf5, vector}  // vpmaddwd
	UnpackLW   = Op{1, 1, 0, 0x61, vector}  // vpunpcklwd
	UnpackHW   = Op{1, 1, 0, 0x69, vector}  // vpunpckhwd
	UnpackLD   = Op{1, 1, 0, 0x62, vector}  // vpunpckldq
	UnpackHD   = Op{1, 1, 0, 0x6a, vector}  // vpunpckhdq
	UnpackLQ   = Op{1, 1, 1, 0x6c, vector}  // vpunpcklqdq
	UnpackHQ   = Op{1, 1, 1, 0x6d, vector}  // vpunpckhqdq
	ShufD      = Op{1, 1, 0, 0x70, vector}  // vpshufd
	AbsD       = Op{1, 2, 0, 0x1e, vector}  // vpabsd
	AbsQ       = Op{1, 2, 1, 0x1f, vector}  // vpabsq
	LzcntD     = Op{1, 2, 0, 0x44, vector}  // vplzcntd (AVX512CD)
	LzcntQ     = Op{1, 2, 1, 0x44, vector}  // vplzcntq (AVX512CD)
	ShufB      = Op{1, 2, 0, 0x00, vector}  // vpshufb
	BlendMD    = Op{1, 2, 0, 0x64, vector}  // vpblendmd
	BlendMQ    = Op{1, 2, 1, 0x64, vector}  // vpblendmq
	AddPS      = Op{0, 1, 0, 0x58, vector}  // vaddps
	AddPD      = Op{1, 1, 1, 0x58, vector}  // vaddpd
	MulPS      = Op{0, 1, 0, 0x59, vector}  // vmulps
	MulPD      = Op{1, 1, 1, 0x59, vector}  // vmulpd
	SubPS      = Op{0, 1, 0, 0x5c, vector}  // vsubps
	SubPD      = Op{1, 1, 1, 0x5c, vector}  // vsubpd
	DivPS      = Op{0, 1, 0, 0x5e, vector}  // vdivps
	DivPD      = Op{1, 1, 1, 0x5e, vector}  // vdivpd
	SqrtPS     = Op{0, 1, 0, 0x51, vector}  // vsqrtps
	SqrtPD     = Op{1, 1, 1, 0x51, vector}  // vsqrtpd
	FMA231PS   = Op{1, 2, 0, 0xb8, vector}  // vfmadd231ps
	FMA231PD   = Op{1, 2, 1, 0xb8, vector}  // vfmadd231pd
	FMA213PS   = Op{1, 2, 0, 0xa8, vector}  // vfmadd213ps
	FMA213PD   = Op{1, 2, 1, 0xa8, vector}  // vfmadd213pd
	FMS231PS   = Op{1, 2, 0, 0xba, vector}  // vfmsub231ps
	FNMA231PS  = Op{1, 2, 0, 0xbc, vector}  // vfnmadd231ps
	RangePS    = Op{1, 3, 0, 0x50, vector}  // vrangeps
	RangePD    = Op{1, 3, 1, 0x50, vector}  // vrangepd
	RndScalePS = Op{1, 3, 0, 0x08, vector}  // vrndscaleps
	RndScalePD = Op{1, 3, 1, 0x09, vector}  // vrndscalepd
	CvtDQ2PS   = Op{0, 1, 0, 0x5b, vector}  // vcvtdq2ps
	CvtUDQ2PS  = Op{3, 1, 0, 0x7a, vector}  // vcvtudq2ps
	CvtTPS2DQ  = Op{2, 1, 0, 0x5b, vector}  // vcvttps2dq
	CvtTPS2UDQ = Op{0, 1, 0, 0x78, vector}  // vcvttps2udq
	CvtPS2DQ   = Op{1, 1, 0, 0x5b, vector}  // vcvtps2dq
	CvtPS2PD   = Op{0, 1, 0, 0x5a, half}    // vcvtps2pd
	CvtPD2PS   = Op{1, 1, 1, 0x5a, vector}  // vcvtpd2ps
	CvtDQ2PD   = Op{2, 1, 0, 0xe6, half}    // vcvtdq2pd
	CvtUDQ2PD  = Op{2, 1, 0, 0x7a, half}    // vcvtudq2pd
	CvtTPD2DQ  = Op{1, 1, 1, 0xe6, vector}  // vcvttpd2dq
	CvtTPD2UDQ = Op{0, 1, 1, 0x78, vector}  // vcvttpd2udq
	CvtPH2PS   = Op{1, 2, 0, 0x13, half}    // vcvtph2ps
	CvtPS2PH   = Op{1, 3, 0, 0x1d, half}    // vcvtps2ph (register field: source)
	CvtQQ2PD   = Op{2, 1, 1, 0xe6, vector}  // vcvtqq2pd
	CvtUQQ2PD  = Op{2, 1, 1, 0x7a, vector}  // vcvtuqq2pd
	CvtTPD2QQ  = Op{1, 1, 1, 0x7a, vector}  // vcvttpd2qq
	PermD      = Op{1, 2, 0, 0x36, vector}  // vpermd
	PermI2D    = Op{1, 2, 0, 0x76, vector}  // vpermi2d
	PermT2D    = Op{1, 2, 0, 0x7e, vector}  // vpermt2d
	PermI2Q    = Op{1, 2, 1, 0x76, vector}  // vpermi2q
	PermT2Q    = Op{1, 2, 1, 0x7e, vector}  // vpermt2q
	InsertQ4   = Op{1, 3, 1, 0x3a, half}    // vinserti64x4
	ExtractQ4  = Op{1, 3, 1, 0x3b, half}    // vextracti64x4 (register field: source)
	MovZXDQ    = Op{1, 2, 0, 0x35, half}    // vpmovzxdq
	MovSXDQ    = Op{1, 2, 0, 0x25, half}    // vpmovsxdq
	MovZXBD    = Op{1, 2, 0, 0x31, quarter} // vpmovzxbd
	MovSXBD    = Op{1, 2, 0, 0x21, quarter} // vpmovsxbd
	MovZXWD    = Op{1, 2, 0, 0x33, half}    // vpmovzxwd
	MovSXWD    = Op{1, 2, 0, 0x23, half}    // vpmovsxwd
	MovQD      = Op{2, 2, 0, 0x35, half}    // vpmovqd (register field: source)
	MovDB      = Op{2, 2, 0, 0x31, quarter} // vpmovdb (register field: source)
	MovDW      = Op{2, 2, 0, 0x33, half}    // vpmovdw (register field: source)
	BroadcastD = Op{1, 2, 0, 0x58, 4}       // vpbroadcastd
	BroadcastX = Op{1, 2, 0, 0x5a, 16}      // vbroadcasti32x4, vbroadcasti128 (from memory)
	BroadcastQ = Op{1, 2, 1, 0x59, 8}       // vpbroadcastq
	GatherDD   = Op{1, 2, 0, 0x90, 4}       // vpgatherdd
	GatherQD   = Op{1, 2, 0, 0x91, 4}       // vpgatherqd
	GatherDQ   = Op{1, 2, 1, 0x90, 8}       // vpgatherdq
	GatherQQ   = Op{1, 2, 1, 0x91, 8}       // vpgatherqq
	ScatterDD  = Op{1, 2, 0, 0xa0, 4}       // vpscatterdd
	ScatterQD  = Op{1, 2, 0, 0xa1, 4}       // vpscatterqd
	ScatterDQ  = Op{1, 2, 1, 0xa0, 8}       // vpscatterdq
	ScatterQQ  = Op{1, 2, 1, 0xa1, 8}       // vpscatterqq
)

// MovNT is vmovntps: a store that does not take the line into the cache. It is ordered with other stores by fences and
// locked instructions only.
var MovNT = Op{0, 1, 0, 0x2b, vector}

// Conversions between 64-bit integers and floating point.
var (
	CvtPD2UQQ = Op{1, 1, 1, 0x79, vector} // vcvtpd2uqq
	CvtQQ2PS  = Op{0, 1, 1, 0x5b, vector} // vcvtqq2ps
	CvtUQQ2PS = Op{3, 1, 1, 0x7a, vector} // vcvtuqq2ps
)

// CompareOp is an EVEX opcode that compares elements by a Predicate; the result is a mask.
type CompareOp Op

// The compares.
var (
	CmpD  = CompareOp{1, 3, 0, 0x1f, vector} // vpcmpd
	CmpUD = CompareOp{1, 3, 0, 0x1e, vector} // vpcmpud
	CmpQ  = CompareOp{1, 3, 1, 0x1f, vector} // vpcmpq
	CmpUQ = CompareOp{1, 3, 1, 0x1e, vector} // vpcmpuq
	CmpPS = CompareOp{0, 1, 0, 0xc2, vector} // vcmpps
	CmpPD = CompareOp{1, 1, 1, 0xc2, vector} // vcmppd
)

// Predicate is a relation of a CompareOp: its immediate.
type Predicate uint8

// The relations of integers.
const (
	CmpEQ Predicate = 0
	CmpLT Predicate = 1
	CmpLE Predicate = 2
	CmpNE Predicate = 4
	CmpGE Predicate = 5
	CmpGT Predicate = 6
)

// The relations of floating-point numbers that raise no exception for quiet NaNs, true of NaNs where the name ends in
// U.
const (
	FloatEQ    Predicate = 0  // EQ_OQ
	FloatUnord Predicate = 3  // UNORD_Q: either is a NaN
	FloatNEU   Predicate = 4  // NEQ_UQ
	FloatOrd   Predicate = 7  // ORD_Q: none is a NaN
	FloatEQU   Predicate = 8  // EQ_UQ
	FloatNE    Predicate = 12 // NEQ_OQ
	FloatLT    Predicate = 17 // LT_OQ
	FloatLE    Predicate = 18 // LE_OQ
	FloatGEU   Predicate = 21 // NLT_UQ
	FloatGTU   Predicate = 22 // NLE_UQ
	FloatLTU   Predicate = 25 // NGE_UQ
	FloatLEU   Predicate = 26 // NGT_UQ
	FloatGE    Predicate = 29 // GE_OQ
	FloatGT    Predicate = 30 // GT_OQ
)

// TestOp is an EVEX opcode that tests the bits that elements have in common; the result is a mask.
type TestOp Op

// The tests.
var (
	TestMD  = TestOp{1, 2, 0, 0x27, vector} // vptestmd
	TestMQ  = TestOp{1, 2, 1, 0x27, vector} // vptestmq
	TestNMD = TestOp{2, 2, 0, 0x27, vector} // vptestnmd
	TestNMQ = TestOp{2, 2, 1, 0x27, vector} // vptestnmq
)

// ShiftOp is an EVEX opcode of shifts by an immediate. Its register field has the Shift, vvvv the destination.
type ShiftOp Op

// The shifts by an immediate.
var (
	// vpslld, vpsrld, vpsrad, vprold, vprord by an immediate: the register field says which
	ShiftD  = ShiftOp{1, 1, 0, 0x72, vector}
	ShiftW  = ShiftOp{1, 1, 0, 0x71, vector} // vpsllw, vpsrlw, vpsraw by an immediate
	ShiftQ  = ShiftOp{1, 1, 1, 0x73, vector} // vpsllq and vpsrlq by an immediate
	ShiftAQ = ShiftOp{1, 1, 1, 0x72, vector} // vpsraq by an immediate
)

// Shift is a shift of a ShiftOp. ShiftQ has no arithmetic one, which is ShiftAQ's only.
type Shift uint8

// The shifts.
const (
	ShiftRor Shift = 0
	ShiftRol Shift = 1
	ShiftSrl Shift = 2
	ShiftSra Shift = 4
	ShiftSll Shift = 6
)

// GeneralOp is an EVEX opcode of a vector register and a general one.
type GeneralOp Op

// The moves between vector and general registers.
var (
	MovD        = GeneralOp{1, 1, 0, 0x7e, 4} // vmovd r32/m32, xmm (register field: xmm)
	MovQ        = GeneralOp{1, 1, 1, 0x7e, 8} // vmovq r64/m64, xmm (register field: xmm)
	BroadcastDR = GeneralOp{1, 2, 0, 0x7c, 4} // vpbroadcastd from a general register
	BroadcastQR = GeneralOp{1, 2, 1, 0x7c, 8} // vpbroadcastq from a general register
)
