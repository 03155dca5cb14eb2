package cronexpr

import (
	"errors"
	"fmt"
)

// maxNumber is what larger numbers are read as. It is above every limit, and far from overflowing.
const maxNumber = 99_999

// parseNumber reads decimal digits.
func parseNumber(text string) (int, error) {
	if text == "" {
		return 0, errors.New("a number is missing")
	}
	n := 0
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, fmt.Errorf("%s is not a number", text)
		}
		n = min(n*10+int(c-'0'), maxNumber)
	}
	return n, nil
}

// isLetter reports whether text starts with a letter. Quartz expressions are in upper case by then.
func isLetter(text string) bool {
	return text != "" && text[0] >= 'A' && text[0] <= 'Z'
}
