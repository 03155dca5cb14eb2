package sqlstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/job"
)

func ptr[T any](v T) *T { return &v }

// A query for a job is about that one, also where the database takes other names for equal.
func testJobNames(t *testing.T, p place) {
	s, _ := p.store(t)
	names := []string{"orders", "ORDERS", "órders", "orders ", "orders2"}
	for i, name := range names {
		e, step := started(i, begin), round(begin).Staged()
		e.Job, step.Job, step.ID = name, name, fmt.Sprint("s", i)
		write(t, s, e, step)
	}
	for i, name := range names {
		rows, err := s.Executions(t.Context(), history.ExecutionQuery{Job: name})
		require.NoError(t, err)
		require.Equal(t, 1, rows.Total, name)
		require.Equal(t, i, rows.Rows[0].Item)
		require.Equal(t, name, rows.Rows[0].Job)
		steps, err := s.Statuses(t.Context(), history.StatusQuery{Job: name})
		require.NoError(t, err)
		require.Equal(t, 1, steps.Total, name)
		require.Equal(t, name, steps.Rows[0].Job)
	}
}

func testFilters(t *testing.T, p place) {
	s, _ := p.store(t)
	minute := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }
	// Each differs from the first in what a filter asks for.
	rows := make([]history.Execution, 9)
	for i := range rows {
		rows[i] = started(i, minute(i))
	}
	rows[1].Job = "invoices"
	rows[2].Round = "R2"
	rows[3].TaskID = "t"
	rows[4].IP = "10.0.0.2"
	rows[4].TaskID = "orders@-@4@-@READY@-@10.0.0.2@-@a_b!"
	rows[5].Source = job.Failover
	rows[6].Source, rows[6].Fire = job.Manual, time.Time{}
	rows[7] = rows[7].Ended(minute(8), nil, nil)
	rows[8] = rows[8].Ended(minute(9), errors.New("no"), nil)
	for _, e := range rows {
		write(t, s, e)
	}
	for _, row := range []struct {
		name  string
		query history.ExecutionQuery
		want  []int
	}{
		{"none", history.ExecutionQuery{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"job", history.ExecutionQuery{Job: "invoices"}, []int{1}},
		{"job is no pattern", history.ExecutionQuery{Job: "%"}, nil},
		{"job is no statement", history.ExecutionQuery{Job: "' OR '1'='1"}, nil},
		{"round", history.ExecutionQuery{Round: "R2"}, []int{2}},
		{"task", history.ExecutionQuery{TaskID: "t"}, []int{3}},
		{"ip", history.ExecutionQuery{IP: "10.0.0.2"}, []int{4}},
		{"instance", history.ExecutionQuery{Instance: "10.0.0.2@-@a_b!"}, []int{4}},
		{"instance is no pattern", history.ExecutionQuery{Instance: "10.0.0.2@-@a%"}, nil},
		{"instance in other letters", history.ExecutionQuery{Instance: "10.0.0.2@-@A_b!"}, nil},
		{"instance with a space", history.ExecutionQuery{Instance: "10.0.0.2@-@a_b! "}, nil},
		{"task in other letters", history.ExecutionQuery{TaskID: "T"}, nil},
		{"instance is whole", history.ExecutionQuery{Instance: "b!"}, nil},
		{"running", history.ExecutionQuery{Running: ptr(true)}, []int{0, 1, 2, 3, 4, 5, 6}},
		{"ended", history.ExecutionQuery{Running: ptr(false)}, []int{7, 8}},
		{"failed", history.ExecutionQuery{Running: ptr(false), Success: ptr(false)}, []int{8}},
		{"failover", history.ExecutionQuery{Source: job.Failover}, []int{5}},
		{"by hand", history.ExecutionQuery{Source: job.Manual}, []int{6}},
		{"scheduled", history.ExecutionQuery{Source: job.Scheduled}, []int{0, 1, 2, 3, 4, 7, 8}},
		{"success", history.ExecutionQuery{Success: ptr(true)}, []int{7}},
		{"no success", history.ExecutionQuery{Success: ptr(false)}, []int{0, 1, 2, 3, 4, 5, 6, 8}},
		{"item", history.ExecutionQuery{Item: ptr(0)}, []int{0}},
		{"from", history.ExecutionQuery{From: minute(6)}, []int{6, 7, 8}},
		{"from in another zone", history.ExecutionQuery{From: minute(6).In(time.FixedZone("", 7*3600))}, []int{6, 7, 8}},
		{"until", history.ExecutionQuery{Until: minute(1)}, []int{0, 1}},
		{"between", history.ExecutionQuery{From: minute(3).Add(time.Millisecond), Until: minute(5).Add(-time.Millisecond)}, []int{4}},
		{"all at once", history.ExecutionQuery{
			Job: "orders", Round: "R1", TaskID: rows[7].TaskID, IP: "10.0.0.1", Source: job.Scheduled, Success: ptr(true), Item: ptr(7),
			From: minute(7), Until: minute(7),
		}, []int{7}},
	} {
		row.query.Ascending = true
		page, err := s.Executions(t.Context(), row.query)
		require.NoError(t, err, row.name)
		require.Equal(t, len(row.want), page.Total, row.name)
		var want []history.Execution
		for _, i := range row.want {
			want = append(want, rows[i])
		}
		require.Equal(t, want, page.Rows, row.name)
	}

	r := round(begin)
	steps := []history.Status{r.Staged(), r.Running(minute(1)), r.End(), r.End(), r.End()}
	steps[2].Time = minute(2)
	steps[3].ID, steps[3].Job, steps[3].TaskID, steps[3].Time = "s3", "invoices", "t", minute(3)
	steps[4].ID, steps[4].Round, steps[4].Source, steps[4].ExecutionType, steps[4].Time = "s4", "R2", "CLOUD_EXECUTOR", "FAILOVER", minute(4)
	for _, step := range steps {
		write(t, s, step)
	}
	for _, row := range []struct {
		name  string
		query history.StatusQuery
		want  []int
	}{
		{"none", history.StatusQuery{}, []int{0, 1, 2, 3, 4}},
		{"job", history.StatusQuery{Job: "invoices"}, []int{3}},
		{"round", history.StatusQuery{Round: "R2"}, []int{4}},
		{"task", history.StatusQuery{TaskID: "t"}, []int{3}},
		{"source", history.StatusQuery{Source: history.SourceLite}, []int{0, 1, 2, 3}},
		{"type", history.StatusQuery{ExecutionType: history.ExecutionReady}, []int{0, 1, 2, 3}},
		{"state", history.StatusQuery{State: history.Running}, []int{1}},
		{"between", history.StatusQuery{From: minute(1), Until: minute(2)}, []int{1, 2}},
	} {
		row.query.Ascending = true
		page, err := s.Statuses(t.Context(), row.query)
		require.NoError(t, err, row.name)
		var want []history.Status
		for _, i := range row.want {
			want = append(want, steps[i])
		}
		require.Equal(t, history.Page[history.Status]{Rows: want, Total: len(want)}, page, row.name)
	}
}

