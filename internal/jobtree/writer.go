package jobtree

import (
	"strconv"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/texts"
)

// writer appends the members of a JSON object, without white space. Its typed methods leave zero
// values out.
type writer struct {
	text []byte
}

// writers are kept for the next text: a busy process writes thousands a second, and copies each out.
var writers = sync.Pool{New: func() any { return new(writer) }}

// member begins a member; its value must follow.
func (w *writer) member(name string) {
	if last := len(w.text) - 1; last >= 0 && w.text[last] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, name...)
	w.text = append(w.text, '"', ':')
}

func (w *writer) string(name, value string) { w.unless("", name, value) }

// unless writes a text that is left out where it is the usual one.
func (w *writer) unless(usual, name, value string) {
	if value != usual {
		w.member(name)
		w.text = texts.AppendGson(w.text, value)
	}
}

func (w *writer) count(name string, value int64) {
	if value != 0 {
		w.number(name, value)
	}
}

// number writes a number also if it is 0.
func (w *writer) number(name string, value int64) {
	w.member(name)
	w.text = strconv.AppendInt(w.text, value, 10)
}

func (w *writer) flag(name string, value bool) {
	if value {
		w.member(name)
		w.text = append(w.text, "true"...)
	}
}

func (w *writer) instant(name string, value time.Time) {
	if !value.IsZero() {
		w.member(name)
		w.text = append(w.text, '"')
		w.text = value.UTC().AppendFormat(w.text, time.RFC3339Nano)
		w.text = append(w.text, '"')
	}
}

func (w *writer) hex(name string, value int64) {
	if value != 0 {
		w.member(name)
		w.text = append(w.text, '"')
		w.text = strconv.AppendInt(w.text, value, 16)
		w.text = append(w.text, '"')
	}
}

// raw writes a value that is JSON already.
func (w *writer) raw(name, value string) {
	if value != "" {
		w.member(name)
		w.text = append(w.text, value...)
	}
}

// object writes an object, whose members fill writes.
func (w *writer) object(name string, fill func(*writer)) {
	w.member(name)
	w.text = append(w.text, '{')
	fill(w)
	w.text = append(w.text, '}')
}

// strings writes a list, also an empty one.
func (w *writer) strings(name string, values []string) {
	w.member(name)
	w.text = append(w.text, '[')
	for i, value := range values {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		w.text = texts.AppendGson(w.text, value)
	}
	w.text = append(w.text, ']')
}

// members writes members as they once stood.
func (w *writer) members(text string) {
	if text == "" {
		return
	}
	if w.text[len(w.text)-1] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, text...)
}

// encodeItems writes ascending item numbers, runs of them as their ends: "0-9,12".
func encodeItems(items []int) string {
	var list []byte
	for first, last := range texts.Runs(items) {
		list = texts.AppendRun(list, first, last)
	}
	return string(list)
}
