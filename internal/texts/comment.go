package texts

import (
	"strings"
	"unicode/utf8"
)

// Comment returns a text as a comment of YAML, each of its lines as one. Whatever ends a line in YAML does so here, so that
// nothing of the text is read as anything else, and what must not be in YAML at all is replaced.
func Comment(text string) string {
	lines := strings.Split(lineEnds.Replace(strings.ToValidUTF8(text, string(utf8.RuneError))), "\n")
	return "# " + strings.Map(inYAML, strings.Join(lines, "\n# ")) + "\n"
}

// lineEnds are those of YAML 1.1, which knows more than YAML 1.2.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func inYAML(r rune) rune {
	switch {
	case r < ' ' && r != '\t' && r != '\n', r >= 0x7f && r < 0xa0, r == '\uFEFF', r == '\uFFFE', r == '\uFFFF':
		return utf8.RuneError
	default:
		return r
	}
}
