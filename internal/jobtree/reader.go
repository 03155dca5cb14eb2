package jobtree

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/job"
)

// reader reads the values of members, each as one type and strictly, and keeps the first fault that
// it meets. So a decoder is one switch over names, with one check at its end.
type reader struct {
	outer string // the member within which this is; one level is all we need
	err   error
}

func (r *reader) fault(m member, reason string) {
	if r.err != nil {
		return
	}
	field := m.name
	if r.outer != "" {
		field = r.outer + "." + field
	}
	r.err = &ValueError{Field: field, Value: m.value, Reason: reason}
}

func (r *reader) text(m member) string {
	if m.value[0] != '"' {
		r.fault(m, "must be a string")
		return ""
	}
	return unquote(m.value)
}

// word reads a string that must be one of a few.
func word[T ~string](r *reader, m member, allowed ...T) T {
	text := T(r.text(m))
	for _, w := range allowed {
		if text == w {
			return w
		}
	}
	r.fault(m, fmt.Sprintf("must be one of %q", allowed))
	return ""
}

func (r *reader) count(m member) int64 {
	number, err := strconv.ParseInt(m.value, 10, 64)
	if err != nil || number < 0 {
		r.fault(m, "must be a whole number from 0 to 9223372036854775807")
		return 0
	}
	return number
}

func (r *reader) flag(m member) bool {
	if m.value != "true" && m.value != "false" {
		r.fault(m, "must be true or false")
	}
	return m.value == "true"
}

func (r *reader) instant(m member) time.Time {
	t, err := time.Parse(time.RFC3339Nano, r.text(m))
	if err != nil || !storable(t) {
		r.fault(m, "must be a time such as 2026-01-02T03:04:05Z")
		return time.Time{}
	}
	return t.UTC()
}

// hex reads an id that is written in hexadecimal.
func (r *reader) hex(m member) int64 {
	id, err := strconv.ParseInt(r.text(m), 16, 64)
	if err != nil {
		r.fault(m, "must be a string of hexadecimal digits, at most 7fffffffffffffff")
	}
	return id
}

// object reads an object; of what is none, it has no members.
func (r *reader) object(m member) object {
	if !strings.HasPrefix(m.value, "{") {
		r.fault(m, "must be an object")
		return "{}"
	}
	return object(m.value)
}

// within reads an object's members with read; faults in them name the way there.
func (r *reader) within(m member, read func(*reader, object)) {
	inner := r.object(m)
	r.outer = m.name
	read(r, inner)
	r.outer = ""
}

// storable tells whether a time can be written as RFC 3339 has it, and is not the zero time, which
// stands for none.
func storable(t time.Time) bool {
	year := t.UTC().Year()
	return !t.IsZero() && year >= 0 && year <= 9999
}

// texts reads a list of strings, and is never nil.
func (r *reader) texts(m member) []string {
	all := []string{}
	if !strings.HasPrefix(m.value, "[") {
		r.fault(m, "must be a list of strings")
		return all
	}
	for _, element := range elements(m.value) {
		all = append(all, r.text(member{name: m.name, value: element}))
	}
	return all
}

// items reads what encodeItems wrote. The bound on item numbers keeps one stray node from taking any
// amount of memory.
func (r *reader) items(m member) []int {
	var items []int
	text := r.text(m)
	for text != "" {
		var part string
		part, text, _ = strings.Cut(text, ",")
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, plainFrom := parseItem(first)
		to, plainTo := parseItem(last)
		if !plainFrom || !plainTo || to < from || to >= job.MaxShardingTotalCount || len(items) > 0 && from <= items[len(items)-1] {
			r.fault(m, `must be ascending item numbers such as "0-9,12"`)
			return nil
		}
		for n := from; n <= to; n++ {
			items = append(items, n)
		}
	}
	return items
}
