package clustertest

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// state says how far a process is.
type state int32

const (
	starting state = iota
	running
	stopping
	stopped
	crashed
)

// process is one life of an instance.
type process struct {
	c          *Cluster
	i          *Instance
	id         string
	handle     *memory.Registry
	scheduler  *scheduler.Scheduler
	state      atomic.Int32
	gate       *gate
	died       chan struct{} // closed when it crashes
	cancel     context.CancelFunc
	done       chan struct{} // closed when Run has returned err
	err        error
	executions map[executionKey]*Execution // that were not heard to end; the book's lock guards it
}

func (p *process) is(s state) bool { return state(p.state.Load()) == s }

// prepare declares the jobs.
func (p *process) prepare(ctx context.Context) error {
	for _, d := range p.c.declared {
		if err := p.declare(ctx, d); err != nil {
			return err
		}
	}
	for _, declare := range p.c.setups {
		if err := declare(ctx, p.i); err != nil {
			return err
		}
	}
	return nil
}

func (p *process) declare(ctx context.Context, d declaration) error {
	_, err := p.scheduler.Add(ctx, d.cfg, held{d.code}, d.options...)
	return err
}

// run runs the scheduler. A process that was killed before ends at once.
func (p *process) run() {
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	p.state.CompareAndSwap(int32(starting), int32(running))
	go func() {
		defer close(p.done)
		p.err = p.scheduler.Run(ctx)
	}()
}

// failed tells whether the scheduler has ended without being asked to.
func (p *process) failed() (error, bool) {
	select {
	case <-p.done:
		return p.err, p.is(running)
	default:
		return nil, false
	}
}

// stop ends the process gracefully, and returns when it has ended. One that is killed meanwhile has no say any more.
func (p *process) stop() error {
	if !p.state.CompareAndSwap(int32(running), int32(stopping)) {
		return nil
	}
	p.cancel()
	<-p.done
	if p.is(crashed) {
		return nil
	}
	err := p.handle.Close(context.Background())
	if errors.Is(err, registry.ErrUnavailable) { // it cannot say farewell, and its session ends all the same
		err = nil
	}
	p.state.CompareAndSwap(int32(stopping), int32(stopped))
	return errors.Join(p.err, err)
}

// kill ends the process without a word, and does not wait for its code. It tells whether there was
// something to end.
func (p *process) kill() bool {
	for {
		now := state(p.state.Load())
		if now == stopped || now == crashed {
			return false
		}
		if p.state.CompareAndSwap(int32(now), int32(crashed)) {
			break
		}
	}
	p.c.book.died(p)
	close(p.died)
	p.scheduler.Vanish() // first, so that code hears of this and not of a lost session
	p.handle.Vanish()
	return true
}

// wait returns when the process that was asked to end has done so.
func (p *process) wait() {
	if p.cancel == nil { // it never ran
		return
	}
	p.cancel()
	<-p.done
}

// logger returns where the process logs, as long as it lives.
func (p *process) logger() *slog.Logger {
	text := slog.NewTextHandler(p.c.tb.Output(), &slog.HandlerOptions{Level: slog.LevelError})
	return slog.New(living{Handler: text, p: p})
}

// living is a log that ends with its process.
type living struct {
	slog.Handler
	p *process
}

// Enabled tells whether the process lives and the level is high enough.
func (l living) Enabled(ctx context.Context, level slog.Level) bool {
	return !l.p.is(crashed) && l.Handler.Enabled(ctx, level)
}

// Handle writes a line, unless the process has crashed since.
func (l living) Handle(ctx context.Context, r slog.Record) error {
	if l.p.is(crashed) {
		return nil
	}
	return l.Handler.Handle(ctx, r)
}

// WithAttrs returns such a log with attributes.
func (l living) WithAttrs(attrs []slog.Attr) slog.Handler {
	return living{Handler: l.Handler.WithAttrs(attrs), p: l.p}
}

// WithGroup returns such a log with a group.
func (l living) WithGroup(name string) slog.Handler {
	return living{Handler: l.Handler.WithGroup(name), p: l.p}
}
