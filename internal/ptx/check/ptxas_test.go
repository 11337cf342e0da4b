package check

import (
	"os"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
)

// ptxasHead is the kernel that testdata/ptxas.txt was made with.
const ptxasHead = `.version 9.0
.target sm_90a
.address_size 64
.global .align 16 .b8 gs[64];
.const .align 16 .b8 cs[64];
.visible .entry k(.param .u64 po,.param .align 16 .b8 pst[32]){
.reg .b32 %b<4>; .reg .u32 %u<4>; .reg .s32 %s<4>; .reg .f32 %f<4>; .reg .f16x2 %x<4>; .reg .b64 %lb<4>; .reg .u64 %lu<4>; .reg .s64 %ls<4>; .reg .f64 %d<4>;
.reg .b16 %hb<4>; .reg .u16 %hu<4>; .reg .s16 %hs<4>; .reg .f16 %hf<4>; .reg .b8 %cb<4>; .reg .u8 %cu<4>; .reg .s8 %cs<4>; .reg .pred %p<4>; .reg .b128 %q<4>;
.reg .b64 %a<8>; .reg .b32 %t<8>; .reg .v4 .b32 %va; .reg .v2 .u32 %vb;.reg .b32 %m<160>;
.shared .align 16 .b8 sm[1024]; .local .align 16 .b8 lo[64];
`

// ptxasOpen are instructions of testdata/ptxas.txt about which package check says something else, with the reason.
var ptxasOpen = map[string]string{
	"cvt.rna.tf32.f32 %b0,0d4008000000000000;": "a limit of how ptxas expands the instruction, which the manual does not know",
	"cvt.rna.tf32.f32 %b0,1.5;":                "the same",
	"suld.b.1d.b32.clamp %b0,[%a4,{%t1,%t2}];": "no manual says which coordinate counts",
}

// TestPtxas: what ptxas 13.0 takes is taken, what it refuses is refused, with its first message.
func TestPtxas(t *testing.T) {
	data, err := os.ReadFile("testdata/ptxas.txt")
	if err != nil {
		t.Fatal(err)
	}
	words, total := 0, 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		total++
		inst, want, refused := strings.Cut(line, " => ")
		want, _, _ = strings.Cut(want, " ## ")
		got := ""
		m, err := ptx.Parse([]byte(ptxasHead + inst + "\nret;}\n"))
		if err == nil {
			_, err = Check(m, Options{SM: 90})
		}
		if err != nil {
			got, _, _ = strings.Cut(Log(err), "\n")
			got = strings.Replace(got, "fatal   : ", "error   : F:", 1)
			_, got, _ = strings.Cut(got, "error   : ")
		}
		switch {
		case (err != nil) != refused && ptxasOpen[inst] != "":
		case (err != nil) != refused:
			t.Errorf("%s: %q, ptxas %q", inst, got, want)
		case ptxasOpen[inst] != "":
			t.Errorf("%s: said as ptxas does, and listed as open", inst)
		case got != want:
			words++
			t.Logf("%s: %q, ptxas %q", inst, got, want)
		}
	}
	if words > 92 {
		t.Errorf("%d messages in other words", words)
	}
	t.Logf("%d instructions, %d with other words", total, words)
}
