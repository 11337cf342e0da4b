package cuda_test

import (
	"strings"
	"testing"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

// TestLinkerLog: the log of a link says nothing false of a function that another input defines, and names one that none
// defines once (an H200's log has each once: internal/link).
func TestLinkerLog(t *testing.T) {
	c := cudatest.Open(t)
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
	const caller = head + `.extern .func helper;
.visible .entry apply()
{
	call helper;
	ret;
}
`
	l, err := c.NewLinker(cuda.VerboseLog())
	check(t, err)
	check(t, l.Add("caller.ptx", []byte(caller)))
	check(t, l.Add("callee.ptx", []byte(head+".visible .func helper\n{\n\tret;\n}\n")))
	_, err = l.Complete()
	check(t, err)
	if log := l.Log(); strings.Contains(log, "not support") || strings.Contains(log, "helper (") {
		t.Errorf("log of a link that went well: %s", log)
	}
	check(t, l.Close())

	l, err = c.NewLinker(cuda.VerboseLog())
	check(t, err)
	check(t, l.Add("caller.ptx", []byte(caller)))
	_, err = l.Complete()
	if n := strings.Count(strings.ToLower(errorText(err)), "undefined reference to 'helper'"); n != 1 {
		t.Errorf("the function is named %d times: %v", n, err)
	}
	check(t, l.Close())
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
