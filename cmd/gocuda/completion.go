package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

const completionHelp = "Print a script that completes this command's line in a shell.\n\n" +
	"bash: source <(gocuda completion bash), or into /etc/bash_completion.d/gocuda.\n\n" +
	"zsh: into a file _gocuda in a folder of $fpath.\n\n" +
	"fish: into ~/.config/fish/completions/gocuda.fish."

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Help is the detailed help.
func (c *completionCmd) Help() string {
	_, detail, _ := strings.Cut(completionHelp, "\n\n")
	return detail
}

func (c *completionCmd) Run(con *console) error {
	switch c.Shell {
	case "bash":
		completeBash(con.out, con.model)
	case "zsh":
		completeZsh(con.out, con.model)
	default:
		completeFish(con.out, con.model)
	}
	return nil
}

// commands are the commands of the command line, without those that are hidden.
func commands(model *kong.Application) []*kong.Node {
	return slices.DeleteFunc(slices.Clone(model.Children), func(n *kong.Node) bool { return n.Hidden })
}

// flags are the flags of a command with those of the whole command line.
func flags(model *kong.Application, n *kong.Node) []*kong.Flag {
	all := slices.Concat(n.Flags, model.Flags)
	return slices.DeleteFunc(all, func(f *kong.Flag) bool { return f.Hidden })
}

// values are the values that a flag or argument can have, nil when they are not a list.
func values(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return slices.DeleteFunc(v.EnumSlice(), func(s string) bool { return s == "" })
}

// enums are the values of the arguments of a command.
func enums(n *kong.Node) []string {
	var all []string
	for _, p := range n.Positional {
		all = append(all, values(p)...)
	}
	return all
}

func completeBash(w io.Writer, model *kong.Application) {
	var names []string
	for _, n := range commands(model) {
		names = append(names, n.Name)
	}
	fmt.Fprintf(w, `# bash completion for gocuda, from gocuda completion bash
_gocuda() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= flags= words= i
	# bash splits words at =
	if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		if [[ ${COMP_WORDS[i]} != -* ]]; then cmd=${COMP_WORDS[i]}; break; fi
	done
	case $cmd in
	'') COMPREPLY=($(compgen -W "%s --help --version" -- "$cur")); return ;;
`, strings.Join(names, " "))
	for _, n := range commands(model) {
		var long []string
		fmt.Fprintf(w, "\t%s)\n\t\tcase $prev in\n", n.Name)
		for _, f := range flags(model, n) {
			long = append(long, "--"+f.Name)
			if v := values(f.Value); v != nil {
				fmt.Fprintf(w, "\t\t--%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n", f.Name,
					strings.Join(v, " "))
			}
		}
		fmt.Fprintf(w, "\t\tesac\n\t\tflags=\"%s\" words=\"%s\" ;;\n", strings.Join(long, " "),
			strings.Join(enums(n), " "))
	}
	fmt.Fprint(w, `	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [[ -n $words ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
} # nothing found: names of files
complete -o bashdefault -o default -F _gocuda gocuda
`)
}

// quote writes text for a shell, in single quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// short is the first sentence of a help text, for a list.
func short(help string) string {
	help, _, _ = strings.Cut(help, "\n")
	help, _, _ = strings.Cut(help, ". ")
	return strings.TrimSuffix(help, ".")
}

func completeZsh(w io.Writer, model *kong.Application) {
	// in a specification of _arguments and _describe these have a meaning
	plain := strings.NewReplacer("[", "(", "]", ")", ":", " -")
	fmt.Fprint(w, "#compdef gocuda\n# zsh completion for gocuda, from gocuda completion zsh\n_gocuda() {\n"+
		"\tlocal -a commands\n\tcommands=(\n")
	for _, n := range commands(model) {
		fmt.Fprintf(w, "\t\t%s\n", quote(n.Name+":"+plain.Replace(short(n.Help))))
	}
	fmt.Fprint(w, "\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command commands\n\t\treturn\n\tfi\n"+
		"\tlocal cmd=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $cmd in\n")
	for _, n := range commands(model) {
		fmt.Fprintf(w, "\t%s)\n\t\t_arguments", n.Name)
		for _, f := range flags(model, n) {
			spec := "--" + f.Name
			if !f.IsBool() {
				spec += "="
			}
			spec += "[" + plain.Replace(short(f.Help)) + "]"
			switch v := values(f.Value); {
			case v != nil:
				spec += ":" + f.Name + ":(" + strings.Join(v, " ") + ")"
			case !f.IsBool():
				spec += ":" + f.Name + ":_files"
			}
			if f.IsCumulative() {
				spec = "*" + spec
			}
			fmt.Fprintf(w, " \\\n\t\t\t%s", quote(spec))
		}
		rest := "*:file:_files"
		if v := enums(n); v != nil {
			rest = "*:value:(" + strings.Join(v, " ") + ")"
		}
		fmt.Fprintf(w, " \\\n\t\t\t%s ;;\n", quote(rest))
	}
	fmt.Fprint(w, "\tesac\n}\n_gocuda \"$@\"\n")
}

func completeFish(w io.Writer, model *kong.Application) {
	plain := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	fmt.Fprintln(w, "# fish completion for gocuda, from gocuda completion fish")
	for _, n := range commands(model) {
		fmt.Fprintf(w, "complete -c gocuda -n __fish_use_subcommand -f -a %s -d '%s'\n", n.Name,
			plain.Replace(short(n.Help)))
	}
	for _, n := range commands(model) {
		in := fmt.Sprintf("complete -c gocuda -n '__fish_seen_subcommand_from %s'", n.Name)
		for _, f := range flags(model, n) {
			line := in + " -l " + f.Name
			if f.Short != 0 {
				line += " -s " + string(f.Short)
			}
			switch v := values(f.Value); {
			case v != nil:
				line += fmt.Sprintf(" -x -a '%s'", strings.Join(v, " "))
			case !f.IsBool():
				line += " -r"
			}
			fmt.Fprintf(w, "%s -d '%s'\n", line, plain.Replace(short(f.Help)))
		}
		if v := enums(n); v != nil {
			fmt.Fprintf(w, "%s -f -a '%s'\n", in, strings.Join(v, " "))
		}
	}
}
