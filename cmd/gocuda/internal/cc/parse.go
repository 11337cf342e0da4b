package cc

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Stage is how far files are compiled.
type Stage uint8

// The stages.
const (
	Link       Stage = iota // to a program or shared library
	Object                  // -c: to an object with the PTX in it
	PTX                     // -ptx
	Fatbin                  // -fatbin
	Go                      // -go: a Go file with the image and a function for each kernel
	Preprocess              // -E, -M, -MM: clang's answer on standard output
)

// Options are what a command line asks for.
type Options struct {
	Stage  Stage
	Inputs []string
	Output string // "" for the usual name

	Archs []string // without sm_ or compute_: "90", "90a"; never empty
	CUDA  int      // 12 or 13: which version of the API the headers show
	Clang string   // path, "" to look for one

	Relocatable bool // -rdc=true, -dc
	Debug       bool // -G
	LineInfo    bool // -lineinfo
	FastMath    bool
	Approximate struct{ Div, Sqrt bool } // -prec-div=false, -prec-sqrt=false
	Flush       bool                     // -ftz=true
	NoContract  bool                     // -fmad=false
	Registers   string                   // -maxrregcount
	PerThread   bool                     // --default-stream per-thread
	CUDAFiles   bool                     // -x cu: every source is CUDA
	NoRuntime   bool                     // --cudart none

	Common, Host, Device, Linker []string // flags for clang: both compilations, one of them, the link

	GoPackage string // -package
	Verbose   bool   // -v, --dryrun
	DryRun    bool
}

// UsageError is a command line that cannot be obeyed.
type UsageError struct {
	Flag, Text string
	Hint       string
}

func (e *UsageError) Error() string {
	if e.Flag == "" {
		return e.Text
	}
	return e.Flag + ": " + e.Text
}

// meaning is what an option of nvcc does here.
type meaning struct {
	value bool // the option has a value
	do    func(o *Options, value string) error
}

// ignored are options that concern NVIDIA's own programs and change nothing here.
func ignored(*Options, string) error { return nil }

func forward(flag string) func(*Options, string) error {
	return func(o *Options, v string) error {
		if v != "" {
			o.Common = append(o.Common, flag, v)
		} else {
			o.Common = append(o.Common, flag)
		}
		return nil
	}
}

func glued(flag string) func(*Options, string) error {
	return func(o *Options, v string) error {
		o.Common = append(o.Common, flag+v)
		return nil
	}
}

func stage(s Stage) func(*Options, string) error {
	return func(o *Options, _ string) error {
		o.Stage = s
		return nil
	}
}

func refuse(text, try string) func(*Options, string) error {
	return func(*Options, string) error { return &UsageError{Text: text, Hint: try} }
}

// library notes a library. clang's OpenMP is another than gcc's, and two in a program do not know each other's threads;
// clang's has what gcc's code calls, too. NVTX is in the headers.
func library(o *Options, v string) error {
	switch v {
	case "gomp":
		o.Linker = append(o.Linker, "-fopenmp")
	case "nvToolsExt":
	default:
		o.Linker = append(o.Linker, "-l"+v)
	}
	return nil
}

func yes(v string) (bool, error) {
	switch v {
	case "", "true", "yes", "1":
		return true, nil
	case "false", "no", "0":
		return false, nil
	}
	return false, &UsageError{Text: fmt.Sprintf("%q is neither true nor false", v)}
}

func flag(set func(*Options, bool)) func(*Options, string) error {
	return func(o *Options, v string) error {
		b, err := yes(v)
		if err == nil {
			set(o, b)
		}
		return err
	}
}

// list splits a value of several at commas, and at spaces as -Xcompiler "-a -b" has them.
func list(v string) []string {
	return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
}

