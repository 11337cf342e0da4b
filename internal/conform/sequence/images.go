package sequence

// images are what sequences load, by name; each ends in a zero byte.
var images = map[string]string{
	"ptx":   kernels,
	"other": head + ".visible .global .align 4 .u32 gvar2 = 9;\n.visible .entry nop2() { ret; }\n",
	"bad":   head + ".visible .entry k() { mov.u32 %r1, 5; ret; }\n",
	"empty": "",
	"elf":   "\x7fELF\x02\x01\x01",
	"part":  head + ".extern .func (.param .u32 r) other(.param .u32 a);\n.visible .entry linked(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<3>; .param .b32 x; .param .b32 y; mov.u32 %r1, 20; st.param.b32 [x], %r1; call (y), other, (x); ld.param.b32 %r2, [y]; ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], %r2; ret; }\n",
	"rest":  head + ".visible .func (.param .u32 r) other(.param .u32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a]; add.u32 %r1, %r1, 1; st.param.u32 [r], %r1; ret; }\n",
}

const head = ".version 8.0\n.target sm_80\n.address_size 64\n"

// kernels has spin, which runs until a word that the host can set is not 0, or for two seconds.
const kernels = head + `
.visible .global .align 4 .u32 gvar = 7;
.visible .const .align 4 .u32 cvar[4] = {1,2,3,4};
.visible .global .texref tex0;
.visible .global .surfref surf0;
.visible .entry nop() { ret; }
.visible .entry st1(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1,[p]; mov.u32 %r1,5; st.global.u32 [%rd1],%r1; ret; }
.visible .entry add(.param .u64 p, .param .u32 n) { .reg .b64 %rd<3>; .reg .b32 %r<3>; ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[n]; ld.global.u32 %r2,[%rd1]; add.u32 %r2,%r2,%r1; st.global.u32 [%rd1],%r2; ret; }
.visible .entry setg(.param .u32 n) { .reg .b32 %r<3>; ld.param.u32 %r1,[n]; st.global.u32 [gvar],%r1; ret; }
.visible .entry smem(.param .u64 p) { .shared .align 4 .b8 sm[1024]; .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1,[p]; mov.u32 %r1,sm; mov.u32 %r3,9; st.shared.u32 [%r1],%r3; ld.shared.u32 %r2,[%r1]; st.global.u32 [%rd1],%r2; ret; }
.visible .entry trapper() { trap; }
.visible .entry spin(.param .u64 p) { .reg .b64 %rd<5>; .reg .b32 %r<3>; .reg .pred %p<3>; ld.param.u64 %rd1,[p]; mov.u64 %rd2,%globaltimer; L: ld.volatile.global.u32 %r1,[%rd1]; setp.ne.u32 %p1,%r1,0; @%p1 bra D; mov.u64 %rd3,%globaltimer; sub.u64 %rd3,%rd3,%rd2; setp.lt.u64 %p2,%rd3,2000000000; @%p2 bra L; D: ret; }
`
