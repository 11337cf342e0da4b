package driver

import (
	"sort"
	"strconv"
)

type resultText struct {
	code CUresult
	name string
	text string
	// since is the first CUDA version known to have the code, 0 for those of the recorded version.
	since int
}

func (r CUresult) find() (resultText, bool) {
	i := sort.Search(len(results), func(i int) bool { return results[i].code >= r })
	if i < len(results) && results[i].code == r {
		return results[i], true
	}
	return resultText{}, false
}

// Name is the text of cuGetErrorName, for example CUDA_ERROR_NOT_FOUND; ok is false for a code that the API does not
// have.
func (r CUresult) Name() (name string, ok bool) {
	t, ok := r.find()
	return t.name, ok
}

// InVersion says whether a driver of a CUDA version (1000*major + 10*minor) has the code.
func (r CUresult) InVersion(version int32) bool {
	t, ok := r.find()
	return ok && t.since <= int(version)
}

// Text is the text of cuGetErrorString, for example "named symbol not found"; ok is false for a code that the API does
// not have.
func (r CUresult) Text() (text string, ok bool) {
	t, ok := r.find()
	return t.text, ok
}

// String is the name, or the number of a code that the API does not have.
func (r CUresult) String() string {
	if t, ok := r.find(); ok {
		return t.name
	}
	return "CUresult(" + strconv.FormatUint(uint64(r), 10) + ")"
}
