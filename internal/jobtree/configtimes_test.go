package jobtree_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// withTime is a configuration that has a time in one field.
func withTime(field string, d time.Duration) job.Config {
	c := job.Config{Name: "orders", Class: "orders", Cron: "@every 24h", ShardingTotalCount: 1}
	reflect.ValueOf(&c).Elem().FieldByName(field).SetInt(int64(d))
	return c
}

// Whoever knows only the members of whole units reads a time that is no shorter than what was meant, and
// never 0, which would mean something else. Whoever knows both reads what was meant.
func TestATimeIsStoredInWholeUnitsAndExactly(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for _, test := range []struct {
		field string
		time  time.Duration
		want  string
	}{
		{"Timeout", 1500 * ms, `"timeoutSeconds":2,"timeoutExact":"1.5s"`},
		{"Timeout", ms, `"timeoutSeconds":1,"timeoutExact":"1ms"`},
		{"Timeout", 2000 * ms, `"timeoutSeconds":2`},
		{"Jitter", 500 * ms, `"jitterSeconds":1,"jitterExact":"500ms"`},
		{"Offset", 20*time.Second + 1, `"offsetSeconds":21,"offsetExact":"20.000000001s"`},
		{"MisfireWindow", time.Hour + time.Microsecond, `"misfireWindowSeconds":3601,"misfireWindowExact":"1h0m0.000001s"`},
		{"MisfireWindow", time.Hour, `"misfireWindowSeconds":3600`},
		{"RetryBackoff", 250 * ms, `"retryBackoffExact":"250ms"`}, // rounded, it is the default
		{"RetryBackoff", 1250 * ms, `"retryBackoffSeconds":2,"retryBackoffExact":"1.25s"`},
		{"RetryBackoff", -1, `"retryBackoffSeconds":0`},
		{"MaxTimeDiff", 1500 * ms, `"maxTimeDiffSeconds":2,"maxTimeDiffExact":"1.5s"`},
		{"MaxTimeDiff", 1, `"maxTimeDiffSeconds":0`},
		{"MaxTimeDiff", time.Second + 1, `"maxTimeDiffSeconds":2,"maxTimeDiffExact":"1.000000001s"`},
		{"ReconcileInterval", 90 * time.Second, `"reconcileIntervalMinutes":2,"reconcileIntervalExact":"1m30s"`},
		{"ReconcileInterval", time.Second, `"reconcileIntervalMinutes":1,"reconcileIntervalExact":"1s"`},
		{"ReconcileInterval", 9*time.Minute + 1, `"reconcileIntervalMinutes":10,"reconcileIntervalExact":"9m0.000000001s"`},
		{"ReconcileInterval", -time.Second, `"reconcileIntervalMinutes":0`},
	} {
		want := withTime(test.field, test.time)
		require.NoError(t, want.Validate(), "%v", test)
		text, err := jobtree.EncodeConfig(want)
		require.NoError(t, err)
		for member := range strings.SplitSeq(test.want, ",") {
			require.Contains(t, text, member, "%v", test)
		}
		require.Equal(t, strings.Contains(test.want, "Exact"), strings.Contains(text, "Exact"), "%v %s", test, text)
		got, err := jobtree.DecodeConfig(configNode(text))
		require.NoError(t, err)
		require.Empty(t, want.Differences(got), "%v", test)
		require.Empty(t, jobtree.Differences(want, got), "%v", test)
		require.NoError(t, jobtree.CheckExact(configNode(text)))
	}
}

