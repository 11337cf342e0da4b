package cc

import "context"

// linkDevice refuses: host objects are linked, their device code is not.
func (d *Driver) linkDevice(context.Context, []string) (string, error) {
	return "", &UsageError{Flag: "-rdc=true", Text: "device code of several files is not linked yet", Hint: "-dc, for objects"}
}
