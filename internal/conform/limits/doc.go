// Package limits calls every function of the driver API with the limits of its numbers. Each number that a call is
// given, one after the other, is 0, 1, 2^31-1, 2^31, 2^32-1, 2^32, 2^63-1, 2^63, 2^64-1 and what makes an address and a
// size wrap, as far as its type reaches, while everything else is valid: parameters, what pointers lead to, and members
// of structs and of lists of them.
//
// The calls come from the table of functions (package driver) by reflection, so that a function or a member that is new
// is called too. They run in a child process, which a call may end.
package limits
