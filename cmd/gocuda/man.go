package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type manCmd struct{}

func (*manCmd) Run(con *console) error {
	writeMan(con.out, con.model)
	return nil
}

// roff writes text for troff: a line of it never begins with a character that has a meaning there.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}

// writeMan writes the manual page of section 1, from what --help is made of.
func writeMan(w io.Writer, model *kong.Application) {
	b := built()
	fmt.Fprintf(w, ".TH GOCUDA 1 \"\" %q \"User Commands\"\n", roff("gocuda "+b.Version))
	fmt.Fprintf(w, ".SH NAME\ngocuda \\- %s\n", roff(summary))
	fmt.Fprint(w, ".SH SYNOPSIS\n.B gocuda\n.I command\n.RI [ arguments ]\n.SH COMMANDS\n")
	for _, n := range commands(model) {
		fmt.Fprintf(w, ".SS %s\n%s\n", roff(n.Summary()), roff(n.Help))
		if n.Detail != "" {
			fmt.Fprintf(w, ".PP\n%s\n", roff(n.Detail))
		}
		for _, p := range n.Positional {
			fmt.Fprintf(w, ".TP\n.I %s\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		for _, f := range n.Flags {
			if !f.Hidden {
				manFlag(w, f)
			}
		}
	}
	fmt.Fprint(w, ".SH OPTIONS OF ALL COMMANDS\n")
	for _, f := range model.Flags {
		manFlag(w, f)
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range exitCodes {
		fmt.Fprintf(w, ".TP\n.B %d\n%s\n", e.code, roff(e.meaning))
	}
	fmt.Fprint(w, ".SH ENVIRONMENT\nGOCUDA_DEVICE chooses the device. "+
		"docs/environment.md in the source tree has all variables.\n.SH EXAMPLES\n.EX\n"+roff(examples)+"\n.EE\n")
}

func manFlag(w io.Writer, f *kong.Flag) {
	fmt.Fprint(w, ".TP\n.B ")
	if f.Short != 0 {
		fmt.Fprintf(w, `\-%c, `, f.Short)
	}
	fmt.Fprintf(w, `\-\-%s`, roff(f.Name))
	if !f.IsBool() {
		fmt.Fprintf(w, "=%s", roff(f.FormatPlaceHolder()))
	}
	fmt.Fprintf(w, "\n%s\n", roff(f.Help))
}
