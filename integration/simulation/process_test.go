package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// process is one simulated process: a handle on the registry, a scheduler on it, and its user code.
type process struct {
	c        *cluster
	id       string
	handle   *memory.Registry
	s        atomic.Pointer[scheduler.Scheduler]
	cancel   context.CancelFunc
	done     chan struct{} // closed when Run has returned err
	err      error
	died     chan struct{}
	gone     chan struct{} // closed when nothing of it reaches the store any more
	gate     *gate
	skew     atomic.Int64 // nanoseconds by which its clock is ahead
	troubled bool         // cut off or standing still; used by the cluster's driver only
	misset   bool         // its clock is wrong; as well
}

// errDied is what code of a process that died returns; nobody is left to hear it.
var errDied = errors.New("the process is gone")

// execute is the user code of every item.
func (p *process) execute(ctx context.Context, sc job.ShardingContext) error {
	if !p.running() {
		<-p.gone
		return errDied
	}
	run := p.c.rec.entered(p.id, sc)
	stop := context.AfterFunc(ctx, func() { p.c.rec.cancelled(run, ctx) })
	defer stop()
	work := p.c.work(sc)
	err := p.labour(ctx, run, work)
	p.c.rec.cancelled(run, ctx)
	p.c.rec.left(run, errors.Is(err, errDied), err)
	if errors.Is(err, errDied) {
		<-p.gone
	}
	return err
}

// code is the user code of the process: one that may refuse settings, if any does.
func (p *process) code() job.Handler {
	if p.c.refuses == nil {
		return job.HandlerFunc(p.execute)
	}
	return picky{p}
}

// picky is code that cannot use some settings of the job.
type picky struct{ p *process }

var errPicky = errors.New("the process has not what it takes")

func (c picky) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if c.p.c.refuses(c.p.id, cfg) {
		return nil, errPicky
	}
	return c.p.execute, nil
}

// running waits while the process stands still, and tells whether it lives.
func (p *process) running() bool {
	opened, _ := p.gate.channels()
	select {
	case <-p.died:
		return false
	case <-opened:
	}
	select {
	case <-p.died:
		return false
	default:
		return true
	}
}

// labour does the work, and saves checkpoints on the way.
func (p *process) labour(ctx context.Context, run *checker.Run, w work) error {
	part := w
	part.takes, part.err = w.takes/time.Duration(w.saves+1), nil
	if w.yields {
		part.told = job.Yield(ctx)
	}
	reached := placeOf(run.Context.Offset)
	for range w.saves {
		if err := p.spend(ctx, part); err != nil {
			return err
		}
		reached++
		p.save(ctx, run, fmt.Sprintf("%d@%d/%d", reached, run.Context.Token, run.Began.UnixNano()), w.patience)
	}
	part.err = w.err
	return p.spend(ctx, part)
}

// placeOf returns how far work had come at a checkpoint.
func placeOf(offset string) int {
	var place int
	_, _ = fmt.Sscanf(offset, "%d@", &place)
	return place
}

// save saves a checkpoint. What becomes of one that is not confirmed in time is not known.
func (p *process) save(ctx context.Context, run *checker.Run, offset string, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	saved := p.c.rec.saving(run, offset)
	if err := job.SaveOffset(ctx, offset); err == nil && p.running() {
		p.c.rec.saved(run, saved)
	}
}

// spend takes the time that the work takes, not counting that for which the process stands still.
func (p *process) spend(ctx context.Context, w work) error {
	cancelled := ctx.Done()
	if w.stubborn {
		cancelled = nil
	}
	for left := w.takes; left > 0; {
		if !p.running() {
			return errDied
		}
		_, shut := p.gate.channels()
		began := time.Now()
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
			left = 0
		case <-shut:
			left -= time.Since(began)
		case <-cancelled:
			timer.Stop()
			return context.Cause(ctx)
		case <-w.told:
			left = w.hear(left - time.Since(began))
		case <-p.died:
		}
		timer.Stop()
	}
	if !p.running() {
		return errDied
	}
	if w.goes {
		return job.ErrYielded
	}
	return w.err
}

