package interp

// floatOps is filled by this family's file.
var floatOps = map[string]resolver{}
