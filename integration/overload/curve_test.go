package overload_test

import (
	"flag"
	"fmt"
	"testing"
	"time"
)

var span = flag.Duration("overload.span", 10*time.Second, "for how long executions are counted at each rate that is wanted; -short takes 3 s at most")

// multiples are what is wanted, as multiples of the capacity.
var multiples = []float64{0.5, 1, 2, 5, 10}

// point is how many executions ran a second when so many were wanted.
type point struct {
	wanted int
	speed
}

// curve is what ran when more and more was wanted.
type curve struct {
	capacity int
	points   []point // by what was wanted, ascending
}

// worst returns the least that ran at or beyond capacity as a share of the most that ran when less was wanted, or
// as much: 1 if more never ran when less was wanted.
func (c curve) worst() float64 {
	most, worst := 0, 1.0
	for _, p := range c.points {
		most = max(most, p.ran)
		if p.wanted >= c.capacity {
			worst = min(worst, float64(p.ran)/float64(most))
		}
	}
	return worst
}

// measure finds the capacity of a cluster, and then the curve, on a cluster of its own.
func measure(tb testing.TB, s shape) curve {
	tb.Helper()
	span := *span
	if testing.Short() {
		span = min(span, 3*time.Second)
	}
	result := curve{capacity: capacity(tb, s, span)}
	c := startCluster(tb, s)
	defer c.close()
	for _, multiple := range multiples {
		wanted := int(multiple * float64(result.capacity))
		ran := c.rate(wanted, span)
		tb.Logf("%s: wanted %d, %g times capacity, %s", s, wanted, multiple, ran)
		result.points = append(result.points, point{wanted, ran})
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
		if ran.ran < wanted*9/10 { // for want of capacity, or because the machine stood still for a moment
			if again := c.rate(wanted, span); again.ran > ran.ran {
				ran = again
			}
		}
		tb.Logf("%s: wanted %d, %s", s, wanted, ran)
		most = max(most, ran.ran)
		if ran.ran < wanted*9/10 {
			return most
		}
	}
}

// measureOften is the curve of jobs that are asked for more and more often, ten seconds to one between two fires of
// each: the tree is as large at the least that is wanted as at the most, on a cluster of its own each time.
func measureOften(tb testing.TB, s shape, span time.Duration) curve {
	tb.Helper()
	most := capacity(tb, s, span)
	items := 10 * most
	result := curve{capacity: most}
	for _, s.every = range []int{20, 10, 5, 2, 1} {
		c := startCluster(tb, s)
		ran, wanted := c.rate(items, span), items/s.every
		c.close()
		tb.Logf("%s: %d items each %d s, wanted %d, %s", s, items, s.every, wanted, ran)
		result.points = append(result.points, point{wanted, ran})
	}
	return result
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
			last.report(b)
		})
	}
}

// How many executions run a second when the same jobs want half to ten times of what can run. It takes minutes for each
// shape, so -short leaves it out.
func BenchmarkOverloadOften(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes minutes")
	}
	for _, s := range []shape{{processes: 1, members: 1}, {processes: 1, members: 3}, {processes: 3, members: 1}, {processes: 3, members: 3}} {
		b.Run(s.String(), func(b *testing.B) {
			var last curve
			for b.Loop() {
				last = measureOften(b, s, *span)
			}
			last.report(b)
		})
	}
}

// How many executions run a second of 25,000 items, as jobs of one item each, of which nothing begins or ends together but
// by chance, and as jobs of ten: 5,000 a second are wanted, and then 12,500. It takes minutes, so -short leaves it out.
func BenchmarkJobSizes(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes minutes")
	}
	const all = 25_000
	for _, s := range []shape{{items: 1, every: 5}, {items: 10, every: 5}, {items: 1, every: 2}, {items: 10, every: 2}} {
		s.processes, s.members = 1, 1
		b.Run(fmt.Sprintf("items=%d/wanted=%d", s.items, all/s.every), func(b *testing.B) {
			var last speed
			for b.Loop() {
				c := startCluster(b, s)
				last = c.rate(all, *span)
				c.close()
			}
			b.Logf("jobs of %d items: wanted %d, %s", s.items, all/s.every, last)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(last.ran), "ran/s")
			b.ReportMetric(float64(last.written), "store-B/execution")
		})
	}
}

// How many executions run a second at most over one server of ZooKeeper, and over one of etcd on the same machine, one
// after the other. It takes minutes, so -short leaves it out.
func BenchmarkCapacityOfStores(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes minutes")
	}
	shapes := []shape{{processes: 1, members: 1}, {processes: 1, members: 1, zookeeper: true}}
	most := make([]int, len(shapes))
	for b.Loop() {
		for i, s := range shapes {
			most[i] = max(most[i], capacity(b, s, *span))
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(most[0]), "etcd/s")
	b.ReportMetric(float64(most[1]), "zookeeper/s")
	b.ReportMetric(float64(most[1])/float64(most[0]), "zookeeper-to-etcd")
}

func (c curve) report(b *testing.B) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	for i, multiple := range multiples {
		b.ReportMetric(float64(c.points[i].ran), fmt.Sprintf("at-%gx/s", multiple))
	}
	b.ReportMetric(c.worst(), "worst-to-best")
	b.ReportMetric(float64(c.points[1].written), "store-B/execution") // at the capacity
}
