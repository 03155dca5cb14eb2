package script

import (
	"fmt"
	"strings"
)

// JavaWords splits a command line as Java instances of Elastic-Job do, up to 3.0.4 at least, on Linux. It is for scripts
// that Go and Java share, see [Job.JavaQuoting]. Java differs from a shell, and from [Words]:
//
//   - Only the space separates words; a tab or a line's end is a character of its word.
//   - A backslash is a character like any other. In the program's name it becomes a slash.
//   - Quotes hold a word together, and are left out. An argument that has a space or a single quote in it then gets
//     double quotes around it, and one that has double quotes single ones. These reach the script: of "a b" it
//     sees five characters.
//   - Spaces and quotes at the ends of an argument are left out before that.
//
// A word cannot have both kinds of quotes inside, and a quote must be closed; Java then runs nothing.
func JavaWords(line string) ([]string, error) {
	words, open := javaParts(line)
	switch {
	case open:
		return nil, fmt.Errorf("%w %q: a quote is open", ErrCommandLine, line)
	case javaTrim(line) == "" || javaTrim(words[0]) == "":
		return nil, fmt.Errorf("%w %q: it has no words", ErrCommandLine, line)
	}
	words[0] = strings.ReplaceAll(javaTrim(words[0]), `\`, "/")
	for i, word := range words[1:] {
		quoted, err := javaQuote(word)
		if err != nil {
			return nil, fmt.Errorf("%w %q: %w", ErrCommandLine, line, err)
		}
		words[i+1] = quoted
	}
	return words, nil
}

// javaParts takes a line apart at spaces outside of quotes. open tells that a quote is not closed.
func javaParts(line string) (words []string, open bool) {
	var word strings.Builder
	var quote byte  // in which quotes, or 0
	var quoted bool // the word may be empty: its last part was in quotes
	for i := range len(line) {
		c := line[i]
		switch {
		case quote != 0 && c == quote:
			quote, quoted = 0, true
		case quote != 0:
			word.WriteByte(c)
		case c == '"' || c == '\'':
			quote, quoted = c, false
		case c == ' ':
			if quoted || word.Len() > 0 {
				words = append(words, word.String())
				word.Reset()
			}
			quoted = false
		default:
			word.WriteByte(c)
			quoted = false
		}
	}
	if quoted || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words, quote != 0
}

// javaQuote is what becomes of an argument.
func javaQuote(word string) (string, error) {
	word = strings.TrimRight(strings.TrimLeft(javaTrim(word), `'"`), `'"`)
	switch double, single := strings.Contains(word, `"`), strings.Contains(word, "'"); {
	case double && single:
		return "", fmt.Errorf("%q has both kinds of quotes inside", word)
	case double:
		return "'" + word + "'", nil
	case single || strings.Contains(word, " "):
		return `"` + word + `"`, nil
	default:
		return word, nil
	}
}

// javaTrim leaves out spaces and control characters at both ends.
func javaTrim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return r <= ' ' })
}