func testPaging(t *testing.T, p place) {
	s, _ := p.store(t)
	var events []history.Event
	for n := range 25 {
		e := started(n, begin.Add(time.Duration(n/5)*time.Minute)) // five at a time
		e.ID = fmt.Sprintf("id-%02d", n)
		events = append(events, e)
	}
	write(t, s, events...)
	items := func(paging history.Paging) (items []int) {
		t.Helper()
		page, err := s.Executions(t.Context(), history.ExecutionQuery{Paging: paging})
		require.NoError(t, err)
		require.Equal(t, 25, page.Total)
		for _, e := range page.Rows {
			items = append(items, e.Item)
		}
		return items
	}
	require.Equal(t, []int{24, 23, 22, 21, 20, 19, 18, 17, 16, 15}, items(history.Paging{}), "the newest ten")
	require.Equal(t, []int{4, 3, 2, 1, 0}, items(history.Paging{Page: 3}))
	require.Empty(t, items(history.Paging{Page: 4}))
	require.Equal(t, []int{7, 8, 9, 10, 11, 12, 13}, items(history.Paging{Page: 2, PerPage: 7, Sort: "shardingItem", Ascending: true}))
	require.Equal(t, []int{24, 23}, items(history.Paging{PerPage: 2, Sort: "jobName"}), "equal ones by id")
	for _, by := range history.ExecutionSorts() {
		require.Len(t, items(history.Paging{Sort: by}), 10)
	}
	for _, by := range history.StatusSorts() {
		_, err := s.Statuses(t.Context(), history.StatusQuery{Paging: history.Paging{Sort: by}})
		require.NoError(t, err, by)
	}
}

func testInvalidQueries(t *testing.T, p place) {
	s, _ := p.store(t)
	for _, row := range []struct {
		paging history.Paging
		want   string
	}{
		{history.Paging{Page: -1}, "invalid query: page -1 is not 1 to 1073741824"},
		{history.Paging{PerPage: -1}, "invalid query: -1 rows per page are not 1 to 1000"},
		{history.Paging{PerPage: 1001}, "invalid query: 1001 rows per page are not 1 to 1000"},
		{history.Paging{Sort: "id; DROP TABLE JOB_EXECUTION_LOG"}, `invalid query: sort "id; DROP TABLE JOB_EXECUTION_LOG" is none of id, `},
	} {
		_, err := s.Executions(t.Context(), history.ExecutionQuery{Paging: row.paging})
		require.ErrorIs(t, err, history.ErrInvalidQuery)
		require.ErrorContains(t, err, row.want)
		_, err = s.Statuses(t.Context(), history.StatusQuery{Paging: row.paging})
		require.ErrorContains(t, err, row.want)
	}
}

// Texts that no database takes are stored as others, and found by what they were.
func testTextsOfQueries(t *testing.T, p place) {
	t.Parallel()
	s, _ := p.store(t)
	odd := started(0, begin)
	odd.Round, odd.TaskID, odd.IP = "R\x00", "t\xff"+history.BeforeInstance+"a\x00", "\x00"
	write(t, s, odd, started(1, begin))
	for field, query := range map[string]history.ExecutionQuery{
		"round": {Round: odd.Round}, "task": {TaskID: odd.TaskID}, "address": {IP: odd.IP}, "instance": {Instance: "a\x00"},
	} {
		page, err := s.Executions(t.Context(), query)
		require.NoError(t, err, field)
		require.Equal(t, 1, page.Total, field)
	}
	steps, err := s.Statuses(t.Context(), history.StatusQuery{Source: "\x00", ExecutionType: "\xff", State: "\x00"})
	require.NoError(t, err)
	require.Zero(t, steps.Total)
}
