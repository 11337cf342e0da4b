package interp

// videoOps is filled by this family's file.
var videoOps = map[string]resolver{}
