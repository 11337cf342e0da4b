package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/exec/trace"
	"github.com/gocuda/cuda/internal/exec/trace/page"
	"github.com/gocuda/cuda/internal/ir"
)

// assembly lists machine code with the operations at whose code it begins: in words where objdump is installed, else in
// bytes.
func assembly(f *ir.Func, l *jit.Listing) string {
	var b strings.Builder
	c := l.Whole
	if c != nil {
		fmt.Fprintf(&b, "%s, whole blocks: %d bytes; first for warps of which all lanes run, then for the others\n",
			l.Func, c.Size())
	} else {
		c = l.Warps
		fmt.Fprintf(&b, "%s, warp by warp: %d bytes, all lanes running\n", l.Func, c.Size())
	}
	for _, p := range pieces(c) {
		switch {
		case p.op == jit.OutOfLine:
			b.WriteString("; out of line\n")
		case p.op != wayIn:
			op := &f.Ops[p.op]
			fmt.Fprintf(&b, "; %d (PTX line %d) %s\n", p.op, op.Line, op.String())
		}
		for _, w := range p.words {
			fmt.Fprintf(&b, "%6x  %s\n", w.at, w.text)
		}
	}
	return b.String()
}

// piece is machine code of one operation.
type piece struct {
	op    int32 // or jit.OutOfLine, or wayIn
	words []word
}

const wayIn = jit.OutOfLine - 1

// pieces divides code by its marks. Padding is left out.
func pieces(c *jit.Code) []piece {
	if c.Size() == 0 {
		return nil
	}
	marks := map[int][]int32{}
	for _, m := range c.Marks {
		marks[int(m.Offset)] = append(marks[int(m.Offset)], m.Op)
	}
	words := disassemble(c.Bytes)
	if words == nil {
		for at := 0; at < len(c.Bytes); {
			end := min(at+16, len(c.Bytes))
			for i := at + 1; i < end; i++ {
				if marks[i] != nil {
					end = i
				}
			}
			words = append(words, word{at, hex.EncodeToString(c.Bytes[at:end])})
			at = end
		}
	}
	list := []piece{{op: wayIn}}
	for _, w := range words {
		for _, op := range marks[w.at] {
			list = append(list, piece{op: op})
		}
		if w.text != "nop" && w.text != "int3" && strings.Trim(w.text, "0") != "add BYTE PTR [rax],al" {
			last := &list[len(list)-1]
			last.words = append(last.words, w)
		}
	}
	return list
}

type word struct {
	at   int
	text string
}

// disassemble asks objdump; nil when it is not installed.
func disassemble(code []byte) []word {
	if len(code) == 0 {
		return nil
	}
	f, err := os.CreateTemp("", "gocuda-*.bin")
	if err != nil {
		return nil
	}
	defer os.Remove(f.Name())
	_, err = f.Write(code)
	if errors.Join(err, f.Close()) != nil {
		return nil
	}
	text, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn",
		f.Name()).Output()
	if err != nil {
		return nil
	}
	var list []word
	for line := range strings.Lines(string(text)) {
		var at int
		place, op, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if n, err := fmt.Sscanf(place, "%x", &at); n == 1 && err == nil && strings.TrimSpace(op) != "" {
			list = append(list, word{at, strings.Join(strings.Fields(op), " ")})
		}
	}
	return list
}

// stages are the texts of the compiler, from what the checker made of the PTX to machine code.
func stages(k *trace.Kernel, list []jit.Listing) (out []page.Stage) {
	add := func(title, text string) { out = append(out, page.Stage{Title: title, Text: text}) }
	var checked strings.Builder
	for _, f := range k.Funcs {
		if f.Check == nil {
			continue
		}
		fmt.Fprintf(&checked, "%s\n", f.Name)
		for i := range f.Check.Insts {
			in := &f.Check.Insts[i]
			fmt.Fprintf(&checked, "%5d  %-50s form %s, types %s\n", in.AST.Position().Line, in.AST.String(),
				in.Match.Form.Op, strings.Join(in.Match.Types, " "))
		}
	}
	add("checked", checked.String())
	var passes []string
	dumps := map[string]*strings.Builder{}
	_, err := ir.LowerWatched(k.Funcs[0].Check, nil, func(pass string, f *ir.Func) {
		if dumps[pass] == nil {
			dumps[pass] = new(strings.Builder)
			passes = append(passes, pass)
		}
		f.Dump(dumps[pass])
	})
	for _, p := range passes {
		add("pass "+p, dumps[p].String())
	}
	if err != nil {
		add("lowering the kernel alone", err.Error())
	}
	var final strings.Builder
	k.Dump(&final)
	add("operations as they run", final.String())
	for i := range list {
		add("machine code: "+list[i].Func, assembly(k.Funcs[i], &list[i]))
	}
	return out
}
