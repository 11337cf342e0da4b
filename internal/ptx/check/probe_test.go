package check

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/ptx"
)

// probeLater are modules that the driver refuses after the compiler: by its linker or by running out of memory.
var probeLater = map[string]bool{
	"module/decl_decl":    true, // Unresolved extern function
	"module/open_extern":  true, // Unresolved extern variable
	"module/huge":         true, // CUDA_ERROR_OUT_OF_MEMORY
	"module/global_local": true, // the driver's compiler crashes
}

// probeParser are modules on which the parser is laxer (or, for the two long constants, stricter) than the driver's.
var probeParser = map[string]bool{
	"imm/add.s64 %rd1,%rd2,18446744073709551616;": true, "imm/add.s32 %r1,%r2,18446744073709551616;": true,
	"name/.reg .u32 _;": true, "name/;": true, "name/;;": true,
	"name/.file 1 \"a.cu\"": true, "module/double_target": true, "module/target_late": true,
}

// probeOpen are verdicts that the families' rows and rules do not give yet; the test says when one does.
var probeOpen = map[string]bool{
	"type/tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4},[%rd1,{%f1,%f2}];": true,
	"type/tex.2d.v4.f32.f32 {%r1,%r2,%r3,%r4},[%rd1,{%f1,%f2}];": true,
	"imm/bfe.u32 %r1,%r2,300,400;":                               true, "imm/lop3.b32 %r1,%r2,%r3,%r4,256;": true,
	"imm/lop3.b32 %r1,%r2,%r3,%r4,-1;": true,
	"module/entry_cvta_param":          true,
}

// TestProbe compares with the verdicts of an H200's driver (580, CUDA 13.0) on questions that the manual leaves open:
// which registers and immediates fit, in which order modifiers stand, how names and declarations go together
// (testdata/ptx_probe.json.gz: module text, CUresult of cuModuleLoadDataEx, error log). The verdict must be the same;
// -v shows where the text differs.
func TestProbe(t *testing.T) {
	var cases []struct {
		ID, PTX, Log string
		Code         any
	}
	if err := json.Unmarshal(readText(t, filepath.Join("testdata", "ptx_probe.json.gz")), &cases); err != nil {
		t.Fatal(err)
	}
	same, texts := 0, 0
	for _, c := range cases {
		if probeLater[c.ID] || probeParser[c.ID] {
			continue
		}
		m, err := ptx.Parse([]byte(c.PTX))
		if err == nil {
			_, err = Check(m, Options{SM: 90})
		}
		code, _ := c.Code.(float64)
		if agrees := (code == 0) == (err == nil); probeOpen[c.ID] {
			if agrees {
				t.Logf("%s: agrees now, take it out of probeOpen", c.ID)
			}
			continue
		} else if !agrees {
			t.Errorf("%s: driver %v %s\n\there %v", c.ID, c.Code, c.Log, err)
			continue
		}
		if err == nil {
			continue
		}
		texts++
		if got := Log(err); got == c.Log {
			same++
		} else {
			t.Logf("%s\n\tdriver %s\n\there   %s", c.ID, strings.ReplaceAll(c.Log, "\n", " // "),
				strings.ReplaceAll(got, "\n", " // "))
		}
	}
	t.Logf("%d of %d logs are the driver's", same, texts)
	if same < 240 {
		t.Errorf("only %d logs are the driver's", same)
	}
}
