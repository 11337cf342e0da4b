package interp

// atomOps is filled by this family's file.
var atomOps = map[string]resolver{}