// launch starts a process under an id.
func (c *cluster) launch(id string, options ...memory.Option) *process {
	p := &process{
		c: c, id: id, handle: c.server.Open(namespace, options...),
		done: make(chan struct{}), died: make(chan struct{}), gone: make(chan struct{}), gate: newGate(),
	}
	p.renew()
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	c.rec.incident(checker.Started, id, 0, 0)
	go func() {
		defer close(p.done)
		for p.run(ctx); errors.Is(p.err, scheduler.ErrDuplicateInstance) && ctx.Err() == nil && p.running(); p.run(ctx) {
			p.renew() // somebody has held its id by hand, and who looks after processes starts it again
		}
	}()
	return p
}

// renew makes the scheduler of the process.
func (p *process) renew() {
	s, err := scheduler.New(p.c.wrap(divider{p.handle, p.c.opening(p.id)}), scheduler.WithInstanceID(p.id), scheduler.WithStopTimeout(p.c.rules.Grace),
		scheduler.WithObserver(ear{r: p.c.rec, instance: p.id}), scheduler.WithLogger(p.c.logOf(p.id)), scheduler.WithClock(p.now),
		scheduler.WithFollowing(p.c.follows(p.id)))
	if err != nil {
		panic(err)
	}
	p.s.Store(s)
}

// run declares the job and takes part in it.
func (p *process) run(ctx context.Context) {
	for p.err = errUnusable; errors.Is(p.err, errUnusable); {
		p.err = p.declare(ctx)
	}
	if p.err == nil {
		p.err = p.s.Load().Run(ctx)
	}
}

// errUnusable tells that the job cannot be declared while its settings are as they are.
var errUnusable = errors.New("the settings are unusable")

