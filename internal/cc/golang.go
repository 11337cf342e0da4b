package cc

import "context"

// writeGo refuses: there is no writer yet.
func (d *Driver) writeGo(context.Context, string, []code) error {
	return &UsageError{Flag: "-go", Text: "Go is not written yet", Hint: "-ptx, and go:embed"}
}
