package jobtree_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func recordNode(value string) registry.Node {
	return registry.Node{Path: "/orders/sharding/3/record", Value: value, Created: 1, Revision: 1}
}

func TestRecordText(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"state":"idle"}`, jobtree.EncodeRecord(jobtree.Record{}))

	begin := scheduled(5)
	begin.Round = "10.0.0.1@-@7:12"
	r := must(t)(must(t)(jobtree.Record{}.Begin(scheduled(0))).End(success(17)))
	r = must(t)(must(t)(r.Begin(byHand(20))).End(jobtree.End{Token: 21, Time: at(2), Outcome: jobtree.Failure, Error: `no "x"`}))
	r = must(t)(r.Begin(begin))
	text := `{"format":2,"state":"running","lastFire":"2026-01-02T12:05:00Z","trigger":20,"counts":{"success":1,"failure":1},` +
		`"before":{"lastFire":"2026-01-02T12:00:00Z","trigger":20},` +
		`"current":{"instance":"10.0.0.1@-@7","session":"1f",` +
		`"begin":"2026-01-02T12:05:00.003Z","late":3,"failover":true,"round":"10.0.0.1@-@7:12"},` +
		`"previous":{"source":"manual","trigger":20,"token":21,` +
		`"begin":"2026-01-02T12:00:00Z","took":120000,"outcome":"failure","failover":true,"error":"no \"x\""}}`
	require.Equal(t, text, jobtree.EncodeRecord(r))
	got, err := jobtree.DecodeRecord(recordNode(text))
	require.NoError(t, err)
	require.Equal(t, r, got)
}

// A record of the first format says all of each execution, and means the same.
func TestDecodeRecordReadsTheFirstFormat(t *testing.T) {
	t.Parallel()
	rest := `"state":"idle","lastFire":"2026-01-02T12:05:00Z","counts":{"success":1,"failure":1},` +
		`"current":{"instance":"10.0.0.1@-@7","session":"1f","source":"misfire","fire":"2026-01-02T12:05:00Z","token":23,` +
		`"begin":"2026-01-02T12:05:00.003Z","end":"2026-01-02T12:05:01Z","outcome":"success","failover":true},` +
		`"previous":{"instance":"10.0.0.2@-@9","source":"scheduled","fire":"2026-01-02T12:00:00Z","token":21,` +
		`"begin":"2026-01-02T12:00:00.003Z","end":"2026-01-02T12:02:00Z","outcome":"failure","round":"r","error":"no"}}`
	for _, text := range []string{"{" + rest, `{"format":1,` + rest, `{ "format": 1, ` + rest} {
		r, err := jobtree.DecodeRecord(recordNode(text))
		require.NoError(t, err)
		require.Equal(t, jobtree.Execution{
			Instance: "10.0.0.1@-@7", Session: 0x1f, Source: job.Misfire, Fire: at(5), Token: 23,
			Begin: at(5).Add(3 * time.Millisecond), End: at(5).Add(time.Second), Outcome: jobtree.Success, Failover: true,
		}, *r.Current)
		before := jobtree.Execution{
			Instance: "10.0.0.2@-@9", Source: job.Scheduled, Fire: at(0), Token: 21,
			Begin: at(0).Add(3 * time.Millisecond), End: at(2), Outcome: jobtree.Failure, Round: "r", Error: "no",
		}
		previous, ok := r.Previous()
		require.True(t, ok)
		require.Equal(t, before, previous)

		again, err := jobtree.DecodeRecord(recordNode(jobtree.EncodeRecord(r)))
		require.NoError(t, err)
		require.Equal(t, r, again)
		previous, _ = again.Previous()
		require.Equal(t, before, previous)
	}
}

// What an execution says in short is what it would say in full, or it says it in full.
func TestWhatARecordSaysInShort(t *testing.T) {
	t.Parallel()
	text := func(e jobtree.Execution) string {
		return jobtree.EncodeRecord(jobtree.Record{State: jobtree.ItemIdle, Current: &e})
	}
	for want, e := range map[string]jobtree.Execution{
		`{"begin":"2026-01-02T12:00:00Z","late":0,"took":0}`:                                           {Source: job.Scheduled, Fire: at(0), Begin: at(0), End: at(0), Outcome: jobtree.Success},
		`{"begin":"2026-01-02T12:01:00Z","late":60000}`:                                                {Source: job.Scheduled, Fire: at(0), Begin: at(1)},
		`{"fire":"2026-01-02T12:01:00Z","begin":"2026-01-02T12:00:00Z"}`:                               {Source: job.Scheduled, Fire: at(1), Begin: at(0)},
		`{"fire":"2026-01-02T12:00:00.0000005Z","begin":"2026-01-02T12:00:01Z"}`:                       {Source: job.Scheduled, Fire: at(0).Add(500), Begin: at(0).Add(time.Second)},
		`{"fire":"2026-01-02T12:00:00Z"}`:                                                              {Source: job.Scheduled, Fire: at(0)},
		`{"begin":"2026-01-02T12:01:00Z","end":"2026-01-02T12:00:00Z"}`:                                {Source: job.Scheduled, Begin: at(1), End: at(0), Outcome: jobtree.Success},
		`{"end":"2026-01-02T12:00:00Z","outcome":"lost"}`:                                              {Source: job.Scheduled, End: at(0), Outcome: jobtree.Lost},
		`{"begin":"2026-01-02T12:00:00Z","took":60000,"outcome":""}`:                                   {Source: job.Scheduled, Begin: at(0), End: at(1)},
		`{"begin":"2026-01-02T12:00:00Z","outcome":"success"}`:                                         {Source: job.Scheduled, Begin: at(0), Outcome: jobtree.Success},
		`{"source":"","begin":"2026-01-02T12:00:00Z"}`:                                                 {Begin: at(0)},
		`{"source":"manual","fire":"2026-01-02T12:00:00Z","trigger":7,"begin":"2026-01-02T12:01:00Z"}`: {Source: job.Manual, Trigger: 7, Fire: at(0), Begin: at(1)},
		`{"fire":"0000-01-01T00:00:00Z","begin":"9999-01-01T00:00:00Z"}`: {
			Source: job.Scheduled, Fire: time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), Begin: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
		},
	} {
		require.Equal(t, `{"format":2,"state":"idle","current":`+want+`}`, text(e))
		r, err := jobtree.DecodeRecord(recordNode(text(e)))
		require.NoError(t, err)
		require.Equal(t, e, *r.Current)
	}
}

func TestDecodeRecordTakesWordsOfLaterVersions(t *testing.T) {
	t.Parallel()
	r, err := jobtree.DecodeRecord(recordNode(`{"state":"idle","more":{"x":[]},
		"current":{"source":"dependency","outcome":"skipped","token":5,"more":1},"previous":{"begin":"?"}}`))
	require.NoError(t, err)
	require.Equal(t, job.Source("dependency"), r.Current.Source)
	require.Equal(t, jobtree.Outcome("skipped"), r.Current.Outcome)
	_, ok := r.Previous()
	require.False(t, ok, "a fault in what is only shown stops nothing")
}

func TestDecodeRecordRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		``:                                   `value is "", must be a JSON object`,
		`"idle"`:                             `must be a JSON object`,
		`{}`:                                 `state is "", must be there`,
		`{"state":"asleep"}`:                 `state is "\"asleep\"", must be one of ["idle" "running" "waiting" "interrupted"]`,
		`{"state":1}`:                        `state is "1", must be a string`,
		`{"state":"running"}`:                `current is "", must be there in state running`,
		`{"state":"waiting"}`:                `current is "", must be there in state waiting`,
		`{"state":"running","current":{}}`:   `before is "", must be there in state running`,
		`{"state":"idle","lastFire":"noon"}`: `lastFire is "\"noon\"", must be a time such as`,
		`{"state":"idle","lastFire":"0001-01-01T00:00:00Z"}`:                                  `lastFire is`,
		`{"state":"idle","lastFire":5}`:                                                       `lastFire is "5", must be a string`,
		`{"state":"idle","trigger":-1}`:                                                       `trigger is "-1", must be a whole number from 0`,
		`{"state":"idle","trigger":"1"}`:                                                      `trigger is "\"1\"", must be a whole number`,
		`{"state":"idle","reruns":1.5}`:                                                       `reruns is "1.5", must be a whole number`,
		`{"state":"idle","counts":[]}`:                                                        `counts is "[]", must be an object`,
		`{"state":"idle","counts":{"lost":null}}`:                                             `counts.lost is "null", must be a whole number`,
		`{"state":"idle","before":{"state":"running"}}`:                                       `before.state is "\"running\"", must be one of`,
		`{"state":"idle","current":null}`:                                                     `current is "null", must be an object`,
		`{"state":"idle","current":{"session":"xyz"}}`:                                        `current.session is "\"xyz\"", must be a string of hexadecimal digits`,
		`{"state":"idle","current":{"failover":1}}`:                                           `current.failover is "1", must be true or false`,
		`{"format":3,"state":"idle"}`:                                                         `format is "3", which a newer version wrote`,
		`{"state":"idle","current":{"late":5}}`:                                               `current.late is "5", must be milliseconds from a begin`,
		`{"state":"idle","current":{"begin":"2026-01-02T12:00:00Z","late":-5}}`:               `current.late is "-5", must be a whole number`,
		`{"state":"idle","current":{"begin":"2026-01-02T12:00:00Z","late":9223372036854775}}`: `current.late is "9223372036854775", must be`,
		`{"state":"idle","current":{"begin":"2026-01-02T12:00:00Z","late":70000000000000}}`:   `current.late is "70000000000000", must be`,
		`{"state":"idle","current":{"took":5,"begin":"9999-12-31T23:59:59.998Z"}}`:            `current.took is "5", must be milliseconds`,
		`{"state":"idle","current":{"took":"1s","begin":"2026-01-02T12:00:00Z"}}`:             `current.took is "\"1s\"", must be a whole number`,
		`{"state":"idle","previous":7}`:                                                       `previous is "7", must be an object`,
	} {
		r, err := jobtree.DecodeRecord(recordNode(text))
		require.ErrorIs(t, err, jobtree.ErrInvalidValue, text)
		require.ErrorContains(t, err, "/orders/sharding/3/record: ", text)
		require.ErrorContains(t, err, want, text)
		require.Zero(t, r)
	}
}

// drawExecution draws what the library can have written.
func drawExecution(t *rapid.T) jobtree.Execution {
	text := rapid.String()
	instant := rapid.Custom(func(t *rapid.T) time.Time {
		return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC()
	})
	return jobtree.Execution{
		Instance: text.Draw(t, "instance"),
		Session:  registry.SessionID(rapid.Int64().Draw(t, "session")),
		Source:   job.Source(text.Draw(t, "source")),
		Fire:     instant.Draw(t, "fire"),
		Token:    rapid.Int64Min(0).Draw(t, "token"),
		Begin:    instant.Draw(t, "begin"),
		End:      instant.Draw(t, "end"),
		Outcome:  jobtree.Outcome(text.Draw(t, "outcome")),
		Failover: rapid.Bool().Draw(t, "failover"),
		Round:    text.Draw(t, "round"),
		Error:    text.Draw(t, "error"),
	}
}

func TestDecodeRecordReadsWhatIsEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawExecution(t)
		want := jobtree.Record{
			State:    rapid.SampledFrom([]jobtree.ItemState{jobtree.ItemIdle, jobtree.ItemWaiting, jobtree.ItemInterrupted}).Draw(t, "state"),
			LastFire: e.Fire,
			Trigger:  registry.Revision(e.Token),
			Reruns:   rapid.IntRange(0, 9).Draw(t, "reruns"),
			Counts:   jobtree.Counts{Success: 1, Lost: rapid.Int64Min(0).Draw(t, "lost")},
			Current:  &e,
		}
		got, err := jobtree.DecodeRecord(recordNode(jobtree.EncodeRecord(want)))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func FuzzDecodeRecord(f *testing.F) {
	f.Add(`{"state":"idle"}`)
	f.Add(benchmarkRecord(f))
	f.Add(`{"state":"idle","current":{"begin":"2026-01-02T12:00:00Z","late":0,"took":9223372036854},"previous":{"took":1,"instance":""}}`)
	f.Add(`{"state":"waiting","current":{"session":"-1f","fire":"2026-01-02T12:00:00.5+01:00"},"previous":{"x":"\u0041"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		r, err := jobtree.DecodeRecord(recordNode(text))
		if err != nil {
			require.ErrorIs(t, err, jobtree.ErrInvalidValue)
			return
		}
		r.Previous()
		again, err := jobtree.DecodeRecord(recordNode(jobtree.EncodeRecord(r)))
		require.NoError(t, err)
		require.Equal(t, r, again)
	})
}

// benchmarkRecord is the text of a record as it stands while the job runs: both executions are there.
func benchmarkRecord(tb testing.TB) string {
	tb.Helper()
	r := must(tb)(must(tb)(jobtree.Record{}.Begin(scheduled(0))).End(success(17)))
	begin := scheduled(5)
	begin.Round = "3c2a9f"
	return jobtree.EncodeRecord(must(tb)(r.Begin(begin)))
}

func BenchmarkDecodeRecord(b *testing.B) {
	n := recordNode(benchmarkRecord(b))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := jobtree.DecodeRecord(n); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeRecord(b *testing.B) {
	r, err := jobtree.DecodeRecord(recordNode(benchmarkRecord(b)))
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		jobtree.EncodeRecord(r)
	}
}
