package interp

// compareOps is filled by this family's file.
var compareOps = map[string]resolver{}
