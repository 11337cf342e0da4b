// Package kernels writes kernels in CUDA C++ that call the functions of the device math library, and makes their
// arguments: what runs on a GPU by NVIDIA's library and by ours, and on the software device.
//
// A kernel k_NAME(u64 *out, const u64 *in, u64 n) takes n tuples: as many words as Slots has types, an argument each in
// its low bits, and gives as many words as Outs has types.
package kernels

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/devlib"
)

// Prelude stands before the kernels, in both compilers' language.
const Prelude = `typedef unsigned long long u64;
typedef unsigned int u32;
#ifdef __clang__
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define INDEX ((u64)__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x())
#define STRIDE ((u64)__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x())
#else
#define INDEX ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define STRIDE ((u64)gridDim.x * blockDim.x)
#endif
template <class T> static __device__ T from(u64 v) { T t; __builtin_memcpy(&t, &v, sizeof t); return t; }
template <class T> static __device__ u64 bits(T t) { u64 v = 0; __builtin_memcpy(&v, &t, sizeof t); return v; }
`

var cTypes = map[byte]string{'i': "int", 'u': "unsigned int", 'l': "long long", 'L': "unsigned long long",
	'h': "unsigned short", 'f': "float", 'd': "double", 'F': "float *", 'D': "double *", 'I': "int *",
	'p': "const float *", 'q': "const double *", 's': "const signed char *", '-': "void"}

// Declare writes the declaration of a function.
func Declare(b *strings.Builder, f devlib.Function) {
	var params []string
	for _, p := range []byte(f.Params) {
		params = append(params, cTypes[p])
	}
	fmt.Fprintf(b, "extern \"C\" __device__ %s __nv_%s(%s);\n", cTypes[f.Result], f.Name, strings.Join(params, ", "))
}

// Define writes a function of the library's name that calls one of CUDA's headers.
func Define(b *strings.Builder, f devlib.Function, api string) {
	var params, args []string
	for i, p := range []byte(f.Params) {
		params = append(params, fmt.Sprintf("%s a%d", cTypes[p], i))
		args = append(args, fmt.Sprintf("a%d", i))
	}
	fmt.Fprintf(b, "static __device__ %s __nv_%s(%s) { return %s(%s); }\n", cTypes[f.Result], f.Name,
		strings.Join(params, ", "), api, strings.Join(args, ", "))
}

// Slots returns the types of a tuple: the arguments that are read, of functions.tab but for n, a count of 0 to 4, with
// four numbers for an array, and k, an order of 0 to 128; "-" for none.
func Slots(f devlib.Function) string {
	var s []byte
	for i, p := range []byte(f.Params) {
		switch p {
		case 'p':
			s[i-1] = 'n'
			s = append(s, "ffff"...)
		case 'q':
			s[i-1] = 'n'
			s = append(s, "dddd"...)
		case 'F', 'D', 'I', 's':
		default:
			s = append(s, p)
		}
	}
	switch f.Name {
	case "jn", "yn", "jnf", "ynf":
		s[0] = 'k'
	}
	if len(s) == 0 {
		return "-"
	}
	return string(s)
}

// Outs returns the types of the results: the function's own and those behind pointers.
func Outs(f devlib.Function) string {
	s := ""
	if f.Result != '-' {
		s = string(f.Result)
	}
	for _, p := range []byte(f.Params) {
		switch p {
		case 'F', 'D':
			s += string(p + 'a' - 'A')
		case 'I':
			s += "i"
		}
	}
	return s
}

// Sweep says that a function's only argument has at most 32 bits.
func Sweep(f devlib.Function) bool {
	s := Slots(f)
	return len(s) == 1 && strings.Contains("fiuh", s)
}

// Counterpart returns the function of double of a function of float, if known has one.
func Counterpart(known map[string]devlib.Function, f devlib.Function) (devlib.Function, bool) {
	d, ok := known[strings.TrimSuffix(f.Name, "f")]
	if !ok || d.Name == f.Name || strings.Trim(Outs(f), "f") != "" || d.Params != strings.NewReplacer("f", "d", "F",
		"D", "p", "q").Replace(f.Params) {
		return d, false
	}
	return d, true
}

// call writes a call whose arguments are slots of the array a, of type T if that is given; results go to out.
func call(b *strings.Builder, f devlib.Function, wide bool) {
	var args, after []string
	slot, n, k := 0, len(Outs(f)), 0
	if f.Result != '-' {
		k = 1
	}
	for _, p := range []byte(f.Params) {
		switch p {
		case 'p', 'q':
			t, v := "float", "float"
			if p == 'q' {
				t = "double"
				v = t
				if wide {
					v = "float"
				}
			}
			fmt.Fprintf(b, "%s v[4]; for (int j = 0; j < 4; j++) v[j] = (%s)from<%s>(a[1 + j]); ", t, t, v)
			args = append(args, "v")
			slot += 4
		case 's':
			args = append(args, `(const signed char *)""`)
		case 'F', 'D', 'I':
			t := strings.TrimSuffix(cTypes[p], " *")
			fmt.Fprintf(b, "%s o%d; ", t, k)
			args = append(args, fmt.Sprintf("&o%d", k))
			after = append(after, fmt.Sprintf("out[i * %d + %d] = bits(o%d); ", n, k, k))
			k++
		default:
			t := cTypes[p]
			v := t
			if wide && p == 'd' {
				v = "float"
			}
			args = append(args, fmt.Sprintf("(%s)from<%s>(a[%d])", t, v, slot))
			slot++
		}
	}
	c := fmt.Sprintf("__nv_%s(%s)", f.Name, strings.Join(args, ", "))
	if f.Result != '-' {
		c = fmt.Sprintf("out[i * %d] = bits(%s)", n, c)
	}
	fmt.Fprintf(b, "%s; %s", c, strings.Join(after, ""))
}

// Kernel writes the kernel k_NAME of f; name may be that of another definition.
func Kernel(b *strings.Builder, f devlib.Function, name string) {
	body(b, "k_"+name, f, f, false)
}

// Reference writes the kernel e_NAME: the counterpart d with the arguments of f.
func Reference(b *strings.Builder, f, d devlib.Function) { body(b, "e_"+f.Name, f, d, true) }

func body(b *strings.Builder, name string, f, called devlib.Function, wide bool) {
	s := Slots(f)
	if s == "-" {
		s = ""
	}
	fmt.Fprintf(b, "extern \"C\" __global__ void %s(u64 *out, const u64 *in, u64 n) {\n"+
		"\tfor (u64 i = INDEX; i < n; i += STRIDE) {\n\t\tconst u64 *a = in + i * %d; (void)a; ", name, len(s))
	call(b, called, wide)
	b.WriteString("\n\t}\n}\n")
}
