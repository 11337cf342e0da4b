"""PTX texts."""

BASIC = """
.version 7.0
.target sm_52
.address_size 64
.global .align 4 .u32 counter = 7;
.global .align 8 .b8 table[64];
.const .align 4 .f32 scale = 0f3FC00000;
.extern .shared .align 16 .b8 dynamic[];

// p[i] = value for i < n
.visible .entry fill(.param .u64 p, .param .u32 value, .param .u32 n)
{
	.reg .pred %p; .reg .u32 %r<6>; .reg .u64 %rd<4>;
	ld.param.u64 %rd0, [p]; ld.param.u32 %r0, [value]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p, %r5, %r1;
	@%p ret;
	mad.wide.u32 %rd1, %r5, 4, %rd0;
	st.global.u32 [%rd1], %r0;
	ret;
}

// y[i] = a * x[i] + y[i] for i < n
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n)
{
	.reg .pred %p; .reg .u32 %r<6>; .reg .u64 %rd<5>; .reg .f32 %f<4>;
	ld.param.f32 %f0, [a]; ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p, %r5, %r1;
	@%p ret;
	mad.wide.u32 %rd2, %r5, 4, %rd0;
	mad.wide.u32 %rd3, %r5, 4, %rd1;
	ld.global.f32 %f1, [%rd2];
	ld.global.f32 %f2, [%rd3];
	fma.rn.f32 %f3, %f0, %f1, %f2;
	st.global.f32 [%rd3], %f3;
	ret;
}

// *p += 1, by every thread
.visible .entry add_one(.param .u64 p)
{
	.reg .u32 %r<2>; .reg .u64 %rd<2>;
	ld.param.u64 %rd0, [p];
	atom.global.add.u32 %r0, [%rd0], 1;
	ret;
}

// p[t] = p[n-1-t] through dynamic shared memory, one block of n threads
.visible .entry reverse(.param .u64 p)
{
	.reg .u32 %r<8>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x;
	mad.wide.u32 %rd1, %r0, 4, %rd0;
	ld.global.u32 %r2, [%rd1];
	mov.u32 %r3, dynamic;
	shl.b32 %r4, %r0, 2;
	add.u32 %r5, %r3, %r4;
	st.shared.u32 [%r5], %r2;
	bar.sync 0;
	sub.u32 %r6, %r1, %r0; sub.u32 %r6, %r6, 1; shl.b32 %r6, %r6, 2;
	add.u32 %r6, %r3, %r6;
	ld.shared.u32 %r7, [%r6];
	st.global.u32 [%rd1], %r7;
	ret;
}

// counter += tid + 1; p[0] = counter before, by one thread of each block
.visible .entry count(.param .u64 p)
{
	.reg .pred %p; .reg .u32 %r<3>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %tid.x;
	setp.ne.u32 %p, %r0, 0;
	@%p ret;
	atom.global.add.u32 %r1, [counter], 1;
	st.global.u32 [%rd0], %r1;
	ret;
}

// the coordinates of each thread: p[linear] = (ctaid.z<<24)|(ctaid.y<<16)|(ctaid.x<<8)|(tid.z<<6)|(tid.y<<3)|tid.x, for a grid of (3,2,2) blocks of (4,3,2)
.visible .entry place(.param .u64 p)
{
	.reg .u32 %r<16>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z;
	mov.u32 %r3, %tid.x; mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z;
	mov.u32 %r6, %nctaid.x; mov.u32 %r7, %nctaid.y; mov.u32 %r8, %ntid.x; mov.u32 %r9, %ntid.y; mov.u32 %r10, %ntid.z;
	mad.lo.u32 %r11, %r2, %r7, %r1; mad.lo.u32 %r11, %r11, %r6, %r0;
	mad.lo.u32 %r11, %r11, %r10, %r5; mad.lo.u32 %r11, %r11, %r9, %r4; mad.lo.u32 %r11, %r11, %r8, %r3;
	shl.b32 %r2, %r2, 24; shl.b32 %r1, %r1, 16; shl.b32 %r0, %r0, 8; shl.b32 %r5, %r5, 6; shl.b32 %r4, %r4, 3;
	or.b32 %r2, %r2, %r1; or.b32 %r2, %r2, %r0; or.b32 %r2, %r2, %r5; or.b32 %r2, %r2, %r4; or.b32 %r2, %r2, %r3;
	mad.wide.u32 %rd1, %r11, 4, %rd0;
	st.global.u32 [%rd1], %r2;
	ret;
}

// parameters of several types, packed: p[0..] = their values widened to 64 bits
.visible .entry types(.param .u64 p, .param .u8 a, .param .s16 b, .param .u32 c, .param .f64 d, .param .align 8 .b8 e[16])
{
	.reg .u64 %rd<8>; .reg .u32 %r<3>; .reg .u16 %h<3>; .reg .f64 %d0;
	ld.param.u64 %rd0, [p];
	ld.param.u8 %h0, [a]; cvt.u64.u16 %rd1, %h0; st.global.u64 [%rd0], %rd1;
	ld.param.s16 %h1, [b]; cvt.s64.s16 %rd2, %h1; st.global.u64 [%rd0+8], %rd2;
	ld.param.u32 %r0, [c]; cvt.u64.u32 %rd3, %r0; st.global.u64 [%rd0+16], %rd3;
	ld.param.f64 %d0, [d]; st.global.f64 [%rd0+24], %d0;
	ld.param.u64 %rd4, [e]; st.global.u64 [%rd0+32], %rd4;
	ld.param.u64 %rd5, [e+8]; st.global.u64 [%rd0+40], %rd5;
	ret;
}

.visible .entry empty() { ret; }
"""

