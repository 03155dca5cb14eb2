package job

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// PropsReader reads typed settings from [Props] and gathers every fault on the way, so that whoever
// reads them has one check at the end. Each fault is a [*FieldError] that names the setting.
type PropsReader struct {
	settings map[string]string
	faults   faults
}

// ReadProps starts to read the settings of a configuration.
func ReadProps(p Props) *PropsReader {
	r := &PropsReader{}
	settings, err := p.Map()
	if err != nil {
		r.faults.checkProps(p)
	}
	r.settings = settings
	return r
}

// Err joins all faults so far; nil if there are none.
func (r *PropsReader) Err() error { return r.faults.join() }

// Fault notes that a setting has a value that is not allowed, and what is.
func (r *PropsReader) Fault(name, reason string) {
	r.faults.add("Props "+name, r.settings[name], reason)
}

// Text returns a setting, or standard if it is empty or not there.
func (r *PropsReader) Text(name, standard string) string {
	if value := r.settings[name]; value != "" {
		return value
	}
	return standard
}

// Required returns a setting that must not be empty.
func (r *PropsReader) Required(name string) string {
	value := r.settings[name]
	if strings.TrimSpace(value) == "" {
		r.Fault(name, "must not be empty")
	}
	return value
}

// WebAddress returns a setting that must be an absolute http or https address.
func (r *PropsReader) WebAddress(name string) string {
	value := r.Required(name)
	if value == "" {
		return ""
	}
	address, err := url.Parse(value)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		r.Fault(name, "must be an address such as https://example.org/path")
	}
	return value
}

// Word returns a setting that must be one of a few words in any case, as it stands in the list. The
// first one is the default.
func (r *PropsReader) Word(name string, words ...string) string {
	value := r.Text(name, words[0])
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
	value, err := strconv.Atoi(r.Text(name, strconv.Itoa(standard)))
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
	found := make(map[string]string)
	for name, value := range r.settings {
		if rest, below := strings.CutPrefix(name, prefix); below && rest != "" {
			found[rest] = value
		}
	}
	return found
}

// Only refuses settings with a prefix whose names are not listed, so that a misspelt one is found. A
// name that ends in "." stands for all below it.
func (r *PropsReader) Only(prefix string, names ...string) {
	for _, name := range slices.Sorted(maps.Keys(r.settings)) {
		known := func(listed string) bool {
			return name == listed || strings.HasSuffix(listed, ".") && strings.HasPrefix(name, listed)
		}
		if strings.HasPrefix(name, prefix) && !slices.ContainsFunc(names, known) {
			r.Fault(name, "must not be there: the settings are "+strings.Join(names, ", "))
		}
	}
}
