package main

import (
	"fmt"
	"strings"
)

// registriesFlag is a flag with several registries, each a name and the context by which it is reached.
type registriesFlag struct{ to *map[string]string }

func (f registriesFlag) String() string { return "" }

func (f registriesFlag) Type() string { return "strings" }

// Set adds registries. One that is named twice is refused, as nobody could tell which context is meant.
func (f registriesFlag) Set(text string) error {
	if *f.to == nil {
		*f.to = make(map[string]string)
	}
	if text == "" {
		return nil // it takes the setting away
	}
	for part := range strings.SplitSeq(text, ",") {
		name, context, found := strings.Cut(strings.TrimSpace(part), "=")
		if !found || name == "" || context == "" {
			return fmt.Errorf("%q is given, want a name and a context, such as one=prod", part)
		}
		if was, is := (*f.to)[name]; is {
			return fmt.Errorf("registry %q is named twice, with the contexts %q and %q", name, was, context)
		}
		(*f.to)[name] = context
	}
	return nil
}
