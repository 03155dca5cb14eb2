package recorder_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/console/recorder"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const instance = "10.0.0.1@-@7-a"

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// item is an item whose record a test writes.
type item struct {
	t      *testing.T
	reg    *memory.Registry
	record jobtree.Record
}

func (i *item) put() {
	i.t.Helper()
	_, err := i.reg.Commit(i.t.Context(), registry.Txn{Then: []registry.Write{registry.Put(jobtree.For("orders").ItemRecord(3), jobtree.EncodeRecord(i.record))}})
	require.NoError(i.t, err)
}

func (i *item) begin(at time.Time) {
	i.t.Helper()
	r, err := i.record.Begin(jobtree.Begin{Instance: instance, Session: 7, Source: job.Scheduled, Fire: at, Round: "r", Time: at.Add(time.Millisecond)})
	require.NoError(i.t, err)
	i.record = r
	i.put()
}

func (i *item) end(at time.Time, outcome jobtree.Outcome, text string) {
	i.t.Helper()
	r, err := i.record.End(jobtree.End{Token: 41, Time: at, Outcome: outcome, Error: text})
	require.NoError(i.t, err)
	i.record = r
	i.put()
}

func (i *item) undo(at time.Time) {
	i.t.Helper()
	r, err := i.record.Undo(41, at)
	require.NoError(i.t, err)
	i.record = r
	i.put()
}

// What a registry shows of executions stands in a store, each once: what ran before, what begins and how it ends, also if
// the recorder starts again.
func TestExecutionsAreKeptOnce(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	it := &item{t: t, reg: reg}
	it.begin(noon)
	it.end(noon.Add(time.Second), jobtree.Success, "")

	during := func(do func(), until func([]history.Execution) bool) []history.Execution {
		t.Helper()
		bus, err := history.NewBus(history.WithSink("history", store))
		require.NoError(t, err)
		bus.Start()
		stop, err := recorder.Start(t.Context(), reg, bus)
		require.NoError(t, err)
		do()
		var page history.Page[history.Execution]
		require.Eventually(t, func() bool {
			page, err = store.Executions(t.Context(), history.ExecutionQuery{Paging: history.Paging{Ascending: true}})
			return err == nil && until(page.Rows)
		}, time.Minute, time.Millisecond)
		stop()
		require.NoError(t, bus.Close(context.Background()))
		page, err = store.Executions(t.Context(), history.ExecutionQuery{Paging: history.Paging{Ascending: true}})
		require.NoError(t, err)
		return page.Rows
	}
	number := func(n int) func([]history.Execution) bool {
		return func(rows []history.Execution) bool { return len(rows) >= n }
	}
	rows := during(func() {}, number(1))
	require.Len(t, rows, 1)
	require.True(t, rows[0].Success)
	require.Equal(t, 3, rows[0].Item)
	require.Equal(t, "10.0.0.1", rows[0].IP)
	require.Equal(t, noon.Add(time.Second), rows[0].Complete.UTC())

	rows = during(func() { it.begin(noon.Add(time.Minute)) }, number(2))
	require.Len(t, rows, 2)
	require.True(t, rows[1].Running())
	it.end(noon.Add(62*time.Second), jobtree.Failure, "exit 3") // while nobody records
	it.begin(noon.Add(2 * time.Minute))
	rows = during(func() { it.end(noon.Add(3*time.Minute), jobtree.Interrupted, "") }, func(rows []history.Execution) bool {
		return len(rows) == 3 && !rows[2].Running()
	})
	require.Len(t, rows, 3)
	require.Equal(t, "exit 3", rows[1].FailureCause)
	require.Equal(t, "interrupted", rows[2].FailureCause)
	require.NotEqual(t, rows[1].ID, rows[2].ID)

	// An execution whose code is never called has been shown to run by then. It ends, and is no other one's.
	rows = during(func() {
		it.begin(noon.Add(4 * time.Minute))
		require.Eventually(t, func() bool {
			page, err := store.Executions(t.Context(), history.ExecutionQuery{})
			return err == nil && len(page.Rows) == 4
		}, time.Minute, time.Millisecond)
		it.undo(noon.Add(4*time.Minute + time.Second))
	}, func(rows []history.Execution) bool { return len(rows) == 4 && !rows[3].Running() })
	require.Equal(t, "not started", rows[3].FailureCause)
	require.Equal(t, noon.Add(4*time.Minute+time.Second), rows[3].Complete.UTC())
	require.Len(t, during(func() {}, number(4)), 4, "it is not told of again")
	rows = during(func() {
		it.begin(noon.Add(4*time.Minute + 2*time.Second))
		it.end(noon.Add(4*time.Minute+3*time.Second), jobtree.Success, "")
	}, func(rows []history.Execution) bool { return len(rows) == 5 && !rows[4].Running() })
	require.True(t, rows[4].Success)
	require.Equal(t, "not started", rows[3].FailureCause)
	rows = during(func() {
		it.begin(noon.Add(5 * time.Minute))
		it.end(noon.Add(6*time.Minute), jobtree.Interrupted, "made room, with work left")
	}, func(rows []history.Execution) bool { return len(rows) == 6 && !rows[5].Running() })
	require.Equal(t, "interrupted: made room, with work left", rows[5].FailureCause)
}

