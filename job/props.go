package job

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
)

var errNotAnObject = errors.New("is no JSON object")

// Props are settings of a [Config] by name: those of one kind of job or of one error handler, under
// the names that ElasticJob 3.x gives them, such as "http.uri" or "email.host". They are the text of a
// JSON object of strings with its members in ascending order, so that equal settings are equal texts;
// [NewProps] makes it. Empty stands for none.
type Props string

// NewProps returns the settings of a map.
func NewProps(settings map[string]string) Props {
	if len(settings) == 0 {
		return ""
	}
	text := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(settings)) {
		if i > 0 {
			text = append(text, ',')
		}
		text = AppendGsonString(text, name)
		text = append(text, ':')
		text = AppendGsonString(text, settings[name])
	}
	return Props(append(text, '}'))
}

// Map returns the settings as a map of the caller's own. The error says what is no JSON object of
// strings; [Config.Validate] finds it, too.
func (p Props) Map() (map[string]string, error) {
	settings := make(map[string]string)
	if p == "" {
		return settings, nil
	}
	if err := json.Unmarshal([]byte(p), &settings); err != nil {
		return nil, LocateJSON(string(p), err)
	}
	if settings == nil {
		return nil, errNotAnObject // it says null
	}
	return settings, nil
}

// Get returns the setting of a name; empty if there is none.
func (p Props) Get(name string) string {
	settings, _ := p.Map() // what cannot be read has no settings
	return settings[name]
}
