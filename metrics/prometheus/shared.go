package prometheus

import "github.com/prometheus/client_golang/prometheus"

// shared is what gauges say of the jobs that share a label, so that one job does not take back what another one says.
// A job of which a gauge says 0 is not kept.
type shared map[*prometheus.GaugeVec]map[string]float64

// change notes what a gauge says of a job from now on, and returns by how much the sum of all jobs changes.
func (s shared) change(gauge *prometheus.GaugeVec, name string, value float64) float64 {
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
