package jobtree

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
)

// object is the text of a JSON object that is known to be valid. It hands out its members as parts
// of itself: what a value says costs no copy, unknown members can be kept as they came, and names
// are matched exactly, which encoding/json does not do.
type object string

// member is one member of an object.
type member struct {
	name  string // unescaped
	text  string // the whole member, as it stands
	value string // as it stands
}

// parseObject checks that text is a JSON object and nothing else.
func parseObject(text string) (object, error) {
	switch {
	case plainObject(text):
		return object(text), nil
	case !utf8.ValidString(text):
		return "", &ValueError{Value: text, Reason: "must be a JSON object in UTF-8"}
	case !json.Valid([]byte(text)):
		var value json.RawMessage
		err := json.Unmarshal([]byte(text), &value) // says where it is wrong
		return "", &ValueError{Value: text, Reason: "must be a JSON object", Err: texts.LocateJSON(text, err)}
	case text[skipSpace(text, 0)] != '{':
		return "", &ValueError{Value: text, Reason: "must be a JSON object"}
	default:
		return object(text), nil
	}
}

// members yields the members in the order in which they stand.
func (o object) members() iter.Seq[member] {
	text := string(o)
	return func(yield func(member) bool) {
		i := skipSpace(text, skipSpace(text, 0)+1)
		for text[i] != '}' {
			nameEnd := endOfValue(text, i)
			start := skipSpace(text, skipSpace(text, nameEnd)+1)
			end := endOfValue(text, start)
			if !yield(member{name: unquote(text[i:nameEnd]), text: text[i:end], value: text[start:end]}) {
				return
			}
			i = skipSpace(text, end)
			if text[i] == ',' {
				i = skipSpace(text, i+1)
			}
		}
	}
}

// endOfValue returns the index behind the value that starts at i.
func endOfValue(text string, i int) int {
	depth := 0
	for {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		default:
			i = endOfLiteral(text, i)
		}
		if depth == 0 {
			return i
		}
	}
}

// endOfString returns the index behind the string that starts at i.
func endOfString(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// endOfLiteral returns the index behind the number or the word that starts at i. There is always
// something behind it: at least the end of the object.
func endOfLiteral(text string, i int) int {
	return i + strings.IndexAny(text[i:], ",]} \t\r\n")
}

// skipSpace returns the index of the first byte from i on that is not white space.
func skipSpace(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return i
}

// unquote returns what a valid JSON string says, as a part of it if nothing in it is escaped.
func unquote(quoted string) string {
	inner := quoted[1 : len(quoted)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return inner // cannot happen: the object was checked to be valid
	}
	return text
}

// Instance is a live instance of the job. The zero Instance is one that is not there.
type Instance struct {
	ID        string
	Session   registry.SessionID
	Created   registry.Revision // when it joined; a process that joined anew has a new one
	Revision  registry.Revision
	Triggered bool              // it is asked to run its items now
	Request   registry.Revision // identifies the request to run its items; 0 = there is none
	Shutdown  bool              // it is asked to leave the job, or leaves it anyway
	Layout    Layout            // in which its node is written
}

// Server is an operator's intent for a server. The zero Server is one that is not there, and enabled.
type Server struct {
	IP       string
	Disabled bool
	Unset    bool // the node is there and says nothing, where that means something else than enabled
	Revision registry.Revision
}

// Leader is the leading instance. The zero Leader is none.
type Leader struct {
	Instance string
	Session  registry.SessionID
	Created  registry.Revision // the leader's term
	Revision registry.Revision
}

func instanceOf(id string, n registry.Node) Instance {
	i := Instance{
		ID: id, Session: n.Session, Created: n.Created, Revision: n.Revision,
		Triggered: n.Value == InstanceTriggered, Shutdown: n.Value == InstanceShutdown,
	}
	if i.Triggered {
		i.Request = n.Revision
	}
	return i
}

func serverOf(ip string, n registry.Node) Server {
	return Server{IP: ip, Disabled: n.Value == serverDisabled, Revision: n.Revision}
}

func leaderOf(n registry.Node) Leader {
	return Leader{Instance: n.Value, Session: n.Session, Created: n.Created, Revision: n.Revision}
}

func compareInstance(i Instance, id string) int { return strings.Compare(i.ID, id) }

func compareServer(s Server, ip string) int { return strings.Compare(s.IP, ip) }

// find returns what a list in the order of compare has for key; the zero T if nothing.
func find[T any](list []T, key string, compare func(T, string) int) (found T) {
	if i, ok := slices.BinarySearchFunc(list, key, compare); ok {
		found = list[i]
	}
	return found
}

// replace returns the list with value in the place of key, or without that place if !exists. Lists
// rather than maps, as most have few elements and there are very many lists.
func replace[T any](list []T, key string, compare func(T, string) int, value T, exists bool) []T {
	i, found := slices.BinarySearchFunc(list, key, compare)
	switch {
	case found && exists:
		list[i] = value
	case exists:
		list = slices.Insert(withRoom(list), i, value)
	case found:
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// withRoom returns the list with room for one more, growing tightly: a list of three has to stay one.
func withRoom[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]T, 0, len(list)+1+len(list)/4), list...)
}

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

// ErrInvalidValue is what every value that cannot be read or must not be written is, for callers
// that only need to know that.
var ErrInvalidValue = errors.New("invalid value")

// ErrNewerFormat is what a value is besides that was written by a newer version in a format which this
// one does not know. It is not to be touched.
var ErrNewerFormat = errors.New("newer format")

// ValueError says what is wrong with the value of a node. errors.Is(err, ErrInvalidValue) is true
// for it.
type ValueError struct {
	Path   string // of the node; empty for a value that was to be written
	Field  string // as it is stored, such as "current.begin"; empty if the value as a whole is wrong
	Value  string // of the field, or the whole one
	Reason string // what is allowed
	Err    error  // the cause, if there is one
	kind   error  // what errors.Is and errors.As find besides; nil = nothing
}

// Error names path, field, value and what is allowed, each as far as it takes to recognise it.
func (e *ValueError) Error() string {
	field := e.Field
	if field == "" {
		field = "value"
	}
	text := fmt.Sprintf("%s is %q, %s", texts.Shorten(field), texts.Shorten(e.Value), texts.Shorten(e.Reason))
	if e.Err != nil {
		text += ": " + texts.Shorten(e.Err.Error())
	}
	if e.Path != "" {
		text = texts.Shorten(e.Path) + ": " + text
	}
	return text
}

// Unwrap gives the cause, if there is one.
func (e *ValueError) Unwrap() error {
	if e.kind != nil {
		return e.kind
	}
	return e.Err
}

// Is makes errors.Is(err, ErrInvalidValue) true.
func (e *ValueError) Is(target error) bool { return target == ErrInvalidValue }

// at completes a fault with the path of its node.
func at(path string, err error) error {
	var e *ValueError
	if errors.As(err, &e) {
		e.Path = path
	}
	return err
}
