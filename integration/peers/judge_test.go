package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ran is one execution of an item.
type ran struct {
	Job, Item int
	At        time.Time // when its code began
	Fire      time.Time // for which it ran; zero where the library does not tell
}

// verdict is what became of the fires of a span.
type verdict struct {
	Due     int             // how many executions there should be
	Late    []time.Duration // of the first execution of each fire, sorted
	Doubles int             // executions of a fire beyond its first
	Lost    int             // fires of items that never ran
}

// judge sorts what ran to the fires in [from, to), both whole multiples of the period. Where a library does not tell for
// which fire it runs, an execution belongs to the last one before it, so what is late by a whole period counts as lost
// there and double at the next.
func judge(w work, runs []ran, from, to time.Time) verdict {
	type fire struct{ job, item, number int }
	first := make(map[fire]time.Duration)
	v := verdict{Due: w.Jobs * w.Items * int(to.Sub(from)/w.Every)}
	for _, r := range runs {
		due := r.Fire
		if due.IsZero() {
			due = r.At.Truncate(w.Every)
		}
		if due.Before(from) || !due.Before(to) {
			continue
		}
		f := fire{r.Job, r.Item, int(due.Sub(from) / w.Every)}
		late := r.At.Sub(due)
		before, known := first[f]
		if known {
			v.Doubles++
			late = min(late, before)
		}
		first[f] = late
	}
	for _, late := range first {
		v.Late = append(v.Late, late)
	}
	slices.Sort(v.Late)
	v.Lost = v.Due - len(first)
	return v
}

// percentile returns the lateness that p of 100 do not exceed, 0 of nothing.
func (v verdict) percentile(p int) time.Duration {
	if len(v.Late) == 0 {
		return 0
	}
	return v.Late[(len(v.Late)-1)*p/100]
}

// and is the verdict of both spans.
func (v verdict) and(other verdict) verdict {
	late := append(slices.Clone(v.Late), other.Late...)
	slices.Sort(late)
	return verdict{Due: v.Due + other.Due, Late: late, Doubles: v.Doubles + other.Doubles, Lost: v.Lost + other.Lost}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	w := work{Jobs: 1, Items: 2, Every: 2 * time.Second}
	from := time.Unix(1000, 0)
	at := func(item int, after time.Duration) ran { return ran{Item: item, At: from.Add(after)} }
	const ms = time.Millisecond
	tests := map[string]struct {
		runs []ran
		want verdict
	}{
		"nothing ran": {want: verdict{Due: 4, Lost: 4}},
		"each once": {
			runs: []ran{at(0, 3*ms), at(1, ms), at(0, 2002*ms), at(1, 2004*ms)},
			want: verdict{Due: 4, Late: []time.Duration{ms, 2 * ms, 3 * ms, 4 * ms}},
		},
		"one twice, by its earlier run": {
			runs: []ran{at(0, 9*ms), at(0, 3*ms), at(1, ms), at(0, 2002*ms), at(1, 2004*ms)},
			want: verdict{Due: 4, Doubles: 1, Late: []time.Duration{ms, 2 * ms, 3 * ms, 4 * ms}},
		},
		"late by a period": {
			runs: []ran{at(0, 2001*ms), at(0, 2002*ms), at(1, ms), at(1, 2000*ms)},
			want: verdict{Due: 4, Doubles: 1, Lost: 1, Late: []time.Duration{0, ms, ms}},
		},
		"late by a period, for a fire that is known": {
			runs: []ran{{Job: 0, Item: 1, Fire: from, At: from.Add(2001 * ms)}},
			want: verdict{Due: 4, Lost: 3, Late: []time.Duration{2001 * ms}},
		},
		"before and after the span": {
			runs: []ran{at(0, -ms), at(0, 4000*ms)},
			want: verdict{Due: 4, Lost: 4},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, judge(w, tc.runs, from, from.Add(4*time.Second)))
		})
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	v := verdict{Due: 1}
	require.Zero(t, v.percentile(99))
	for i := range 101 {
		v.Late = append(v.Late, time.Duration(i))
	}
	require.Equal(t, time.Duration(50), v.percentile(50))
	require.Equal(t, time.Duration(99), v.percentile(99))
	both := v.and(verdict{Due: 2, Late: []time.Duration{1000}, Doubles: 1, Lost: 1})
	require.Equal(t, time.Duration(1000), both.percentile(100))
	require.Equal(t, 3, both.Due)
	require.Equal(t, 1, both.Doubles)
	require.Equal(t, 1, both.Lost)
}
