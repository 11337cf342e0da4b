package interp

// textureOps is filled by this family's file.
var textureOps = map[string]resolver{}
