package job

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/reference"
)

// propField is what a fault names as the field of a setting of [Config.Props].
func propField(name string) string { return "Props " + name }

// checkProps asks of all settings that they can be stored, and of those that look like references that they
// are. No fault shows a value that may be a secret: what a reference should be, nobody hides.
func (f *faults) checkProps(settings map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		switch {
		case !utf8.ValidString(name):
			f.add("Props", name, "must have names in valid UTF-8")
		case !utf8.ValidString(value):
			f.add(propField(name), "", "must be valid UTF-8")
		case reference.Almost(value):
			f.add(propField(name), value, "must be "+reference.Allowed+", or begin with neither")
		}
	}
}

// PropsReader reads typed settings from [Config.Props] and gathers every fault on the way, so that whoever
// reads them checks once, at the end. Each fault is a [*FieldError] that names the setting.
//
// A setting whose value is "env:NAME" or "file:/path" has the value of this process's environment variable,
// or the text of this process's file, without the line end at its end; a file has at most 64 KiB. The reader
// looks a value up when it is first asked for it. A variable or file that is missing or empty is a fault.
// Faults show the reference and never the value.
//
// A PropsReader is for one goroutine at a time; once all settings are read, several may call Redact and RedactCut.
type PropsReader struct {
	settings map[string]string
	stored   bool             // references stay what they are
	found    map[string]found // settings that are references, once they are looked up
	secrets  []secret         // the longest first
	faults   faults
}

// found is what a reference stands for.
type found struct {
	value string
	ok    bool
}

// secret is a value with what is shown in its place.
type secret struct {
	value, shown string
	part         bool // of an address
}

// ReadProps starts to read the settings of a configuration.
func ReadProps(settings map[string]string) *PropsReader {
	return &PropsReader{settings: settings, found: make(map[string]found)}
}

// ReadStoredProps is ReadProps for whoever judges settings where they are not used: there a reference is not looked up, and
// what it stands for is no fault, whatever it must be.
func ReadStoredProps(settings map[string]string) *PropsReader {
	r := ReadProps(settings)
	r.stored = true
	return r
}

// Err joins all faults so far; nil if there are none.
func (r *PropsReader) Err() error { return r.faults.join() }

// Fault notes that a setting has a value that is not allowed, and what is.
func (r *PropsReader) Fault(name, reason string) { r.fault(name, reason, nil) }

func (r *PropsReader) fault(name, reason string, cause error) {
	r.faults.addCause(propField(name), r.settings[name], reason, cause)
}

// Redact returns a text with every value that was read from a variable or a file replaced by the reference to
// it, for what ends up in errors and logs: errors of a job are stored in the registry.
func (r *PropsReader) Redact(text string) string {
	parts := []string{text} // of the text, and in its place, by turns: a value may stand in a reference, which stays
	for _, s := range r.secrets {
		var replaced []string
		for i, part := range parts {
			if i%2 == 1 {
				replaced = append(replaced, part)
				continue
			}
			for n, between := range strings.Split(part, s.value) {
				if n > 0 {
					replaced = append(replaced, s.shown)
				}
				replaced = append(replaced, between)
			}
		}
		parts = replaced
	}
	return strings.Join(parts, "")
}

// RedactCut is Redact for a text that was cut off, perhaps within such a value: a beginning of one at its end is left out.
func (r *PropsReader) RedactCut(text string) string {
	for cut := len(text); cut > 0; { // again, as what is left out may have been the end of another value
		cut = 0
		for _, s := range r.secrets {
			for n := min(len(s.value)-1, len(text)); n > cut; n-- {
				if strings.HasSuffix(text, s.value[:n]) {
					cut = n
				}
			}
		}
		text = text[:len(text)-cut]
	}
	return r.Redact(text)
}

// value returns a setting, looked up if it is a reference; false if that failed, which is a fault by then, or is not to be
// done.
func (r *PropsReader) value(name string) (string, bool) {
	written := r.settings[name]
	if !reference.Is(written) {
		return written, true
	}
	if r.stored {
		return "", false
	}
	if f, known := r.found[name]; known {
		return f.value, f.ok
	}
	value, err := reference.Resolve(written)
	r.found[name] = found{value, err == nil}
	if err != nil {
		r.fault(name, "must name a variable or a file that this process can read", err)
	}
	return value, err == nil
}

// hide notes that Redact must replace the value of a setting, if it was looked up. It returns the value.
func (r *PropsReader) hide(name, value string) string {
	r.replace(secret{value: value, shown: r.settings[name]})
	return value
}

