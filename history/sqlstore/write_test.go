package sqlstore_test

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

func testRoundTrip(t *testing.T, p place) {
	s, _ := p.store(t)
	byHand := started(1, begin)
	byHand.Source, byHand.Fire = job.Manual, time.Time{}
	runs := started(2, begin)
	runs.Source = job.Misfire
	want := []history.Execution{
		started(0, begin).Ended(begin.Add(1500*time.Millisecond), nil, nil),
		byHand.Ended(begin.Add(time.Second), errors.New("out of stock"), nil),
		runs,
	}
	r := round(begin)
	r.Ended = begin // all steps at the same time are in order, too
	steps := []history.Status{r.Staged(), r.Running(begin), r.End()}
	write(t, s, steps[0], steps[1], started(0, begin), byHand, runs, want[0])
	write(t, s, want[1], steps[2])
	write(t, s)
	require.Equal(t, want, all(t, s))

	page, err := s.Statuses(t.Context(), history.StatusQuery{Paging: history.Paging{Ascending: true}})
	require.NoError(t, err)
	require.Equal(t, history.Page[history.Status]{Rows: steps, Total: 3}, page)
}

// A round of two thousand items has task ids of 9 KB and more rows than a statement.
func testManyItems(t *testing.T, p place) {
	s, db := p.store(t)
	const total = 2000
	items := make([]int, total)
	for i := range items {
		items[i] = i
	}
	id := job.TaskID{Job: "orders", Items: items, Instance: "10.0.0.1@-@42"}.String()
	r := history.Round{ID: "R1", Job: "orders", TaskID: id, Items: items, Began: begin, Ended: begin, Failed: map[int]error{}}
	events := []history.Event{r.Staged(), r.Running(begin)}
	for _, n := range items {
		e := history.Started("host-1", "R1", job.ShardingContext{JobName: "orders", TaskID: id, Item: n, Token: int64(n)}, begin)
		r.Failed[n] = errors.New("out of stock")
		events = append(events, e, e.Ended(begin, r.Failed[n], nil))
	}
	write(t, s, append(events, r.End())...)
	var count, of int
	require.NoError(t, db.QueryRow("SELECT COUNT(*), COUNT(DISTINCT sharding_item) FROM JOB_EXECUTION_LOG WHERE failure_cause = 'out of stock'").
		Scan(&count, &of))
	require.Equal(t, []int{total, total}, []int{count, of})
	page, err := s.Statuses(t.Context(), history.StatusQuery{TaskID: id})
	require.NoError(t, err)
	require.Equal(t, 3, page.Total)
	executions, err := s.Executions(t.Context(), history.ExecutionQuery{TaskID: texts.ShortTaskID(id)})
	require.NoError(t, err)
	require.Equal(t, total, executions.Total)
}

// The start of an execution never undoes its end.
func testOrder(t *testing.T, p place) {
	start := started(0, begin)
	success := start.Ended(begin.Add(time.Second), nil, nil)
	failure := start.Ended(begin.Add(time.Second), errors.New("no"), nil)
	for _, row := range []struct {
		name   string
		writes [][]history.Event
		want   history.Execution
	}{
		{"start", [][]history.Event{{start}}, start},
		{"end alone", [][]history.Event{{success}}, success},
		{"both at once", [][]history.Event{{start, success}}, success},
		{"both at once, turned round", [][]history.Event{{success, start}}, success},
		{"start then success", [][]history.Event{{start}, {success}}, success},
		{"start then failure", [][]history.Event{{start}, {failure}}, failure},
		{"success then start", [][]history.Event{{success}, {start}}, success},
		{"failure then start", [][]history.Event{{failure}, {start}}, failure},
		{"all of it twice", [][]history.Event{{start}, {success}, {start}, {success}}, success},
	} {
		t.Run(row.name, func(t *testing.T) {
			s, _ := p.store(t)
			for _, events := range row.writes {
				write(t, s, events...)
			}
			require.Equal(t, []history.Execution{row.want}, all(t, s))
		})
	}
}

