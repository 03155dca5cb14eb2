package cronexpr_test

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

var benchmarkExprs = []struct{ name, expr string }{
	{"everySecond", "* * * * * ?"},
	{"workdays", "0 15 10 ? * MON-FRI"},
	{"lastWorkday", "0 0 12 LW * ?"},
	{"leapDay", "0 0 0 29 2 ?"},
	{"leapMonday", "0 0 0 ? 2 2#5"},
	{"never", "0 0 0 30 2 ?"},
	{"standard", "*/5 0-6 1,15 * MON"},
	{"every", "@every 90s"},
}

func BenchmarkParse(b *testing.B) {
	for _, bench := range benchmarkExprs {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := cronexpr.Parse(bench.expr); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNext walks on from fire to fire; a schedule that is over starts again.
func BenchmarkNext(b *testing.B) {
	start := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, zone := range []string{"UTC", "America/New_York"} {
		for _, bench := range benchmarkExprs {
			b.Run(bench.name+"/"+zone, func(b *testing.B) {
				s := parse(b, bench.expr, cronexpr.WithLocation(location(b, zone)))
				b.ReportAllocs()
				after := start
				for b.Loop() {
					if after = s.Next(after); after.IsZero() || after.Year() > 2100 {
						after = start
					}
				}
			})
		}
	}
}

// BenchmarkLast has the longest way for a search: a year that was missed by a job of every second.
func BenchmarkLast(b *testing.B) {
	until := time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)
	s := parse(b, "* * * * * ?", cronexpr.WithLocation(location(b, "America/New_York")))
	b.ReportAllocs()
	for b.Loop() {
		if cronexpr.Last(s, until.AddDate(-1, 0, 0), until).IsZero() {
			b.Fatal("no fire")
		}
	}
}
