package texts

import (
	"fmt"
	"unicode/utf8"
)

// maxShown is how many bytes of a text an error shows.
const maxShown = 200

// Shorten returns a text as an error or a log line shows it: whole up to 200 bytes, else its beginning,
// which is enough to recognise it. What it is a part of stays bounded, however large a value was.
func Shorten(text string) string { return ShortenTo(text, maxShown) }

// ShortenTo is Shorten with another limit, in bytes.
func ShortenTo(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + fmt.Sprintf("... (%d bytes)", len(text))
}