// Whatever is written in whatever order, in whatever batches, with whatever repetitions: a row shows the
// end of its execution once that was written, and else its start.
func testOrderProperty(t *testing.T, p place) {
	s, db := p.store(t)
	checks := 0
	rapid.Check(t, func(r *rapid.T) {
		checks++
		name := fmt.Sprintf("job-%d", checks)
		const items = 4
		var starts, ends [items]history.Execution
		var wants [items]*history.Execution
		for n := range items {
			starts[n] = started(n, begin)
			starts[n].ID, starts[n].Job = fmt.Sprintf("%d-%d", checks, n), name
			var err error
			if rapid.Bool().Draw(r, "fails") {
				err = errors.New("no")
			}
			ends[n] = starts[n].Ended(begin.Add(time.Minute), err, nil)
		}
		var batch []history.Event
		flush := func() {
			if err := s.Write(t.Context(), batch); err != nil {
				r.Fatal(err)
			}
			batch = nil
		}
		for range rapid.IntRange(1, 12).Draw(r, "events") {
			n := rapid.IntRange(0, items-1).Draw(r, "item")
			if rapid.Bool().Draw(r, "end") {
				batch, wants[n] = append(batch, ends[n]), &ends[n]
			} else {
				batch = append(batch, starts[n])
				if wants[n] == nil {
					wants[n] = &starts[n]
				}
			}
			if rapid.Bool().Draw(r, "flush") {
				flush()
			}
		}
		flush()
		page, err := s.Executions(t.Context(), history.ExecutionQuery{Job: name, Paging: history.Paging{Sort: "shardingItem", Ascending: true}})
		if err != nil {
			r.Fatal(err)
		}
		var want []history.Execution
		for _, e := range wants {
			if e != nil {
				want = append(want, *e)
			}
		}
		require.Equal(r, want, page.Rows)
	})
	var rows int
	require.NoError(t, db.QueryRow("SELECT COUNT(*) FROM JOB_EXECUTION_LOG").Scan(&rows))
	require.Positive(t, rows)
}

func testTexts(t *testing.T, p place) {
	s, _ := p.store(t)
	long := strings.Repeat("ä€😀", 3000)
	e := started(0, begin).Ended(begin, errors.New(long+"\x00\xff"), nil)
	e.Job, e.Hostname, e.IP, e.TaskID, e.Round = long, long, long, long, long
	zero := started(1, begin).Ended(begin, errors.New("a\x00b\xffc"), nil)
	zero.FailureCause = "a\x00b\xffc" // as another source of events may have it
	r := round(begin)
	r.Job, r.Failed = long, map[int]error{0: errors.New(long)}
	write(t, s, e, zero, r.Staged(), r.End())
	rows := all(t, s)
	cut := func(n int) string { return string([]rune(long)[:n]) }
	require.Equal(t, []string{cut(100), cut(255), cut(50), cut(255), cut(40), cut(4000)},
		[]string{rows[0].Job, rows[0].Hostname, rows[0].IP, rows[0].TaskID, rows[0].Round, rows[0].FailureCause})
	require.Equal(t, "a\uFFFDb\uFFFDc", rows[1].FailureCause)
	page, err := s.Statuses(t.Context(), history.StatusQuery{State: history.Errored})
	require.NoError(t, err)
	require.Equal(t, "{0="+cut(3997), page.Rows[0].Message)
	ofJob, err := s.Executions(t.Context(), history.ExecutionQuery{Job: long})
	require.NoError(t, err)
	require.Equal(t, 1, ofJob.Total, "a job is asked for by its whole name")
	page, err = s.Statuses(t.Context(), history.StatusQuery{Job: long})
	require.NoError(t, err)
	require.Equal(t, 2, page.Total)
}

