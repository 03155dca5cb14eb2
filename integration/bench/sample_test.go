package bench_test

import (
	"slices"
	"sync"
	"testing"
	"time"
)

// sample collects durations. It may be used by several goroutines.
type sample struct {
	mu  sync.Mutex
	all []time.Duration
}

func (s *sample) add(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, d)
}

// quantile returns the duration below which the share q of all lies.
func (s *sample) quantile(q float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return 0
	}
	slices.Sort(s.all)
	return s.all[int(q*float64(len(s.all)-1))]
}

func (s *sample) median() time.Duration { return s.quantile(0.5) }

// reportMS adds a figure in milliseconds to the benchmark's.
func reportMS(b *testing.B, d time.Duration, name string) {
	b.Helper()
	b.ReportMetric(float64(d)/float64(time.Millisecond), name+"-ms")
}

// reportRatio adds how many times over is under.
func reportRatio(b *testing.B, over, under time.Duration, name string) {
	b.Helper()
	b.ReportMetric(float64(over)/float64(under), name+"-x")
}

// hideTime leaves the time of an operation out: it is that of a scenario with its pauses.
func hideTime(b *testing.B) { b.ReportMetric(0, "ns/op") }
