package interp

// asyncOps is filled by this family's file.
var asyncOps = map[string]resolver{}