// A database that takes all events but one keeps that one in plain characters.
func testRefusedEvent(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (failure_cause NOT LIKE '%€%')"))
	var log bytes.Buffer
	s := p.over(t, db, sqlstore.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	want := []history.Execution{
		started(0, begin).Ended(begin, errors.New("zu früh"), nil),
		started(1, begin).Ended(begin, errors.New("12 € für früh"), nil),
		started(2, begin),
	}
	write(t, s, want[0], want[1], want[2])
	want[1].FailureCause = "12 ? f?r fr?h"
	require.Equal(t, want, inSeconds(t, p, want, all(t, s)))
	require.Equal(t, 1, strings.Count(log.String(), "plain characters"), log.String())

	exec(t, db, "DROP TABLE JOB_EXECUTION_LOG")
	require.Error(t, s.Write(t.Context(), []history.Event{want[0]}), "what takes nothing at all is out of order")
}

// An event that a table holds in no form is rejected, and the others of its batch are stored, also those behind it.
func testRejectedEvents(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (sharding_item < 2000)"))
	s := p.over(t, db)
	want := []history.Execution{started(0, begin), started(1, begin), started(2, begin)}
	r := round(begin)
	err := s.Write(t.Context(), []history.Event{
		want[0], started(2001, begin), r.Staged(), want[1], started(2002, begin), started(2003, begin), r.Running(begin), want[2],
	})
	var rejected *history.RejectedError
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, 3, rejected.Count)
	require.Error(t, rejected.Err)
	require.Equal(t, want, inSeconds(t, p, want, all(t, s)), "and nothing else")
	steps, err := s.Statuses(t.Context(), history.StatusQuery{})
	require.NoError(t, err)
	require.Equal(t, 2, steps.Total)

	rejected = nil
	require.ErrorAs(t, s.Write(t.Context(), []history.Event{started(2004, begin)}), &rejected, "also of one that comes alone")
	require.Equal(t, 1, rejected.Count)
	require.Len(t, all(t, s), 3)

	exec(t, db, "DELETE FROM JOB_EXECUTION_LOG")
	exec(t, db, "DROP TABLE JOB_STATUS_TRACE_LOG")
	err = s.Write(t.Context(), []history.Event{want[0], r.End(), started(2005, begin)})
	require.Error(t, err)
	require.NotErrorAs(t, err, new(*history.RejectedError), "what a table that is out of order refuses, it may take later")
}

// A constraint that refuses what is made up, too, is known from a table that takes nothing by the rows that it has taken.
func testConstraintOnNames(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (job_name IN ('orders', 'mail'))"))
	s := p.over(t, db)
	unknown := started(1, begin)
	unknown.Job = "new"
	write(t, s, started(0, begin))
	var rejected *history.RejectedError
	require.ErrorAs(t, s.Write(t.Context(), []history.Event{unknown}), &rejected)
	require.Equal(t, 1, rejected.Count)
	want := []history.Execution{started(0, begin), started(2, begin)}
	write(t, s, want[1])
	require.Equal(t, want, inSeconds(t, p, want, all(t, s)), "and no copy")

	exec(t, db, "DELETE FROM JOB_EXECUTION_LOG")
	require.NotErrorAs(t, s.Write(t.Context(), []history.Event{unknown}), new(*history.RejectedError), "an empty table may be out of order")
}

