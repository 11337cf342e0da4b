package format

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/skip"
)

var schemaFile = flag.String("schema", "", "a JSON schema of SARIF 2.1.0 to compare with (CONTRIBUTING.md)")

// TestSchema validates logs with the schema of SARIF, which is not part of this repository, and logs that are damaged
// in ways that the schema forbids.
func TestSchema(t *testing.T) {
	if *schemaFile == "" {
		skip.Without(t, skip.Argument, "-schema FILE")
	}
	b, err := os.ReadFile(*schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*Result{"sample": sample(), "nothing": {Checks: checker.Race}} {
		var b bytes.Buffer
		if err := r.SARIF(&b); err != nil {
			t.Fatal(err)
		}
		if err := schema(root).check(root, decode(t, b.String()), name); err != nil {
			t.Error(err)
		}
	}
	text := string(written(t, "x.sarif"))
	for from, to := range map[string]string{`"version": "2.1.0"`: `"version": "2.0"`, `"ruleId"`: `"rule_id"`,
		`"level": "error"`: `"level": "bad"`, `"startLine": 2`: `"startLine": 0`, `"driver": {`: `"drivers": {`,
		`"message": {`: `"message_": {`, `"occurrenceCount": 2`: `"occurrenceCount": "2"`} {
		bad := strings.Replace(text, from, to, 1)
		if bad == text {
			t.Errorf("%s is not in the log", from)
		}
		if err := schema(root).check(root, decode(t, bad), "damaged"); err == nil {
			t.Errorf("%s in the place of %s is not seen", to, from)
		}
	}
}

func decode(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// schema is a JSON schema, of which it checks what that of SARIF uses (draft 4), formats of strings left out.
type schema map[string]any

// known are the keywords that check knows, or that say nothing about what is valid.
var known = regexp.MustCompile(`^(\$schema|\$ref|id|title|description|default|definitions|format|type|properties|` +
	`additionalProperties|required|items|enum|minimum|maximum|minItems|uniqueItems|pattern|anyOf|allOf|oneOf)$`)

func (s schema) check(root, v any, at string) error {
	for k := range s {
		if !known.MatchString(k) {
			return fmt.Errorf("%s: keyword %q is not known", at, k)
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		to := root
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			to = to.(map[string]any)[name]
		}
		return schema(to.(map[string]any)).check(root, v, at)
	}
	if err := s.shape(v, at); err != nil {
		return err
	}
	for _, of := range []string{"anyOf", "allOf", "oneOf"} {
		list, _ := s[of].([]any)
		good := 0
		var last error
		for _, x := range list {
			if err := schema(x.(map[string]any)).check(root, v, at); err != nil {
				last = err
			} else {
				good++
			}
		}
		if len(list) > 0 && (good == 0 || of == "allOf" && good < len(list) || of == "oneOf" && good != 1) {
			return fmt.Errorf("%s: %d of %s: %w", at, good, of, last)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		props, _ := s["properties"].(map[string]any)
		for k, x := range v {
			switch sub, more := props[k], s["additionalProperties"]; {
			case sub != nil:
				if err := schema(sub.(map[string]any)).check(root, x, at+"."+k); err != nil {
					return err
				}
			case more == false:
				return fmt.Errorf("%s: property %q is not allowed", at, k)
			case reflect.TypeOf(more) == reflect.TypeOf(map[string]any{}):
				if err := schema(more.(map[string]any)).check(root, x, at+"."+k); err != nil {
					return err
				}
			}
		}
	case []any:
		items, _ := s["items"].(map[string]any)
		for i, x := range v {
			if err := schema(items).check(root, x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// shape checks a value without what is in it.
func (s schema) shape(v any, at string) error {
	bad := func(rule string) error { return fmt.Errorf("%s: %v breaks %s %v", at, v, rule, s[rule]) }
	is := func(name any) bool {
		switch v := v.(type) {
		case map[string]any:
			return name == "object"
		case []any:
			return name == "array"
		case string:
			return name == "string"
		case bool:
			return name == "boolean"
		case float64:
			return name == "number" || name == "integer" && v == float64(int64(v))
		}
		return name == "null"
	}
	switch types := s["type"].(type) {
	case string:
		if !is(types) {
			return bad("type")
		}
	case []any:
		ok := false
		for _, name := range types {
			ok = ok || is(name)
		}
		if !ok {
			return bad("type")
		}
	}
	if list, ok := s["enum"].([]any); ok {
		found := false
		for _, x := range list {
			found = found || reflect.DeepEqual(x, v)
		}
		if !found {
			return bad("enum")
		}
	}
	switch v := v.(type) {
	case float64:
		if n, ok := s["minimum"].(float64); ok && v < n {
			return bad("minimum")
		}
		if n, ok := s["maximum"].(float64); ok && v > n {
			return bad("maximum")
		}
	case string:
		if p, ok := s["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(v) {
			return bad("pattern")
		}
	case []any:
		if n, ok := s["minItems"].(float64); ok && float64(len(v)) < n {
			return bad("minItems")
		}
		if s["uniqueItems"] == true {
			for i, x := range v {
				for _, y := range v[:i] {
					if reflect.DeepEqual(x, y) {
						return bad("uniqueItems")
					}
				}
			}
		}
	case map[string]any:
		list, _ := s["required"].([]any)
		for _, name := range list {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Errorf("%s: %q is missing", at, name)
			}
		}
	}
	return nil
}
