package reference

// Redacted returns an error that says what a function leaves of the text of another, which it wraps; the other itself if that
// is all of it.
func Redacted(err error, redact func(text string) string) error {
	text := err.Error()
	if shown := redact(text); shown != text {
		return redacted{shown, err}
	}
	return err
}

// redacted is an error that says less than its cause.
type redacted struct {
	text  string
	cause error
}

func (e redacted) Error() string { return e.text }
func (e redacted) Unwrap() error { return e.cause }
