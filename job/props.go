package job

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/elasticron/elasticron/job/internal/reference"
)

// propField is what a fault names as the field of a setting of [Config.Props].
func propField(name string) string { return "Props " + name }

// checkProps asks of all settings that they can be stored, and of those that look like references that they
// are. No fault shows a value that may be a secret: what a reference should be, nobody hides.
func (f *faults) checkProps(settings map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		value := settings[name]
		switch {
		case !utf8.ValidString(name):
			f.add("Props", name, "must have names in valid UTF-8")
		case !utf8.ValidString(value):
			f.add(propField(name), "", "must be valid UTF-8")
		case reference.Almost(value):
			// A text that is stored from before there were references is one, and stays what it is.
			f.addMild(propField(name), value, "must be "+reference.Allowed+", or begin with neither")
		}
	}
}
