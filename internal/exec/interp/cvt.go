package interp

// cvtOps is filled by this family's file.
var cvtOps = map[string]resolver{}
