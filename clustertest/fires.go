package clustertest

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// Fire is one item's share of one fire of its job.
type Fire struct {
	Item int
	Time time.Time // at which it should have run, in UTC
}

// String names item and time.
func (f Fire) String() string { return fmt.Sprintf("item %d, fire %s", f.Item, clockTime(f.Time)) }

// compare orders fires by time and item.
func (f Fire) compare(other Fire) int {
	if c := f.Time.Compare(other.Time); c != 0 {
		return c
	}
	return f.Item - other.Item
}

// Executions returns the executions of a job that have begun so far, in the order in which they began. It fails the
// test if there is no such job.
func (c *Cluster) Executions(name string) []Execution {
	c.tb.Helper()
	c.known(name, "Executions")
	return c.book.ran(name)
}

// Fires returns the fires of a job that were due so far according to its stored settings, for every enabled item. They begin
// when the first instance joins. They go on while no instance is there, but not while the job is disabled, or all instances
// are on disabled servers. A fire of this very instant is among them. With jitter, it is among them once the longest delay
// is over, and what holds at the end of its own delay decides: who is disabled by then has no such fire.
// A job with a fixed delay, or one that runs only when it is triggered, has no fires.
func (c *Cluster) Fires(name string) []Fire {
	c.tb.Helper()
	c.known(name, "Fires")
	return c.book.due(name)
}

// MissedFires returns those of [Cluster.Fires] for which no execution ran to its end or still runs. One that has begun and
// waits for its turn still runs, see [job.Config.MaxConcurrentItems], although it is none of [Cluster.Executions] yet; of an
// Unmonitored job the registry does not tell what waits, and its fire is missed until its turn comes. A run that makes up
// for several fires counts for the newest one only, which is the one in its context. So with the default policy,
// [job.MisfireOnce], the others remain missed.
func (c *Cluster) MissedFires(name string) []Fire {
	c.tb.Helper()
	c.known(name, "MissedFires")
	return c.missed(name)
}

func (c *Cluster) missed(name string) []Fire {
	due := c.book.due(name)
	ran, waits := c.ranFor(name), c.waiting(name)
	var missed []Fire
	for _, f := range due {
		if len(ran[keyOfFire(f)]) == 0 && waits[keyOfFire(f)] == "" {
			missed = append(missed, f)
		}
	}
	return missed
}

// waiting returns which instances hold executions that have begun and wait for their turn, by their fires. Nobody observes
// those: the registry shows their marks.
func (c *Cluster) waiting(name string) map[fireKey]string {
	type begin struct { // several items that begin in one request have one token
		item  int
		token int64
	}
	started := make(map[begin]bool)
	for _, e := range c.book.ran(name) {
		started[begin{e.Item, e.Token}] = true
	}
	state, waits := c.state(name), make(map[fireKey]string)
	for item := range state.Total() {
		mark, record := state.Item(item).Running, state.Record(item).Value
		if !mark.Exists() || record.State != jobtree.ItemRunning || record.Current.ByHand() {
			continue
		}
		if started[begin{item, int64(mark.Created) + record.Current.Base}] {
			continue
		}
		for _, i := range c.all() {
			if p := i.now(); p.id == mark.Value && !p.is(crashed) {
				waits[keyOfFire(Fire{Item: item, Time: record.Current.Fire})] = i.name
			}
		}
	}
	return waits
}

// fireKey finds a fire whatever the location of its time is.
type fireKey struct {
	item int
	time int64
}

func keyOfFire(f Fire) fireKey { return fireKey{item: f.Item, time: f.Time.UnixNano()} }

// ranFor returns, by the fire that they ran for, the executions that ran to their ends; of a fire that has none,
// the newest that still runs: one that is taken over by another may be cut short yet. Runs by hand are for none.
func (c *Cluster) ranFor(name string) map[fireKey][]Execution {
	ran, runs := make(map[fireKey][]Execution), make(map[fireKey]Execution)
	for _, e := range c.book.ran(name) {
		key := keyOfFire(Fire{Item: e.Item, Time: e.Fire})
		switch {
		case e.Fire.IsZero() || e.Trigger != 0:
		case e.Outcome == OK || e.Outcome == Failed:
			ran[key] = append(ran[key], e)
		case e.Outcome == Running:
			runs[key] = e
		}
	}
	for key, e := range runs {
		if len(ran[key]) == 0 {
			ran[key] = []Execution{e}
		}
	}
	return ran
}

// twice returns the fires that more than one of the executions ran for, in order.
func twice(ran map[fireKey][]Execution) []Fire {
	var fires []Fire
	for _, executions := range ran {
		if len(executions) > 1 {
			fires = append(fires, Fire{Item: executions[0].Item, Time: executions[0].Fire})
		}
	}
	slices.SortFunc(fires, Fire.compare)
	return fires
}
