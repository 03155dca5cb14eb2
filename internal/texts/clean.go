package texts

import (
	"strings"
	"unicode/utf8"
)

// Clean returns the text as a database takes it: valid UTF-8 without zero characters, which PostgreSQL
// refuses, and cut to at most limit characters. What it returns may be kept for long: it does not hold the rest of the text.
func Clean(text string, limit int) string {
	cleaned := clean(text, limit)
	if len(cleaned) != len(text) {
		return strings.Clone(cleaned)
	}
	return cleaned
}

func clean(text string, limit int) string {
	// Every character has at most four bytes: what is beyond is not even looked at.
	if most := 4 * limit; len(text) > most+utf8.UTFMax {
		text = text[:most+utf8.UTFMax]
		for i := 0; i < utf8.UTFMax && !utf8.RuneStart(text[len(text)-1]); i++ {
			text = text[:len(text)-1]
		}
		text = text[:len(text)-1]
	}
	if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	}
	if len(text) <= limit {
		return text
	}
	count := 0
	for i := range text {
		if count == limit {
			return text[:i]
		}
		count++
	}
	return text
}
