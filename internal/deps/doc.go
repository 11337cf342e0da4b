// Package deps holds the rule of dependence between the module's packages, as a test.
package deps
