//go:build linux

package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// The kinds of events.
const (
	kindBegan     = "began"     // the code of an item was called
	kindCancelled = "cancelled" // its context ended while it ran
	kindEnded     = "ended"     // it returned
	kindRecorded  = "recorded"  // the scheduler says that its end was recorded
	kindRefused   = "refused"   // the scheduler says that its end was refused
	kindElected   = "elected"   // the instance leads the job now
	kindTold      = "told"      // the process heard that it is to stop
	kindDown      = "down"      // the process ends by itself, with nothing left
	kindStalled   = "stalled"   // the process stood still: it was given no processor
)

// event is a line of an instance's journal.
type event struct {
	Kind string `json:"kind"`
	moment
	Instance  string     `json:"instance"`
	Job       string     `json:"job,omitempty"`
	Item      int        `json:"item"`
	Total     int        `json:"total,omitempty"`
	Parameter string     `json:"parameter,omitempty"`
	Fire      time.Time  `json:"fire,omitzero"`
	Source    job.Source `json:"source,omitempty"`
	Token     int64      `json:"token,omitempty"`
	Failure   *failure   `json:"failure,omitempty"` // what it was cancelled, ended or refused with

	Stalled time.Duration `json:"stalled,omitempty"` // for how long it stood still
}

// eventOf makes an event about an execution.
func eventOf(kind string, sc job.ShardingContext, err error) event {
	return event{
		Kind: kind, Job: sc.JobName, Item: sc.Item, Total: sc.TotalCount, Parameter: sc.JobParameter,
		Fire: sc.Fire, Source: sc.Source, Token: sc.Token, Failure: failureOf(err),
	}
}

// context returns what the code was told, as far as an event keeps it.
func (e event) context() job.ShardingContext {
	return job.ShardingContext{
		JobName: e.Job, Item: e.Item, TotalCount: e.Total, JobParameter: e.Parameter,
		Fire: e.Fire, Source: e.Source, Token: e.Token,
	}
}

// failure is an error that went through a file: it has lost its type, and kept what it is.
type failure struct {
	Text string `json:"text"`
	Is   string `json:"is,omitempty"`
}

// known are the errors that a failure is still told to be after it was read again.
var known = map[string]error{
	"session lost": registry.ErrSessionLost,
	"conflict":     registry.ErrConflict,
	"stopped":      scheduler.ErrStopped,
	"canceled":     context.Canceled,
}

func failureOf(err error) *failure {
	if err == nil {
		return nil
	}
	f := &failure{Text: err.Error()}
	for word, is := range known {
		if errors.Is(err, is) {
			f.Is = word
		}
	}
	return f
}

func (f *failure) Error() string { return f.Text }

func (f *failure) Unwrap() error { return known[f.Is] }

// err returns the failure as an error: nil if it is none.
func (f *failure) err() error {
	if f == nil {
		return nil
	}
	return f
}

// journal is where an instance writes its events. Each is in the hands of the kernel when note returns,
// so that it outlives the process.
type journal struct {
	instance string
	mu       sync.Mutex
	file     *os.File
}

func openJournal(path, instance string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	return &journal{instance: instance, file: file}, err
}

// note writes an event down. What happened is lost if that fails, so the process must not go on.
func (j *journal) note(e event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.moment, e.Instance = now(), j.instance
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "panic: journal:", err)
		os.Exit(1)
	}
}

// readJournal returns the events of a journal. One that was not written to its end is none.
func readJournal(path string) ([]event, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	whole := string(text[:strings.LastIndexByte(string(text), '\n')+1])
	var events []event
	for line := range strings.Lines(whole) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, fmt.Errorf("journal %s: line %q: %w", path, line, err)
		}
		events = append(events, e)
	}
	return events, nil
}

func TestJournalKeepsWhatWasWrittenToItsEnd(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	sc := job.ShardingContext{JobName: "orders", Item: 3, TotalCount: 4, JobParameter: "x", Source: job.Misfire, Token: 17}
	j, err := openJournal(path, "127.0.0.1@-@1")
	require.NoError(t, err)
	defer j.file.Close()
	j.note(eventOf(kindBegan, sc, nil))
	j.note(eventOf(kindRefused, sc, fmt.Errorf("end: %w", registry.ErrSessionLost)))
	_, err = j.file.WriteString(`{"kind":"ended",`)
	require.NoError(t, err)

	events, err := readJournal(path)
	require.NoError(t, err)
	require.Len(t, events, 2)
	require.Equal(t, sc, events[0].context())
	require.Equal(t, "127.0.0.1@-@1", events[0].Instance)
	require.NoError(t, events[0].Failure.err())
	require.ErrorIs(t, events[1].Failure.err(), registry.ErrSessionLost)
	require.GreaterOrEqual(t, events[1].Boot, events[0].Boot)
	require.Less(t, events[0].drift().Abs(), slack)
}
