package seed

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/magiconair/properties"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// ParseProperties reads the text of a file of Java properties. The text is UTF-8 or, if it is not valid UTF-8,
// ISO 8859-1, as in Java; escapes such as \u00e9 work in both. Paths may leave out the slash before
// them. The error joins all faults of the file.
func ParseProperties(text []byte) (File, error) {
	encoding := properties.UTF8
	if !utf8.Valid(text) {
		encoding = properties.ISO_8859_1
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
	var faults []error
	for _, key := range all.Keys() {
		value, _ := all.Get(key)
		path := "/" + strings.TrimPrefix(key, "/")
		if err := file.add(path, value); err != nil {
			faults = append(faults, err)
		} else if name, _ := jobtree.Parse(path); name.Kind == jobtree.KindConfig {
			if err := jobtree.CheckTyped(registry.Node{Path: path, Value: value}); err != nil {
				faults = append(faults, fmt.Errorf("%w: %w", ErrInvalid, err))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return File{}, err
	}
	return file, nil
}
