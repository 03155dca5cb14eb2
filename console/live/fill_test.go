package live

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// told is a history store that has some executions.
type told struct {
	history.Reader
	mu   sync.Mutex
	rows []history.Execution // the newest first
	err  error
	asks int
	slow time.Duration // what an answer takes
}

func (h *told) Executions(_ context.Context, q history.ExecutionQuery) (history.Page[history.Execution], error) {
	time.Sleep(h.slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asks++
	if h.err != nil {
		return history.Page[history.Execution]{}, h.err
	}
	var all []history.Execution
	for _, row := range h.rows {
		if row.Job == q.Job && !row.Start.Before(q.From) && !row.Start.After(q.Until) {
			all = append(all, row)
		}
	}
	from := min(len(all), (q.Page-1)*q.PerPage)
	return history.Page[history.Execution]{Rows: all[from:min(len(all), from+q.PerPage)], Total: len(all)}, nil
}

// runOf is an execution a while ago that took a second.
func runOf(item int, ago time.Duration, token int64) history.Execution {
	begin := time.Now().Add(-ago)
	return history.Execution{
		Job: "a", TaskID: fmt.Sprintf("a@-@%d@-@READY@-@10.0.0.1@-@x", item), IP: "10.0.0.1", Source: job.Scheduled,
		Item: item, Token: token, Start: begin, Complete: begin.Add(time.Second), Success: true,
	}
}

func TestTheHistoryFillsTheTimeline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, "a")
		known := jobtree.Record{}
		known, err := known.Begin(jobtree.Begin{Instance: "10.0.0.1@-@x", Session: 1, Source: job.Scheduled, Fire: time.Now(), Time: time.Now()})
		require.NoError(t, err)
		known, err = known.End(jobtree.End{Token: 70, Time: time.Now(), Outcome: jobtree.Failure, Error: "known here"})
		require.NoError(t, err)
		s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(known))
		failed := runOf(1, 20*time.Minute, 50)
		failed.Success, failed.FailureCause = false, "exit 3"
		past := &told{rows: []history.Execution{
			runOf(0, time.Millisecond, 70), runOf(0, 10*time.Minute, 60), failed, runOf(0, 2*time.Hour, 1),
			{Job: "a", Item: 1, Start: time.Now().Add(-30 * time.Minute), Token: 40, IP: "10.0.0.9", Source: job.Failover}, // nobody told of its end
		}}
		time.Sleep(time.Second)
		h := opened(t, Config{Registry: s, History: past})
		began := time.Now()
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		time.Sleep(time.Second)
		var page seen
		frames := of[JobFrame](t, p.news(), "job/a")
		require.WithinDuration(t, began, frames[0].From, time.Second, "before the history has answered")
		page.take(frames)
		require.Len(t, page.spans, 4)
		require.Len(t, page.Gaps, 1, "of the last seconds before the hub began, the history may not have heard yet")
		require.WithinDuration(t, began.Add(-fillAgain), page.Gaps[0].From, 2*time.Second)
		require.WithinDuration(t, began, page.Gaps[0].To, time.Second)
		require.WithinDuration(t, began.Add(-keptFor), page.From, 2*time.Second)
		outcomes := make(map[int64]Span)
		for _, span := range page.spans {
			outcomes[span.Token] = span
		}
		require.Equal(t, "known here", outcomes[70].Error, "what the registry says goes before")
		require.False(t, outcomes[70].History)
		require.Equal(t, "10.0.0.1@-@x", outcomes[60].Instance)
		require.True(t, outcomes[60].History)
		require.Equal(t, "failure", outcomes[50].Outcome)
		require.Equal(t, outcomeUnknown, outcomes[40].Outcome, "that it still runs, only the registry can say")
		require.True(t, outcomes[40].Failover)
		row, _ := h.Picture().Row("a")
		require.Contains(t, string(row.JSON), `"runs":"ufsf"`, "lists tell of it, too")
		last := frames[len(frames)-1]
		require.Contains(t, string(last.Row), `"runs":"ufsf"`, "and so does the page of the job")

		again := opens(t, h, anna, "topic=job/a", "")
		defer again.close()
		time.Sleep(time.Second)
		require.Equal(t, 1, past.asks, "once for all readers")
		s.Cut()
		time.Sleep(10 * time.Second)
		s.Heal()
		time.Sleep(20 * time.Second)
		page.take(of[JobFrame](t, p.news(), "job/a"))
		require.Len(t, page.Gaps, 0, "the history tells what ran while the registry was away")
		require.Equal(t, 3, past.asks, "at once, for what it had not heard of by then, and for the gap")
	})
}

