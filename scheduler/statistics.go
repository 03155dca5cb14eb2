package scheduler

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
)

// Statistics are the numbers of a job: of its items, from their records in the registry, and of this
// server.
type Statistics struct {
	Job    string           `json:"job"`
	Items  []ItemStatistics `json:"items"` // ascending
	Server ServerStatistics `json:"server"`
}

// ItemStatistics are the numbers of one item, wherever it ran. Its last begin and end, and what
// follows from them, are those of its last execution; the times are zero if there was none, and so is
// the end while it runs. The next fire is the first one after the last begin, by the cron that is in force now; it is zero
// if there is none, or if it depends on the end of the run.
type ItemStatistics struct {
	Item        int           `json:"item"`
	Owner       string        `json:"owner,omitempty"`
	Success     int64         `json:"success"`
	Failure     int64         `json:"failure"`
	Interrupted int64         `json:"interrupted"`
	Lost        int64         `json:"lost"`
	LastFire    time.Time     `json:"last_fire,omitzero"`
	LastBegin   time.Time     `json:"last_begin,omitzero"`
	LastEnd     time.Time     `json:"last_end,omitzero"`
	Duration    time.Duration `json:"duration_ns"`
	Lateness    time.Duration `json:"lateness_ns"`
	LastOutcome string        `json:"last_outcome,omitempty"`
	LastError   string        `json:"last_error,omitempty"`  // shortened, as the item's record has it
	LastRunner  string        `json:"last_runner,omitempty"` // the instance of the last execution
	NextFire    time.Time     `json:"next_fire,omitzero"`
	// Java tells of executions in Java instances, which the other numbers leave out; nil if none was
	// seen and the owner is not a Java instance.
	Java *JavaStatistics `json:"java,omitempty"`
}

// JavaStatistics are what a process saw of the executions of an item in Java instances, since it declared
// the job. Java records nothing: an execution is seen by its mark, when that comes and goes, by the clock
// of this process. An execution is not seen if its mark was gone before anybody looked.
type JavaStatistics struct {
	Runs      int64     `json:"runs"`
	Instance  string    `json:"instance,omitempty"`  // that ran it last
	LastBegin time.Time `json:"last_begin,omitzero"` // of the last one
	LastEnd   time.Time `json:"last_end,omitzero"`   // zero while it runs
}

// ServerStatistics are the numbers of executions that ended in this process since it declared the job, told apart as the
// records of items and the metrics do. Interrupted are those that returned an error after their context had ended, as in a
// stop, or made room by [job.ErrYielded]: they have not failed. Refused are those whose end could not be recorded, whatever
// they returned.
type ServerStatistics struct {
	Instance    string `json:"instance"`
	Success     int64  `json:"success"`
	Failure     int64  `json:"failure"`
	Interrupted int64  `json:"interrupted"`
	Refused     int64  `json:"refused"`
}

// tally counts executions of this process. What is rare has less room: each job has one.
type tally struct {
	success, failure     atomic.Int64
	interrupted, refused atomic.Uint32
}

func (t *tally) count(r executions.Run) {
	switch {
	case r.Refused != nil:
		t.refused.Add(1)
	case r.Err == nil:
		t.success.Add(1)
	case r.CutShort:
		t.interrupted.Add(1)
	default:
		t.failure.Add(1)
	}
}

// of returns what an instance has counted.
func (t *tally) of(instance string) ServerStatistics {
	return ServerStatistics{
		Instance: instance, Success: t.success.Load(), Failure: t.failure.Load(),
		Interrupted: int64(t.interrupted.Load()), Refused: int64(t.refused.Load()),
	}
}

// Statistics returns the numbers of the job as this process sees them. It asks nothing of the registry, unless the
// process follows its own items alone, see [WithFollowing]: then it reads the job with one request. An
// unmonitored job has no numbers of items. It costs the time to look at each item, which ctx bounds.
//
// Errors: [ErrUnknownJob], also if Run ends meanwhile, the context's cause, or those of the registry.
func (j *Job) Statistics(ctx context.Context) (Statistics, error) {
	if _, err := j.view(); err != nil {
		return Statistics{}, err
	}
	ctx, free := j.whileKnown(ctx)
	defer free()
	s, r := j.s, j.r
	state, err := j.state(ctx, 0)
	if err != nil {
		return Statistics{}, fmt.Errorf("statistics of job %q: %w", r.name, err)
	}
	all := Statistics{Job: r.name, Server: r.tally.of(s.instance)}
	schedule, _ := state.Config.Value.Schedule() // of a cron that cannot be read there is no next fire
	for n := range state.Total() {
		if ctx.Err() != nil {
			return Statistics{}, context.Cause(ctx)
		}
		item := itemStatistics(state, n)
		if schedule != nil && !item.LastBegin.IsZero() {
			item.NextFire = schedule.Next(item.LastBegin)
		}
		if elsewhere := r.peers.Statistics(n, item.Owner); elsewhere != nil {
			seen := JavaStatistics(*elsewhere)
			item.Java = &seen
		}
		all.Items = append(all.Items, item)
	}
	return all, nil
}

func itemStatistics(s *jobtree.State, n int) ItemStatistics {
	record := s.Record(n).Value
	i := ItemStatistics{
		Item: n, Owner: s.Owner(n), LastFire: record.LastFire,
		Success: record.Counts.Success, Failure: record.Counts.Failure,
		Interrupted: record.Counts.Interrupted, Lost: record.Counts.Lost,
	}
	if e := record.Current; e != nil {
		i.LastBegin, i.LastEnd, i.Duration, i.LastOutcome = e.Begin, e.End, e.Duration(), string(e.Outcome)
		i.LastError, i.LastRunner = e.Error, e.Instance
		if e.Source == job.Scheduled || e.Source == job.Misfire {
			i.Lateness = e.Lateness()
		}
	}
	return i
}
