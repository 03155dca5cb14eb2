package prometheus

import "github.com/prometheus/client_golang/prometheus"

// states are what gauges say of jobs: of those that share a label, so that one job does not take back what another one
// says, and of all, so that it can be taken back when they are left. A job of which a gauge says 0 is not kept.
type states map[*prometheus.GaugeVec]map[string]float64

// change notes what a gauge says of a job from now on, and returns by how much that changes.
func (s states) change(gauge *prometheus.GaugeVec, name string, value float64) float64 {
	before := s[gauge][name]
	switch {
	case value == 0:
		delete(s[gauge], name)
	case s[gauge] == nil:
		s[gauge] = map[string]float64{name: value}
	default:
		s[gauge][name] = value
	}
	return value - before
}
