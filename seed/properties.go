package seed

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/magiconair/properties"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// ParseProperties reads the text of a file of Java properties. The text is UTF-8 or, if it is not valid UTF-8,
// ISO 8859-1, as in Java; escapes such as \u00e9 work in both. Paths may leave out the slash before
// them. The error joins all faults of the file, or 100 of them and how many more there are.
func ParseProperties(text []byte) (File, error) {
	encoding := properties.UTF8
	if !utf8.Valid(text) {
		encoding = properties.ISO_8859_1
	}
	if line := emptyKey(text); line > 0 {
		return File{}, fmt.Errorf("%w: line %d begins with = or :, and names no node", ErrInvalid, line)
	}
	// Java expands nothing: "${x}" is what it is.
	loader := properties.Loader{Encoding: encoding, DisableExpansion: true}
	all, err := loader.LoadBytes(text)
	if err != nil {
		return File{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if all.Len() == 0 {
		return File{}, fmt.Errorf("%w: the file is empty", ErrInvalid)
	}
	var file File
	var wrong faults
	for _, key := range all.Keys() {
		value, _ := all.Get(key)
		path := "/" + strings.TrimPrefix(key, "/")
		if err := file.add(path, value); err != nil {
			wrong.tell(err)
		} else if name, _ := jobtree.Parse(path); name.Kind == jobtree.KindConfig {
			if err := jobtree.CheckTyped(registry.Node{Path: path, Value: value}); err != nil {
				wrong.tell(fmt.Errorf("%w: %w", ErrInvalid, err))
			}
		}
	}
	if err := wrong.joined(); err != nil {
		return File{}, err
	}
	return file, nil
}

// emptyKey returns the number of the first line that begins with what ends a key, such as those that git leaves of a conflict;
// 0 if there is none. The library's parser ends there, and its lexer waits for the parser for ever, with the text.
func emptyKey(text []byte) (line int) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	// to is where the first of some characters is that has no backslash before it.
	to := func(i int, ends string) int {
		for ; i < len(text) && strings.IndexByte(ends, text[i]) < 0; i++ {
			if text[i] == '\\' {
				i++
			}
		}
		return i
	}
	for i := 0; i < len(text); {
		switch text[i] {
		case ' ', '\f', '\t', '\r', '\n':
			i++
		case '#', '!': // where a backslash is nothing special
			if end := bytes.IndexAny(text[i:], "\r\n"); end >= 0 {
				i += end
			} else {
				i = len(text)
			}
		case ':', '=':
			return 1 + bytes.Count(text[:i], []byte("\n"))
		default:
			i = to(to(i, " \f\t\r\n:="), "\r\n")
		}
	}
	return 0
}