// options are nvcc's by their long and short names without dashes (NVCC manual, "NVCC Command Options"), and this
// command's own. nvcc takes each with one dash or two, and values behind a space or an equals sign.
var options = map[string]meaning{
	"o":           {true, func(o *Options, v string) error { o.Output = v; return nil }},
	"output-file": {true, func(o *Options, v string) error { o.Output = v; return nil }},

	"c":          {false, stage(Object)},
	"compile":    {false, stage(Object)},
	"ptx":        {false, stage(PTX)},
	"fatbin":     {false, stage(Fatbin)},
	"go":         {false, stage(Go)},
	"E":          {false, preprocess("-E")},
	"preprocess": {false, preprocess("-E")},
	"M":          {false, preprocess("-M")},
	"MM":         {false, preprocess("-MM")},
	"link":       {false, stage(Link)},
	"dc":         {false, func(o *Options, _ string) error { o.Stage, o.Relocatable = Object, true; return nil }},
	"device-c":   {false, func(o *Options, _ string) error { o.Stage, o.Relocatable = Object, true; return nil }},
	"dw":         {false, func(o *Options, _ string) error { o.Stage, o.Relocatable = Object, false; return nil }},
	"device-w":   {false, func(o *Options, _ string) error { o.Stage, o.Relocatable = Object, false; return nil }},
	"cubin":      {false, refuse("machine code of NVIDIA's processors is not made here", "-fatbin or -ptx")},
	"dlink": {false, refuse("device code is linked together with the program",
		"gocuda cc -rdc=true a.o b.o -o prog")},
	"device-link": {false, refuse("device code is linked together with the program",
		"gocuda cc -rdc=true a.o b.o -o prog")},
	"dlto": {false, refuse("link-time optimisation of device code needs NVIDIA's compiler", "-rdc=true alone")},
	"lto":  {false, refuse("link-time optimisation of device code needs NVIDIA's compiler", "-rdc=true alone")},
	"lib":  {false, refuse("libraries are made by ar", "gocuda cc -c, and ar rcs lib.a *.o")},

	"arch":             {true, architecture},
	"gpu-architecture": {true, architecture},
	"gencode":          {true, generate},
	"generate-code":    {true, generate},
	"code":             {true, ignored}, // the compute architecture of -arch is what counts
	"gpu-code":         {true, ignored},

	"rdc":                     {true, flag(func(o *Options, b bool) { o.Relocatable = b })},
	"relocatable-device-code": {true, flag(func(o *Options, b bool) { o.Relocatable = b })},
	"G":                       {false, flag(func(o *Options, b bool) { o.Debug = b })},
	"device-debug":            {false, flag(func(o *Options, b bool) { o.Debug = b })},
	"lineinfo":                {false, flag(func(o *Options, b bool) { o.LineInfo = b })},
	"generate-line-info":      {false, flag(func(o *Options, b bool) { o.LineInfo = b })},
	"g":                       {false, func(o *Options, _ string) error { o.Host = append(o.Host, "-g"); return nil }},
	"debug":                   {false, func(o *Options, _ string) error { o.Host = append(o.Host, "-g"); return nil }},
	"use_fast_math":           {false, flag(func(o *Options, b bool) { o.FastMath = b })},
	"ftz":                     {true, flag(func(o *Options, b bool) { o.Flush = b })},
	"fmad":                    {true, flag(func(o *Options, b bool) { o.NoContract = !b })},
	"prec-div":                {true, flag(func(o *Options, b bool) { o.Approximate.Div = !b })},
	"prec-sqrt":               {true, flag(func(o *Options, b bool) { o.Approximate.Sqrt = !b })},
	"maxrregcount":            {true, registers},
	"default-stream":          {true, defaultStream},

	"x":          {true, language},
	"std":        {true, glued("-std=")},
	"I":          {true, forward("-I")},
	"D":          {true, forward("-D")},
	"U":          {true, forward("-U")},
	"isystem":    {true, forward("-isystem")},
	"include":    {true, forward("-include")},
	"idirafter":  {true, forward("-idirafter")},
	"iquote":     {true, forward("-iquote")},
	"O":          {true, optimise},
	"optimize":   {true, optimise},
	"w":          {false, forward("-w")},
	"MD":         {false, hostFlag("-MD")},
	"MMD":        {false, hostFlag("-MMD")},
	"MP":         {false, hostFlag("-MP")},
	"MF":         {true, hostPair("-MF")},
	"MT":         {true, hostPair("-MT")},
	"MQ":         {true, hostPair("-MQ")},
	"L":          {true, linkPair("-L")},
	"l":          {true, library},
	"shared":     {false, func(o *Options, _ string) error { o.Linker = append(o.Linker, "-shared"); return nil }},
	"Xcompiler":  {true, compilerFlags},
	"Xlinker":    {true, linkerFlags},
	"ccbin":      {true, ignored}, // the host compiler is clang too: it reads the headers of both sides
	"m64":        {false, ignored},
	"m":          {true, ignored},
	"machine":    {true, ignored},
	"v":          {false, func(o *Options, _ string) error { o.Verbose = true; return nil }},
	"verbose":    {false, func(o *Options, _ string) error { o.Verbose = true; return nil }},
	"dryrun":     {false, func(o *Options, _ string) error { o.DryRun, o.Verbose = true, true; return nil }},
	"cudart":     {true, func(o *Options, v string) error { o.NoRuntime = v == "none"; return nil }},
	"cudadevrt":  {true, ignored},
	"clang":      {true, func(o *Options, v string) error { o.Clang = v; return nil }},
	"package":    {true, func(o *Options, v string) error { o.GoPackage = v; return nil }},
	"cuda":       {true, cudaVersion},
	"Xptxas":     {true, ignored},
	"Xfatbin":    {true, ignored},
	"Xnvlink":    {true, ignored},
	"Xcudafe":    {true, ignored},
	"Xarchive":   {true, ignored},
	"t":          {true, ignored},
	"threads":    {true, ignored},
	"keep-dir":   {true, ignored},
	"target-dir": {true, ignored},
	"dopt":       {true, ignored},

	"split-compile":                    {true, ignored},
	"diag-suppress":                    {true, ignored},
	"diag-warn":                        {true, ignored},
	"diag-error":                       {true, ignored},
	"nvcc-diag":                        {true, ignored},
	"Wno-deprecated-gpu-targets":       {false, ignored},
	"no-compress":                      {false, ignored},
	"compress-mode":                    {true, ignored},
	"compress-all":                     {false, ignored},
	"res-usage":                        {false, ignored},
	"resource-usage":                   {false, ignored},
	"keep":                             {false, ignored},
	"k":                                {false, ignored},
	"extra-device-vectorization":       {false, ignored},
	"restrict":                         {false, ignored},
	"allow-unsupported-compiler":       {false, ignored},
	"display-error-number":             {false, ignored},
	"Wreorder":                         {false, forward("-Wreorder")},
	"source-in-ptx":                    {false, ignored},
	"src-in-ptx":                       {false, ignored},
	"forward-unknown-to-host-compiler": {false, ignored},
	"forward-unknown-opts":             {false, ignored},

	// clang has these without asking.
	"expt-relaxed-constexpr": {false, ignored},
	"expt-extended-lambda":   {false, ignored},
	"extended-lambda":        {false, ignored},
}

