package jobtree

import (
	"fmt"
	"math"
	"strconv"
	"time"

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
	number     struct{ field *int }
	boolean    struct{ field *bool }
	instant    struct{ field *time.Time }
	properties struct{ of *job.Config }
)

func (t text) append(dst []byte) []byte { return job.AppendGsonString(dst, *t.field) }

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

func (t typeWord) append(dst []byte) []byte { return job.AppendGsonString(dst, string(*t.field)) }

func (t typeWord) read(m member) error {
	for _, known := range job.Types() {
		if m.value[0] == '"' && unquote(m.value) == string(known) {
			*t.field = known
			return nil
		}
	}
	return &ValueError{Field: m.name, Value: m.value, Reason: mustBeOneOf(job.Types())}
}

func (n number) append(dst []byte) []byte { return strconv.AppendInt(dst, int64(*n.field), 10) }

// read takes quoted numbers and fractions of nothing, as Gson does.
func (n number) read(m member) error {
	digits := m.value
	if digits[0] == '"' {
		digits = unquote(digits)
	}
	value, err := strconv.ParseFloat(digits, 64)
	if err != nil || value != math.Trunc(value) || value < math.MinInt32 || value > math.MaxInt32 {
		return &ValueError{Field: m.name, Value: m.value, Reason: "must be a whole number of 32 bits"}
	}
	*n.field = int(value)
	return nil
}

func (b boolean) append(dst []byte) []byte { return strconv.AppendBool(dst, *b.field) }

func (b boolean) read(m member) error {
	r := reader{}
	*b.field = r.flag(m)
	return r.err
}

func (t instant) append(dst []byte) []byte {
	return job.AppendGsonString(dst, t.field.UTC().Format(time.RFC3339Nano))
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

func mustBeOneOf(words []job.Type) string { return fmt.Sprintf("must be one of %q", words) }

func outOfRange(field string, value, least, most int) *ValueError {
	return &ValueError{
		Field: field, Value: strconv.Itoa(value),
		Reason: fmt.Sprintf("must be between %d and %d", least, most),
	}
}
