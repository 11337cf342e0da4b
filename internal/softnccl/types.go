package softnccl

import "fmt"

// Code is an ncclResult_t.
type Code int32

// The codes that this package gives.
const (
	SystemError     Code = 2
	InternalError   Code = 3
	InvalidArgument Code = 4
	InvalidUsage    Code = 5
	RemoteError     Code = 6
	Timeout         Code = 8
)

// Error is why an operation or a communicator failed.
type Error struct {
	Code   Code
	Detail string
}

func (e *Error) Error() string { return e.Detail }

func fail(code Code, format string, args ...any) *Error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// DataType is an ncclDataType_t.
type DataType uint8

// The types, numbered as by NCCL.
const (
	Int8 DataType = iota
	Uint8
	Int32
	Uint32
	Int64
	Uint64
	Float16
	Float32
	Float64
	Bfloat16
	Float8e4m3
	Float8e5m2
	numTypes
)

// Size is the size of an element in bytes, 0 for what is no type.
func (t DataType) Size() uint64 {
	switch t {
	case Int8, Uint8, Float8e4m3, Float8e5m2:
		return 1
	case Float16, Bfloat16:
		return 2
	case Int32, Uint32, Float32:
		return 4
	case Int64, Uint64, Float64:
		return 8
	}
	return 0
}

// Reduction is an ncclRedOp_t, with PreMulSum for those that the program makes.
type Reduction uint8

// The reductions, numbered as by NCCL.
const (
	Sum Reduction = iota
	Prod
	Max
	Min
	Avg
	PreMulSum
	numReductions
)

// Kind is a collective operation.
type Kind uint8

// The operations.
const (
	AllReduce Kind = iota + 1
	Broadcast
	Reduce
	AllGather
	ReduceScatter
	AlltoAll
	Gather
	Scatter
	split // the colours and keys of a split
	numKinds
)

var kindNames = [...]string{AllReduce: "AllReduce", Broadcast: "Broadcast", Reduce: "Reduce", AllGather: "AllGather",
	ReduceScatter: "ReduceScatter", AlltoAll: "AlltoAll", Gather: "Gather", Scatter: "Scatter", split: "Split"}

func (k Kind) String() string {
	if int(k) < len(kindNames) && kindNames[k] != "" {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// Op is one collective operation of one rank. Count is NCCL's count: what a rank sends or receives, in elements, of one
// block where there is one for each rank. Send and Recv are the memory that NCCL's manual names for the rank; a rank
// without one has nil.
type Op struct {
	Kind       Kind
	Type       DataType
	Reduction  Reduction
	Root       int
	Count      uint64
	Scalar     func() []byte // of PreMulSum, of this rank: one element, read when the operation runs
	Send, Recv []byte
}

func (o *Op) hasRoot() bool {
	return o.Kind == Broadcast || o.Kind == Reduce || o.Kind == Gather || o.Kind == Scatter
}

func (o *Op) reduces() bool {
	return o.Kind == AllReduce || o.Kind == Reduce || o.Kind == ReduceScatter
}

// blocks are how many counts a rank has to send and to receive.
func (o *Op) blocks(rank, n int) (send, recv uint64) {
	root, all := rank == o.Root, uint64(n)
	switch o.Kind {
	case AllReduce:
		return 1, 1
	case AllGather:
		return 1, all
	case ReduceScatter:
		return all, 1
	case AlltoAll:
		return all, all
	case Broadcast:
		if root {
			return 1, 1
		}
		return 0, 1
	case Reduce:
		if root {
			return 1, 1
		}
		return 1, 0
	case Gather:
		if root {
			return 1, all
		}
		return 1, 0
	case Scatter:
		if root {
			return all, 1
		}
		return 0, 1
	}
	return 0, 0
}
