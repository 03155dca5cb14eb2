package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/operate"
)

// isJSON tells whether a request says that its body is JSON.
func isJSON(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "application/json"
}

// body reads the request's JSON. Nothing at all is the zero value.
func body[T any](c *call) (value T, err error) {
	text, err := c.read()
	if err != nil {
		return value, err
	}
	return parseBody[T](text)
}

func parseBody[T any](text []byte) (value T, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return value, nil
	}
	if len(text) > maxBody && values(text) > maxValues {
		return value, malformed("body", "it has more than %d values", maxValues)
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&value); err != nil {
		var zero T
		return zero, malformed("body", "%s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := reader.Token(); !errors.Is(err, io.EOF) {
		var zero T
		return zero, malformed("body", "there is more behind the JSON value, want one")
	}
	return value, nil
}

// values is about how many values a JSON text has, and no fewer than are decoded of it.
func values(text []byte) int { return bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("{")) }

// unread is the fault of a body that did not come.
func unread(err error) error {
	var tooLong *http.MaxBytesError
	if errors.As(err, &tooLong) {
		return err
	}
	return malformed("body", "%s", err)
}

// knownParameters refuses a query that cannot be read as a whole, and parameters that the route does not have.
func knownParameters(query string, known []string) error {
	values, err := url.ParseQuery(query)
	if err != nil {
		return malformed("query", "%s", err)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case slices.Contains(known, name):
		case len(known) == 0:
			return malformed(name, "it is no parameter here: want none")
		default:
			return malformed(name, "it is no parameter here: want some of %s", strings.Join(known, ", "))
		}
	}
	return nil
}

// asking is how an operation is asked for, besides what it is.
type asking struct {
	dry   bool
	again bool
	wait  time.Duration
	key   string
}

func parseAsking(query url.Values, header http.Header) (a asking, err error) {
	if query.Has(wire.ParamDryRun) {
		if a.dry, err = flag(query, wire.ParamDryRun); err != nil {
			return asking{}, err
		}
	}
	if a.again, err = flag(query, wire.ParamAgain); err != nil {
		return asking{}, err
	}
	if text := query.Get(wire.ParamWait); text != "" {
		a.wait, err = time.ParseDuration(text)
		if err != nil || a.wait < 0 || a.wait > wire.MaxWait {
			return asking{}, malformed(wire.ParamWait, "%q is given, want a time such as 10s, at most %s", text, wire.MaxWait)
		}
	}
	keys := header.Values(wire.HeaderKey)
	switch {
	case len(keys) > 1:
		return asking{}, malformed(wire.HeaderKey, "it is given %d times, want it once", len(keys))
	case len(keys) == 1:
		a.key = keys[0]
		if a.key == "" {
			return asking{}, malformed(wire.HeaderKey, "it is empty, want an id or no header")
		}
	}
	return a, nil
}

// options are those of an operation.
func (c *call) options(asked wire.Asked) (operate.Options, time.Duration, error) {
	a, err := parseAsking(c.r.URL.Query(), c.r.Header)
	if err != nil {
		return operate.Options{}, 0, err
	}
	if a.again && a.key == "" {
		return operate.Options{}, 0, malformed(wire.HeaderKey, "it is missing, want the id of the operation that is asked for again")
	}
	if a.key == "" {
		a.key = newKey()
	}
	opts := operate.Options{Reason: asked.Reason, Again: a.again, DryRun: a.dry, Force: asked.Force, Shown: asked.Shown}
	if err := opts.SetKey(a.key); err != nil {
		return operate.Options{}, 0, err
	}
	if !a.dry {
		c.operation = opts.ID
	}
	return opts, a.wait, nil
}

// optionsOfMany are those of an operation on several jobs.
func (c *call) optionsOfMany(asked wire.AskedOfMany) (operate.Options, time.Duration, error) {
	opts, wait, err := c.options(wire.Asked{Reason: asked.Reason, Force: asked.Force})
	opts.ShownJobs = asked.Shown
	return opts, wait, err
}

// flag reads a parameter that is there or not, or true or false.
func flag(query url.Values, name string) (bool, error) {
	switch text := query.Get(name); text {
	case "":
		return query.Has(name), nil
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	default:
		return false, malformed(name, "%q is given, want true or false", text)
	}
}

// number reads a whole number from least to most.
func number(query url.Values, name string, usual, least, most int) (int, error) {
	text := query.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return 0, malformed(name, "%q is given, want a number from %d to %d", text, least, most)
	}
	return n, nil
}

// instant reads a time; the zero time if there is none.
func instant(query url.Values, name string) (time.Time, error) {
	text := query.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, malformed(name, "%q is given, want a time such as 2026-03-01T02:30:00Z", text)
	}
	return at, nil
}

// maxPattern bounds a pattern of names, in bytes: for each job, matching may read it anew at each byte of the name.
const maxPattern = 1000

// pattern reads the pattern of names that match gives; none is "*".
func pattern(query url.Values) (string, error) {
	const name = "match"
	text := query.Get(name)
	if len(text) > maxPattern {
		return "", malformed(name, "it has %d bytes, want at most %d", len(text), maxPattern)
	}
	if _, err := path.Match(text, ""); err != nil {
		return "", malformed(name, "%q is given, want a pattern of letters, *, ? and [a-z]", text)
	}
	if text == "" {
		text = "*"
	}
	return text, nil
}

// oneOf reads a parameter with few values; empty if it is not given.
func oneOf(query url.Values, name string, allowed ...string) (string, error) {
	text := query.Get(name)
	if text == "" || slices.Contains(allowed, text) {
		return text, nil
	}
	return "", malformed(name, "%q is given, want one of %s", text, strings.Join(allowed, ", "))
}

// itemOf reads the number in the path.
func (c *call) itemOf() (int, error) {
	text := c.r.PathValue("item")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || strconv.Itoa(n) != text {
		return 0, malformed("item", "%q is given, want the number of an item", text)
	}
	return n, nil
}

// matching is the revision of If-Match.
func matching(header http.Header) (int64, error) {
	text := header.Get(wire.HeaderIfMatch)
	if text == "" {
		return 0, fault(http.StatusPreconditionRequired, wire.CausePrecondition,
			"If-Match is missing: want the ETag of the configuration that was shown")
	}
	unquoted := strings.TrimSuffix(strings.TrimPrefix(text, `"`), `"`)
	n, err := strconv.ParseInt(unquoted, 10, 64)
	if err != nil || n <= 0 || len(text) != len(unquoted)+2 {
		return 0, malformed(wire.HeaderIfMatch, "%q is given, want an ETag as GET answers it, such as \"48190\" in quotes", text)
	}
	return n, nil
}
