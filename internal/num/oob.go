package num

// OOBNaN16 is the NaN that tensor copies write for elements outside the tensor (PTX ISA 5.5.8 "Out of Boundary
// Access"), the same pattern for f16 and bf16: the .oob modifier of fma looks for it (recorded: of all NaNs, for this
// one alone).
const OOBNaN16 = 0xfff7
