package overload_test

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var span = flag.Duration("overload.span", 3*time.Second, "for how long executions are counted at each rate that is wanted")

// multiples are what is wanted, as multiples of the capacity.
var multiples = []float64{0.5, 1, 2, 5, 10}

// curve is how many executions run a second at each multiple of the capacity.
type curve struct {
	capacity int
	ran      []int
}

// peak returns the most, worst the least at or beyond capacity.
func (c curve) peak() int {
	peak := c.capacity
	for _, ran := range c.ran {
		peak = max(peak, ran)
	}
	return peak
}

func (c curve) worst() int {
	worst := c.peak()
	for i, ran := range c.ran {
		if multiples[i] >= 1 {
			worst = min(worst, ran)
		}
	}
	return worst
}

// measure finds the capacity of a cluster, and then the curve.
func measure(tb testing.TB, s shape) curve {
	tb.Helper()
	result := curve{capacity: capacity(tb, s, *span)}
	c := startCluster(tb, s)
	defer c.close()
	for _, multiple := range multiples {
		wanted := int(multiple * float64(result.capacity))
		ran := c.rate(wanted, *span)
		tb.Logf("%s: wanted %d, %g times capacity, ran %d a second", s, wanted, multiple, ran)
		result.ran = append(result.ran, ran)
	}
	return result
}

// capacity returns how many executions a cluster runs a second at most, asked for twice as much until
// it does not keep up.
func capacity(tb testing.TB, s shape, span time.Duration) int {
	tb.Helper()
	c := startCluster(tb, s)
	defer c.close()
	most := 0
	for wanted := 500; ; wanted *= 2 {
		ran := c.rate(wanted, span)
		if ran < wanted*9/10 { // for want of capacity, or because the machine stood still for a moment
			ran = max(ran, c.rate(wanted, span))
		}
		tb.Logf("%s: wanted %d, ran %d a second", s, wanted, ran)
		most = max(most, ran)
		if ran < wanted*9/10 {
			return most
		}
	}
}

// How many executions run a second when half to ten times of what can run is wanted.
func BenchmarkOverload(b *testing.B) {
	shapes := []shape{
		{processes: 1, members: 1},
		{processes: 1, members: 3},
		{processes: 1, members: 1, roundTrip: 150 * time.Millisecond},
	}
	if !testing.Short() {
		shapes = append(shapes, shape{processes: 3, members: 1}, shape{processes: 3, members: 3})
	}
	for _, s := range shapes {
		b.Run(s.String(), func(b *testing.B) {
			var last curve
			for b.Loop() {
				last = measure(b, s)
			}
			b.ReportMetric(0, "ns/op")
			for i, multiple := range multiples {
				b.ReportMetric(float64(last.ran[i]), fmt.Sprintf("at-%gx/s", multiple))
			}
			b.ReportMetric(float64(last.worst())/float64(last.peak()), "worst-to-peak")
		})
	}
}
