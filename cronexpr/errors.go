package cronexpr

import (
	"errors"
	"fmt"
	"strings"
)

// SyntaxError says what is wrong with an expression, and where.
type SyntaxError struct {
	// Expr is the whole expression.
	Expr string
	// Field names the field that is wrong, such as "minute" or "day-of-month". It is empty if the
	// expression is wrong as a whole.
	Field string
	// Index is the position of that field, counted from 0, or -1.
	Index int
	// Text is the offending part of the field. It is empty if the expression is wrong as a whole.
	Text string
	// Why says what is wrong with Text.
	Why string
	// Allowed says what may stand there instead; it reads on after "allowed".
	Allowed string
}

// Error tells all of it in one line.
func (e *SyntaxError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cron %q: ", shorten(e.Expr))
	if e.Field != "" {
		fmt.Fprintf(&b, "%s field ", e.Field)
	}
	if e.Text != "" || e.Field != "" {
		fmt.Fprintf(&b, "%q: ", shorten(e.Text))
	}
	fmt.Fprintf(&b, "%s; allowed %s", shorten(e.Why), e.Allowed)
	return b.String()
}

// maxShown is how much of a text an error shows: more than any expression that is meant to be one.
const maxShown = 200

func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "..."
}

// allowedShapes completes the error of a text that belongs to no dialect.
const allowedShapes = "are 5 fields (standard), 6 or 7 fields (Quartz), " +
	"@yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly, @every <duration>, @delay <duration> and @triggered"

func wholeError(expr, why string) *SyntaxError {
	return &SyntaxError{Expr: expr, Index: -1, Why: why, Allowed: allowedShapes}
}

var errEmptyElement = errors.New("a list has an empty element")

// fault is what a field's parser finds wrong. Where the field stands is known to its caller, who
// makes a SyntaxError of it.
type fault struct {
	text string
	why  string
}

func faultf(text, format string, args ...any) *fault {
	return &fault{text: text, why: fmt.Sprintf(format, args...)}
}

func (f *fault) in(expr string, field *fieldSpec, index int) *SyntaxError {
	return &SyntaxError{
		Expr: expr, Field: field.name, Index: index,
		Text: f.text, Why: f.why, Allowed: field.allowed,
	}
}
