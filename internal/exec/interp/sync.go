package interp

// syncOps is filled by this family's file.
var syncOps = map[string]resolver{}
