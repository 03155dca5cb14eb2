package executions

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// ErrNotStarted is what is heard of an item that had begun, waited for its turn or for other instances, and was given back
// before its code was called.
var ErrNotStarted = errors.New("not started: the item was given back while it waited for its turn")

// Round is what is reported of items that began together: when they did, and when the last of them has ended.
type Round struct {
	ID     string
	TaskID string
	Items  []int
	Began  time.Time
	Ended  time.Time // of the last; zero when it began
	Failed map[int]error
}

// Run is what is reported of one execution: when its code is called, and when its end is recorded or refused.
type Run struct {
	Round    string
	Context  job.ShardingContext
	Began    time.Time
	Ended    time.Time // zero when it starts
	Err      error
	CutShort bool
	Refused  error
}

// Reporter hears what happens.
type Reporter interface {
	Round(r Round)
	Item(r Run)
	ItemContext(ctx context.Context, r Run) context.Context
	Retry(r Run, err error, pause time.Duration)
	Waiting(waiting, running, limit int)
	HandlerFailed(sc job.ShardingContext, failure, handler error)
}

// Registry is what checkpoints, and ends that were refused, need of the registry.
type Registry interface {
	Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error)
	Get(ctx context.Context, path string) (registry.Node, error)
}

// Ports are what the room may ask of the process.
type Ports interface {
	room.Ports
	Job() string
	Now() time.Time
	Registry() Registry
	Report() Reporter
	Traits() peers.Traits
	Peers() peers.Peers
	Failures() *notify.Failures
	Listeners() []job.Listener
	// Before calls a listener before a round runs, and After after it, within the bound of a stop.
	Before(ctx context.Context, listener func(context.Context) error)
	After(listener func(context.Context) error)
	// Overloaded tells whether fires pass that cannot begin in time.
	Overloaded() bool
}

// Rounds are what the room is a part of.
type Rounds interface {
	// All yields what has not ended, and Of returns that of one item; nil if there is none.
	All() iter.Seq[*Execution]
	Of(item int) *Execution
	// NoteAtEnd returns what an end writes to note what its item has missed; see package missed.
	NoteAtEnd(v room.View, item int, due policy.Due, noted jobtree.Stored[jobtree.Misfire], ran time.Time) ([]registry.Condition, []registry.Write)
	// MayBegin tells whether anything may begin here.
	MayBegin(v room.View) bool
	// Closed hears that an end was recorded, or refused for good, before that is reported, and Over after it.
	Closed(e *Execution, o registry.Outcome)
	Over(o registry.Outcome)
}

// Executions are those of one job in this process.
type Executions struct {
	ports      Ports
	rounds     Rounds
	active     int           // executions whose code has not returned
	ended      []*Execution  // whose end is not committed yet
	looking    int           // refused ends that are being looked into
	executor   executor      // those that wait for their turn
	unheld     actor.Lookout // items that may run here though the tree shows nothing of them
	maxRunning int           // at once; 0 = without limit
	yields     yielding
	listening  int  // rounds that are over while listeners are still told of them
	endsGather bool // the ends wait for others
	abandoned  bool // nothing is waited for any more
}

// New makes the room of a job.
func New(ports Ports, rounds Rounds) *Executions { return &Executions{ports: ports, rounds: rounds} }

// Observe takes in what a step of the view has changed.
func (x *Executions) Observe(t jobtree.Touched) {
	x.yields.noted.Note(t.Items, t.Config || t.Epoch || t.Servers)
	x.unheld.Note(t.Items, false)
}

// Bound bounds how many run at once; 0 = without limit. What waits and must not run any more is looked for before any of it
// starts.
func (x *Executions) Bound(most int) {
	x.maxRunning = most
	x.yields.noted.AddAll()
}

// Pause has what must not run any more looked for, as nothing may begin.
func (x *Executions) Pause() { x.yields.noted.AddAll() }

// Listening tells whether listeners are still told of rounds that are over.
func (x *Executions) Listening() bool { return x.listening > 0 }

// Abandon gives up what has not returned, as interrupted, though its code may go on, and returns which items that
// were. What has not started ends without having run. Ends that wait for a session are given up.
func (x *Executions) Abandon(why error) (items []int) {
	x.abandoned = true
	x.executor.waiting = nil
	for e := range x.rounds.All() {
		switch {
		case e.InCode():
			items = append(items, e.Item)
			x.Returned(e, x.ports.Now(), why)
		case !e.returned:
			x.giveUp(e, e.Recalled)
		}
	}
	return items
}

// Abandoned tells whether nothing is waited for any more.
func (x *Executions) Abandoned() bool { return x.abandoned }
