package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
)

// catalog takes part in the jobs that are data: it follows the namespace and keeps a runner for every
// job that there is a handler for. It is an actor, as runners are.
type catalog struct {
	s    *Scheduler
	life context.Context
	view *registry.View    // nil if it could not be opened yet
	now  registry.Snapshot // as of the step that was looked at last; the view shows it only after telling of it
	box  actor.Mailbox
	mine map[string]*runner // of jobs that are data; the others were declared
	bad  map[string]registry.Revision

	unseen   map[string]struct{} // of mine, those whose trees could not be opened when they were taken up
	starting int                 // how many are being taken up
	whenNone []func()            // called when none is
}

// startCatalog follows the namespace, if there is a handler for anything, until life ends. If the registry does not let
// this process read it, jobs that were declared have nothing to do with that: they go on, and it is tried again.
func (s *Scheduler) startCatalog(life context.Context, declared int) error {
	if len(s.handlers.byClass) == 0 {
		return nil
	}
	view, err := s.registry.View(life, registry.Root, s.notForCatalog)
	denied := errors.Is(err, registry.ErrDenied) && declared > 0
	if err != nil && !denied {
		return err
	}
	c := newCatalog(s, life, view)
	s.mu.Lock()
	s.catalog = c
	s.mu.Unlock()
	if denied {
		c.lostSight(err)
		return nil
	}
	c.subscribe(view) //nolint:contextcheck // jobs live as long as Run
	return nil
}

func newCatalog(s *Scheduler, life context.Context, view *registry.View) *catalog {
	return &catalog{
		s: s, life: life, view: view, box: actor.Mailbox{Of: actor.Plain(s.work.Go)},
		mine: make(map[string]*runner), bad: make(map[string]registry.Revision), unseen: make(map[string]struct{}),
	}
}

// notForCatalog names what the catalog does not look at. Who has handlers would keep all of the namespace otherwise.
func (s *Scheduler) notForCatalog(path string) bool {
	name, ok := jobtree.Parse(path)
	return !ok || name.Kind != jobtree.KindInstance && !s.configures(name.Kind)
}

// configures tells whether a node has a part of the configuration of a job: ElasticJob 3.x keeps the class in the job's
// own node.
func (s *Scheduler) configures(k jobtree.Kind) bool {
	return k == jobtree.KindConfig || k == jobtree.KindRoot && s.dialect.Layout() == jobtree.ElasticJob3
}

// subscribe makes the catalog follow a view until it ends, and then another. Meanwhile it keeps the jobs that
// it has.
func (c *catalog) subscribe(view *registry.View) {
	afterEnd(c.life, view, func(reason error) { c.box.Post(func() { c.lostSight(reason) }) })
	view.Subscribe(goingOn(c.now, func() {}, func(step registry.Step, _ func()) {
		c.box.Post(func() { c.apply(step) })
	}))
}

// lostSight reopens the view that ended.
func (c *catalog) lostSight(reason error) {
	began := time.Now()
	c.s.log.ErrorContext(c.life, "the list of jobs cannot be followed, trying again", logError, reason)
	c.s.setCatalogBlind(reason)
	c.s.observer.observe(ViewEvent{Err: reason, Time: c.s.now()})
	c.s.reopenFor(c.life, &c.box, registry.Root, c.s.notForCatalog, func(view *registry.View) { c.regainSight(view, began) })
}

// regainSight goes on with a new view where the old one ended.
func (c *catalog) regainSight(view *registry.View, began time.Time) {
	c.s.mu.Lock()
	stopped := c.life.Err() != nil
	if !stopped {
		c.view, c.s.catalogBlind = view, nil
	}
	c.s.mu.Unlock()
	if stopped {
		view.Close()
		return
	}
	c.s.log.InfoContext(c.life, "the list of jobs can be followed again", "blind", time.Since(began).Round(time.Millisecond).String())
	c.s.observer.observe(ViewEvent{Time: c.s.now()})
	c.subscribe(view)
}

// looked returns a channel that is closed when the catalog has taken up, as far as it can, all jobs that the view showed by
// now. If the catalog ends before that, it may stay open.
func (c *catalog) looked() <-chan struct{} {
	done := make(chan struct{})
	if c == nil {
		close(done)
		return done
	}
	tell := func() { close(done) }
	c.box.PostElse(func() {
		if c.starting > 0 {
			c.whenNone = append(c.whenNone, tell)
			return
		}
		tell()
	}, tell)
	return done
}

// setCatalogBlind notes for the health report why the list of jobs cannot be followed.
func (s *Scheduler) setCatalogBlind(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.catalogBlind = reason
}

// close ends what the catalog holds. A nil catalog holds nothing.
func (c *catalog) close() {
	if c == nil {
		return
	}
	c.box.Close()
	if c.view != nil {
		c.view.Close()
	}
}

// apply looks at every job whose configuration has changed, and at instances that nobody stands behind.
func (c *catalog) apply(step registry.Step) {
	c.now = step.Snapshot
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		switch {
		case !ok:
		case c.s.configures(name.Kind):
			c.consider(name.Job)
		case name.Kind == jobtree.KindInstance && name.Key == c.s.instance:
			c.s.takeOut(name.Job, change.New)
		}
	}
}

