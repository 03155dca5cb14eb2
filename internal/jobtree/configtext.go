package jobtree

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// configText is a field of a configuration that is written and read as Java's Gson does it.
type configText interface {
	append(dst []byte) []byte
	read(m member) error
}

type (
	text       struct{ field *string }
	typeWord   struct{ field *job.Type }
	boolean    struct{ field *bool }
	opposite   struct{ field *bool } // stores whether the field is off
	instant    struct{ field *time.Time }
	properties struct{ of *job.Config }

	// choice is a word whose default may be written as empty. The default is read as empty.
	choice[T interface {
		~string
		fmt.Stringer
	}] struct{ field *T }

	// exact is the exact value of a time whose whole units, rounded, another member has.
	exact struct {
		rounded number[time.Duration]
		found   *time.Duration // what was read
	}

	// number is a whole number, or a time that is stored in whole units.
	number[T ~int | ~int64] struct {
		field    *T
		unit     T
		standard int64 // what is stored of the zero value, and read as that
		none     T     // what a stored 0 is, where the zero value is something else
		least    int64 // that can be stored
	}
)

// anyNumber is the least number where all can be read, and Validate says what is wrong with them.
const anyNumber = math.MinInt32

func count(field *int) configText { return number[int]{field: field, unit: 1, least: anyNumber} }

func seconds(field *time.Duration) number[time.Duration] {
	return number[time.Duration]{field: field, unit: time.Second, least: anyNumber}
}

func (t text) append(dst []byte) []byte { return texts.AppendGson(dst, *t.field) }

// read takes numbers for strings, as Gson does.
func (t text) read(m member) error {
	switch first := m.value[0]; {
	case first == '"':
		*t.field = unquote(m.value)
		return nil
	case first == '-' || '0' <= first && first <= '9':
		*t.field = m.value
		return nil
	default:
		return &ValueError{Field: m.name, Value: m.value, Reason: "must be a string"}
	}
}

// types are those of jobs, in the order in which faults name them.
var types = []job.Type{job.TypeSimple, job.TypeDataflow, job.TypeScript}

// KnownType tells whether a type is that of a job, or the word of one.
func KnownType(t job.Type) bool {
	return slices.ContainsFunc(types, func(known job.Type) bool { return known.String() == t.String() })
}

func (t typeWord) append(dst []byte) []byte { return texts.AppendGson(dst, t.field.String()) }

func (t typeWord) read(m member) error {
	for _, known := range types {
		if m.value[0] == '"' && unquote(m.value) == known.String() {
			*t.field = known
			return nil
		}
	}
	reason := mustBeAType()
	if strings.EqualFold(m.value, `"HTTP"`) {
		reason += `; HTTP is a jobClass, with the jobType SIMPLE`
	}
	return &ValueError{Field: m.name, Value: m.value, Reason: reason}
}

func (c choice[T]) append(dst []byte) []byte { return texts.AppendGson(dst, (*c.field).String()) }

func (c choice[T]) read(m member) error {
	var written string
	if err := (text{&written}).read(m); err != nil {
		return err
	}
	*c.field = ""
	if written != (*c.field).String() {
		*c.field = T(written)
	}
	return nil
}

func (n number[T]) append(dst []byte) []byte { return strconv.AppendInt(dst, n.stored(), 10) }

// stored rounds up, because 0 would mean something else than a short time.
func (n number[T]) stored() int64 {
	value := *n.field
	switch {
	case value == 0:
		return n.standard
	case value == n.none:
		return 0
	case n.whole():
		return max(int64(value/n.unit), n.least)
	default:
		return int64(value/n.unit) + 1
	}
}

// whole tells whether nothing of the field is lost when it is stored.
func (n number[T]) whole() bool {
	value := *n.field
	return value <= 0 || value == n.none || value%n.unit == 0
}

