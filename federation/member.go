package federation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// How long is waited at most before a registry that is away is tried again; doubled each time.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 10 * time.Second
)

// jittered returns how long to wait where a pause is the most: at least half of it. What is back for all processes at once
// is not asked by all of them at once.
func jittered(pause time.Duration) time.Duration { return pause/2 + rand.N(pause/2) }

// member is one registry with its scheduler.
type member struct {
	f       *Federation
	name    string
	open    func(ctx context.Context) (registry.Registry, error)
	options []scheduler.Option
	opening chan struct{} // whoever puts something in may open
	failed  error         // why open failed, the last time that it returned; for whoever may open

	mu     sync.Mutex
	reg    registry.Registry // nil until it was opened
	sched  *scheduler.Scheduler
	sick   time.Time // until when nobody else need try: it did not answer just now
	reason error     // why it is away, or has stopped; nil if it is neither
	over   bool      // Run of the scheduler has returned
	call   openCall  // of open, that is under way, or whose answer nobody has taken; nil if there is none
}

// scheduler returns the registry and its scheduler, and opens it first if need be.
func (m *member) scheduler(ctx context.Context) (registry.Registry, *scheduler.Scheduler, error) {
	if reg, s, err := m.present(); reg != nil || err != nil {
		return reg, s, err
	}
	select {
	case m.opening <- struct{}{}:
		defer func() { <-m.opening }()
	case <-ctx.Done():
		return nil, nil, m.away(context.Cause(ctx))
	}
	if reg, s, err := m.present(); reg != nil || err != nil {
		return reg, s, err
	}
	reg, err := m.opened(ctx)
	if err == nil && reg == nil {
		err = errors.New("what Open returned is nil")
	}
	if err != nil {
		m.suspect(err)
		return nil, nil, m.away(err)
	}
	var s *scheduler.Scheduler
	if err = checkLayout(reg); err == nil {
		s, err = m.f.newScheduler(m, reg)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("registry %s: %w", m.name, err), reg.Close(context.WithoutCancel(ctx)))
	}
	if !m.publish(reg, s) {
		_, _, stopped := m.present()
		return nil, nil, errors.Join(stopped, reg.Close(context.WithoutCancel(ctx)))
	}
	m.f.bound(s)
	return reg, s, nil
}

// publish has the handle closed at the end of Run, unless that has come meanwhile: then it answers false.
func (m *member) publish(reg registry.Registry, s *scheduler.Scheduler) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.reg, m.sched, m.reason, m.sick = reg, s, nil, time.Time{}
	}
	return !m.over
}

// checkLayout refuses a registry that Java instances may share: they know nothing of other registries.
func checkLayout(reg registry.Registry) error {
	if _, shared := registry.JavaRoot(reg); shared {
		return fmt.Errorf("%w: Java instances may take part in its jobs, so it cannot be one of several", ErrInvalidOption)
	}
	return nil
}

// present returns what was opened; nothing if it was not. The error is that it was tried just now, or has stopped.
func (m *member) present() (registry.Registry, *scheduler.Scheduler, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.over:
		return nil, nil, fmt.Errorf("registry %s: its scheduler has stopped: %w", m.name, errors.Join(scheduler.ErrStopped, m.reason))
	case time.Now().Before(m.sick):
		return nil, nil, m.away(m.reason)
	}
	return m.reg, m.sched, nil
}

func (m *member) away(err error) error {
	return &home.AwayError{Registries: []string{m.name}, Err: err}
}

// suspect notes that the registry did not answer, so that of many jobs not each waits for it.
func (m *member) suspect(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reason, m.sick = err, time.Now().Add(firstPause/2) // whoever waits before he tries again finds it over
}

// answers notes that the registry has answered.
func (m *member) answers() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over {
		m.reason, m.sick = nil, time.Time{}
	}
}

// store returns the registry as the directory needs it: what does not answer in time is away.
func (m *member) store(ctx context.Context) (home.Store, error) {
	reg, _, err := m.scheduler(ctx)
	if err != nil {
		return nil, err
	}
	return patient{reg, m}, nil
}

// patient is a registry whose reads and commits have bounded time to be answered.
type patient struct {
	registry.Registry
	m *member
}

func (p patient) Get(ctx context.Context, path string) (n registry.Node, err error) {
	err = p.within(ctx, func(ctx context.Context) error {
		n, err = p.Registry.Get(ctx, path)
		return err
	})
	return n, err
}

func (p patient) Commit(ctx context.Context, txn registry.Txn) (r registry.Revision, err error) {
	err = p.within(ctx, func(ctx context.Context) error {
		r, err = p.Registry.Commit(ctx, txn)
		return err
	})
	return r, err
}

func (p patient) within(ctx context.Context, do func(ctx context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, p.m.f.patience)
	defer cancel()
	err := do(bounded)
	if ctx.Err() == nil && bounded.Err() != nil && err != nil {
		p.m.suspect(err)
	} else if err == nil {
		p.m.answers()
	}
	return err
}

// run runs the scheduler until stop ends, and opens its registry before that if need be.
func (m *member) run(stop context.Context) error {
	s := m.await(stop)
	if s == nil {
		return nil
	}
	err := s.Run(stop)
	m.mu.Lock()
	m.over, m.reason = true, err
	m.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("registry %s: %w", m.name, err)
	}
	if err != nil && stop.Err() == nil {
		m.f.log.ErrorContext(stop, "a scheduler has stopped, and with it the jobs of its registry; the others go on", logRegistry, m.name, logError, err)
	}
	return err
}

// await returns the scheduler when its registry was opened; nil if stop ends before.
func (m *member) await(stop context.Context) *scheduler.Scheduler {
	told := false
	for pause := firstPause; stop.Err() == nil; pause = min(2*pause, longPause) {
		_, s, err := m.scheduler(stop)
		if err == nil {
			if told {
				m.f.log.InfoContext(stop, "registry can be reached", logRegistry, m.name)
			}
			m.f.wake()
			return s
		}
		if !told && stop.Err() == nil {
			told = true
			m.f.log.ErrorContext(stop, "registry cannot be reached, trying again; its jobs stand", logRegistry, m.name, logError, err)
		}
		select {
		case <-time.After(jittered(pause)):
		case <-stop.Done():
		}
	}
	return nil
}

// Observe hears what the scheduler tells: that a job of it has moved or was removed, or that its registry is back.
func (m *member) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.PauseEvent:
		switch away := (*jobtree.ElsewhereError)(nil); {
		case errors.As(e.Err, &away):
			m.f.hasMoved(e.Job)
		case errors.Is(e.Err, scheduler.ErrNotStored):
			m.f.wasRemoved(e.Job)
		}
	case scheduler.ConnectionEvent:
		if e.Change == scheduler.ConnectionEstablished || e.Change == scheduler.ConnectionBack {
			m.answers()
			m.f.wake()
		}
	}
}

// close closes the handle.
func (m *member) close(ctx context.Context) error {
	m.mu.Lock()
	reg, call := m.reg, m.call
	m.over, m.call = true, nil
	m.mu.Unlock()
	var err error
	switch {
	case call != nil:
		if err = call.discard(ctx); errors.Is(err, errOpening) && len(m.opening) > 0 {
			err = nil // somebody still waits for it, who closes what comes
		}
	case reg != nil:
		err = reg.Close(ctx)
	}
	if err != nil {
		return fmt.Errorf("registry %s: %w", m.name, err)
	}
	return nil
}
