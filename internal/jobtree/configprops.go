package jobtree

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/texts"
)

// props are settings by name, stored as an object of strings.
type props struct{ field *map[string]string }

var errNoObject = errors.New("is no JSON object")

// append writes the settings in the order of their names, so that equal settings are equal texts.
func (p props) append(dst []byte) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(*p.field)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = texts.AppendGson(dst, name)
		dst = append(dst, ':')
		dst = texts.AppendGson(dst, (*p.field)[name])
	}
	return append(dst, '}')
}

func (p props) read(m member) error {
	var settings map[string]string
	err := json.Unmarshal([]byte(m.value), &settings)
	if err == nil && settings == nil { // it says null
		err = errNoObject
	}
	if err != nil {
		return &ValueError{Field: m.name, Value: maskSettings(m.value), Reason: "must be an object of strings", Err: texts.LocateJSON(m.value, err)}
	}
	*p.field = nil
	if len(settings) > 0 {
		*p.field = settings
	}
	return nil
}
