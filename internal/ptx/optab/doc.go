// Package optab is the one table of PTX instructions: every form the ISA has, its modifiers, types, operands and the
// PTX and SM versions that introduced it. Checker, lowering, engines, coverage page and test generators are driven by
// it.
//
// The table is text, in files named *.tab, one form a line, written as the PTX ISA manual writes its syntax lines:
//
//	add .{rn|rz|rm|rp}.{ftz}.{sat}.f32    d:T, a:T, b:T      ; ptx=10 sm=10
//
// A line is: the instruction's first word, its modifier slots, its operands, and after a semicolon its attributes.
//
// Modifier slots, in the manual's order:
//
//	.word          required literal
//	.<a|b|c>       exactly one of these
//	.{a}  .{a|b}   at most one of these
//	.<@set>        alternatives taken from a named set (a line "@set = a|b|c"); also inside a list: <@int|b32>
//
// A slot whose alternatives are fundamental types is a type slot: the types of an instruction are numbered in order, T
// the first, U the second, V the third, W the fourth.
//
// Operands, separated by commas; NAME:KIND, where a name that starts with d is written by the instruction and any other
// is read:
//
//	T U V W u32 b64 ...   a register of the type (for a source also an immediate, a symbol's address or a special register)
//	T+                    the register may be wider than the type (ld, st, cvt)
//	T!                    register only, no immediate
//	wide(T)               the integer type twice as wide as T
//	T/2 ...               the integer type half as wide as T
//	pred                  a predicate; a source may be negated
//	mem  mem.shared       an address in brackets, in the state space that a modifier names (generic when none does), or a fixed space
//	vec(T)                as many elements as the .v2/.v4/.v8 modifier says, one when there is none
//	v4(T)                 braces with exactly that many elements
//	v?(T)                 braces or a single element, checked by the form's rule
//	imm(T)                a constant expression
//	label func fproto     a label, a function name, a prototype or call target list
//	list                  a parenthesised list (call)
//	tex surf samp         a texture, surface or sampler reference in brackets with its coordinates
//	any                   left to the form's rule
//
// An operand followed by ? is optional, one followed by _ may be the sink "_". A pair p|q is written d:pred|e:pred, and
// its second half may be optional (d:T|p:pred?).
//
// Attributes: ptx=N (ten times the version that introduced the form), sm=N (lowest target), arch=a (needs an
// architecture-specific target such as sm_90a), only=sm_90a,sm_100a (just these targets), max=N (last PTX version),
// rule=NAME (a Go function of package check looks at what the grammar cannot say), op=NAME (the operation's name for
// the engines, when the instruction's first word is not specific enough), doc="...",
// feature="..." (the name in "Feature '...' requires .target sm_100 or higher"; the instruction and its types when
// absent), what="..." (the name in "Instruction '...' not supported on .target 'sm_90'", for forms with arch or only;
// with feature alone the text is "Feature '...' not supported on .target 'sm_90'").
//
// What engines and passes must know of every operation, whatever executes it, is said by the attributes pure (computes
// its results from its operands and does nothing else), mem=load|store|atomic|copy|other (what it does to memory: each
// lane loads, stores or combines a value at its address, copies from one to another, or accesses memory in another
// way), acc (reads the operands that it writes), carry (reads or writes the carry flag), stack (reads or moves the
// stack pointer of local memory), sync (waits for the lanes of its member mask), warp (does nothing unless all 32 lanes
// of the warp execute it together) and vector (processors compute it for many lanes at once, so that machine code
// computes one part of them where the operands are the same for all). How a memory operation is ordered is said by its
// modifiers: Mods.Strong, Mods.Orders and Mods.Scope.
//
// A line that begins with a semicolon has attributes for all lines after it, up to the next such line or the end of the
// file.
//
// What modifiers mean stands in modifiers.txt, by fields of [Mods].
package optab