TRAP = """
.version 7.0
.target sm_52
.address_size 64
.visible .entry trap_now() { trap; ret; }
.visible .entry wild()
{
	.reg .u64 %rd0;
	mov.u64 %rd0, 16;
	st.global.u32 [%rd0], 1;
	ret;
}
"""

# every block adds to p[0] and waits until all have: only blocks that run at the same time get past
TOGETHER = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry together(.param .u64 p)
{
	.reg .pred %p; .reg .u32 %r<5>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %nctaid.x; mov.u32 %r1, %ctaid.x;
	atom.global.add.u32 %r2, [%rd0], 1;
wait:
	ld.acquire.gpu.global.u32 %r3, [%rd0];
	setp.lt.u32 %p, %r3, %r0;
	@%p bra wait;
	mad.wide.u32 %rd1, %r1, 4, %rd0;
	st.global.u32 [%rd1+4], %r3;
	ret;
}
"""

# p[block] = rank in the cluster << 8 | blocks of the cluster
CLUSTER = """
.version 7.8
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 p)
{
	.reg .u32 %r<5>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %ctaid.x;
	shl.b32 %r3, %r0, 8;
	or.b32 %r3, %r3, %r1;
	mad.wide.u32 %rd1, %r2, 4, %rd0;
	st.global.u32 [%rd1], %r3;
	ret;
}
.visible .entry fixed(.param .u64 p) .reqnctapercluster 2, 1, 1
{
	.reg .u32 %r<5>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r0, %cluster_ctarank; mov.u32 %r1, %cluster_nctarank; mov.u32 %r2, %ctaid.x;
	shl.b32 %r3, %r0, 8;
	or.b32 %r3, %r3, %r1;
	mad.wide.u32 %rd1, %r2, 4, %rd0;
	st.global.u32 [%rd1], %r3;
	ret;
}
"""

# one thread per output element; handles by value
TEXTURE = """
.version 7.0
.target sm_52
.address_size 64
// out[i] = tex(u[i], v[i]).x
.visible .entry fetch2d(.param .u64 tex, .param .u64 u, .param .u64 v, .param .u64 out)
{
	.reg .u32 %r0; .reg .u64 %rd<8>; .reg .f32 %f<6>;
	ld.param.u64 %rd0, [tex]; ld.param.u64 %rd1, [u]; ld.param.u64 %rd2, [v]; ld.param.u64 %rd3, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd4, %r0, 4;
	add.u64 %rd5, %rd1, %rd4; ld.global.f32 %f0, [%rd5];
	add.u64 %rd6, %rd2, %rd4; ld.global.f32 %f1, [%rd6];
	tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd0, {%f0, %f1}];
	add.u64 %rd7, %rd3, %rd4; st.global.f32 [%rd7], %f2;
	ret;
}
// out[i] = tex(level 1, u[i], v[i]).x
.visible .entry fetchlevel(.param .u64 tex, .param .u64 u, .param .u64 v, .param .u64 out)
{
	.reg .u32 %r0; .reg .u64 %rd<8>; .reg .f32 %f<7>;
	ld.param.u64 %rd0, [tex]; ld.param.u64 %rd1, [u]; ld.param.u64 %rd2, [v]; ld.param.u64 %rd3, [out];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd4, %r0, 4;
	add.u64 %rd5, %rd1, %rd4; ld.global.f32 %f0, [%rd5];
	add.u64 %rd6, %rd2, %rd4; ld.global.f32 %f1, [%rd6];
	mov.f32 %f6, 0f3F800000;
	tex.level.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%rd0, {%f0, %f1}], %f6;
	add.u64 %rd7, %rd3, %rd4; st.global.f32 [%rd7], %f2;
	ret;
}
// out[i] = tex(i) of linear memory
.visible .entry fetch1d(.param .u64 tex, .param .u64 out)
{
	.reg .s32 %r<6>; .reg .u64 %rd<4>;
	ld.param.u64 %rd0, [tex]; ld.param.u64 %rd1, [out];
	mov.u32 %r0, %tid.x;
	tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd0, {%r0}];
	mul.wide.u32 %rd2, %r0, 4; add.u64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r1;
	ret;
}
// surf(x, y) = 100 * y + x + surf(x, y)
.visible .entry surface(.param .u64 surf)
{
	.reg .s32 %r<6>; .reg .u64 %rd0;
	ld.param.u64 %rd0, [surf];
	mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y;
	shl.b32 %r2, %r0, 2;
	suld.b.2d.b32.trap {%r4}, [%rd0, {%r2, %r1}];
	mad.lo.s32 %r3, %r1, 100, %r0;
	add.s32 %r3, %r3, %r4;
	sust.b.2d.b32.trap [%rd0, {%r2, %r1}], {%r3};
	ret;
}
"""

TEXREF = """
.version 7.0
.target sm_52
.address_size 64
.global .texref image;
.global .surfref canvas;
.visible .entry fetch(.param .u64 out)
{
	.reg .u32 %r0; .reg .u64 %rd<3>; .reg .f32 %f<6>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	cvt.rn.f32.u32 %f0, %r0; add.f32 %f0, %f0, 0f3F000000; mov.f32 %f1, 0f3FC00000;
	tex.2d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [image, {%f0, %f1}];
	mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1;
	st.global.f32 [%rd2], %f2;
	ret;
}
"""

# `twice` is defined in CALLEE
CALLER = """
.version 7.0
.target sm_52
.address_size 64
.extern .func (.param .b32 r) twice(.param .b32 x);
.visible .entry call(.param .u64 p)
{
	.reg .u32 %r<3>; .reg .u64 %rd0;
	ld.param.u64 %rd0, [p];
	ld.global.u32 %r0, [%rd0];
	{
	.param .b32 a; .param .b32 b;
	st.param.b32 [a], %r0;
	call (b), twice, (a);
	ld.param.b32 %r1, [b];
	}
	st.global.u32 [%rd0], %r1;
	ret;
}
"""
CALLEE = """
.version 7.0
.target sm_52
.address_size 64
.visible .func (.param .b32 r) twice(.param .b32 x)
{
	.reg .u32 %r<2>;
	ld.param.b32 %r0, [x];
	add.u32 %r1, %r0, %r0;
	st.param.b32 [r], %r1;
	ret;
}
"""

MANAGED = """
.version 7.0
.target sm_52
.address_size 64
.global .attribute(.managed) .align 4 .u32 shared_with_host = 11;
.visible .entry bump()
{
	.reg .u32 %r<2>;
	ld.global.u32 %r0, [shared_with_host];
	add.u32 %r1, %r0, 1;
	st.global.u32 [shared_with_host], %r1;
	ret;
}
"""

# sets the condition to 1 while *p < limit; *p += 1 before
CONDITION = """
.version 8.0
.target sm_70
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);
.visible .entry more(.param .u64 handle, .param .u64 p, .param .u32 limit)
{
	.reg .pred %p; .reg .u32 %r<4>; .reg .u64 %rd<3>;
	ld.param.u64 %rd0, [handle]; ld.param.u64 %rd1, [p]; ld.param.u32 %r0, [limit];
	atom.global.add.u32 %r1, [%rd1], 1;
	add.u32 %r1, %r1, 1;
	setp.lt.u32 %p, %r1, %r0;
	selp.u32 %r2, 1, 0, %p;
	{
	.param .b64 a; .param .b32 b;
	st.param.b64 [a], %rd0;
	st.param.b32 [b], %r2;
	call cudaGraphSetConditional, (a, b);
	}
	ret;
}
.visible .entry choose(.param .u64 handle, .param .u32 v)
{
	.reg .u32 %r0; .reg .u64 %rd0;
	ld.param.u64 %rd0, [handle]; ld.param.u32 %r0, [v];
	{
	.param .b64 a; .param .b32 b;
	st.param.b64 [a], %rd0;
	st.param.b32 [b], %r0;
	call cudaGraphSetConditional, (a, b);
	}
	ret;
}
"""
