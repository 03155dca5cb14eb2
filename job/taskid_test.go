package job_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job"
)

func TestTaskID(t *testing.T) {
	t.Parallel()
	for text, id := range map[string]job.TaskID{
		"t_job@-@0,2@-@READY@-@10.0.0.1@-@27691": {Job: "t_job", Items: []int{0, 2}, Instance: "10.0.0.1@-@27691"},
		"t_job@-@@-@READY@-@10.0.0.1@-@7":        {Job: "t_job", Instance: "10.0.0.1@-@7"},
	} {
		require.Equal(t, text, id.String())
		got, err := job.ParseTaskID(text)
		require.NoError(t, err)
		require.Equal(t, id, got)
	}
}

func TestParseTaskIDRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                               "has 1 parts",
		"a@-@0@-@READY@-@1.2.3.4":        "has 4 parts",
		"a@-@0@-@READY@-@1.2.3.4@-@5@-@": "has 6 parts",
		"a@-@0@-@FAILOVER@-@i@-@5":       `has execution type "FAILOVER"`,
		"a@-@0,@-@READY@-@i@-@5":         `item ""`,
		"a@-@01@-@READY@-@i@-@5":         `item "01"`,
		"a@-@-1@-@READY@-@i@-@5":         `item "-1"`,
		"a@-@0 @-@READY@-@i@-@5":         `item "0 "`,
	} {
		_, err := job.ParseTaskID(text)
		require.ErrorContains(t, err, want, text)
	}
}

func TestTaskIDOfAValidConfigIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a@-]{1,6}`).Draw(t, "name")
		cfg := job.Config{Name: name, Cron: "0 0 * * * ?", ShardingTotalCount: 1}
		if cfg.Validate() != nil {
			t.Skip("no name of a job")
		}
		id := job.TaskID{
			Job:      name,
			Items:    rapid.SliceOfN(rapid.IntRange(0, 1<<31-1), 1, 5).Draw(t, "items"),
			Instance: "10.0.0.1@-@5",
		}
		got, err := job.ParseTaskID(id.String())
		require.NoError(t, err)
		require.Equal(t, id, got)
	})
}

func FuzzParseTaskID(f *testing.F) {
	f.Add("t_job@-@0,2@-@READY@-@10.0.0.1@-@27691")
	f.Add("@-@@-@READY@-@@-@")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := job.ParseTaskID(text); err == nil {
			require.Equal(t, text, id.String())
		}
	})
}
