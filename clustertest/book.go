package clustertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// book is where everything is written down that happens.
type book struct {
	mu         sync.Mutex
	executions []*Execution // in the order in which they began
	inCode     map[*Execution]int
	deeds      []deed
	timelines  map[string]*timeline // by job
}

// deed is something that was done to the cluster.
type deed struct {
	at   time.Time
	text string
}

// executionKey finds an execution of a process: an item begins at most once in a round.
type executionKey struct {
	job, round string
	item       int
}

func newBook() *book {
	return &book{inCode: make(map[*Execution]int), timelines: make(map[string]*timeline)}
}

// note writes down what is done to the cluster now.
func (b *book) note(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.deeds = append(b.deeds, deed{at: time.Now(), text: text})
}

// ran returns the executions of a job.
func (b *book) ran(name string) []Execution {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Execution
	for _, e := range b.executions {
		if e.JobName == name {
			all = append(all, *e)
		}
	}
	slices.SortStableFunc(all, func(a, b Execution) int {
		return cmp.Or(a.Began.Compare(b.Began), a.deeds-b.deeds, a.Item-b.Item)
	})
	return all
}

// done returns what was done to the cluster, in order.
func (b *book) done() []deed {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.deeds)
}

// died writes down that a process crashed, with what it ran.
func (b *book) died(p *process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range p.executions {
		if e.Outcome == Running || e.Ended.IsZero() {
			e.Ended, e.Outcome = time.Now(), Crashed
		}
	}
	clear(p.executions)
}

// attempts writes down that code is called.
func (b *book) attempts(e *Execution) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inCode[e]++
	e.calls++
	e.last = nil
	if e.Outcome != Crashed {
		e.Ended, e.Outcome, e.Err = time.Time{}, Running, nil
	}
}

// left writes down that code is not under way any more, however it ended.
func (b *book) left(e *Execution) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.inCode, e)
}

// returns writes down what code returned that may be tried again so often. An execution that is to be tried again is not
// over. The scheduler says it again when the end is recorded, which may be much later.
func (b *book) returns(ctx context.Context, e *Execution, err error, retries int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Outcome == Crashed {
		return
	}
	cut := err != nil && ctx.Err() != nil && !errors.Is(context.Cause(ctx), job.ErrTimeout) || madeRoom(ctx, err)
	if err != nil && !cut && e.calls <= retries {
		e.last = err
		return
	}
	e.Ended, e.Err, e.Outcome = time.Now(), err, outcomeOf(err, cut)
}

// cutInPause writes down that the context of an execution has ended. If that was while it paused, it is not tried again.
func (b *book) cutInPause(e *Execution) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e.Outcome == Running && e.last != nil {
		e.Ended, e.Err, e.Outcome = time.Now(), e.last, CutShort
	}
}

// madeRoom tells whether code has come to an end as it was told to, with work left.
func madeRoom(ctx context.Context, err error) (made bool) {
	defer func() { _ = recover() }() // the methods of an error may panic
	return execution.Told(ctx, job.Yield(ctx)) && errors.Is(err, job.ErrYielded)
}

func outcomeOf(err error, cut bool) Outcome {
	switch {
	case cut:
		return CutShort
	case err != nil:
		return Failed
	default:
		return OK
	}
}

// unreturned names the code that has not returned.
func (b *book) unreturned() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for e := range b.inCode {
		all = append(all, fmt.Sprintf("job %q item %d on %s", e.JobName, e.Item, e.Instance))
	}
	slices.Sort(all)
	return all
}

// ear is the observer of one process.
type ear struct{ p *process }

var (
	_ scheduler.Observer    = (*ear)(nil)
	_ scheduler.ItemContext = (*ear)(nil)
)

func keyOf(event scheduler.ItemEvent) executionKey {
	return executionKey{job: event.Context.JobName, round: event.Round, item: event.Context.Item}
}

// Observe writes down how executions end.
func (o *ear) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.ItemEvent:
		if e.Over() {
			o.ended(e)
		} else {
			o.started(e)
		}
	case scheduler.RetryEvent:
		o.retrying(e)
	}
}

func (o *ear) started(event scheduler.ItemEvent) {
	b := o.p.c.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if o.p.is(crashed) {
		return
	}
	e := &Execution{ShardingContext: event.Context, Instance: o.p.i.name, Began: time.Now(), Attempts: 1, Outcome: Running, deeds: len(b.deeds)}
	b.executions = append(b.executions, e)
	o.p.executions[keyOf(event)] = e
}

// ItemContext has the code's context lead to its execution.
func (o *ear) ItemContext(ctx context.Context, event scheduler.ItemEvent) context.Context {
	b := o.p.c.book
	b.mu.Lock()
	defer b.mu.Unlock()
	e := o.p.executions[keyOf(event)]
	if e == nil {
		return ctx
	}
	context.AfterFunc(ctx, func() { b.cutInPause(e) })
	return context.WithValue(ctx, contextKey{}, inContext{p: o.p, e: e})
}

func (o *ear) retrying(event scheduler.RetryEvent) {
	b := o.p.c.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := o.p.executions[executionKey{job: event.Context.JobName, round: event.Round, item: event.Context.Item}]; e != nil {
		e.Attempts++
	}
}

func (o *ear) ended(event scheduler.ItemEvent) {
	b := o.p.c.book
	b.mu.Lock()
	defer b.mu.Unlock()
	e := o.p.executions[keyOf(event)]
	if e == nil {
		return
	}
	delete(o.p.executions, keyOf(event))
	if e.Ended.IsZero() {
		e.Ended = time.Now()
	}
	e.Err, e.Refused, e.Outcome = event.Err, event.Refused, outcomeOf(event.Err, event.CutShort)
}
