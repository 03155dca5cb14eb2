package jobtree_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

func TestDifferencesShowValuesAndNoSecrets(t *testing.T) {
	t.Parallel()
	stored := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	require.Empty(t, jobtree.Differences(stored, stored))
	declared := job.Config{Name: "orders", Cron: "0 5 * * * ?", ShardingTotalCount: 3}
	declared.JobParameter = "swordfish"
	declared.Props = map[string]string{"email.password": "swordfish", "email.host": "mail"}
	declared.StartTime = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	declared.Java.Overwrite = true
	require.Equal(t, []string{
		`cron: stored "0 0 * * * ?", declared "0 5 * * * ?"`,
		`jobParameter: stored "", declared "***"`,
		`startTime: stored "0001-01-01T00:00:00Z", declared "2030-01-02T03:04:05Z"`,
		`props: stored {}, declared {"email.host":"mail","email.password":"***"}`,
	}, jobtree.Differences(stored, declared))
}

// What is stored escapes some characters, as Java does. Who reads of a difference sees them as they were written.
func TestDifferencesAreLegible(t *testing.T) {
	t.Parallel()
	stored := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	declared := stored
	declared.Description = `it's <b> & "c=d" \u003c ü`
	require.Equal(t, []jobtree.ChangedMember{{
		Name: "description", Before: `""`, After: `"it's <b> & \"c=d\" \\u003c ü"`,
	}}, jobtree.ChangedMembers(stored, declared))
}

// Whatever differs is told, and both ways of telling it agree.
func TestDifferencesTellEveryField(t *testing.T) {
	t.Parallel()
	standard := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 3}
	for _, f := range settings() {
		for _, value := range triedValues(f) {
			other := standard
			f.set(&other, value)
			require.Len(t, jobtree.Differences(standard, other), len(standard.Differences(other)), "%s: %v", f.Name, value)
		}
	}
}

func TestDifferencesAreNoneBetweenADefaultAndItsWord(t *testing.T) {
	t.Parallel()
	standard := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 3, ReconcileInterval: -1}
	spelt := job.Config{
		Name: "orders", Class: "orders", Type: "SIMPLE", Cron: "0 0 * * * ?", ShardingTotalCount: 3,
		Misfire: "once", FailoverScope: "running", ClockPolicy: "warn", DaylightSaving: "natural",
		FailoverLimit: job.DefaultFailoverLimit, MisfireMax: job.DefaultMisfireMax, RetryBackoff: job.DefaultRetryBackoff,
		ReconcileInterval: -time.Minute, Java: job.Java{Overwrite: true},
	}
	require.Empty(t, standard.Differences(spelt))
	require.Empty(t, jobtree.Differences(standard, spelt))
}

// That a hidden value was changed is shown, and what it is only to who asks for secrets.
func TestHiddenChanges(t *testing.T) {
	t.Parallel()
	before := job.Config{Name: "a", Cron: "@daily", ShardingTotalCount: 1, JobParameter: "one", Props: map[string]string{"http.data": "b=1", "http.uri": "u", "x": "<1>"}}
	after := before
	after.JobParameter, after.Props = "two", map[string]string{"http.data": "b=2", "http.uri": "u", "x": "<2>"}
	require.Equal(t, []string{
		`jobParameter: stored "***", declared "***(changed)"`,
		`props: stored {"http.data":"***","http.uri":"***","x":"<1>"}, declared {"http.data":"***(changed)","http.uri":"***","x":"<2>"}`,
	}, jobtree.Differences(before, after))
	require.Equal(t, []string{
		`jobParameter: stored "one", declared "two"`,
		`props: stored {"http.data":"b=1","http.uri":"u","x":"<1>"}, declared {"http.data":"b=2","http.uri":"u","x":"<2>"}`,
	}, jobtree.DifferencesWithSecrets(before, after))
}
