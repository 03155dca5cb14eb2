package job_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func TestShardingContextJSONIsThatOfJava(t *testing.T) {
	t.Parallel()
	sc := job.ShardingContext{
		JobName:       "t",
		TaskID:        job.TaskID{Job: "t", Items: []int{0}, Instance: "10.0.0.1@-@5"}.String(),
		TotalCount:    3,
		JobParameter:  "p=1",
		Item:          0,
		ItemParameter: "A",
		Token:         17,
	}
	require.Equal(t, `{"jobName":"t","taskId":"t@-@0@-@READY@-@10.0.0.1@-@5","shardingTotalCount":3,`+
		`"jobParameter":"p\u003d1","shardingItem":0,"shardingParameter":"A"}`, sc.JSON())

	sc.ItemParameter, sc.JobParameter = "", ""
	require.Equal(t, `{"jobName":"t","taskId":"t@-@0@-@READY@-@10.0.0.1@-@5","shardingTotalCount":3,`+
		`"jobParameter":"","shardingItem":0}`, sc.JSON())
}

func TestSourceTrace(t *testing.T) {
	t.Parallel()
	for source, want := range map[job.Source]string{
		job.Scheduled: "NORMAL_TRIGGER",
		job.Manual:    "NORMAL_TRIGGER",
		job.Misfire:   "MISFIRE",
		job.Failover:  "FAILOVER",
	} {
		require.Equal(t, want, source.Trace())
	}
}

func TestTypesAreTheWordsOfJava(t *testing.T) {
	t.Parallel()
	require.Equal(t, "SIMPLE DATAFLOW SCRIPT", fmt.Sprint(job.TypeSimple, " ", job.TypeDataflow, " ", job.TypeScript))
	cfg := plain()
	for word, known := range map[job.Type]bool{"": true, "SIMPLE": true, "DATAFLOW": true, "dataflow": false, "HTTP": false} {
		cfg.Type = word
		if known {
			require.NoError(t, cfg.Validate(), "%q", word)
			continue
		}
		require.ErrorContains(t, cfg.Validate(), "must be one of [SIMPLE DATAFLOW SCRIPT]")
	}
}
