// Package docs holds the module's documents to its code: the tests that they name exist, the files that they lead to
// are there, and numbers that stand in several places are one.
package docs
