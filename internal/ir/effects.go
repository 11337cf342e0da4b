package ir

// Reads calls f with the frame offset of every row that the operation may read, its guard among them. It may name a row
// more than once. What a Ret reads (Func.RetRegs) is not among them.
func (op *Op) Reads(f func(row uint32)) { op.reads(f) }

// Writes calls f with the frame offset of every row that the operation may write; whole says that it writes the row for
// all lanes that execute it, whatever the data.
func (op *Op) Writes(f func(row uint32, whole bool)) { op.writes(f) }

// Written says whether the operation writes its ith operand.
func (op *Op) Written(i int) bool { return op.written(i) }

// WholeWarp says whether the operation does nothing unless all 32 lanes of the warp execute it together. An H200 then
// leaves registers and memory as they are, and looks at no address.
func (op *Op) WholeWarp() bool { return op.Form().Warp }