// An event beyond the last partition of a table, as of a clock that is ahead, does not keep others from being stored.
func testNoPartition(t *testing.T, p place) {
	if p.dialect != sqlstore.MySQL {
		t.Skip("elsewhere a partitioned table cannot have the key that the store needs")
	}
	s, db := p.store(t)
	require.NoError(t, s.Prepare(t.Context()))
	exec(t, db, `ALTER TABLE JOB_EXECUTION_LOG MODIFY start_time TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3),
		DROP PRIMARY KEY, ADD PRIMARY KEY (id, start_time)`)
	exec(t, db, `ALTER TABLE JOB_EXECUTION_LOG PARTITION BY RANGE (UNIX_TIMESTAMP(start_time))
		(PARTITION p1 VALUES LESS THAN (UNIX_TIMESTAMP('2026-03-02 00:00:00')))`)
	write(t, s, started(0, begin))
	today := started(4, time.Now().UTC().Truncate(time.Millisecond))
	for range 2 {
		err := s.Write(t.Context(), []history.Event{today})
		require.Error(t, err, "today's partition is late")
		require.NotErrorAs(t, err, new(*history.RejectedError), "and comes")
	}
	exec(t, db, `ALTER TABLE JOB_EXECUTION_LOG ADD PARTITION (PARTITION p2 VALUES LESS THAN (UNIX_TIMESTAMP('2037-01-01 00:00:00')))`)
	write(t, s, today)
	for _, events := range [][]history.Event{
		{started(1, begin.AddDate(11, 0, 0)), started(2, begin)},
		{started(3, begin.AddDate(11, 0, 0))},
	} {
		var rejected *history.RejectedError
		require.ErrorAs(t, s.Write(t.Context(), events), &rejected)
		require.Equal(t, 1, rejected.Count)
	}
	require.Equal(t, []history.Execution{started(0, begin), started(2, begin), today}, all(t, s))
}

// A table that takes what is old and nothing of now, as while today's partition is missing, is out of order: what it takes of
// yesterday, in the same batch or before, does not have events of now given up.
func testNothingOfNow(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (start_time < '2026-03-02')"))
	s := p.over(t, db)
	write(t, s, started(0, begin), started(1, begin).Ended(begin.Add(time.Second), nil, nil))
	now := time.Now()
	for _, events := range [][]history.Event{
		{started(2, now)},
		{started(3, begin), started(2, now)},
		{started(2, now), started(4, begin).Ended(begin.Add(time.Hour), nil, nil)},
	} {
		err := s.Write(t.Context(), events)
		require.Error(t, err)
		require.NotErrorAs(t, err, new(*history.RejectedError))
	}
	write(t, s, started(5, begin))
	require.Len(t, all(t, s), 5, "no copy is left, and what is old was stored")
}

// What is out of order with one table does not have the events of the other one wait, be there ever so many.
func testNothingOfNowInOneTable(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (start_time < '2026-03-02')"))
	s := p.over(t, db)
	now := time.Now()
	events := make([]history.Event, 0, 60)
	for i := range 50 {
		events = append(events, started(i, now))
	}
	r := round(now)
	events = append(events, r.Staged(), r.Running(now), r.End())
	err := s.Write(t.Context(), events)
	require.Error(t, err)
	require.NotErrorAs(t, err, new(*history.RejectedError))
	steps, err := s.Statuses(t.Context(), history.StatusQuery{})
	require.NoError(t, err)
	require.Equal(t, 3, steps.Total)
}

// Ends of now wait where the table takes none of now, though it takes starts.
func testNoEndsOfNow(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (complete_time < '2026-03-02')"))
	s := p.over(t, db)
	now := time.Now()
	write(t, s, started(0, begin).Ended(begin, nil, nil), started(1, now))
	err := s.Write(t.Context(), []history.Event{started(2, now), started(1, now).Ended(now, nil, nil), started(3, now)})
	require.Error(t, err)
	require.NotErrorAs(t, err, new(*history.RejectedError))
	require.Len(t, all(t, s), 4)
}

// A constraint on times does not keep the store from telling that the table takes others than those of an unknown job.
func testConstraintOnNamesAndTimes(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ", CHECK (job_name IN ('orders', 'mail')), CHECK (complete_time > start_time)"))
	s := p.over(t, db)
	write(t, s, started(0, begin).Ended(begin.Add(time.Second), nil, nil))
	unknown := started(1, begin.Add(time.Hour))
	unknown.Job = "new"
	var rejected *history.RejectedError
	require.ErrorAs(t, s.Write(t.Context(), []history.Event{unknown}), &rejected)
	require.Equal(t, 1, rejected.Count)
}