func (r *PropsReader) replace(s secret) {
	if s.value == "" || !reference.Is(s.shown) || slices.Contains(r.secrets, s) {
		return
	}
	r.secrets = append(r.secrets, s)
	rank := func(s secret) int {
		if s.part { // the whole value of another setting comes first
			return 2*len(s.value) - 1
		}
		return 2 * len(s.value)
	}
	slices.SortStableFunc(r.secrets, func(a, b secret) int { return cmp.Compare(rank(b), rank(a)) })
}

// plain returns a setting, or standard if it is empty, not there, or cannot be looked up.
func (r *PropsReader) plain(name, standard string) string {
	if value, ok := r.value(name); ok && value != "" {
		return value
	}
	return standard
}

// Text returns a setting, or standard if it is empty or not there.
func (r *PropsReader) Text(name, standard string) string {
	value := r.plain(name, "")
	if value == "" {
		return standard
	}
	return r.hide(name, value)
}

// Required returns a setting that must not be empty.
func (r *PropsReader) Required(name string) string {
	value, ok := r.value(name)
	if ok && strings.TrimSpace(value) == "" {
		r.Fault(name, "must not be empty")
	}
	return r.hide(name, value)
}

// WebAddress returns a setting that must be an absolute http or https address. Redact replaces also its path, its query, the
// values in that, its host and its password, each if it has five bytes or more.
func (r *PropsReader) WebAddress(name string) string {
	value := r.Required(name)
	if value == "" {
		return ""
	}
	address, err := url.Parse(value)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		r.Fault(name, "must be an address such as https://example.org/path")
		return value
	}
	r.hideParts(name, address)
	return value
}

// leastPart is how long a part of an address is that is hidden by itself: many texts have a "/" or an "id=1".
const leastPart = 5

// hideParts hides what servers repeat of an address in their answers: many a 404 names the path.
func (r *PropsReader) hideParts(name string, address *url.URL) {
	parts := []string{address.RequestURI(), address.EscapedPath(), address.Path, address.RawQuery, address.Host}
	for _, values := range address.Query() {
		parts = append(parts, values...)
	}
	if password, has := address.User.Password(); has {
		parts = append(parts, password)
	}
	for _, part := range parts {
		if len(part) >= leastPart && !strings.Contains(r.settings[name], part) { // or the reference would not be what is shown
			r.replace(secret{value: part, shown: r.settings[name], part: true})
		}
	}
}

// Word returns a setting that must be one of a few words in any case, as it stands in the list. The
// first one is the default. Without words the setting may not be there.
func (r *PropsReader) Word(name string, words ...string) string {
	if len(words) == 0 {
		if r.plain(name, "") != "" {
			r.Fault(name, "must not be set")
		}
		return ""
	}
	value := r.plain(name, words[0])
	for _, word := range words {
		if strings.EqualFold(value, word) {
			return word
		}
	}
	r.Fault(name, "must be one of "+strings.Join(words, ", "))
	return words[0]
}

// Flag returns a setting that is true or false.
func (r *PropsReader) Flag(name string, standard bool) bool {
	return r.Word(name, strconv.FormatBool(standard), strconv.FormatBool(!standard)) == "true"
}

// Number returns a setting that is a whole number between two bounds.
func (r *PropsReader) Number(name string, standard, least, most int) int {
	value, err := strconv.Atoi(r.plain(name, strconv.Itoa(standard)))
	if err != nil || value < least || value > most {
		r.Fault(name, fmt.Sprintf("must be a whole number between %d and %d", least, most))
		return standard
	}
	return value
}

// Milliseconds returns a setting that is a duration in whole milliseconds, from 0 up to a day.
func (r *PropsReader) Milliseconds(name string, standard time.Duration) time.Duration {
	const day = 24 * 60 * 60 * 1000
	return time.Duration(r.Number(name, int(standard.Milliseconds()), 0, day)) * time.Millisecond
}

// Below returns the settings whose names begin with a prefix, by the rest of their names.
func (r *PropsReader) Below(prefix string) map[string]string {
	below := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(r.settings)) {
		rest, is := strings.CutPrefix(name, prefix)
		if !is || rest == "" {
			continue
		}
		if value, ok := r.value(name); ok {
			below[rest] = r.hide(name, value)
		}
	}
	return below
}

// Only refuses settings with a prefix whose names are not listed, so that a misspelt one is found. A
// name that ends in "." stands for all below it.
func (r *PropsReader) Only(prefix string, names ...string) {
	for _, name := range slices.Sorted(maps.Keys(r.settings)) {
		known := func(listed string) bool {
			if strings.HasSuffix(listed, ".") {
				return strings.HasPrefix(name, listed) && name != listed
			}
			return name == listed
		}
		if strings.HasPrefix(name, prefix) && !slices.ContainsFunc(names, known) {
			r.Fault(name, "must not be there: the settings are "+strings.Join(names, ", "))
		}
	}
}