// read takes quoted numbers and fractions of nothing, as Gson does. Of a time that is too long to be one it
// takes as much as there is, which nothing allows either.
func (n number[T]) read(m member) error {
	digits := m.value
	if digits[0] == '"' {
		digits = unquote(digits)
	}
	value, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil || value != math.Trunc(value) || value < math.MinInt32 || value > math.MaxInt32:
		return &ValueError{Field: m.name, Value: m.value, Reason: "must be a whole number of 32 bits"}
	case int64(value) < n.least:
		return &ValueError{Field: m.name, Value: m.value, Reason: "must not be negative"}
	case int64(value) == n.standard:
		*n.field = 0
	case value == 0:
		*n.field = n.none
	default:
		most := math.MaxInt64 / int64(n.unit)
		*n.field = T(min(max(int64(value), -most), most)) * n.unit
	}
	return nil
}

// append writes an empty text of a time that the other member has as a whole.
func (e exact) append(dst []byte) []byte {
	if e.rounded.whole() {
		return append(dst, `""`...)
	}
	return texts.AppendGson(dst, e.rounded.field.String())
}

func (e exact) read(m member) error {
	*e.found = 0
	var written string
	if err := (text{&written}).read(m); err != nil || written == "" {
		return err
	}
	d, err := time.ParseDuration(written)
	if err != nil || d <= 0 {
		return &ValueError{Field: m.name, Value: m.value, Reason: "must be a time above 0 such as 1.5s or 1m30s"}
	}
	*e.found = d
	return nil
}

// settle makes what was read the value of the time, if the member of the whole units agrees.
func (e exact) settle() {
	read := e.rounded
	read.field = e.found
	if !read.whole() && read.stored() == e.rounded.stored() {
		*e.rounded.field = *e.found
	}
}

func (b boolean) append(dst []byte) []byte { return strconv.AppendBool(dst, *b.field) }

func (b boolean) read(m member) error {
	r := reader{}
	*b.field = r.flag(m)
	return r.err
}

func (o opposite) append(dst []byte) []byte { return strconv.AppendBool(dst, !*o.field) }

func (o opposite) read(m member) error {
	r := reader{}
	*o.field = !r.flag(m)
	return r.err
}

func (t instant) append(dst []byte) []byte {
	return texts.AppendGson(dst, t.field.UTC().Format(time.RFC3339Nano))
}

func (t instant) read(m member) error {
	var written string
	if err := (text{&written}).read(m); err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return &ValueError{Field: m.name, Value: m.value, Reason: "must be a time such as 2026-11-21T20:00:00Z"}
	}
	*t.field = at.UTC()
	return nil
}

// The two job properties, and the Java classes that stand for their defaults.
const (
	propertyErrorHandler    = "job_exception_handler"
	propertyExecutorService = "executor_service_handler"

	defaultErrorHandler    = "com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler"
	defaultExecutorService = "com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"
)

func (p properties) append(dst []byte) []byte {
	w := writer{text: append(dst, '{')}
	w.string(propertyErrorHandler, orDefault(p.of.ErrorHandler, defaultErrorHandler))
	w.string(propertyExecutorService, orDefault(p.of.ExecutorServiceHandler, defaultExecutorService))
	return append(w.text, '}')
}

// read refuses keys that it does not know, because a Java reader stumbles over them.
func (p properties) read(m member) error {
	r := reader{}
	for property := range r.object(m).members() {
		field := member{name: m.name + "." + property.name, value: property.value}
		var err error
		switch property.name {
		case propertyErrorHandler:
			err = readHandler(&p.of.ErrorHandler, defaultErrorHandler, field)
		case propertyExecutorService:
			err = readHandler(&p.of.ExecutorServiceHandler, defaultExecutorService, field)
		default:
			err = &ValueError{Field: field.name, Value: field.value, Reason: fmt.Sprintf(
				"must not be there: the job properties are %s and %s", propertyErrorHandler, propertyExecutorService)}
		}
		if err != nil {
			return err
		}
	}
	return r.err
}

func readHandler(field *string, standard string, m member) error {
	err := text{field}.read(m)
	if *field == standard {
		*field = ""
	}
	return err
}

func orDefault(value, standard string) string {
	if value == "" {
		return standard
	}
	return value
}

func mustBeAType() string { return fmt.Sprintf("must be one of %q", types) }

func outOfRange(field string, value, least, most int) *ValueError {
	return &ValueError{
		Field: field, Value: strconv.Itoa(value),
		Reason: fmt.Sprintf("must be between %d and %d", least, most),
	}
}
