package driver

import "reflect"

// FillNotSupported gives every function that is not provided an answer of CUDA_ERROR_NOT_SUPPORTED. PerThread is left
// as it is.
func (t *Table) FillNotSupported() {
	refuse := func([]reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(CUDA_ERROR_NOT_SUPPORTED)}
	}
	v := reflect.ValueOf(t).Elem()
	for i := range NumSymbols { // the functions are the first fields
		if f := v.Field(i); f.IsNil() {
			f.Set(reflect.MakeFunc(f.Type(), refuse))
		}
	}
}