// What is there when a recorder starts may be more than a buffer holds, and so may many changes at once. None is lost, and
// neither is what happens meanwhile.
func TestMoreThanABufferHolds(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop", memory.WithTTL(time.Hour))
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	put := func(job string, items int) {
		t.Helper()
		begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: instance, Session: 7, Source: "scheduled", Fire: noon, Time: noon})
		require.NoError(t, err)
		text := jobtree.EncodeRecord(begun)
		var writes []registry.Write
		for i := range items {
			writes = append(writes, registry.Put(jobtree.For(job).ItemRecord(i), text))
		}
		_, err = reg.Commit(t.Context(), registry.Txn{Then: writes})
		require.NoError(t, err)
	}
	const items = 120
	olds := []string{"old1", "old2", "old3"}
	for _, job := range olds {
		put(job, items)
	}
	sink := &slowSink{goOn: make(chan struct{}), runs: make(map[string]int)}
	bus, err := history.NewBus(history.WithSink("slow", sink, history.WithBuffer(64), history.WithBatch(16)))
	require.NoError(t, err)
	bus.Start()
	stop, err := recorder.Start(t.Context(), reg, bus)
	require.NoError(t, err)
	it := &item{t: t, reg: reg}
	it.begin(noon) // while the buffer is half full
	close(sink.goOn)
	told := func(job string, n int) {
		t.Helper()
		require.Eventually(t, func() bool { return sink.of(job) == n }, time.Minute, time.Millisecond)
	}
	for _, job := range olds {
		told(job, items)
	}
	told("orders", 1)
	put("new", items)
	told("new", items)
	stop()
	require.NoError(t, bus.Close(context.Background()))
	require.Zero(t, bus.Stats()[0].Dropped)
}

// A sink that takes nothing keeps what there is from no other one for long. While none takes anything, none loses any of it.
func TestASinkThatTakesNothingHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const items = 120
		reg := memory.NewServer().Open("shop", memory.WithTTL(time.Hour))
		begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: instance, Session: 7, Source: "scheduled", Fire: noon, Time: noon})
		require.NoError(t, err)
		writes := make([]registry.Write, items)
		for i := range writes {
			writes[i] = registry.Put(jobtree.For("orders").ItemRecord(i), jobtree.EncodeRecord(begun))
		}
		_, err = reg.Commit(t.Context(), registry.Txn{Then: writes})
		require.NoError(t, err)
		newSink := func() *slowSink { return &slowSink{goOn: make(chan struct{}), runs: make(map[string]int)} }
		healthy, away := newSink(), newSink()
		bus, err := history.NewBus(history.WithSink("healthy", healthy, history.WithBuffer(32)), history.WithSink("away", away, history.WithBuffer(32)))
		require.NoError(t, err)
		bus.Start()
		stop, err := recorder.Start(t.Context(), reg, bus)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		for _, s := range bus.Stats() {
			require.Zero(t, s.Dropped, "while none takes anything")
		}
		close(healthy.goOn)
		time.Sleep(recorder.Patience / 2)
		require.Less(t, healthy.of("orders"), items)
		require.Zero(t, bus.Stats()[1].Dropped, "it may take something soon")
		time.Sleep(time.Minute)
		require.Equal(t, items, healthy.of("orders"))
		close(away.goOn)
		time.Sleep(time.Minute)
		require.Positive(t, away.of("orders"))
		stop()
		require.NoError(t, bus.Close(context.Background()))
		require.Zero(t, bus.Stats()[0].Dropped)
		require.NoError(t, reg.Close(context.Background()))
	})
}

