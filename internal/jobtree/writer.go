package jobtree

import (
	"strconv"
	"time"

	"github.com/elasticron/elasticron/job"
)

// writer appends the members of a JSON object, without white space. Its typed methods leave zero
// values out.
type writer struct {
	text []byte
}

// member begins a member; its value must follow.
func (w *writer) member(name string) {
	if last := len(w.text) - 1; last >= 0 && w.text[last] != '{' {
		w.text = append(w.text, ',')
	}
	w.text = append(w.text, '"')
	w.text = append(w.text, name...)
	w.text = append(w.text, '"', ':')
}

func (w *writer) string(name, value string) {
	if value != "" {
		w.member(name)
		w.text = job.AppendGsonString(w.text, value)
	}
}

func (w *writer) count(name string, value int64) {
	if value != 0 {
		w.member(name)
		w.text = strconv.AppendInt(w.text, value, 10)
	}
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
		w.string(name, strconv.FormatInt(value, 16))
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
