package jobtree_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func node(path, value string) registry.Node {
	return registry.Node{Path: path, Value: value, Created: 1, Revision: 1}
}

func TestServerValue(t *testing.T) {
	t.Parallel()
	for _, disabled := range []bool{false, true} {
		got, err := jobtree.DecodeServer(node("/orders/servers/10.0.0.1", jobtree.EncodeServer(disabled)))
		require.NoError(t, err)
		require.Equal(t, disabled, got)
	}
	require.Equal(t, "DISABLED", jobtree.EncodeServer(true))
	for _, value := range []string{"disabled", "ENABLED", " "} {
		_, err := jobtree.DecodeServer(node("/orders/servers/10.0.0.1", value))
		require.EqualError(t, err, `/orders/servers/10.0.0.1: value is "`+value+`", must be empty or "DISABLED"`)
	}
}

func TestInstanceValue(t *testing.T) {
	t.Parallel()
	require.Empty(t, jobtree.InstanceIdle)
	require.Equal(t, "TRIGGER", jobtree.InstanceTriggered)
	require.Equal(t, "SHUTDOWN", jobtree.InstanceShutdown)
}

func TestEpochNextAndMisfireTexts(t *testing.T) {
	t.Parallel()
	epoch := jobtree.Epoch{Term: 7, Counter: 2, Total: 10}
	require.Equal(t, jobtree.EpochID{Term: 7, Counter: 2}, epoch.ID())
	require.Equal(t, `{"term":7,"counter":2,"total":10}`, jobtree.EncodeEpoch(epoch))
	next := jobtree.Next{Epoch: epoch.ID(), Owner: "10.0.0.1@-@7"}
	require.Equal(t, `{"term":7,"counter":2,"owner":"10.0.0.1@-@7"}`, jobtree.EncodeNext(next))
	missed := jobtree.Misfire{Fires: jobtree.MissedFires(at(3), at(0), at(1), at(2), at(1), at(5)), Times: "7f"}
	require.Equal(t, `{"fires":"2026-01-02T12:00:00Z +1m0s*3 +2m0s","times":"7f"}`, jobtree.EncodeMisfire(missed))
	require.Equal(t, at(5), missed.Newest())
	require.Empty(t, jobtree.EncodeMisfire(jobtree.Misfire{}), "as Java writes it")
}

func TestEpochNextAndMisfireAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Int64Min(0)
		epoch := jobtree.Epoch{
			Term: registry.Revision(number.Draw(t, "term")), Counter: number.Draw(t, "counter"),
			Total: rapid.IntRange(0, job.MaxShardingTotalCount).Draw(t, "total"),
		}
		gotEpoch, err := jobtree.DecodeEpoch(node("/o/leader/sharding/epoch", jobtree.EncodeEpoch(epoch)))
		require.NoError(t, err)
		require.Equal(t, epoch, gotEpoch)

		next := jobtree.Next{Epoch: epoch.ID(), Owner: rapid.String().Draw(t, "owner")}
		gotNext, err := jobtree.DecodeNext(node("/o/sharding/0/next", jobtree.EncodeNext(next)))
		require.NoError(t, err)
		require.Equal(t, next, gotNext)

		missed := jobtree.Misfire{Times: rapid.String().Draw(t, "times")}
		for _, minute := range rapid.SliceOfN(rapid.IntRange(0, 1e8), 1, 50).Draw(t, "fires") {
			missed.Fires = append(missed.Fires, at(minute).Add(time.Duration(minute%3)))
		}
		missed.Fires = jobtree.MissedFires(missed.Fires...)
		if rapid.Bool().Draw(t, "since") {
			missed.Since = missed.Fires[0].Add(-time.Hour)
		}
		gotMissed, err := jobtree.DecodeMisfire(node("/o/sharding/0/misfire", jobtree.EncodeMisfire(missed)))
		require.NoError(t, err)
		require.Equal(t, missed, gotMissed)
	})
}

// What was noted before still says which fires were missed.
func TestMisfiresOfTheFormerForm(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]jobtree.Misfire{
		`{"oldest":"2026-01-02T12:00:00Z","newest":"2026-01-02T12:02:00Z","count":3}`: {Since: at(0), Fires: jobtree.MissedFires(at(2))},
		`{"oldest":"2026-01-02T12:02:00Z","newest":"2026-01-02T12:02:00Z","count":1}`: {Fires: jobtree.MissedFires(at(2))},
		`{"newest":"2026-01-02T12:02:00Z"}`:                                           {Fires: jobtree.MissedFires(at(2))},
		`{"oldest":"2026-01-02T12:02:00Z"}`:                                           {Fires: jobtree.MissedFires(at(2))},
		`{"count":3}`:                                                                 {},
		`{}`:                                                                          {},
		``:                                                                            {},
	} {
		got, err := jobtree.DecodeMisfire(node("/o/sharding/0/misfire", value))
		require.NoError(t, err)
		require.Equal(t, want, got, value)
	}
}

// A node names a bounded number of fires, the newest, in few bytes.
func TestAMisfireNodeIsBounded(t *testing.T) {
	t.Parallel()
	var missed jobtree.Misfire
	for n := range 3 * jobtree.MaxMissedFires {
		missed.Fires = append(missed.Fires, at(n))
	}
	text := jobtree.EncodeMisfire(missed)
	require.Less(t, len(text), 100, "of a plain cron")
	got, err := jobtree.DecodeMisfire(node("/o/sharding/0/misfire", text))
	require.NoError(t, err)
	require.Equal(t, missed.Fires[2*jobtree.MaxMissedFires:], got.Fires)
}

