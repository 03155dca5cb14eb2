// Package reference reads values that a setting does not hold itself but names: an environment variable ("env:NAME") or a
// file ("file:/path") of the process that uses the setting; and tells where a setting holds what it should name.
package reference

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Allowed says what a reference looks like, for errors.
const Allowed = `"env:" and the name of an environment variable, or "file:" and an absolute path`

const (
	env  = "env:"
	file = "file:"

	// maxBytes bounds a file. A secret is short; a file that is longer is another one than was meant.
	maxBytes = 64 << 10
)

var (
	envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

	errNotSet  = errors.New("it is not set, or empty")
	errEmpty   = errors.New("the file is empty")
	errNoFile  = errors.New("it is no regular file")
	errTooLong = fmt.Errorf("the file is longer than %d bytes", maxBytes)
	errNoText  = errors.New("the file is not valid UTF-8")
)

// Is tells whether a text is a reference.
func Is(text string) bool {
	if name, is := strings.CutPrefix(text, env); is {
		return envName.MatchString(name)
	}
	path, is := strings.CutPrefix(text, file)
	return is && strings.HasPrefix(path, "/") && !strings.ContainsRune(path, 0)
}

// HasLogin tells whether an address names a user or a password itself, before the host. Addresses are shown. A password that is
// not escaped may end what counts as the host: then what should be a port is none.
func HasLogin(address string) bool {
	_, rest, is := strings.Cut(address, "://")
	if !is {
		rest = address
	}
	host, more := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host, more = rest[:end], rest[end:]
	}
	if strings.Contains(host, "@") {
		return true
	}
	_, port, has := strings.Cut(host, ":")
	return has && !strings.HasPrefix(host, "[") && strings.Trim(port, "0123456789") != "" && strings.Contains(more, "@")
}

// Almost tells whether a text begins like a reference and is none.
func Almost(text string) bool {
	return (strings.HasPrefix(text, env) || strings.HasPrefix(text, file)) && !Is(text)
}

// Resolve returns the value that a reference names, without the line end at its end: a file often has one, and so has a
// variable that a Secret made from such a file. An empty value is an error, because nobody refers to nothing on purpose. No
// error quotes a value.
func Resolve(text string) (string, error) {
	if name, is := strings.CutPrefix(text, env); is {
		value := WithoutLineEnd(os.Getenv(name))
		if value == "" {
			return "", errNotSet
		}
		return value, nil
	}
	return read(strings.TrimPrefix(text, file))
}

func read(path string) (string, error) {
	// A pipe would block whoever opens it.
	if info, err := os.Stat(path); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return "", err
	}
	value := WithoutLineEnd(string(content))
	switch {
	case len(content) > maxBytes:
		return "", errTooLong
	case value == "":
		return "", errEmpty
	case !utf8.ValidString(value):
		return "", errNoText
	default:
		return value, nil
	}
}

// WithoutLineEnd returns a secret without the line end that its file, or a variable made from one, often has at its end, or
// several.
func WithoutLineEnd(value string) string { return strings.TrimRight(value, "\r\n") }
