package jobtree

import (
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Phase says at which point of a round a barrier stands.
type Phase uint8

// The phases of a round that have a barrier.
const (
	PhaseStarted   Phase = iota // every item has begun
	PhaseCompleted              // every item has ended
)

// Phases are all of them.
var Phases = [...]Phase{PhaseStarted, PhaseCompleted}

// String returns "started" or "completed", which are logged and exported.
func (p Phase) String() string {
	if p == PhaseStarted {
		return "started"
	}
	return "completed"
}

// RoundKey says which round of the whole job is meant: that of a fire, or that of a request to run by
// hand. One of the two is set.
type RoundKey struct {
	Fire    time.Time
	Trigger registry.Revision
}

// Manual tells whether the round was asked for by hand.
func (k RoundKey) Manual() bool { return k.Trigger != 0 }

// IsZero tells whether the key means no round.
func (k RoundKey) IsZero() bool { return k.Trigger == 0 && k.Fire.IsZero() }

// BarrierOutcome says how a barrier was settled. The words are stored.
type BarrierOutcome string

// The outcomes of a barrier.
const (
	BarrierSuccess  BarrierOutcome = "success"  // all arrived, and the hook returned no error
	BarrierFailure  BarrierOutcome = "failure"  // all arrived, and the hook failed
	BarrierTimeout  BarrierOutcome = "timeout"  // not all arrived before the deadline; no hook ran
	BarrierLost     BarrierOutcome = "lost"     // the instance of the hook was lost before it ended
	BarrierReplaced BarrierOutcome = "replaced" // another round came before all arrived; no hook ran
)

// Barrier is where the items of one round meet, wherever they run. An item arrives with its record,
// which its begin and its end write anyway; this node says of which items that is awaited, and who
// then runs the hook. A job has one at a time for each phase: the next round's takes its place.
type Barrier struct {
	// Fire and Trigger are the newest rounds of each kind for which a barrier was opened. Of the two,
	// Manual says which it stands for now.
	Fire    time.Time
	Trigger registry.Revision
	Manual  bool
	// Items are those that are awaited, ascending. They are fixed when the barrier is opened.
	Items  []int
	Opened time.Time // by the clock of the opener
	// Done is the instance that found all arrived and runs the hook; empty while there is none.
	Done string
	// Outcome is empty until the barrier is settled.
	Outcome BarrierOutcome
	Error   string    // of the hook, at most MaxErrorText bytes
	Ended   time.Time // when it was settled, by the clock of whoever did
	// Previous is how the barrier before was settled; nil if there was none.
	Previous *SettledBarrier
}

// SettledBarrier is what is kept of a barrier that another one replaced.
type SettledBarrier struct {
	Key     RoundKey
	Done    string
	Outcome BarrierOutcome
	Error   string
}

// Key returns the round that the barrier stands for.
func (b Barrier) Key() RoundKey {
	if b.Manual {
		return RoundKey{Trigger: b.Trigger}
	}
	return RoundKey{Fire: b.Fire}
}

// Covers tells whether a barrier was opened for the round, or for a later one of its kind.
func (b Barrier) Covers(key RoundKey) bool {
	if key.Manual() {
		return b.Trigger >= key.Trigger
	}
	return !b.Fire.Before(key.Fire)
}

// Underway tells whether an instance has taken the hook and has not settled the barrier.
func (b Barrier) Underway() bool { return b.Done != "" && b.Outcome == "" }

// Awaits tells whether the barrier is open: neither taken nor settled.
func (b Barrier) Awaits() bool { return b.Done == "" && b.Outcome == "" && !b.Key().IsZero() }

// Next returns the barrier that takes this one's place.
func (b Barrier) Next(key RoundKey, items []int, now time.Time) Barrier {
	next := Barrier{Fire: b.Fire, Trigger: b.Trigger, Manual: key.Manual(), Items: items, Opened: moment(now)}
	if next.Manual {
		next.Trigger = key.Trigger
	} else {
		next.Fire = key.Fire.UTC()
	}
	if !b.Key().IsZero() {
		next.Previous = &SettledBarrier{Key: b.Key(), Done: b.Done, Outcome: b.Outcome, Error: b.Error}
		if b.Outcome == "" {
			next.Previous.Outcome = BarrierReplaced
		}
	}
	return next
}

// Settled returns the barrier with its outcome.
func (b Barrier) Settled(outcome BarrierOutcome, text string, now time.Time) Barrier {
	b.Outcome, b.Error, b.Ended = outcome, Excerpt(text), moment(now)
	return b
}

// BarrierState is what a job's tree says of one of its barriers.
type BarrierState struct {
	Round Stored[Barrier]
	// Hook marks that the hook runs; its value is the instance, and it belongs to its session.
	Hook Mark
}

// EncodeBarrier returns the text of a barrier node: compact JSON, times in UTC, zero values left out,
// items as in "0-9,12".
func EncodeBarrier(b Barrier) string {
	w := writer{text: []byte{'{'}}
	w.instant("fire", b.Fire)
	w.count("trigger", int64(b.Trigger))
	w.flag("manual", b.Manual)
	w.string("items", encodeItems(b.Items))
	w.instant("opened", b.Opened)
	w.string("done", b.Done)
	w.string("outcome", string(b.Outcome))
	w.string("error", b.Error)
	w.instant("ended", b.Ended)
	if b.Previous != nil {
		w.object("previous", b.Previous.write)
	}
	return string(append(w.text, '}'))
}

// DecodeBarrier reads a barrier node. The empty text, which Java leaves in its place, is a barrier
// that was never opened. Members that it does not know are left out.
func DecodeBarrier(n registry.Node) (Barrier, error) {
	if n.Value == "" {
		return Barrier{}, nil
	}
	o, err := parseObject(n.Value)
	if err != nil {
		return Barrier{}, at(n.Path, err)
	}
	var b Barrier
	var r reader
	for m := range o.members() {
		b.readMember(&r, m)
	}
	if r.err != nil {
		return Barrier{}, at(n.Path, r.err)
	}
	return b, nil
}

func (b *Barrier) readMember(in *reader, m member) {
	switch m.name {
	case "fire":
		b.Fire = in.instant(m)
	case "trigger":
		b.Trigger = registry.Revision(in.count(m))
	case "manual":
		b.Manual = in.flag(m)
	case "items":
		b.Items = in.items(m)
	case "opened":
		b.Opened = in.instant(m)
	case "done":
		b.Done = in.text(m)
	case "outcome":
		b.Outcome = BarrierOutcome(in.text(m))
	case "error":
		b.Error = in.text(m)
	case "ended":
		b.Ended = in.instant(m)
	case "previous":
		b.Previous = new(SettledBarrier)
		in.within(m, b.Previous.read)
	}
}

func (s *SettledBarrier) write(w *writer) {
	w.instant("fire", s.Key.Fire)
	w.count("trigger", int64(s.Key.Trigger))
	w.string("done", s.Done)
	w.string("outcome", string(s.Outcome))
	w.string("error", s.Error)
}

func (s *SettledBarrier) read(r *reader, o object) {
	for m := range o.members() {
		switch m.name {
		case "fire":
			s.Key.Fire = r.instant(m)
		case "trigger":
			s.Key.Trigger = registry.Revision(r.count(m))
		case "done":
			s.Done = r.text(m)
		case "outcome":
			s.Outcome = BarrierOutcome(r.text(m))
		case "error":
			s.Error = r.text(m)
		}
	}
}
