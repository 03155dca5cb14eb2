package jobtree

import "strings"

// plainDepth is how deep the objects of a plain text may stand in each other.
const plainDepth = 4

// plainObject tells whether text certainly is a JSON object: one such as we write ourselves, of printable ASCII,
// without white space, escapes and lists. Most of what a process reads is that, above all what it has written
// itself, and the full check of encoding/json takes most of the time of reading a record. It says nothing about
// other texts.
func plainObject(text string) bool {
	rest, ok := cutPlainObject(text, plainDepth)
	return ok && rest == ""
}

// cutPlainObject cuts an object off. depth is how deep it may go.
func cutPlainObject(s string, depth int) (rest string, ok bool) {
	s, ok = strings.CutPrefix(s, "{")
	if !ok || depth == 0 {
		return "", false
	}
	if rest, empty := strings.CutPrefix(s, "}"); empty {
		return rest, true
	}
	for {
		if s, ok = cutPlainString(s); !ok {
			return "", false
		}
		if s, ok = strings.CutPrefix(s, ":"); !ok {
			return "", false
		}
		if s, ok = cutPlainValue(s, depth); !ok || s == "" {
			return "", false
		}
		switch s[0] {
		case '}':
			return s[1:], true
		case ',':
			s = s[1:]
		default:
			return "", false
		}
	}
}

func cutPlainValue(s string, depth int) (rest string, ok bool) {
	switch {
	case strings.HasPrefix(s, `"`):
		return cutPlainString(s)
	case strings.HasPrefix(s, "{"):
		return cutPlainObject(s, depth-1)
	case strings.HasPrefix(s, "true"):
		return s[len("true"):], true
	case strings.HasPrefix(s, "false"):
		return s[len("false"):], true
	default:
		return cutPlainNumber(strings.TrimPrefix(s, "-"))
	}
}

func cutPlainString(s string) (rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[i+1:], true
		case c < ' ' || c > '~' || c == '\\':
			return "", false
		}
	}
	return "", false
}

// cutPlainNumber cuts a whole number off.
func cutPlainNumber(s string) (rest string, ok bool) {
	if strings.HasPrefix(s, "0") {
		return s[1:], true
	}
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[i:], i > 0
}