// A table that takes nothing, whatever it is, is out of order: its events are not given up.
func TestATableThatTakesNothing(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	db := p.open(t)
	exec(t, db, strings.Replace(javaExecutions(p.dialect, ""), "ip VARCHAR(50)", "by_whom VARCHAR(10) NOT NULL, ip VARCHAR(50)", 1))
	exec(t, db, javaStatuses)
	s := p.over(t, db)
	err := s.Write(t.Context(), []history.Event{started(0, begin), round(begin).Staged(), started(1, begin)})
	require.ErrorContains(t, err, "by_whom")
	require.NotErrorAs(t, err, new(*history.RejectedError))
	events := make([]history.Event, 100)
	for i := range events {
		events[i] = started(i, begin)
	}
	require.ErrorContains(t, s.Write(t.Context(), events), "by_whom")
}

// A table whose causes are narrower than Elastic-Job's gets the beginning of a long one.
func testNarrowTable(t *testing.T, p place) {
	db := p.open(t)
	statement := strings.Replace(javaExecutions(p.dialect, ""), "VARCHAR(4000)", "VARCHAR(2000)", 1)
	if p.dialect == sqlstore.SQLite { // which does not care for lengths
		statement = javaExecutions(p.dialect, ", CHECK (length(failure_cause) <= 2000)")
	}
	exec(t, db, statement)
	s := p.over(t, db)
	want := []history.Execution{
		started(0, begin).Ended(begin, errors.New(strings.Repeat("x", 2001)), nil),
		started(1, begin).Ended(begin, errors.New(strings.Repeat("y", 2000)), nil),
	}
	write(t, s, want[0], want[1])
	want[0].FailureCause = strings.Repeat("x", 255)
	require.Equal(t, want, inSeconds(t, p, want, all(t, s)))
}

// However little time a Write has, a batch comes to its end: what it has found out before counts.
func TestRejectedEventsOfASlowDatabase(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	plainDB := p.open(t)
	exec(t, plainDB, javaExecutions(p.dialect, ", CHECK (sharding_item % 3 > 0)"))
	var file string
	require.NoError(t, plainDB.QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file))
	counted := &begins{of: plainDB.Driver(), file: "file:" + filepath.ToSlash(file) + "?_txlock=immediate"}
	db := sql.OpenDB(counted)
	defer db.Close()
	s := p.over(t, db)
	require.NoError(t, s.Prepare(t.Context()))
	events := make([]history.Event, 120)
	for i := range events {
		events[i] = started(i, begin)
	}
	var err error
	var rejected *history.RejectedError
	for writes := 0; writes < 40 && !errors.As(err, &rejected); writes++ {
		ctx, cancel := context.WithCancel(t.Context())
		counted.count.Store(0)
		counted.most, counted.atMost = 40, cancel
		err = s.Write(ctx, events)
		cancel()
	}
	counted.most = 0
	require.ErrorAs(t, err, &rejected)
	require.Equal(t, 40, rejected.Count)
	page, err := s.Executions(t.Context(), history.ExecutionQuery{})
	require.NoError(t, err)
	require.Equal(t, 80, page.Total)
	require.ErrorAs(t, s.Write(t.Context(), events[:3]), &rejected, "what is known of one batch is not taken to the next")
	require.ErrorContains(t, rejected.Err, "constraint")
}

// begins counts the transactions of a database.
type begins struct {
	of    driver.Driver
	file  string
	count atomic.Int64

	most   int64  // how many may begin before atMost is called; 0 is any number
	atMost func() // not to be changed while there are transactions
	refuse int64  // how many of the first fail since the file is locked
}

// locked is what the driver of SQLite says of a file that another one writes to for too long.
type locked struct{}

func (locked) Error() string { return "database is locked" }
func (locked) Code() int     { return 5 }

func (b *begins) Driver() driver.Driver { return b.of }

// conn is what the driver of SQLite can do of which the store makes use.
type conn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
}

type countedConn struct {
	conn
	of *begins
}

func (c countedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	n := c.of.count.Add(1)
	if c.of.most > 0 && n > c.of.most {
		c.of.atMost()
	}
	if n <= c.of.refuse {
		return nil, locked{}
	}
	return c.conn.BeginTx(ctx, opts)
}

