package jobtree

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/texts"
)

// object is the text of a JSON object that is known to be valid. It hands out its members as parts
// of itself: what a value says costs no copy, unknown members can be kept as they came, and names
// are matched exactly, which encoding/json does not do.
type object string

// member is one member of an object.
type member struct {
	name  string // unescaped
	text  string // the whole member, as it stands
	value string // as it stands
}

// parseObject checks that text is a JSON object and nothing else.
func parseObject(text string) (object, error) {
	switch {
	case plainObject(text):
		return object(text), nil
	case !utf8.ValidString(text):
		return "", &ValueError{Value: text, Reason: "must be a JSON object in UTF-8"}
	case !json.Valid([]byte(text)):
		var value json.RawMessage
		err := json.Unmarshal([]byte(text), &value) // says where it is wrong
		return "", &ValueError{Value: text, Reason: "must be a JSON object", Err: texts.LocateJSON(text, err)}
	case text[skipSpace(text, 0)] != '{':
		return "", &ValueError{Value: text, Reason: "must be a JSON object"}
	default:
		return object(text), nil
	}
}

// members yields the members in the order in which they stand.
func (o object) members() iter.Seq[member] {
	text := string(o)
	return func(yield func(member) bool) {
		i := skipSpace(text, skipSpace(text, 0)+1)
		for text[i] != '}' {
			nameEnd := endOfValue(text, i)
			start := skipSpace(text, skipSpace(text, nameEnd)+1)
			end := endOfValue(text, start)
			if !yield(member{name: unquote(text[i:nameEnd]), text: text[i:end], value: text[start:end]}) {
				return
			}
			i = skipSpace(text, end)
			if text[i] == ',' {
				i = skipSpace(text, i+1)
			}
		}
	}
}

// endOfValue returns the index behind the value that starts at i.
func endOfValue(text string, i int) int {
	depth := 0
	for {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
		default:
			i = endOfLiteral(text, i)
		}
		if depth == 0 {
			return i
		}
	}
}

// endOfString returns the index behind the string that starts at i.
func endOfString(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// endOfLiteral returns the index behind the number or the word that starts at i. There is always
// something behind it: at least the end of the object.
func endOfLiteral(text string, i int) int {
	return i + strings.IndexAny(text[i:], ",]} \t\r\n")
}

// skipSpace returns the index of the first byte from i on that is not white space.
func skipSpace(text string, i int) int {
	for i < len(text) && strings.IndexByte(" \t\r\n", text[i]) >= 0 {
		i++
	}
	return i
}

// unquote returns what a valid JSON string says, as a part of it if nothing in it is escaped.
func unquote(quoted string) string {
	inner := quoted[1 : len(quoted)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var text string
	if json.Unmarshal([]byte(quoted), &text) != nil {
		return inner // cannot happen: the object was checked to be valid
	}
	return text
}

// elements returns the values in a valid JSON list, as they stand.
func elements(list string) []string {
	var all []string
	i := skipSpace(list, 1)
	for list[i] != ']' {
		end := endOfValue(list, i)
		all = append(all, list[i:end])
		i = skipSpace(list, end)
		if list[i] == ',' {
			i = skipSpace(list, i+1)
		}
	}
	return all
}