// Of a name that is too long, the history keeps a part, and answers with the rows of all jobs that begin so. None of them comes
// into the timeline of one.
func TestTheHistoryOfALongName(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		name := strings.Repeat("a", history.MaxJobName)
		row := runOf(0, time.Minute, 7)
		row.Job = name
		past := &told{rows: []history.Execution{row}}
		h := opened(t, Config{Registry: newStore(t, name), History: past})
		p := opens(t, h, anna, "topic=job/"+name, "")
		defer p.close()
		time.Sleep(time.Minute)
		var page seen
		page.take(of[JobFrame](t, p.news(), "job/"+name))
		require.Empty(t, page.spans)
		require.Zero(t, past.asks)
	})
}

func TestAHistoryThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := opened(t, Config{Registry: newStore(t, "a"), History: &told{err: errors.New("no database")}})
		began := time.Now()
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		time.Sleep(time.Minute)
		for _, f := range of[JobFrame](t, p.news(), "job/a") {
			require.WithinDuration(t, began, f.From, time.Second, "nothing is taken for certain")
		}
	})
}

// A job that runs more than fits shows the newest, and says from when on.
func TestAHistoryThatIsTooLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		past := &told{}
		for i := range 2_100 {
			past.rows = append(past.rows, runOf(0, time.Duration(i+1)*time.Second, int64(9_000-i)))
		}
		h := opened(t, Config{Registry: newStore(t, "a"), History: past})
		began := time.Now()
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		time.Sleep(time.Second)
		var page seen
		page.take(of[JobFrame](t, p.news(), "job/a"))
		require.LessOrEqual(t, len(page.spans), spansOfJob)
		require.Greater(t, len(page.spans), spansOfJob/2)
		oldest := began
		for _, span := range page.spans {
			if span.Begin.Before(oldest) {
				oldest = span.Begin
			}
		}
		require.WithinDuration(t, oldest, page.From, time.Minute)
		require.False(t, page.From.Before(began.Add(-2_001*time.Second)))
	})
}

// Where more ran than fits, what is dropped to make room is not shown as a time in which nothing ran.
func TestAHistoryThatIsTooLongForWhatIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, "a")
		known, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: "10.0.0.1@-@x", Session: 1, Source: job.Scheduled, Fire: time.Now(), Time: time.Now()})
		require.NoError(t, err)
		known, err = known.End(jobtree.End{Token: 9_999, Time: time.Now(), Outcome: jobtree.Success})
		require.NoError(t, err)
		s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(known))
		past := &told{}
		for i := range 2_500 {
			past.rows = append(past.rows, runOf(0, time.Duration(i+1)*time.Second, int64(9_000-i)))
		}
		h := opened(t, Config{Registry: s, History: past})
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		time.Sleep(time.Second)
		var page seen
		page.take(of[JobFrame](t, p.news(), "job/a"))
		shown := make(map[int64]bool)
		for _, span := range page.spans {
			shown[span.Token] = true
		}
		require.Greater(t, len(shown), spansOfJob/2)
		for _, row := range past.rows {
			if !row.Start.Before(page.From) {
				require.True(t, shown[row.Token], "the run of %s is missing, and spans are said to be complete from %s on", row.Start, page.From)
			}
		}
	})
}