// long are the long names of options whose value others know by another name.
var long = map[string]string{
	"include-path": "I", "define-macro": "D", "undefine-macro": "U", "system-include": "isystem",
	"pre-include":  "include",
	"library-path": "L", "library": "l", "compiler-options": "Xcompiler", "linker-options": "Xlinker",
	"ptxas-options": "Xptxas", "nvlink-options": "Xnvlink", "archive-options": "Xarchive", "compiler-bindir": "ccbin",
	"dependency-output": "MF", "generate-dependencies": "M", "generate-nonsystem-dependencies": "MM",
	"generate-dependencies-with-compile": "MD", "generate-nonsystem-dependencies-with-compile": "MMD",
	"generate-dependency-targets": "MP", "disable-warnings": "w", "relaxed-constexpr": "expt-relaxed-constexpr",
	"dlink-time-opt": "dlto", "disable-optimizer-constants": "restrict",
}

// sticky are the options whose value may follow without anything between.
var sticky = []string{"I", "D", "U", "L", "l", "O", "MF", "MT", "MQ", "std=", "x", "o"}

func hostFlag(f string) func(*Options, string) error {
	return func(o *Options, _ string) error {
		o.Host = append(o.Host, f)
		return nil
	}
}

func hostPair(f string) func(*Options, string) error {
	return func(o *Options, v string) error {
		o.Host = append(o.Host, f, v)
		return nil
	}
}

// optimise sets the level of host code, as nvcc does; device code has the highest unless it is compiled with -G.
func optimise(o *Options, v string) error {
	o.Host = append(o.Host, "-O"+v)
	return nil
}

// unknown takes a flag that is clang's. What is about the host's processor or its threads is not for device code.
func (o *Options) unknown(a string) {
	switch {
	case strings.HasPrefix(a, "-fopenmp"), a == "-pthread", strings.HasPrefix(a, "-fsanitize"):
		o.Host, o.Linker = append(o.Host, a), append(o.Linker, a)
	case strings.HasPrefix(a, "-m"), a == "-fPIC", a == "-fpic", a == "-fPIE":
		o.Host = append(o.Host, a)
	case strings.HasPrefix(a, "-Wl,"), a == "-static", a == "-rdynamic", a == "-pie", a == "-no-pie":
		o.Linker = append(o.Linker, a)
	default:
		o.Common = append(o.Common, a)
	}
}

func linkPair(f string) func(*Options, string) error {
	return func(o *Options, v string) error {
		o.Linker = append(o.Linker, f+v)
		return nil
	}
}

func preprocess(f string) func(*Options, string) error {
	return func(o *Options, _ string) error {
		o.Stage = Preprocess
		o.Common = append(o.Common, f)
		return nil
	}
}

func compilerFlags(o *Options, v string) error {
	for _, f := range list(v) {
		o.Host = append(o.Host, f)
		if f == "-fopenmp" || f == "-pthread" || strings.HasPrefix(f, "-fsanitize") {
			o.Linker = append(o.Linker, f)
		}
	}
	return nil
}

func linkerFlags(o *Options, v string) error {
	for _, f := range list(v) {
		o.Linker = append(o.Linker, "-Xlinker", f)
	}
	return nil
}