// A recorder can be stopped while a sink takes nothing, and leaves it the half of the buffer.
func TestARecorderIsStoppedWhileASinkTakesNothing(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop", memory.WithTTL(time.Hour))
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	it := &item{t: t, reg: reg}
	for i := range 3 {
		it.begin(noon.Add(time.Duration(i) * time.Minute))
		it.end(noon.Add(time.Duration(i)*time.Minute+time.Second), jobtree.Success, "")
	}
	bus, err := history.NewBus(history.WithSink("slow", &slowSink{}, history.WithBuffer(1))) // not started
	require.NoError(t, err)
	stop, err := recorder.Start(t.Context(), reg, bus)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return bus.Stats()[0].Waiting == 1 }, time.Minute, time.Millisecond)
	stop()
	require.Zero(t, bus.Stats()[0].Dropped)
	require.Error(t, bus.Close(context.Background()))
}

// slowSink takes nothing until it is to go on.
type slowSink struct {
	goOn chan struct{}

	mu   sync.Mutex
	runs map[string]int // by job
}

func (s *slowSink) Write(ctx context.Context, events []history.Event) error {
	select {
	case <-s.goOn:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		if e, is := e.(history.Execution); is {
			s.runs[e.Job]++
		}
	}
	return nil
}

func (s *slowSink) of(job string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[job]
}

// Several changes of a record can come as one. An execution that was begun, shown, and given back in such a step ends as well.
func TestAnExecutionIsGivenBackUnseen(t *testing.T) {
	t.Parallel()
	running := jobtree.Record{}
	begun, err := running.Begin(jobtree.Begin{Instance: instance, Session: 7, Source: job.Scheduled, Fire: noon, Time: noon})
	require.NoError(t, err)
	undone, err := begun.Undo(41, noon.Add(time.Second))
	require.NoError(t, err)
	again, err := undone.Begin(jobtree.Begin{Instance: instance, Session: 7, Source: job.Scheduled, Fire: noon, Time: noon.Add(2 * time.Second)})
	require.NoError(t, err)
	ended, err := begun.End(jobtree.End{Token: 41, Time: noon.Add(time.Second), Outcome: jobtree.Success})
	require.NoError(t, err)
	later, err := ended.Begin(jobtree.Begin{Instance: instance, Session: 7, Source: job.Scheduled, Fire: noon.Add(time.Minute), Time: noon.Add(time.Minute)})
	require.NoError(t, err)
	node := func(r jobtree.Record, at registry.Revision) registry.Node {
		return registry.Node{Path: jobtree.For("orders").ItemRecord(3), Value: jobtree.EncodeRecord(r), Revision: at, Created: 1}
	}
	for name, test := range map[string]struct {
		after jobtree.Record
		want  []string // how the executions that are told of ended, the first being the one that was given back
	}{
		"and another one began":      {again, []string{"not started", ""}},
		"no, it ended":               {ended, []string{"success"}},
		"no, it ended before others": {later, []string{"success", ""}},
		"given back":                 {undone, []string{"not started"}},
	} {
		events := recorder.Executions(registry.Change{Old: node(begun, 41), New: node(test.after, 50)})
		var told []string
		for _, e := range events {
			if e.Success {
				told = append(told, "success")
			} else {
				told = append(told, e.FailureCause)
			}
			require.Equal(t, e.FailureCause == "" && !e.Success, e.Running(), name)
		}
		require.Equal(t, test.want, told, name)
		shown := recorder.Executions(registry.Change{New: node(begun, 41)})
		require.Len(t, shown, 1)
		require.Equal(t, shown[0].ID, events[0].ID, name)
		require.Equal(t, shown[0].Token, events[0].Token, name)
	}
	require.Empty(t, recorder.Executions(registry.Change{New: node(undone, 50)}), "who has not seen it run tells nothing")
}

// What cannot be read, and what is no record, is passed over.
func TestOtherNodes(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put("/orders/config", "{"), registry.Put("/orders/sharding/0/record", "{"), registry.Put("/x", ""),
	}})
	require.NoError(t, err)
	var posted counter
	stop, err := recorder.Start(t.Context(), reg, &posted)
	require.NoError(t, err)
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/orders/sharding/0/record")}})
	require.NoError(t, err)
	stop()
	posted.mu.Lock()
	defer posted.mu.Unlock()
	require.Zero(t, posted.n)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = recorder.Start(ended, reg, &posted)
	require.ErrorIs(t, err, context.Canceled)
}

type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) Post(history.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}