// declare declares the job. A process that cannot, because somebody has spoilt the settings, is started
// again a moment later.
func (p *process) declare(ctx context.Context) error {
	_, err := p.s.Load().Add(ctx, p.c.declared, p.code(), p.hooks()...)
	p.c.rec.refuses(p.id, err)
	if err == nil || ctx.Err() != nil {
		return err
	}
	select {
	case <-time.After(p.c.rules.Settle):
		return errUnusable
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hooks returns what the job is declared with besides.
func (p *process) hooks() []scheduler.JobOption {
	if len(p.c.hooks) == 0 {
		return nil
	}
	hook := func(phase string) func(context.Context, job.WholeRound) error {
		if !slices.Contains(p.c.hooks, phase) {
			return nil
		}
		return func(_ context.Context, round job.WholeRound) error {
			if !p.running() {
				<-p.gone
				return errDied
			}
			p.c.rec.hooked(phase, p.id, round)
			return nil
		}
	}
	return []scheduler.JobOption{scheduler.WithWholeRoundListener(job.WholeRoundListener{
		AllStarted: hook(checker.PhaseStarted), StartedWithin: p.c.ttl,
		AllCompleted: hook(checker.PhaseCompleted), CompletedWithin: p.c.ttl, // what both kinds wait for at once would be no exact replay
	})}
}

// now is the wall clock of the process.
func (p *process) now() time.Time { return time.Now().Add(time.Duration(p.skew.Load())) }

// setClock sets how much the clock of the process is ahead of that of the cluster.
func (p *process) setClock(ahead time.Duration) { p.skew.Store(int64(ahead)) }

// deny has the store refuse the process to follow the job, and if writes is set, to write to it, for a time.
func (p *process) deny(lasts time.Duration, writes bool) {
	p.c.rec.denied(p.id, lasts, writes)
	p.handle.Deny(p.c.tree().Root(), writes)
	time.Sleep(lasts)
	p.handle.Allow()
}

// missetClock sets the clock wrong for a time, as long as the process lives.
func (p *process) missetClock(ahead, right, lasts time.Duration) {
	i := p.c.rec.misset(p.id, ahead)
	defer p.c.rec.over(i)
	p.setClock(ahead)
	defer p.setClock(right)
	select {
	case <-time.After(lasts):
	case <-p.done:
	}
}

// crash ends the process without a word.
func (p *process) crash() {
	p.die()
	p.vanish()
}

// die stops its code, from which moment on it counts as dead.
func (p *process) die() {
	p.c.rec.incident(checker.Crashed, p.id, 0, 0)
	p.c.rec.refuses(p.id, nil)
	close(p.died)
}

// vanish takes away what the process held, and returns when nothing of it is left.
func (p *process) vanish() {
	p.handle.Vanish()
	close(p.gone)
	p.cancel()
	<-p.done
}

// crashAt lives until so long after the start of the bubble.
func (p *process) crashAt(d time.Duration) {
	sleepUntil(d)
	p.crash()
}

// alive tells whether the process was neither stopped nor crashed.
func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// joined tells whether the process ever took part. Until then it is not made to stand still: the
// scheduler, which in truth goes on, would believe its frozen view and give its id up.
func (p *process) joined() bool {
	select {
	case <-p.s.Load().Ready():
		return true
	default:
		return false
	}
}

// stop ends the process gracefully and returns when it has ended, with what Run returned.
func (p *process) stop() error {
	i := p.c.rec.incident(checker.Stopped, p.id, 0, 0)
	defer p.c.rec.over(i)
	p.cancel()
	<-p.done
	p.c.rec.refuses(p.id, nil)
	err := p.handle.Close(context.Background())
	if errors.Is(err, registry.ErrUnavailable) && p.c.rec.hindered(p.id, i.From) {
		err = nil // it could not say farewell; its session ends all the same
	}
	if p.err == nil {
		return err
	}
	return p.err
}

// cut has the process not reach the store for a time.
func (p *process) cut(lasts time.Duration) {
	p.c.rec.incident(checker.Cut, p.id, lasts, 0)
	p.handle.Cut()
	time.Sleep(lasts)
	p.handle.Heal()
}

// pause has the process stand still for a time.
func (p *process) pause(lasts time.Duration) {
	p.c.rec.incident(checker.Paused, p.id, lasts, 0)
	p.gate.close()
	p.handle.Pause()
	time.Sleep(lasts)
	p.handle.Resume()
	time.Sleep(time.Microsecond) // what it finds on going on comes before what its code does
	p.gate.open()
}

// slow has everything that the process asks of the store take its time.
func (p *process) slow(lasts, delay time.Duration) {
	p.c.rec.incident(checker.Slow, p.id, lasts, delay)
	p.handle.SetLatency(delay)
	time.Sleep(lasts)
	p.handle.SetLatency(p.c.latency(p.id))
}

// expire has the store drop the process's session.
func (p *process) expire() {
	p.c.rec.incident(checker.Expired, p.id, 0, 0)
	p.handle.Expire()
}

// loseAnswers has the store do what the process asks next, and not say so.
func (p *process) loseAnswers(n int) {
	p.c.rec.incident(checker.Lost, p.id, time.Duration(n)*2*memory.DefaultTryTimeout, 0)
	p.handle.LoseAnswers(n)
}

// holdBack has what the process asks of the store next arrive late. It hears nothing of that, and repeats
// what it may.
func (p *process) holdBack(n int, late time.Duration) {
	p.c.rec.incident(checker.Lost, p.id, late+time.Duration(n)*2*memory.DefaultTryTimeout, 0)
	p.handle.HoldBack(n, late)
}

// copyLater has copies of what the process asks of the store next arrive late.
func (p *process) copyLater(n int, late time.Duration) {
	p.c.rec.incident(checker.Copied, p.id, late, 0)
	p.handle.DuplicateLater(n, late)
}

// breakWatch has the process lose its place in the history of the store.
func (p *process) breakWatch() {
	p.c.rec.incident(checker.Unwatched, p.id, 0, 0)
	p.handle.BreakWatch()
}
