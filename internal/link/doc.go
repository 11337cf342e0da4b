// Package link is the device linker of the software device: it merges PTX modules by their symbols, as nvlink and the
// driver's cuLink calls merge relocatable device code, and writes and reads the linked image.
//
// A [Linker] takes inputs one after the other and makes a [Linked]: the checked modules with a map from every
// declaration to what defines it, which is what the lowering reads (ir.Symbols). A module that is loaded alone goes the
// same way ([Module]), so that the layer above knows one structure.
//
// Everything that the driver was seen to do (release 580, CUDA 13.0, on an H200) is done here in the same order and
// with the same words: which input fails at which call with which result, and what stands in the log. Machine code is
// not linked: an input that holds nothing else is refused with CUDA_ERROR_NO_BINARY_FOR_GPU and a line that says to add
// PTX.
package link
