package optab

import "slices"

//go:generate sh -c "cd ../../.. && go run ./internal/tools/optabgen"

// String is the name in the table.
func (o Opcode) String() string { return opcodeNames[o] }

// OpcodeOf returns the operation of that name, NoOp when the table has none.
func OpcodeOf(name string) Opcode { return Opcode(find(opcodeNames[:], name)) }

// String is the word as it stands in an instruction, without its dot.
func (w Word) String() string { return wordNames[w] }

// WordOf returns the modifier that is written so, NoWord when no instruction has it.
func WordOf(word string) Word { return Word(find(wordNames[:], word)) }

// find returns the place of a name in a sorted list that begins with "", 0 when it is not there.
func find(names []string, name string) int {
	i, ok := slices.BinarySearch(names, name)
	if !ok {
		return 0
	}
	return i
}
