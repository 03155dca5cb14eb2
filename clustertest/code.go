package clustertest

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// Work returns code that takes a while, by [Sleep], and does nothing else. It is for tests of a job's configuration.
func Work(d time.Duration) job.Handler {
	return job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error { return Sleep(ctx, d) })
}

// Sleep waits in the code of an item. It returns nil, or the cause of ctx if ctx ends before. While the item's instance
// is frozen, Sleep stands still, too: the time that was left before is left afterwards. A fake that should take
// time calls it with the context of the item. With another context, it only waits.
func Sleep(ctx context.Context, d time.Duration) error {
	p := processOf(ctx)
	if p == nil {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for left := d; ; {
		if err := p.standStill(ctx); err != nil {
			return err
		}
		if left <= 0 { // no timer that is due at once: the race detector of Go 1.26 breaks down at two of them in a bubble
			return nil
		}
		_, frozen := p.gate.channels()
		began := time.Now()
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
			return p.standStill(ctx)
		case <-frozen:
			left -= time.Since(began)
		case <-ctx.Done():
			timer.Stop()
			if err := p.standStill(ctx); err != nil {
				return err
			}
			return context.Cause(ctx)
		}
		timer.Stop()
	}
}

// standStill waits while the process does. The error is why code must not go on.
func (p *process) standStill(ctx context.Context) error {
	opened, _ := p.gate.channels()
	select {
	case <-opened:
	case <-p.died:
		return scheduler.ErrVanished
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// InstanceName returns the name of the instance that runs the item to which the context belongs, for fakes that note
// who called them. It is empty if ctx is not the context of an item.
func InstanceName(ctx context.Context) string {
	if p := processOf(ctx); p != nil {
		return p.i.name
	}
	return ""
}

// contextKey finds what a test knows of an item's execution in the context of its code.
type contextKey struct{}

// inContext is what stands there.
type inContext struct {
	p *process
	e *Execution
}

func processOf(ctx context.Context) *process {
	in, _ := ctx.Value(contextKey{}).(inContext)
	return in.p
}

// held is the code of a job, held up while its instance stands still.
type held struct{ job.Handler }

// Configure returns the held code for a configuration.
func (h held) Configure(cfg job.Config) (job.HandlerFunc, error) {
	code, err := h.Handler.Configure(cfg)
	if code == nil || err != nil {
		return nil, err
	}
	return func(ctx context.Context, sc job.ShardingContext) error { return hold(ctx, sc, code, cfg.Retries) }, nil
}

// hold runs one attempt of an item, which is followed by so many others at most.
func hold(ctx context.Context, sc job.ShardingContext, code job.HandlerFunc, retries int) error {
	in, known := ctx.Value(contextKey{}).(inContext)
	if !known {
		return code(ctx, sc)
	}
	in.p.c.code.Add(1)
	defer in.p.c.code.Done()
	if err := in.p.standStill(ctx); err != nil {
		return err
	}
	in.p.c.book.attempts(in.e)
	defer in.p.c.book.left(in.e)
	err := code(ctx, sc)
	opened, _ := in.p.gate.channels()
	select {
	case <-opened:
	case <-in.p.died:
	}
	in.p.c.book.returns(ctx, in.e, err, retries)
	return err
}

// Check asks the code whether it could run a job here.
func (h held) Check(cfg job.Config) error {
	if checker, is := h.Handler.(job.Checker); is {
		return checker.Check(cfg)
	}
	return nil
}

var (
	_ job.Handler = held{}
	_ job.Checker = held{}
)
