// Command libcuda is the C library: the software device as libcuda.so.1, for programs in any language.
//
// It is two libraries. The front (directory front, C alone) is libcuda.so.1: it exports every symbol of the driver,
// knows the current context of each OS thread, and opens the core when a call first needs it. The core (this package,
// built with -buildmode=c-shared) is libgocuda.so: one exported function takes the number of a function and its
// arguments as words, and calls it in a driver.Table.
//
// Why two: a program that only asks whether there is a driver gets no Go runtime; a program may fork before it uses the
// device; the exported symbols are the driver's alone; and the front can arrange the signals of two Go runtimes, when
// the program is one in Go.
//
// make libcuda builds both.
package main