func TestTokens(t *testing.T) {
	t.Parallel()
	require.Equal(t, `{"base":12884901888}`, jobtree.EncodeTokens(jobtree.Tokens{Base: 3 << 32}))
	rapid.Check(t, func(t *rapid.T) {
		want := jobtree.Tokens{Base: rapid.Int64Min(0).Draw(t, "base")}
		got, err := jobtree.DecodeTokens(node("/o/leader/tokens", jobtree.EncodeTokens(want)))
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
	require.Equal(t, int64(107), jobtree.Tokens{Base: 100}.Of(7))
	for value, want := range map[string]string{
		``:             `/x: value is "", must be a JSON object`,
		`{"base":-1}`:  `/x: base is "-1", must be a whole number`,
		`{"base":"1"}`: `/x: base is "\"1\"", must be a whole number`,
	} {
		_, err := jobtree.DecodeTokens(node("/x", value))
		require.ErrorContains(t, err, want)
	}
}

func TestEpochNextAndMisfireRefuse(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value, want string
		decode      func(registry.Node) error
	}{
		{`5`, `/x: value is "5", must be a JSON object`, decodeEpoch},
		{`{"term":-1}`, `/x: term is "-1", must be a whole number`, decodeEpoch},
		{`{"counter":"1"}`, `/x: counter is "\"1\"", must be a whole number`, decodeEpoch},
		{`{"total":1e3}`, `/x: total is "1e3", must be a whole number`, decodeEpoch},
		{``, `/x: value is "", must be a JSON object`, decodeNext},
		{`{"term":null}`, `/x: term is "null", must be a whole number`, decodeNext},
		{`{"owner":7}`, `/x: owner is "7", must be a string`, decodeNext},
		{`x`, `/x: value is "x", must be a JSON object`, decodeMisfire},
		{`{"oldest":"x"}`, `/x: oldest is "\"x\"", must be a time`, decodeMisfire},
		{`{"newest":1}`, `/x: newest is "1", must be a string`, decodeMisfire},
		{`{"fires":[1]}`, `/x: fires is "[1]", must be a string`, decodeMisfire},
		{`{"fires":""}`, `/x: fires is "\"\"", must be at most 1000 ascending times`, decodeMisfire},
		{`{"fires":"+1s"}`, `must be at most 1000 ascending times, such as "2026-01-02T12:00:00Z +5s*3 +1m0s"`, decodeMisfire},
		{`{"fires":"noon"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z 2026-01-02T12:00:00Z"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z +0s"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z +-1s"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z +1s*0"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z +1s*1000"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z +1s*999999999"}`, `must be at most`, decodeMisfire},
		{`{"fires":"2026-01-02T12:00:00Z +1s*99999999999999999999"}`, `must be at most`, decodeMisfire},
		{`{"fires":"9999-12-31T23:59:59Z +1s"}`, `must be at most`, decodeMisfire},
	} {
		err := test.decode(node("/x", test.value))
		require.ErrorIs(t, err, jobtree.ErrInvalidValue)
		require.ErrorContains(t, err, test.want)
	}
}

func decodeEpoch(n registry.Node) error {
	_, err := jobtree.DecodeEpoch(n)
	return err
}

func decodeNext(n registry.Node) error {
	_, err := jobtree.DecodeNext(n)
	return err
}

func decodeMisfire(n registry.Node) error {
	_, err := jobtree.DecodeMisfire(n)
	return err
}

func FuzzDecodeSmallValues(f *testing.F) {
	f.Add(`{"term":7,"counter":2,"total":10}`)
	f.Add(`{"term":7,"counter":2,"owner":"a\u0040b"}`)
	f.Add(`{"oldest":"2026-01-02T12:00:00Z","newest":"2026-01-02T12:02:00+02:00","count":3}`)
	f.Add(`{"fires":"2026-01-02T12:00:00+02:00 +1m0s*3 2226-01-02T12:00:00Z +1ns","times":"x"}`)
	f.Fuzz(func(t *testing.T, text string) {
		if e, err := jobtree.DecodeEpoch(node("/x", text)); err == nil {
			again, err := jobtree.DecodeEpoch(node("/x", jobtree.EncodeEpoch(e)))
			require.NoError(t, err)
			require.Equal(t, e, again)
		}
		if n, err := jobtree.DecodeNext(node("/x", text)); err == nil {
			again, err := jobtree.DecodeNext(node("/x", jobtree.EncodeNext(n)))
			require.NoError(t, err)
			require.Equal(t, n, again)
		}
		if m, err := jobtree.DecodeMisfire(node("/x", text)); err == nil {
			again, err := jobtree.DecodeMisfire(node("/x", jobtree.EncodeMisfire(m)))
			require.NoError(t, err)
			require.Equal(t, m, again)
		}
	})
}

func TestValueErrorShowsTheBeginningOfLongValues(t *testing.T) {
	t.Parallel()
	long := make([]byte, 100_000)
	_, err := jobtree.DecodeServer(node("/x", string(long)))
	require.Less(t, len(err.Error()), 1_000)
	text := string(long)
	for part, err := range map[string]jobtree.ValueError{
		"path": {Path: text}, "field": {Field: text}, "value": {Value: text}, "reason": {Reason: text}, "cause": {Err: errors.New(text)},
	} {
		require.Less(t, len(err.Error()), 1_000, part)
	}
}
