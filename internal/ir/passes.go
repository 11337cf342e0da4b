package ir

// pass changes a function that is being lowered.
type pass struct {
	name string
	run  func(l *lowerer, f *Func) error
}

// passes run in this order, each over every function, when the instructions have become operations in basic blocks
// ("blocks").
var passes = [...]pass{
	{"contract", func(l *lowerer, f *Func) error { contract(f, l.syms); return nil }},
	{"inline", func(l *lowerer, f *Func) error {
		if l.syms == nil || !l.syms.NoInline {
			l.inline(f)
		}
		return nil
	}},
	{"rows", func(l *lowerer, f *Func) error { return place(f, l.syms == nil || !l.syms.Registers) }},
}
