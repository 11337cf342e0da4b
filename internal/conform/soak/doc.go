// Package soak has the long test of the software device: everything at once, for as long as it is told.
package soak
