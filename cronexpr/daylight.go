package cronexpr

import "fmt"

// DaylightSaving is a rule for the fires that fall on a change of the local clock: into the gap of
// wall times that a change forward leaves out, or into the overlap of wall times that a change back
// gives twice. The package documentation has the rules as a table.
type DaylightSaving uint8

const (
	// Natural does what people mean: a job at fixed hours runs once on the day of a change, and a job
	// that ticks through the hours keeps ticking in real time. It is the zero value.
	Natural DaylightSaving = iota
	// Quartz does what Quartz 2.x does, for clusters shared with Java: nothing fires in a gap, and of
	// an overlap only the second pass fires, so that even a job of every second pauses for an hour.
	Quartz
)

var daylightNames = [...]string{Natural: "natural", Quartz: "quartz"}

// ParseDaylightSaving reads the name of a rule, as [DaylightSaving.String] writes it. The empty text
// means [Natural].
func ParseDaylightSaving(name string) (DaylightSaving, error) {
	if name == "" {
		return Natural, nil
	}
	for mode, known := range daylightNames {
		if name == known {
			return DaylightSaving(mode), nil
		}
	}
	return 0, fmt.Errorf("%w: daylight saving %q is unknown; allowed are %s and %s",
		ErrInvalidOption, name, Natural, Quartz)
}

// String returns the name of the rule: "natural" or "quartz".
func (d DaylightSaving) String() string {
	if !d.valid() {
		return fmt.Sprintf("DaylightSaving(%d)", uint8(d))
	}
	return daylightNames[d]
}

func (d DaylightSaving) valid() bool { return int(d) < len(daylightNames) }
