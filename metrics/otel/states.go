package otel

import (
	"context"
	"sync"

	"github.com/elasticron/elasticron/scheduler"
)

// states are what is said of how jobs are, so that it can be taken back when they are left. The API has no way to end
// what it was told of a job: it goes on as 0.
type states struct {
	runs, waits, leads, pauses, unseen *state
}

func statesOf(i instruments) states {
	ctx := context.Background()
	return states{
		runs:   newState(func(job string, _, change int64) { i.running.Add(ctx, change, ofJob(job)) }),
		waits:  newState(func(job string, value, _ int64) { i.waiting.Record(ctx, value, ofJob(job)) }),
		leads:  newState(func(job string, value, _ int64) { i.leader.Record(ctx, value, ofJob(job)) }),
		pauses: newState(func(job string, value, _ int64) { i.paused.Record(ctx, value, ofJob(job)) }),
		unseen: newState(func(job string, value, _ int64) { i.blind.Record(ctx, value, ofJob(job)) }),
	}
}

func (s states) each(do func(*state)) {
	for _, one := range []*state{s.runs, s.waits, s.leads, s.pauses, s.unseen} {
		do(one)
	}
}

func (o *Observer) jobLeft(e scheduler.LeftEvent) {
	o.each(func(s *state) { s.clear(e.Job) })
}

func (o *Observer) schedulerEnded() {
	o.each((*state).clearAll)
	o.connected.Record(context.Background(), 0)
	o.overloaded.Record(context.Background(), 0)
}

// state is what one instrument says of jobs.
type state struct {
	tell func(job string, value, change int64)

	mu sync.Mutex
	of map[string]int64 // by job; 0 is not kept
}

func newState(tell func(job string, value, change int64)) *state {
	return &state{tell: tell, of: make(map[string]int64)}
}

func (s *state) set(job string, value int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(job, value)
}

// add never comes below 0: the observer may have missed something.
func (s *state) add(job string, change int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(job, max(s.of[job]+change, 0))
}

// put sets a value. The caller holds mu.
func (s *state) put(job string, value int64) {
	s.tell(job, value, value-s.of[job])
	if value == 0 {
		delete(s.of, job)
	} else {
		s.of[job] = value
	}
}

// clear says 0 of a job of which something else was said.
func (s *state) clear(job string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[job] != 0 {
		s.put(job, 0)
	}
}

func (s *state) clearAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for job := range s.of {
		s.put(job, 0)
	}
}
