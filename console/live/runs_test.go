package live

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
	"unique"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// ranSpan is an item's run for a fire, both in seconds; end 0: it runs.
func ranSpan(item int32, fire, begin, end int64, round, outcome string) span {
	return span{
		item: item, fire: fire * 1000, begin: begin * 1000, end: end * 1000, round: round, instance: unique.Make("a"),
		outcome: unique.Make(outcome), source: unique.Make("scheduled"),
	}
}

func TestRunsOfATimeline(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		spans []span
		want  string
	}{
		"none":               {nil, ""},
		"the worst of a run": {[]span{ranSpan(0, 10, 10, 11, "a", "success"), ranSpan(1, 10, 10, 12, "b", "failure"), ranSpan(0, 20, 20, 21, "c", "success")}, "fs"},
		"lost is failed":     {[]span{ranSpan(0, 10, 10, 11, "", "lost")}, "f"},
		"a part still runs":  {[]span{ranSpan(0, 10, 10, 11, "", "success"), ranSpan(1, 10, 10, 0, "", "running")}, "r"},
		"a part has failed":  {[]span{ranSpan(0, 10, 10, 11, "", "failure"), ranSpan(1, 10, 10, 0, "", "running")}, "f"},
		"by hand":            {[]span{ranSpan(0, 0, 10, 11, "a", "success"), ranSpan(1, 0, 11, 12, "a", "interrupted"), ranSpan(0, 0, 20, 21, "b", "success")}, "is"},
		"without a round":    {[]span{ranSpan(0, 0, 10, 11, "", "success"), ranSpan(0, 0, 20, 21, "", "unknown")}, "su"},
		"late in a run":      {[]span{ranSpan(0, 10, 10, 11, "", "success"), ranSpan(0, 20, 20, 21, "", "success"), ranSpan(1, 10, 30, 31, "", "failure")}, "fs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line := &timeline{}
			for _, s := range row.spans {
				line.put(s)
			}
			require.Equal(t, row.want, recent(line.runs()).String())
		})
	}
	line := &timeline{}
	for i := range int64(30) {
		line.put(ranSpan(0, 10*i+10, 10*i+10, 10*i+11, "", "success"))
	}
	require.Len(t, line.runs(), mostRuns)
}

// What the timeline has forgotten is still told, and what is known better by now is told so.
func TestRunsOutlastATimeline(t *testing.T) {
	t.Parallel()
	line := &timeline{}
	var known recent
	line.put(ranSpan(0, 10, 10, 0, "", "running"))
	known = known.follow(line.runs(), line.forgotten)
	require.Equal(t, "r", known.String())
	line.put(ranSpan(0, 10, 10, 11, "", "success"))
	line.put(ranSpan(1, 10, 10, 12, "", "failure"))
	line.put(ranSpan(0, 20, 20, 21, "", "success"))
	known = known.follow(line.runs(), line.forgotten)
	require.Equal(t, "fs", known.String())
	line.dropTo(15_000)
	line.put(ranSpan(0, 30, 30, 31, "", "success"))
	known = known.follow(line.runs(), line.forgotten)
	require.Equal(t, "fss", known.String())
	line.dropTo(35_000)
	require.Equal(t, "fss", known.follow(line.runs(), line.forgotten).String(), "nothing new")
	for i := range int64(25) {
		line.put(ranSpan(0, 10*i+40, 10*i+40, 10*i+41, "", "success"))
		known = known.follow(line.runs(), line.forgotten)
	}
	require.Len(t, known, mostRuns)
}

// An item that hangs keeps its run on the timeline, and the runs of the other items since then are not forgotten for it.
func TestRunsBesideAnItemThatHangs(t *testing.T) {
	t.Parallel()
	line := &timeline{}
	var known recent
	look := func() string {
		known = known.follow(line.runs(), line.forgotten)
		return known.String()
	}
	line.put(ranSpan(0, 10, 10, 0, "", "running"))
	line.put(ranSpan(1, 10, 11, 12, "", "success"))
	line.put(ranSpan(1, 20, 20, 21, "", "failure"))
	line.put(ranSpan(1, 0, 25, 26, "by hand", "interrupted"))
	line.put(ranSpan(1, 30, 30, 31, "", "success"))
	require.Equal(t, "rfis", look())
	line.dropTo(28_000)
	line.put(ranSpan(1, 40, 40, 41, "", "success"))
	require.Equal(t, "rfiss", look())
	line.dropTo(45_000)
	require.Equal(t, "rfiss", look())
	line.put(ranSpan(1, 50, 50, 0, "", "running"))
	require.Equal(t, "rfissr", look())
	taken := ranSpan(1, 50, 50, 0, "", "running")
	line.remove(line.find(&taken))
	require.Equal(t, "rfiss", look(), "a run that was taken back")
	line.put(ranSpan(0, 10, 10, 60, "", "failure"))
	require.Equal(t, "ffiss", look())
}

// A row of a list says how the last runs went, also of a job that ran last long before the hub began.
func TestARowTellsOfTheLastRuns(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		runs := func() string {
			row, exists := h.Picture().Row("a")
			require.True(t, exists)
			var listed ListedJob
			require.NoError(t, json.Unmarshal(row.JSON, &listed))
			return listed.Runs
		}
		require.Empty(t, runs())
		record := jobtree.Record{}
		for i, outcome := range []jobtree.Outcome{jobtree.Success, jobtree.Failure, jobtree.Success} {
			at := time.Now()
			begun, err := record.Begin(jobtree.Begin{Instance: "i", Session: 7, Source: job.Scheduled, Fire: at, Time: at, Round: fmt.Sprint(i)})
			require.NoError(t, err)
			s.put(jobtree.For("a").ItemRunning(0), "")
			s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(begun))
			time.Sleep(time.Second)
			require.Equal(t, byte('r'), runs()[len(runs())-1])
			record, err = begun.End(jobtree.End{Token: int64(i + 1), Time: time.Now(), Outcome: outcome})
			require.NoError(t, err)
			s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(record))
			time.Sleep(50 * time.Minute)
		}
		require.Equal(t, "sfs", runs())
		again := opened(t, Config{Registry: s})
		row, _ := again.Picture().Row("a")
		require.Contains(t, string(row.JSON), `"runs":"s"`, "what the registry tells")
	}, "a")
}
