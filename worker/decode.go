package worker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decode reads the text of a file and judges no value. Every fault that it gathers names the member, its value and what is
// allowed; the error is that of a text without members.
func decode(text []byte) (file File, d decoder, err error) {
	reader := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	switch err := reader.Decode(&document); {
	case errors.Is(err, io.EOF):
		return File{}, d, fmt.Errorf("%w: the file is empty", ErrInvalidFile)
	case err != nil:
		return File{}, d, fmt.Errorf("%w: %w", ErrInvalidFile, err)
	}
	if err := reader.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return File{}, d, fmt.Errorf("%w: the file has more than one YAML document", ErrInvalidFile)
	}
	d.good = make(map[string]bool)
	d.value("", document.Content[0], reflect.ValueOf(&file).Elem())
	return file, d, nil
}

// decoder gathers the faults of a document.
type decoder struct {
	faults []error
	good   map[string]bool // the members that were read
}

// told tells whether a fault of a value is one beside those of the document: what was not read has its default, or nothing,
// and is not to be judged, nor what is compared with it.
func (d *decoder) told(fault error) bool {
	var of *FieldError
	return errors.As(fault, &of) && d.good[of.Field] && (of.Field != "script.stop" || d.good["grace"])
}

func (d *decoder) fault(path string, n *yaml.Node, reason string) {
	d.faults = append(d.faults, fmt.Errorf("line %d: %w", n.Line, &FieldError{Field: path, Value: n.Value, Reason: reason}))
}

// value reads what stands at a path: the members of a struct, or a value.
func (d *decoder) value(path string, n *yaml.Node, to reflect.Value) {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null": // the default
	case to.Kind() == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		d.value(path, n, to.Elem())
	case to.Kind() == reflect.Struct && n.Kind != yaml.MappingNode:
		d.fault(path, n, "must be a mapping of "+strings.Join(membersOf(to.Type()), ", "))
	case to.Kind() == reflect.Struct:
		d.good[path] = true
		d.members(path, n, to)
	case octal(n, to):
		d.fault(path, n, "must not begin with 0, which would make it an octal number")
	case whole(to) && hasFraction(n): // which the decoder would cut off
		d.fault(path, n, allowed(to))
	case n.Decode(to.Addr().Interface()) != nil:
		d.fault(path, n, allowed(to))
	default:
		d.good[path] = true
	}
}

func (d *decoder) members(path string, n *yaml.Node, to reflect.Value) {
	seen := make(map[string]bool)
	names := membersOf(to.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		field := -1
		for f, name := range names {
			if name == key.Value {
				field = f
			}
		}
		switch {
		case field < 0:
			d.fault(at, value, "is no member: want one of "+strings.Join(names, ", "))
		case seen[key.Value]:
			d.fault(at, value, "is there twice")
		default:
			seen[key.Value] = true
			d.value(at, value, to.Field(field))
		}
	}
}

func whole(v reflect.Value) bool {
	switch v.Interface().(type) {
	case int, int64:
		return true
	default:
		return false
	}
}

// hasFraction tells whether a number is no whole one. Programs that write YAML have 1e+07 for large ones.
func hasFraction(n *yaml.Node) bool {
	var value float64
	return n.ShortTag() == "!!float" && (n.Decode(&value) != nil || value != math.Trunc(value) || math.IsInf(value, 0))
}

// octal tells whether a number is written as 010, which YAML reads as 8 and people do not.
func octal(n *yaml.Node, to reflect.Value) bool {
	digits := strings.TrimLeft(n.Value, "+-")
	number := whole(to) || to.Kind() == reflect.Float64
	return number && len(digits) > 1 && digits[0] == '0' && (digits[1] >= '0' && digits[1] <= '9' || digits[1] == '_')
}

// membersOf are the names of a struct's members, in the order of its fields.
func membersOf(t reflect.Type) (names []string) {
	for i := range t.NumField() {
		names = append(names, t.Field(i).Tag.Get("yaml"))
	}
	return names
}

// allowed says what a value of a type looks like.
func allowed(v reflect.Value) string {
	switch v.Interface().(type) {
	case Duration:
		return "must be a duration such as 90s or 1h30m"
	case Size:
		return "must be a number of bytes, such as 65536, 64K, 512M or 2G"
	case []string:
		return "must be a list of texts"
	case map[string]string:
		return "must be a mapping of texts"
	case int, int64:
		return "must be a whole number"
	case float64:
		return "must be a number"
	default:
		return "must be a text"
	}
}
