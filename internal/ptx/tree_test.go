package ptx

import (
	"bytes"
	"fmt"
	"reflect"
)

var posType = reflect.TypeFor[Pos]()

// diffTrees compares two trees but for positions and returns the path of the
// first difference, or "".
func diffTrees(a, b any) string {
	return diffValues(reflect.ValueOf(a), reflect.ValueOf(b), "")
}

func diffValues(a, b reflect.Value, path string) string {
	if a.IsValid() != b.IsValid() {
		return path
	}
	if !a.IsValid() {
		return ""
	}
	if a.Type() != b.Type() {
		return fmt.Sprintf("%s: %v, %v", path, a.Type(), b.Type())
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() != b.IsNil() {
				return path + ": nil"
			}
			return ""
		}
		return diffValues(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		if a.Len() != b.Len() {
			return fmt.Sprintf("%s: length %d, %d", path, a.Len(), b.Len())
		}
		for i := range a.Len() {
			if d := diffValues(a.Index(i), b.Index(i), fmt.Sprintf("%s[%d]", path, i)); d != "" {
				return d
			}
		}
	case reflect.Struct:
		if a.Type() == posType {
			return ""
		}
		for i := range a.NumField() {
			if d := diffValues(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name); d != "" {
				return d
			}
		}
	default:
		if !a.Equal(b) {
			return fmt.Sprintf("%s: %v, %v", path, a, b)
		}
	}
	return ""
}

// roundTrip prints m, reads the text again and says what differs. It also
// checks that printing is then stable.
func roundTrip(m *Module) error {
	var text, again bytes.Buffer
	if err := Fprint(&text, m); err != nil {
		return err
	}
	m2, err := Parse(text.Bytes())
	if err != nil {
		return fmt.Errorf("printed text does not parse: %w\n%s", err, clip(text.Bytes()))
	}
	if d := diffTrees(m, m2); d != "" {
		return fmt.Errorf("trees differ at %s\n%s", d, clip(text.Bytes()))
	}
	if err := Fprint(&again, m2); err != nil {
		return err
	}
	if !bytes.Equal(text.Bytes(), again.Bytes()) {
		return fmt.Errorf("second printing differs from the first")
	}
	return nil
}

func clip(b []byte) []byte {
	if len(b) > 4000 {
		return b[:4000]
	}
	return b
}