// takeOutAll takes this process's instance out of every job that it has left. It is for a session that was
// given up here and then taken up again.
func (c *catalog) takeOutAll() {
	for node := range c.now.Below(registry.Root) {
		if name, ok := jobtree.Parse(node.Path); ok && name.Kind == jobtree.KindInstance && name.Key == c.s.instance {
			c.s.takeOut(name.Job, node)
		}
	}
}

// consider brings the runner of a job into line with its configuration as it is now. A runner that
// is there deals with a change by itself, unless it has to go.
func (c *catalog) consider(name string) {
	handled, r := c.handles(name), c.mine[name]
	switch {
	case r == nil && handled:
		c.takeUp(name)
	case r != nil && !handled:
		c.leave(r)
	}
}

// considerAll considers every job.
func (c *catalog) considerAll() {
	for node := range c.now.Below(registry.Root) {
		if name, ok := jobtree.Parse(node.Path); ok && name.Kind == jobtree.KindConfig {
			c.consider(name.Job)
		}
	}
}

// handles tells whether this process has code for a job and takes it. A configuration that cannot be read is nobody's;
// a runner that is there keeps its job until it can be read again.
func (c *catalog) handles(name string) bool {
	node := c.now.Get(jobtree.For(name).Config())
	if !node.Exists() {
		delete(c.bad, name)
		return false
	}
	cfg, err := c.s.dialect.Layout().DecodeConfig(c.now.Get(jobtree.For(name).Root()).Value, node)
	if err == nil {
		taken, failed := c.s.handlers.has(c.life, cfg)
		if failed != nil && c.life.Err() == nil {
			c.s.repeated(slog.LevelError, "job is left alone: the filter of jobs panicked", name, failed)
		}
		return taken
	}
	if away := (*jobtree.ElsewhereError)(nil); errors.As(err, &away) {
		return false // it is data of another registry
	}
	// One that was declared is not left alone: it pauses, and says so itself.
	if _, none := c.s.Job(name); none != nil && c.bad[name] != node.Revision {
		c.bad[name] = node.Revision
		c.s.log.WarnContext(c.life, "job is left alone: its configuration cannot be read", logJob, name, logError, err)
	}
	return c.mine[name] != nil
}

// takeUp starts taking part in a job, unless it was declared. There may be thousands, so many at a time.
func (c *catalog) takeUp(name string) {
	r := newRunner(c.s, job.Config{Name: name}, c.s.handlers, &plain)
	life, err := c.s.enterData(r)
	if err != nil || life == nil {
		return // declared, or the scheduler stops
	}
	c.mine[name] = r
	c.starting++
	c.s.work.Go(func() {
		err := c.s.start(life, r)
		c.box.Post(func() { c.started(life, r, err) })
	})
}

// started takes note of how the start of a runner went. A job whose tree could not be opened is taken up as soon as it can be.
func (c *catalog) started(life context.Context, r *runner, err error) {
	const message = "taking part in a job of the registry"
	switch {
	case c.mine[r.name] != r || errors.Is(err, ErrStopped): // it was let go of meanwhile
	case err == nil:
		r.log.InfoContext(life, message)
	default:
		r.log.ErrorContext(life, "cannot take part in the job, trying again", logError, err)
		c.unseen[r.name] = struct{}{}
		c.s.observer.observe(ViewEvent{Job: r.name, Err: err, Time: c.s.now()})
		since := time.Now()
		r.box.Post(func() { r.neverSaw(since, err) })
		c.s.reopenFor(life, &r.box, r.tree.Root(), jobtree.ForOperators, func(view *registry.View) {
			if c.s.startWith(life, r, view) == nil {
				r.log.InfoContext(life, message)
			}
		})
	}
	if c.starting--; c.starting == 0 {
		for _, tell := range c.whenNone {
			tell()
		}
		c.whenNone = nil
	}
}

// leave makes a runner leave its job, and looks at the job again afterwards: the job may be back.
func (c *catalog) leave(r *runner) {
	if c.s.forgetUnopened(r) { // it has seen nothing of the job
		c.letGo(r)
		return
	}
	r.retire(func() {
		c.s.dismiss(r)
		c.box.Post(func() {
			delete(c.mine, r.name)
			delete(c.unseen, r.name)
			c.consider(r.name)
			c.s.takeOut(r.name, c.now.Get(r.tree.Instance(c.s.instance)))
		})
	})
}

// letGo forgets a runner that has not seen anything of its job.
func (c *catalog) letGo(r *runner) {
	r.box.Close()
	delete(c.mine, r.name)
	if _, unseen := c.unseen[r.name]; unseen {
		delete(c.unseen, r.name)
		c.s.observer.observe(ViewEvent{Job: r.name, Time: c.s.now()})
	}
	c.s.observer.observe(LeftEvent{Job: r.name})
	c.s.takeOut(r.name, c.now.Get(r.tree.Instance(c.s.instance))) // which passed over what came while the job was on the list
}
