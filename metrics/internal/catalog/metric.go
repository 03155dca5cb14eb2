package catalog

import (
	"slices"
	"strings"
)

// Kind is how a metric changes.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"   // it only grows
	Gauge     Kind = "gauge"     // it goes up and down
	Histogram Kind = "histogram" // it counts values by their size
)

// Label is what distinguishes the series of a metric.
type Label string

// The labels.
const (
	Job      Label = "job"
	Item     Label = "item"
	Source   Label = "source"
	Outcome  Label = "outcome"
	Phase    Label = "phase"
	Change   Label = "change"
	Fate     Label = "fate"
	Listener Label = "listener"
)

// Prometheus returns the name of the label there. Every target of Prometheus has a label job of its own, which is not the
// job that is meant here.
func (l Label) Prometheus() string {
	if l == Job {
		return "job_name"
	}
	return string(l)
}

// OpenTelemetry returns the name of the attribute there.
func (l Label) OpenTelemetry() string { return "elasticron." + string(l) }

// Seconds is the unit of times and durations. All other units are in braces: what is counted.
const Seconds = "s"

// Metric describes a metric.
type Metric struct {
	Name   string // without what it begins with, the words divided by dots
	Kind   Kind
	Unit   string // as UCUM writes it
	Labels []Label
	Help   string // a sentence

	reported bool // health reports tell it
}

// OpenTelemetry returns the name of the instrument there.
func (m Metric) OpenTelemetry() string { return "elasticron." + m.Name }

// Prometheus returns the name of the metric there. It is what the translation of OpenTelemetry makes of the name of the
// instrument, so that a metric has one name in Prometheus on whatever way it came.
func (m Metric) Prometheus() string {
	name := strings.ReplaceAll(m.OpenTelemetry(), ".", "_")
	if m.Unit == Seconds {
		name += "_seconds"
	}
	if m.Kind == Counter {
		name += "_total"
	}
	return name
}

// Has tells whether a label is one of the metric's.
func (m Metric) Has(label Label) bool { return slices.Contains(m.Labels, label) }

// Buckets returns the upper bounds, in seconds, of histograms of which nobody says otherwise.
func Buckets() []float64 {
	return []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}
}
