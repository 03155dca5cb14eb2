package jobtree

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// anyRecord draws a record with all that records can have.
func anyRecord(t *rapid.T) Record {
	text := rapid.SampledFrom([]string{"", "10.0.0.1@-@7-c0ffee", "a", "it failed", `no "x"`, "作业", "a\nb"})
	number := rapid.Int64Range(0, 1<<62)
	instant := func(name string) time.Time {
		return rapid.SampledFrom([]time.Time{
			{}, time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), time.Date(2026, 1, 2, 12, 0, 0, 123e6, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC),
		}).Draw(t, name)
	}
	execution := func(name string) *Execution {
		if !rapid.Bool().Draw(t, name) {
			return nil
		}
		return &Execution{
			Instance: text.Draw(t, "instance"), Session: registry.SessionID(rapid.Int64().Draw(t, "session")),
			Source: rapid.SampledFrom([]job.Source{"", job.Scheduled, job.Misfire, job.Failover, job.Manual, "dependency"}).Draw(t, "source"),
			Fire:   instant("fire"), Trigger: registry.Revision(number.Draw(t, "trigger")), Parameter: text.Draw(t, "parameter"),
			Token: number.Draw(t, "token"), Base: number.Draw(t, "base"), Begin: instant("begin"), End: instant("end"),
			Outcome:  rapid.SampledFrom([]Outcome{"", Success, Failure, Interrupted, Lost, NotStarted, "skipped"}).Draw(t, "outcome"),
			Failover: rapid.Bool().Draw(t, "failover"), Round: text.Draw(t, "round"), Error: text.Draw(t, "error"),
		}
	}
	r := Record{
		State:    rapid.SampledFrom([]ItemState{ItemIdle, ItemRunning, ItemWaiting, ItemInterrupted}).Draw(t, "state"),
		LastFire: instant("last fire"), Trigger: registry.Revision(number.Draw(t, "last trigger")), Reruns: rapid.IntRange(0, 3).Draw(t, "reruns"),
		Counts:  Counts{number.Draw(t, "success"), number.Draw(t, "failure"), number.Draw(t, "interrupted"), number.Draw(t, "lost")},
		Current: execution("current"),
	}
	if rapid.Bool().Draw(t, "before") {
		r.Before = &Before{
			State:    rapid.SampledFrom([]ItemState{ItemIdle, ItemWaiting, ItemInterrupted}).Draw(t, "state before"),
			LastFire: instant("fire before"), Trigger: registry.Revision(number.Draw(t, "trigger before")), Reruns: rapid.IntRange(0, 3).Draw(t, "reruns before"),
		}
	}
	if before := execution("previous"); before != nil {
		r.previous = before.past(r.runner())
	}
	return r
}

// However a record is read, it says the same, and is refused for the same reason.
func TestPlainRecordsAreReadAsAnyOthers(t *testing.T) {
	t.Parallel()
	parts := rapid.SampledFrom([]string{
		"", `{`, `}`, `"`, `:`, `,`, ` `, `\`, `[]`, `null`, `-1`, `0`, `1.5`, `true`, `"x"`, `{}`, `"state":"idle",`, `"format":2,`, `"format":3,`, `"more":1,`, `"late":5,`, `"took":0,`,
		`,"current":{}`, `,"current":{"failover":false}`, `,"before":{"state":"running"}`, `,"trigger":-1`, `,"lastFire":"noon"`, "\xff",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := EncodeRecord(anyRecord(t))
		if rapid.Bool().Draw(t, "another hand") {
			from := rapid.IntRange(0, len(text)).Draw(t, "from")
			to := min(len(text), from+rapid.IntRange(0, 3).Draw(t, "less"))
			text = text[:from] + parts.Draw(t, "more") + text[to:]
		}
		n := registry.Node{Path: "/orders/sharding/3/record", Value: text, Created: 1, Revision: 1}
		want, refused := decodeAnyRecord(n)
		got, err := DecodeRecord(n)
		require.Equal(t, want, got, text)
		require.Equal(t, refused, err, text)
	})
}

// What a process writes of ordinary executions is read the short way.
func TestRecordsAreReadInOnePass(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	r := Record{}
	for i, source := range []job.Source{job.Scheduled, job.Misfire, job.Manual} {
		b := Begin{
			Instance: "10.0.0.1@-@7-c0ffee", Session: 0x1f, Source: source, Fire: at.Add(time.Duration(i) * time.Minute),
			Failover: true, Round: "4ZQXEBSTKGEV", Time: at.Add(5 * time.Millisecond), Base: 1 << 40,
		}
		if source == job.Manual {
			b.Trigger, b.Parameter = 17, "of today"
		}
		running, err := r.Begin(b)
		require.NoError(t, err)
		r, err = running.End(End{Token: int64(20 + i), Time: at, Outcome: Failure, Error: "no money"})
		require.NoError(t, err)
		yielded, err := running.End(End{Token: int64(20 + i), Time: at, Outcome: Interrupted, Error: "made room", Yielded: true})
		require.NoError(t, err)
		for _, want := range []Record{running, r, yielded} {
			var got Record
			require.True(t, got.readPlain(EncodeRecord(want), new(Execution)), EncodeRecord(want))
			require.Equal(t, want, got)
		}
	}
}

// What is read of a record takes one piece of memory, and one more while it runs.
func TestReadingARecordAllocatesLittle(t *testing.T) {
	r, err := Record{}.Begin(Begin{
		Instance: "10.0.0.1@-@7-c0ffee", Session: 0x1f, Source: job.Scheduled, Fire: time.Unix(1e9, 0), Time: time.Unix(1e9, 0), Round: "4ZQXEBSTKGEV",
	})
	require.NoError(t, err)
	running := registry.Node{Path: "/orders/sharding/3/record", Value: EncodeRecord(r), Created: 1, Revision: 20}
	r, err = r.End(End{Token: 20, Time: time.Unix(1e9, 0), Outcome: Success})
	require.NoError(t, err)
	ended := registry.Node{Path: running.Path, Value: EncodeRecord(r), Created: 1, Revision: 21}
	var keep *storedRecord
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { keep = storedRecordOf(running) }), 2.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { keep = storedRecordOf(ended) }), 1.0)
	require.NoError(t, keep.Err)
}

func BenchmarkDecodeRecord(b *testing.B) {
	r := Record{}
	for i := range int64(3) {
		running, err := r.Begin(Begin{
			Instance: "10.0.0.1@-@7-c0ffee", Session: 0x1f1f1f1f1f1f, Source: job.Scheduled, Fire: time.Unix(1e9+i, 0), Time: time.Unix(1e9+i, 5e6), Round: "4ZQXEBSTKGEV",
		})
		require.NoError(b, err)
		if r = running; i < 2 {
			r, err = running.End(End{Token: 1e6 + i, Time: time.Unix(1e9+i, 9e6), Outcome: Success})
			require.NoError(b, err)
		}
	}
	n := registry.Node{Path: "/orders/sharding/3/record", Value: EncodeRecord(r), Created: 1, Revision: 1}
	for name, decode := range map[string]func(registry.Node) (Record, error){"as written": DecodeRecord, "any": decodeAnyRecord} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := decode(n); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
