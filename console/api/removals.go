package api

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/operate"
)

// removalTime is how long a removal is waited for in one request.
const removalTime = 10 * time.Second

// Bounds of removals that go on behind their answers.
const (
	removalGoesOn = 24 * time.Hour
	mostRemovals  = 100
	removalPause  = 5 * time.Second // before the registry is asked again that did not answer
)

// removeJob removes a job. A removal always waits until nothing runs: if that takes long, the server goes on with it.
func removeJob(c *call) error {
	return c.simple(func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		if opts.Wait { // it was waited for
			return operate.Result{Progress: operate.Progress{Done: true, Text: "the job is gone"}}, nil
		}
		ctx, cancel := context.WithTimeout(ctx, c.removals.patience)
		defer cancel()
		result, err := o.Remove(ctx, c.job, opts)
		var unconfirmed *operate.UnconfirmedError
		if !errors.As(err, &unconfirmed) || unconfirmed.Result.Progress.Overtaken {
			return result, err
		}
		opts.ID, opts.Again, opts.Shown = result.ID, true, nil
		open := *unconfirmed
		if c.goesOn(ctx, o, opts) {
			open.Err = fmt.Errorf("the server goes on with it, for at most %v and as long as it runs (%w)", removalGoesOn, open.Err)
		} else {
			open.Err = fmt.Errorf("ask for it again, as the server has enough others to go on with (%w)", open.Err)
		}
		return result, &open
	})
}

// removals are those that go on behind their answers: nobody need stay and ask again until what runs has ended.
type removals struct {
	patience time.Duration // of a request

	mu     sync.Mutex
	under  map[string]context.CancelFunc // how each is ended, by namespace and job
	closed bool
	going  sync.WaitGroup
}

// goesOn goes on with a removal that has begun, and tells whether it does. One job has one.
func (c *call) goesOn(ctx context.Context, o *operate.Operator, opts operate.Options) bool {
	r, of := &c.removals, c.ns.Name+"/"+c.job
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.under[of] != nil:
		return true
	case r.closed || len(r.under) >= mostRemovals:
		return false
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removalGoesOn)
	r.under[of] = cancel
	r.going.Go(func() {
		defer func() {
			cancel()
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.under, of)
		}()
		err := protect.Call(func() error { return removeAtLast(ctx, o, c.job, opts) })
		if err != nil {
			c.log.WarnContext(ctx, "a removal was not brought to its end", "namespace", c.ns.Name, "job", c.job, "id", opts.ID, "who", c.who.Name, "error", err)
		}
	})
	return true
}

// removeAtLast goes on with a removal until the job is gone, or it is not to go any more.
func removeAtLast(ctx context.Context, o *operate.Operator, job string, opts operate.Options) error {
	for {
		_, err := o.Remove(ctx, job, opts)
		cause, refused := operate.IsRefused(err)
		var unconfirmed *operate.UnconfirmedError
		switch {
		case err == nil, cause == operate.CauseUnknownJob, cause == operate.CauseOvertaken: // somebody else has removed it
			return nil
		case refused, errors.As(err, &unconfirmed) && unconfirmed.Result.Progress.Overtaken:
			return err
		}
		select {
		case <-time.After(removalPause):
		case <-ctx.Done():
			return err
		}
	}
}

// Close ends what goes on behind answers, and returns when it has ended.
func (a *API) Close() {
	r := &a.removals
	r.mu.Lock()
	r.closed = true
	for _, cancel := range r.under {
		cancel()
	}
	r.mu.Unlock()
	r.going.Wait()
}
