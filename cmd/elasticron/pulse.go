package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// How a list that is watched finds out whether its registry answers. What is late by less is not told of.
const (
	pulseEvery = time.Second
	silentFor  = 3 * time.Second
	// nobodyWrites is a path at which nobody writes: to list it costs a request, and brings nothing but the revision.
	nobodyWrites = "/elasticron-get-asks"
)

// pulse asks a follower's registry again and again whether it answers: one that is away sends no news, as one in which nothing
// happens.
type pulse struct {
	of   follower
	time func() time.Time

	mu     sync.Mutex
	asOf   time.Time // what is shown was true then
	shown  registry.Revision
	since  time.Time // when it was asked what it answered last
	heard  time.Time // the same by the clock of this process, which nobody sets
	silent error     // why it counts as away; nil: it answers
	told   string    // what was said last: who is away
	over   error     // why nothing more will be shown

	cancel context.CancelFunc
	asking sync.WaitGroup
}

// newPulse begins to ask. What the follower shows has just been read.
func newPulse(ctx context.Context, of follower, clock func() time.Time) *pulse {
	p := &pulse{of: of, time: clock, asOf: clock(), since: clock(), heard: time.Now()}
	ctx, p.cancel = context.WithCancel(ctx)
	p.asking.Go(func() {
		for wait(ctx, pulseEvery) {
			p.ask(ctx)
		}
	})
	return p
}

func (p *pulse) close() {
	p.cancel()
	p.asking.Wait()
}

func (p *pulse) ask(ctx context.Context) {
	p.mu.Lock()
	away := p.silent != nil
	p.mu.Unlock()
	asked, now := time.Now(), p.time()
	bounded, cancel := context.WithTimeout(ctx, silentFor)
	defer cancel()
	err := p.of.answers(bounded, away)
	if ctx.Err() != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case errors.Is(err, errWentBack):
		p.over = err
	case err == nil:
		p.asOf, p.since, p.heard, p.silent = now, now, asked, nil
	case p.silent != nil || time.Since(p.heard) >= silentFor:
		p.silent = err
	}
}

// ended returns why nothing more will be shown; nil while the list goes on.
func (p *pulse) ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

// clock returns the time at which a state is to be looked at, which is the newest that is known: now or, while nobody answers,
// the time at which it was true. Else runs would age, and jobs be overdue, of which nothing is known but that.
func (p *pulse) clock(state registry.Snapshot) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if state.Revision() != p.shown { // it is news, whoever answers nothing else
		p.shown, p.asOf = state.Revision(), p.time()
	}
	var part partAway
	if p.silent == nil || errors.As(p.silent, &part) {
		return p.time()
	}
	return p.asOf
}

// news returns what is to be said of the registry since the last call: once who is away, and once that it is back.
func (p *pulse) news() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var part partAway
	away := ""
	switch {
	case errors.As(p.silent, &part):
		away = strings.Join(part.names, ", ")
	case p.silent != nil:
		away = "all"
	}
	if away == p.told {
		return ""
	}
	p.told = away
	switch {
	case p.silent == nil:
		return "it answers again, and what is shown is live"
	case len(part.names) > 0:
		return fmt.Sprintf("no answer from %s, whose jobs are shown as they were and may seem overdue; those of the others are live: %s", away, p.silent)
	default:
		return fmt.Sprintf("no answer since %s, and what is shown is as of then: %s", instant(p.since), p.silent)
	}
}

// partAway says that some registries of several do not answer. What the others hold goes on, and so does the time of all.
type partAway struct {
	names []string
	err   error
}

func (e partAway) Error() string { return e.err.Error() }
func (e partAway) Unwrap() error { return e.err }
