package sqlstore_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/tracing"
)

func ptr[T any](v T) *T { return &v }

func testFilters(t *testing.T, p place) {
	s, _ := p.store(t)
	minute := func(n int) time.Time { return begin.Add(time.Duration(n) * time.Minute) }
	// Each differs from the first in what a filter asks for.
	rows := make([]tracing.Execution, 9)
	for i := range rows {
		rows[i] = started(i, minute(i))
	}
	rows[1].Job = "invoices"
	rows[2].Round = "R2"
	rows[3].TaskID = "t"
	rows[4].IP = "10.0.0.2"
	rows[5].Source = job.Failover
	rows[6].Source, rows[6].Fire = job.Manual, time.Time{}
	rows[7] = rows[7].Ended(minute(8), nil, nil)
	rows[8] = rows[8].Ended(minute(9), errors.New("no"), nil)
	for _, e := range rows {
		write(t, s, e)
	}
	for _, row := range []struct {
		name  string
		query tracing.ExecutionQuery
		want  []int
	}{
		{"none", tracing.ExecutionQuery{}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"job", tracing.ExecutionQuery{Job: "invoices"}, []int{1}},
		{"job is no pattern", tracing.ExecutionQuery{Job: "%"}, nil},
		{"job is no statement", tracing.ExecutionQuery{Job: "' OR '1'='1"}, nil},
		{"round", tracing.ExecutionQuery{Round: "R2"}, []int{2}},
		{"task", tracing.ExecutionQuery{TaskID: "t"}, []int{3}},
		{"ip", tracing.ExecutionQuery{IP: "10.0.0.2"}, []int{4}},
		{"failover", tracing.ExecutionQuery{Source: job.Failover}, []int{5}},
		{"by hand", tracing.ExecutionQuery{Source: job.Manual}, []int{6}},
		{"scheduled", tracing.ExecutionQuery{Source: job.Scheduled}, []int{0, 1, 2, 3, 4, 7, 8}},
		{"success", tracing.ExecutionQuery{Success: ptr(true)}, []int{7}},
		{"no success", tracing.ExecutionQuery{Success: ptr(false)}, []int{0, 1, 2, 3, 4, 5, 6, 8}},
		{"item", tracing.ExecutionQuery{Item: ptr(0)}, []int{0}},
		{"from", tracing.ExecutionQuery{From: minute(6)}, []int{6, 7, 8}},
		{"from in another zone", tracing.ExecutionQuery{From: minute(6).In(time.FixedZone("", 7*3600))}, []int{6, 7, 8}},
		{"until", tracing.ExecutionQuery{Until: minute(1)}, []int{0, 1}},
		{"between", tracing.ExecutionQuery{From: minute(3).Add(time.Millisecond), Until: minute(5).Add(-time.Millisecond)}, []int{4}},
		{"all at once", tracing.ExecutionQuery{
			Job: "orders", Round: "R1", TaskID: rows[7].TaskID, IP: "10.0.0.1", Source: job.Scheduled, Success: ptr(true), Item: ptr(7),
			From: minute(7), Until: minute(7),
		}, []int{7}},
	} {
		row.query.Ascending = true
		page, err := s.Executions(t.Context(), row.query)
		require.NoError(t, err, row.name)
		require.Equal(t, len(row.want), page.Total, row.name)
		var want []tracing.Execution
		for _, i := range row.want {
			want = append(want, rows[i])
		}
		require.Equal(t, want, page.Rows, row.name)
	}

	r := round(begin)
	steps := []tracing.Status{r.Staged(), r.Running(minute(1)), r.End(), r.End(), r.End()}
	steps[2].Time = minute(2)
	steps[3].ID, steps[3].Job, steps[3].TaskID, steps[3].Time = "s3", "invoices", "t", minute(3)
	steps[4].ID, steps[4].Round, steps[4].Source, steps[4].ExecutionType, steps[4].Time = "s4", "R2", "CLOUD_EXECUTOR", "FAILOVER", minute(4)
	for _, step := range steps {
		write(t, s, step)
	}
	for _, row := range []struct {
		name  string
		query tracing.StatusQuery
		want  []int
	}{
		{"none", tracing.StatusQuery{}, []int{0, 1, 2, 3, 4}},
		{"job", tracing.StatusQuery{Job: "invoices"}, []int{3}},
		{"round", tracing.StatusQuery{Round: "R2"}, []int{4}},
		{"task", tracing.StatusQuery{TaskID: "t"}, []int{3}},
		{"source", tracing.StatusQuery{Source: tracing.SourceLite}, []int{0, 1, 2, 3}},
		{"type", tracing.StatusQuery{ExecutionType: tracing.ExecutionReady}, []int{0, 1, 2, 3}},
		{"state", tracing.StatusQuery{State: tracing.Running}, []int{1}},
		{"between", tracing.StatusQuery{From: minute(1), Until: minute(2)}, []int{1, 2}},
	} {
		row.query.Ascending = true
		page, err := s.Statuses(t.Context(), row.query)
		require.NoError(t, err, row.name)
		var want []tracing.Status
		for _, i := range row.want {
			want = append(want, steps[i])
		}
		require.Equal(t, tracing.Page[tracing.Status]{Rows: want, Total: len(want)}, page, row.name)
	}
}

