package scheduler_test

import (
	"errors"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// startCode is start for code of any type and one job, with options.
func (c *cluster) startCode(id string, code job.Handler, cfg job.Config, opts ...scheduler.Option) *instance {
	c.t.Helper()
	return c.startDeclared(id, code, cfg, opts)
}

// startDeclared is startCode with options of the job, too.
func (c *cluster) startDeclared(id string, code job.Handler, cfg job.Config, opts []scheduler.Option, declared ...scheduler.JobOption) *instance {
	c.t.Helper()
	reg := c.server.Open("test")
	s, err := scheduler.New(reg, append(opts, scheduler.WithInstanceID(fullID(id)))...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, code, declared...)))
	i := c.run(s, reg)
	select {
	case <-i.Ready():
	case <-time.After(time.Minute):
		require.Fail(c.t, "not ready", "instance %s", id)
	}
	return i
}

// executed returns what the record of an item says of its last execution.
func (c *cluster) executed(item int) jobtree.Execution {
	c.t.Helper()
	current := c.state().Item(item).Record.Value.Current
	require.NotNil(c.t, current)
	return *current
}

// told collects what an observer hears.
type told struct {
	mu      sync.Mutex
	waiting []scheduler.WaitingEvent
	handler []scheduler.ErrorHandlerEvent
}

func (o *told) Observe(event scheduler.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := event.(type) {
	case scheduler.WaitingEvent:
		o.waiting = append(o.waiting, e)
	case scheduler.ErrorHandlerEvent:
		o.handler = append(o.handler, e)
	}
}

func (o *told) failures() []scheduler.ErrorHandlerEvent {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]scheduler.ErrorHandlerEvent(nil), o.handler...)
}

// mostWaiting returns the largest number of items that waited, and how many wait now.
func (o *told) mostWaiting() (most, now int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, e := range o.waiting {
		most, now = max(most, e.Waiting), e.Waiting
	}
	return most, now
}

var errSpoiled = errors.New("spoiled")
