package interp

// intOps is filled by this family's file.
var intOps = map[string]resolver{}
