package interp

// warpOps is filled by this family's file.
var warpOps = map[string]resolver{}
