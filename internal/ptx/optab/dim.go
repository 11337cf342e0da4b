package optab

// Coordinates says what the elements of a coordinate vector are (PTX ISA 9.7.10.3: layers and samples come first, the
// rest is padding): the number of the layer, -1 for none, that of the first coordinate, and how many coordinates there
// are.
func (x Dim) Coordinates() (layer, first, n int) {
	switch x {
	case Dim1d:
		return -1, 0, 1
	case Dim2d:
		return -1, 0, 2
	case Dim3d, DimCube:
		return -1, 0, 3
	case DimA1d:
		return 0, 1, 1
	case DimA2d:
		return 0, 1, 2
	case DimAcube:
		return 0, 1, 3
	case Dim2dms:
		return -1, 1, 2
	case DimA2dms:
		return 1, 2, 2
	}
	return -1, 0, 0
}