// What a history cannot have heard of when it was asked stays uncertain until it is asked once more: what ran just before, and
// a gap that there was not yet.
func TestAHistoryThatIsAskedTooEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t, "a")
		past := &told{slow: 5 * time.Second}
		late := runOf(1, time.Second, 7)
		h := opened(t, Config{Registry: s, History: past})
		p := opens(t, h, anna, "topic=job/a", "")
		defer p.close()
		record := jobtree.Record{}
		for i := range 5 { // of which the hub sees the first one, and then the last two
			time.Sleep(200 * time.Millisecond)
			var err error
			record, err = record.Begin(jobtree.Begin{Instance: "10.0.0.1@-@x", Session: 1, Source: job.Scheduled, Fire: time.Now(), Time: time.Now()})
			require.NoError(t, err)
			record, err = record.End(jobtree.End{Token: int64(10 + i), Time: time.Now(), Outcome: jobtree.Success})
			require.NoError(t, err)
			if i == 0 || i == 4 {
				s.put(jobtree.For("a").ItemRecord(0), jobtree.EncodeRecord(record))
				time.Sleep(time.Second)
			}
		}
		time.Sleep(4 * time.Second)
		var page seen
		page.take(of[JobFrame](t, p.news(), "job/a"))
		past.mu.Lock()
		require.Equal(t, 1, past.asks)
		past.rows = []history.Execution{late}
		past.mu.Unlock()
		items := 0
		for _, g := range page.Gaps {
			if g.Item != nil {
				items++
			}
		}
		require.Equal(t, 1, items, "the gap that came while the history was read")
		require.Len(t, page.Gaps, 2)
		time.Sleep(30 * time.Second)
		page.take(of[JobFrame](t, p.news(), "job/a"))
		require.Empty(t, page.Gaps)
		require.Len(t, page.spans, 4)
		require.Equal(t, 2, past.asks)
	})
}

// Above the limit of all timelines the oldest spans go, of whatever job, and every page says so.
func TestTimelinesAreBoundedTogether(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, _ *store, h *Hub) {
		h.mu.Lock()
		defer h.mu.Unlock()
		now := time.Now()
		total, long := 0, strings.Repeat("x", 1<<20)
		for j := range 8 {
			line := &timeline{}
			for i := range 10 {
				begin := now.Add(-time.Duration(10-i)*time.Second - time.Duration(j)*time.Millisecond).UnixMilli()
				grown, _ := line.put(span{begin: begin, end: begin + 1, error: long})
				h.size += grown
				total++
			}
			h.jobs[fmt.Sprint("other-", j)] = &jobLive{line: line}
		}
		require.Greater(t, h.size, mostSpans)
		h.keepWithin()
		require.LessOrEqual(t, h.size, mostSpans)
		kept, counted := 0, 0
		for _, j := range h.jobs {
			kept += len(j.line.spans)
			counted += j.line.size
			for _, s := range j.line.spans {
				require.False(t, moment(s.begin).Before(h.since))
			}
		}
		require.Equal(t, counted, h.size)
		require.Greater(t, kept, total/2)
	}, "a")
}

// More changes than can be kept are taken from the state, and the time is a gap.
func TestTooManyChangesAtOnce(t *testing.T) {
	t.Parallel()
	streaming(t, func(t *testing.T, s *store, h *Hub) {
		time.Sleep(time.Second)
		h.feed.mu.Lock()
		h.feed.skipped, h.feed.changed["a"] = true, false
		h.feed.mu.Unlock()
		s.put(jobtree.For("a").Necessary(), "")
		time.Sleep(time.Second)
		h.mu.Lock()
		defer h.mu.Unlock()
		require.Len(t, h.gaps, 1)
	}, "a")
	f := newFeed()
	f.take(registry.Step{Snapshot: registry.NewSnapshot(1, nil)})
	path := jobtree.For("a").ItemRecord(0)
	for i := range mostChanges + 10 {
		f.take(registry.Step{Changes: []registry.Change{{New: registry.Node{Path: path, Revision: registry.Revision(i + 2)}}}})
	}
	n := f.look()
	require.True(t, n.skipped)
	require.Empty(t, n.changes)
	require.Contains(t, n.changed, "a")
	require.False(t, f.look().skipped)
}