// A hand that knows only the member of the whole units has the last word.
func TestAnExactTimeCountsOnlyIfTheWholeUnitsAgree(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		members, field string
		want           time.Duration
		stale          string
	}{
		{`"timeoutSeconds":2,"timeoutExact":"1.5s"`, "Timeout", 1500 * time.Millisecond, ""},
		{`"timeoutExact":"1.5s","timeoutSeconds":2`, "Timeout", 1500 * time.Millisecond, ""},
		{`"timeoutSeconds":"2","timeoutExact":"1500ms"`, "Timeout", 1500 * time.Millisecond, ""},
		{`"timeoutSeconds":2,"timeoutExact":""`, "Timeout", 2 * time.Second, ""},
		{`"timeoutSeconds":2,"timeoutExact":"2s"`, "Timeout", 2 * time.Second, ""},
		{`"timeoutSeconds":3,"timeoutExact":"1.5s"`, "Timeout", 3 * time.Second, `timeoutExact is "1.5s", must be, rounded up, what timeoutSeconds says, which is 3`},
		{`"timeoutSeconds":1,"timeoutExact":"1.5s"`, "Timeout", time.Second, `which is 1`},
		{`"timeoutSeconds":0,"timeoutExact":"1.5s"`, "Timeout", 0, `which is 0`},
		{`"timeoutExact":"1.5s"`, "Timeout", 0, `which is 0`},
		{`"timeoutSeconds":-2,"timeoutExact":"1.5s"`, "Timeout", -2 * time.Second, `which is -2`},
		{`"timeoutSeconds":2,"timeoutExact":"3s"`, "Timeout", 2 * time.Second, `which is 2`},
		{`"reconcileIntervalMinutes":3,"reconcileIntervalExact":"1m30s"`, "ReconcileInterval", 3 * time.Minute, `which is 3`},
		{`"reconcileIntervalMinutes":0,"reconcileIntervalExact":"1m30s"`, "ReconcileInterval", -1, `which is 0`},
		{`"reconcileIntervalMinutes":10,"reconcileIntervalExact":"9.5m"`, "ReconcileInterval", 9*time.Minute + 30*time.Second, ""},
		{`"reconcileIntervalExact":"9.5m"`, "ReconcileInterval", 9*time.Minute + 30*time.Second, ""},
		{`"reconcileIntervalExact":"1m30s"`, "ReconcileInterval", 0, `which is 10`},
		{`"maxTimeDiffSeconds":-1,"maxTimeDiffExact":"1.5s"`, "MaxTimeDiff", 0, `which is -1`},
		{`"maxTimeDiffSeconds":0,"maxTimeDiffExact":"1.5s"`, "MaxTimeDiff", 1, `which is 0`},
		{`"maxTimeDiffSeconds":1,"maxTimeDiffExact":"1ns"`, "MaxTimeDiff", time.Second, `which is 1`},
		{`"retryBackoffExact":"0.5s"`, "RetryBackoff", 500 * time.Millisecond, ""},
		{`"retryBackoffSeconds":0,"retryBackoffExact":"0.5s"`, "RetryBackoff", -1, `which is 0`},
	} {
		node := configNode(minimal(`,"misfire":true,` + test.members))
		got, err := jobtree.DecodeConfig(node)
		require.NoError(t, err, test.members)
		require.Equal(t, test.want, time.Duration(reflect.ValueOf(got).FieldByName(test.field).Int()), test.members)
		if err := jobtree.CheckExact(node); test.stale == "" {
			require.NoError(t, err, test.members)
		} else {
			require.ErrorContains(t, err, test.stale, test.members)
			require.ErrorContains(t, err, "/orders/config: ", test.members)
		}
		text, err := jobtree.EncodeConfig(got)
		require.NoError(t, err)
		require.NoError(t, jobtree.CheckExact(configNode(text)), "what is written next does not contradict itself")
	}
}

// Any time that one hand declared, and any number of whole units that another hand wrote over it.
func TestAnExactTimeDoesNotOutliveAChangeOfTheWholeUnits(t *testing.T) {
	t.Parallel()
	fields := []string{"Timeout", "Jitter", "Offset", "MisfireWindow", "RetryBackoff", "MaxTimeDiff", "ReconcileInterval"}
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.SampledFrom(fields).Draw(t, "field")
		unit := unitOf(setting{Name: field})
		declared := time.Duration(rapid.Int64Range(2, int64(60*unit)).Draw(t, "declared"))
		text, err := jobtree.EncodeConfig(withTime(field, declared))
		require.NoError(t, err)

		var members map[string]any
		require.NoError(t, json.Unmarshal([]byte(text), &members))
		byHand := rapid.IntRange(1, 60).Draw(t, "by hand")
		members[jobtree.MemberOf(field)] = byHand
		changed, err := json.Marshal(members)
		require.NoError(t, err)

		want := withTime(field, time.Duration(byHand)*unit)
		if rounded := (declared + unit - 1) / unit; byHand == int(rounded) {
			want = withTime(field, declared) // the hand has changed nothing
		}
		got, err := jobtree.DecodeConfig(configNode(string(changed)))
		require.NoError(t, err)
		require.Empty(t, want.Differences(got), "%s became %s", text, changed)
	})
}

func TestAnExactTimeThatIsNone(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		`"soon"`:     `timeoutExact is "\"soon\"", must be a time above 0 such as 1.5s or 1m30s`,
		`"-1s"`:      `must be a time above 0`,
		`"0s"`:       `must be a time above 0`,
		`1.5`:        `must be a time above 0`,
		`"9999999h"`: `must be a time above 0`,
		`null`:       `timeoutExact is "null", must be a string`,
		`{}`:         `must be a string`,
		`true`:       `must be a string`,
	} {
		_, err := jobtree.DecodeConfig(configNode(minimal(`,"timeoutSeconds":2,"timeoutExact":` + value)))
		require.ErrorIs(t, err, jobtree.ErrInvalidValue, value)
		require.ErrorContains(t, err, "/orders/config: timeoutExact is ", value)
		require.ErrorContains(t, err, want, value)
	}
}

func TestFaultsOfATimeThatIsRoundedShowTheExactOne(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 1, Jitter: 1500 * time.Millisecond}
	_, faulty := jobtree.CheckConfig("orders", c)
	require.ErrorContains(t, faulty, `jitterSeconds is "1.5s", must not be above the time between two fires, which is 1s`)
	c.Jitter = 2 * time.Second
	_, faulty = jobtree.CheckConfig("orders", c)
	require.ErrorContains(t, faulty, `jitterSeconds is "2", must not be above`)
}

func TestDifferencesOfExactTimes(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{`timeoutSeconds: stored 0, declared 2`, `timeoutExact: stored "", declared "1.5s"`},
		jobtree.Differences(withTime("Timeout", 0), withTime("Timeout", 1500*time.Millisecond)))
	require.Equal(t, []string{`timeoutExact: stored "1.2s", declared "1.5s"`},
		jobtree.Differences(withTime("Timeout", 1200*time.Millisecond), withTime("Timeout", 1500*time.Millisecond)))
}
