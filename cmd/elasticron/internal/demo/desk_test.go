package demo

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// parent is the other side of a desk.
type parent struct {
	reports *json.Decoder
	answers *json.Encoder
	hangUp  func() // as if the parent ended
	stopped chan struct{}
}

func newParent(t *testing.T) (*desk, *parent) {
	t.Helper()
	fromChild, toParent := io.Pipe()
	fromParent, toChild := io.Pipe()
	d := newDesk(toParent)
	d.instance = "10.0.0.1@-@7"
	listened := make(chan struct{})
	p := &parent{reports: json.NewDecoder(fromChild), answers: json.NewEncoder(toChild), stopped: make(chan struct{})}
	stop := sync.OnceFunc(func() { close(p.stopped) })
	go func() { defer close(listened); d.listen(json.NewDecoder(fromParent), stop) }()
	p.hangUp = func() { _ = toChild.Close(); <-listened }
	t.Cleanup(p.hangUp)
	return d, p
}

func (p *parent) read(t *testing.T) report {
	t.Helper()
	var r report
	require.NoError(t, p.reports.Decode(&r))
	return r
}

var oneRun = job.ShardingContext{
	Item: 1, TotalCount: 2, Token: 40, Source: job.Scheduled, Fire: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
}

func TestARunIsOverWhenTheStoreHasAnswered(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		answer answer
		want   string // part of the error; empty = none
	}{
		{"kept", answer{Item: 1, Token: 40}, ""},
		{"refused", answer{Item: 1, Token: 40, Refused: "stale token"}, "the store refused the result: stale token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d, p := newParent(t)
			tree := fstest.MapFS{"a": {Data: []byte("x\n")}, "b": {}, "c": {}, "d": {}}
			share, err := fileindex.Share(t.Context(), tree, 1, 2)
			require.NoError(t, err)
			done := make(chan error, 1)
			go func() { done <- counter{tree: tree, desk: d}.count(context.Background(), oneRun) }()

			want := runOf(oneRun)
			want.Instance = "10.0.0.1@-@7"
			require.Equal(t, report{Kind: reportStarted, Instance: want.Instance, Run: want}, p.read(t))
			want.Sum = share
			require.Equal(t, report{Kind: reportResult, Instance: want.Instance, Run: want}, p.read(t))
			require.NoError(t, p.answers.Encode(answer{Item: 1, Token: 39}), "an answer to another run")
			require.NoError(t, p.answers.Encode(tt.answer))
			if err := <-done; tt.want == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, tt.want)
			}
		})
	}
}

func TestARunEndsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	d, p := newParent(t)
	done := make(chan error, 1)
	run := tally.Result{Item: 1, Token: 40}
	go func() { done <- d.put(context.Background(), run) }()
	p.read(t)
	p.hangUp()
	require.ErrorIs(t, <-done, errNoAnswer)
	require.ErrorIs(t, d.put(context.Background(), run), errNoAnswer, "nobody can answer any more")

	d, p = newParent(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { done <- d.put(ctx, run) }()
	p.read(t)
	lost := errors.New("session lost")
	cancel(lost)
	require.ErrorIs(t, <-done, lost)
}

func TestAStopIsHeardAndWhatRunsIsStillAnswered(t *testing.T) {
	t.Parallel()
	d, p := newParent(t)
	done := make(chan error, 1)
	go func() { done <- d.put(context.Background(), tally.Result{Item: 1, Token: 40}) }()
	p.read(t)
	require.NoError(t, p.answers.Encode(answer{Stop: true}))
	<-p.stopped
	require.NoError(t, p.answers.Encode(answer{Item: 1, Token: 40}))
	require.NoError(t, <-done)

	_, p = newParent(t)
	p.hangUp()
	<-p.stopped // a parent that is gone wants the same
}
