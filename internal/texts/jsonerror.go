package texts

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// LocateJSON adds to an error of package encoding/json where in the text it is, by line and column,
// counted from 1 and in bytes. It returns other errors as they are.
func LocateJSON(text string, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var offset int64
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return err
	}
	read := text[:min(max(0, int(offset)-1), len(text))] // the offset is behind the byte at fault
	return fmt.Errorf("line %d, column %d: %w", 1+strings.Count(read, "\n"), len(read)-strings.LastIndexByte(read, '\n'), err)
}
