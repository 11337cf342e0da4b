package interp

// matrixOps is filled by this family's file.
var matrixOps = map[string]resolver{}
