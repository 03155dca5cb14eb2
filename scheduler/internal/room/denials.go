package room

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/chance"
	"github.com/elasticron/elasticron/registry"
)

const (
	// longestDenial is how long what was denied waits at most for the next try.
	longestDenial = 30 * time.Second
	// mostProbes is how many transactions of one step that were denied are tried at a time.
	mostProbes = 4
	// laterTurns is after the turns of all that was denied once.
	laterTurns = 1 << 62
)

// Denials holds back what the registry denies. No event tells that a permission is given back, and a try that is denied may
// cost the registry more than a transaction that is done. So of all that was denied of one step, such as the begins of a job's
// items, a few are tried at a time, in turn, and the longer that lasts the more seldom. Once one is let through, so are all:
// mostly what they have in common was denied. And once anything is done that writes a path first, whatever else writes that
// first may be tried: an item that has begun does not wait with its end because an earlier end was denied.
//
// The zero Denials holds nothing back, nor does a nil one.
type Denials struct {
	steps map[string]*denied // no more than this: each of thousands of jobs has it, and few are denied anything
}

// denied is what was denied of one step.
type denied struct {
	err   error
	paths map[string]uint64 // which each transaction writes first, and its turn: the lowest is the next to be tried
	turns uint64            // counts tries of what was denied before
	pause time.Duration
	next  time.Time // when some are tried again
}

// heldError is the answer to a transaction that was not sent, as it was denied before.
type heldError struct {
	error
	left time.Duration // until it is tried
}

// Unwrap returns the answer of the registry to the last one that was tried.
func (h *heldError) Unwrap() error { return h.error }

// RetryIn returns how long a runner waits after a refusal that no event will end, as [RetryAfter] or until what is held back
// is tried.
func RetryIn(err error) time.Duration {
	if held := (*heldError)(nil); errors.As(err, &held) {
		return max(held.left, time.Millisecond)
	}
	return RetryAfter
}

// Held returns for how long a transaction of a step, that writes a path first, is not tried; 0 = it may be.
func (d *Denials) Held(step, path string) time.Duration {
	if d == nil || d.steps[step] == nil {
		return 0
	}
	s := d.steps[step]
	if s.paths[path] == 0 {
		return 0
	}
	return max(0, time.Until(s.next))
}

// Clear has everything tried again, as something has changed.
func (d *Denials) Clear() {
	if d != nil {
		d.steps = nil
	}
}

// Answered takes in what the registry has answered to a transaction of a step, that writes a path first.
func (d *Denials) Answered(step, path string, err error) {
	if d == nil {
		return
	}
	s := d.steps[step]
	switch {
	case errors.Is(err, registry.ErrDenied):
		d.deny(step, path, err)
	case err == nil:
		if s != nil && s.paths[path] != 0 {
			delete(d.steps, step)
		}
		for step := range d.steps {
			d.forget(step, path)
		}
	case errors.Is(err, registry.ErrConflict) && s != nil: // which says nothing of what the others have in common
		d.forget(step, path)
	}
}

// forget has what writes a path first tried again, and nothing else of its step.
func (d *Denials) forget(step, path string) {
	s := d.steps[step]
	if delete(s.paths, path); len(s.paths) == 0 {
		delete(d.steps, step)
	}
}

// deny notes that a transaction was denied. If it was before, the pause grows.
func (d *Denials) deny(step, path string, err error) {
	s := d.steps[step]
	if s == nil {
		if d.steps == nil {
			d.steps = make(map[string]*denied)
		}
		s = &denied{paths: make(map[string]uint64)}
		d.steps[step] = s
	}
	s.err = err
	now := time.Now()
	again := s.paths[path] != 0
	if again {
		s.turns++
		s.paths[path] = laterTurns + s.turns
	} else { // in any order: if but a part is permitted again, as of the items up to a number, one of them is soon met
		s.paths[path] = 1 + chance.At(now, path).Uint64N(laterTurns)
	}
	if s.pause == 0 || again && !s.next.After(now) {
		s.pause = min(max(RetryAfter, 2*s.pause), longestDenial)
		s.next = now.Add(s.pause - chance.Within(s.pause/4, now, path)) // not all processes at once
	}
}

// screen parts a batch into what is to be sent and what is held back.
func (d *Denials) screen(batch Batch) (sent, held Batch) {
	if d == nil || len(d.steps) == 0 {
		return batch, nil
	}
	probes := d.probes(batch)
	for _, p := range batch {
		if d.holds(&p) && !slices.Contains(probes, p.first()) {
			held = append(held, p)
		} else {
			sent = append(sent, p)
		}
	}
	return sent, held
}

// probes returns what those of a batch write first that were denied, and are to be tried: of each step those whose turn it
// is.
func (d *Denials) probes(batch Batch) (paths []string) {
	for step, s := range d.steps {
		if s.next.After(time.Now()) {
			continue
		}
		var denied []string
		for _, p := range batch {
			if p.Step == step && s.paths[p.first()] != 0 {
				denied = append(denied, p.first())
			}
		}
		slices.SortFunc(denied, func(a, b string) int { return cmp.Compare(s.paths[a], s.paths[b]) })
		paths = append(paths, denied[:min(len(denied), mostProbes)]...)
	}
	return paths
}

// holds tells whether a transaction was denied, and nothing since shows that it may not be the next time.
func (d *Denials) holds(p *Proposal) bool {
	s := d.steps[p.Step]
	return s != nil && s.paths[p.first()] != 0
}

// answer is what is answered to a transaction that is held back.
func (d *Denials) answer(p *Proposal) registry.Outcome {
	left := d.Held(p.Step, p.first())
	if left == 0 { // those that were tried got another answer, which tells nothing
		left = RetryAfter
	}
	return registry.Outcome{Err: &heldError{d.steps[p.Step].err, left}}
}