func language(o *Options, v string) error {
	switch v {
	case "cu", "cuda":
		o.CUDAFiles = true
	case "c", "c++":
	default:
		return &UsageError{Text: fmt.Sprintf("language %q is none of cu, c and c++", v)}
	}
	return nil
}

func defaultStream(o *Options, v string) error {
	switch v {
	case "legacy", "null":
		o.PerThread = false
	case "per-thread":
		o.PerThread = true
	default:
		return &UsageError{Text: fmt.Sprintf("stream %q is none of legacy, null and per-thread", v)}
	}
	return nil
}

func cudaVersion(o *Options, v string) error {
	switch v, _, _ := strings.Cut(v, "."); v {
	case "12":
		o.CUDA = 12
	case "13":
		o.CUDA = 13
	default:
		return &UsageError{Text: fmt.Sprintf("the headers are those of CUDA 12 and 13, not of %s", v)}
	}
	return nil
}

func registers(o *Options, v string) error {
	for _, r := range v {
		if r < '0' || r > '9' {
			return &UsageError{Text: fmt.Sprintf("%q is no number of registers", v)}
		}
	}
	if v != "0" {
		o.Registers = v
	}
	return nil
}

// number is what stands behind sm_ or compute_.
func number(v string) (string, bool) {
	for _, p := range []string{"sm_", "compute_", "lto_"} {
		if n, ok := strings.CutPrefix(v, p); ok && n != "" && n[0] >= '0' && n[0] <= '9' {
			return n, true
		}
	}
	return "", false
}

func (o *Options) addArch(n string) {
	if !slices.Contains(o.Archs, n) {
		o.Archs = append(o.Archs, n)
	}
}

func architecture(o *Options, v string) error {
	switch v {
	case "native", "all", "all-major":
		o.addArch(DefaultArch)
		return nil
	}
	n, ok := number(v)
	if !ok {
		return &UsageError{Text: fmt.Sprintf("%q is no architecture", v), Hint: "-arch=sm_90"}
	}
	o.addArch(n)
	return nil
}

func generate(o *Options, v string) error {
	for _, f := range strings.Split(v, ",") {
		if a, ok := strings.CutPrefix(strings.Trim(f, `"' `), "arch="); ok {
			return architecture(o, a)
		}
	}
	return &UsageError{Text: fmt.Sprintf("%q names no arch=", v), Hint: "-gencode arch=compute_90,code=sm_90"}
}

// DefaultArch is the compute capability that code is compiled for when none is named: that of the default profile of
// the software device.
const DefaultArch = "90"

// Parse reads a command line as nvcc has it. Flags that neither nvcc nor this command knows are left to clang. Errors
// are a *UsageError.
func Parse(args []string) (*Options, error) {
	o := &Options{CUDA: 13}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			o.Inputs = append(o.Inputs, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			o.Inputs = append(o.Inputs, a)
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(a[1:], "-"), "=")
		if l, ok := long[name]; ok {
			name = l
		}
		m, ok := options[name]
		if !ok && !strings.HasPrefix(a, "--") {
			for _, s := range sticky {
				if v, is := strings.CutPrefix(a[1:], s); is && v != "" {
					name, value, has = strings.TrimSuffix(s, "="), v, true
					m, ok = options[name]
					break
				}
			}
		}
		switch {
		case !ok:
			o.unknown(a)
			continue
		case m.value && !has:
			if i++; i == len(args) {
				return nil, &UsageError{Flag: a, Text: "a value is missing"}
			}
			value = args[i]
		}
		if err := m.do(o, value); err != nil {
			if u, ok := err.(*UsageError); ok {
				u.Flag = a
			}
			return nil, err
		}
	}
	if len(o.Archs) == 0 {
		o.Archs = []string{DefaultArch}
	}
	if len(o.Inputs) == 0 {
		return nil, &UsageError{Text: "no input file", Hint: "gocuda cc -o prog prog.cu"}
	}
	if o.Output != "" && o.Stage != Link && o.Stage != Preprocess && len(o.sources()) > 1 {
		return nil, &UsageError{Flag: "-o", Text: "one output for several files"}
	}
	return o, nil
}

// sources are the inputs that are compiled.
func (o *Options) sources() []string {
	var s []string
	for _, in := range o.Inputs {
		if o.kind(in) != linkInput {
			s = append(s, in)
		}
	}
	return s
}

type inputKind uint8

const (
	cudaSource inputKind = iota
	hostSource
	linkInput
)

func (o *Options) kind(in string) inputKind {
	switch filepath.Ext(in) {
	case ".cu":
		return cudaSource
	case ".c", ".cc", ".cpp", ".cxx", ".C", ".c++":
		if o.CUDAFiles {
			return cudaSource
		}
		return hostSource
	}
	if o.CUDAFiles && filepath.Ext(in) == "" {
		return cudaSource
	}
	return linkInput
}