func (b *begins) Connect(context.Context) (driver.Conn, error) {
	opened, err := b.of.Open(b.file)
	if err != nil {
		return nil, err
	}
	return countedConn{opened.(conn), b}, nil
}

// A lock that ends while an event is tried says nothing against the event, which is stored as it is, under the name of its job.
func TestALockIsNoFaultOfTheEvent(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	for refuse := range int64(5) {
		counted := &begins{of: p.open(t).Driver(), file: "file:" + filepath.ToSlash(t.TempDir()) + "/history.db?_txlock=immediate"}
		db := sql.OpenDB(counted)
		var log bytes.Buffer
		s := p.over(t, db, sqlstore.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, s.Prepare(t.Context()))
		counted.count.Store(0)
		counted.refuse = refuse
		want := started(0, begin).Ended(begin, errors.New(strings.Repeat("нет ", 100)), nil)
		want.Job = "счета"
		for tries := 0; s.Write(t.Context(), []history.Event{want}) != nil; tries++ {
			require.Less(t, tries, 10)
		}
		require.Equal(t, []history.Execution{want}, all(t, s), "locked for %d tries", refuse)
		require.Empty(t, log.String())
		require.NoError(t, db.Close())
	}
}

// Of a full batch with one event that the database refuses, the others are stored in few transactions: on a slow link, one for
// each would take longer than a sink may, and would begin anew for ever.
func TestARefusedEventOfMany(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	plainDB := p.open(t)
	exec(t, plainDB, javaExecutions(p.dialect, ", CHECK (failure_cause NOT LIKE '%€%')"))
	var file string
	require.NoError(t, plainDB.QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file))
	for _, at := range []int{0, 300, 511} {
		counted := &begins{of: plainDB.Driver(), file: "file:" + filepath.ToSlash(file) + "?_txlock=immediate"}
		db := sql.OpenDB(counted)
		s := p.over(t, db)
		require.NoError(t, s.Prepare(t.Context()))
		counted.count.Store(0)
		exec(t, plainDB, "DELETE FROM JOB_EXECUTION_LOG")
		events := make([]history.Event, 512)
		for i := range events {
			e := started(i, begin)
			events[i] = e
			if i == at {
				events[i] = e.Ended(begin, errors.New("12 €"), nil)
			}
		}
		write(t, s, events...)
		page, err := s.Executions(t.Context(), history.ExecutionQuery{})
		require.NoError(t, err)
		require.Equal(t, 512, page.Total)
		require.LessOrEqual(t, counted.count.Load(), int64(1+2*9+2), "the batch, two halves nine times, and the one event twice more")
		require.NoError(t, db.Close())
	}
}

// Several processes may come upon an empty database at once.
func testPrepareTogether(t *testing.T, p place) {
	db := p.open(t)
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		s := p.over(t, db)
		wg.Go(func() { errs[i] = s.Write(t.Context(), []history.Event{started(i, begin)}) })
	}
	wg.Wait()
	require.Equal(t, make([]error, 6), errs)
	require.Len(t, all(t, p.over(t, db)), 6)
}

func TestNew(t *testing.T) {
	t.Parallel()
	_, err := sqlstore.New(nil, "oracle", sqlstore.WithLocation(nil), sqlstore.WithLogger(nil))
	require.ErrorIs(t, err, sqlstore.ErrInvalidOption)
	require.Equal(t, []string{
		"invalid option: database is nil",
		`invalid option: dialect "oracle" is not "sqlite", "postgres" or "mysql"`,
		"invalid option: location is nil",
		"invalid option: logger is nil",
	}, strings.Split(err.Error(), "\n"))
	db, err := sql.Open("sqlite", "file:"+t.TempDir()+"/no/such/folder.db")
	require.NoError(t, err)
	defer db.Close()
	s, err := sqlstore.New(db, sqlstore.SQLite)
	require.NoError(t, err)
	require.ErrorContains(t, s.Write(t.Context(), nil), "prepare the tables")
}
