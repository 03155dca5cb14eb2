package script

import (
	"errors"
	"fmt"

	"github.com/mattn/go-shellwords"
)

// ErrCommandLine is a command line that has no words, whose first one is empty, or with a quote that is not closed.
var ErrCommandLine = errors.New("invalid command line")

// Words splits a command line as a shell does: words are separated by space; within single quotes all
// characters are plain, within double quotes all but the backslash, which makes the next character
// plain, also outside of quotes, except that \t and \n are what they are in Go. Nothing is expanded. The first word, which is
// the program, must not be empty.
func Words(line string) ([]string, error) {
	p := shellwords.NewParser()
	// What means something to a shell is text here, as it is to Java.
	p.SetExcludeSeparators(';', '&', '|', '<', '>', '(', ')', '`', '$')
	words, err := p.Parse(line)
	if err != nil {
		return nil, fmt.Errorf("%w %q: a quote or a backslash at its end is open", ErrCommandLine, line)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%w %q: it has no words", ErrCommandLine, line)
	}
	if words[0] == "" {
		return nil, fmt.Errorf("%w %q: its first word, the program, is empty", ErrCommandLine, line)
	}
	return words, nil
}
