package main

import (
	"encoding/json"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// listOf is a list as JSON: {"revision": ..., "time": ..., "jobs": [...]}.
type listOf struct {
	Revision registry.Revision
	Time     time.Time
	kind     string
	values   []any
}

// MarshalJSON writes the list under the name of what it holds.
func (l listOf) MarshalJSON() ([]byte, error) {
	values, err := json.Marshal(l.values)
	if err != nil {
		return nil, err
	}
	head, err := json.Marshal(struct {
		Revision registry.Revision `json:"revision"`
		Time     time.Time         `json:"time"`
	}{l.Revision, l.Time})
	if err != nil {
		return nil, err
	}
	kind, err := json.Marshal(l.kind)
	if err != nil {
		return nil, err
	}
	text := append(head[:len(head)-1], ',')
	text = append(append(text, kind...), ':')
	return append(append(text, values...), '}'), nil
}
