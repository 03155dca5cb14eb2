//go:build linux

package process_test

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// What an event tells.
const (
	kindBegan     = "began"     // the code of an item was called
	kindCancelled = "cancelled" // its context ended while it ran
	kindEnded     = "ended"     // it returned
	kindRecorded  = "recorded"  // the scheduler says that its end was recorded
	kindRefused   = "refused"   // the scheduler says that its end was refused
	kindElected   = "elected"   // the instance leads the job now
	kindDown      = "down"      // the process ends by itself, with nothing left
	kindStood     = "stood"     // the process stood still: it was given no processor
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

	Still time.Duration `json:"still,omitempty"` // for how long it stood still
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