func testPaging(t *testing.T, p place) {
	s, _ := p.store(t)
	var events []tracing.Event
	for n := range 25 {
		e := started(n, begin.Add(time.Duration(n/5)*time.Minute)) // five at a time
		e.ID = fmt.Sprintf("id-%02d", n)
		events = append(events, e)
	}
	write(t, s, events...)
	items := func(paging tracing.Paging) (items []int) {
		t.Helper()
		page, err := s.Executions(t.Context(), tracing.ExecutionQuery{Paging: paging})
		require.NoError(t, err)
		require.Equal(t, 25, page.Total)
		for _, e := range page.Rows {
			items = append(items, e.Item)
		}
		return items
	}
	require.Equal(t, []int{24, 23, 22, 21, 20, 19, 18, 17, 16, 15}, items(tracing.Paging{}), "the newest ten")
	require.Equal(t, []int{4, 3, 2, 1, 0}, items(tracing.Paging{Page: 3}))
	require.Empty(t, items(tracing.Paging{Page: 4}))
	require.Equal(t, []int{7, 8, 9, 10, 11, 12, 13}, items(tracing.Paging{Page: 2, PerPage: 7, Sort: "shardingItem", Ascending: true}))
	require.Equal(t, []int{24, 23}, items(tracing.Paging{PerPage: 2, Sort: "jobName"}), "equal ones by id")
	for _, by := range tracing.ExecutionSorts() {
		require.Len(t, items(tracing.Paging{Sort: by}), 10)
	}
	for _, by := range tracing.StatusSorts() {
		_, err := s.Statuses(t.Context(), tracing.StatusQuery{Paging: tracing.Paging{Sort: by}})
		require.NoError(t, err, by)
	}
}

func testInvalidQueries(t *testing.T, p place) {
	s, _ := p.store(t)
	for _, row := range []struct {
		paging tracing.Paging
		want   string
	}{
		{tracing.Paging{Page: -1}, "invalid query: page -1 is not 1 to 1073741824"},
		{tracing.Paging{PerPage: -1}, "invalid query: -1 rows per page are not 1 to 1000"},
		{tracing.Paging{PerPage: 1001}, "invalid query: 1001 rows per page are not 1 to 1000"},
		{tracing.Paging{Sort: "id; DROP TABLE JOB_EXECUTION_LOG"}, `invalid query: sort "id; DROP TABLE JOB_EXECUTION_LOG" is none of id, `},
	} {
		_, err := s.Executions(t.Context(), tracing.ExecutionQuery{Paging: row.paging})
		require.ErrorIs(t, err, tracing.ErrInvalidQuery)
		require.ErrorContains(t, err, row.want)
		_, err = s.Statuses(t.Context(), tracing.StatusQuery{Paging: row.paging})
		require.ErrorContains(t, err, row.want)
	}
}
