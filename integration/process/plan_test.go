//go:build linux

package process_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fault is a kind of things that are done to processes.
type fault string

const (
	killInstance   fault = "kill an instance, and start another"
	killLeader     fault = "kill the leader of a job, and start another instance"
	restartSameID  fault = "kill an instance, and start it again under its id"
	stopInstance   fault = "stop an instance, and start another"
	freezeInstance fault = "freeze an instance"
	cutInstance    fault = "cut an instance off the store"
	muteInstance   fault = "let the store not hear an instance"
	deafInstance   fault = "let an instance not hear the store"
	slowInstance   fault = "give an instance a slow and lossy network"
	killStoreHead  fault = "kill the leader of the store, and start it again"
	restartStore   fault = "kill the whole store, and start it again"
	freezeMember   fault = "freeze a member of the store"
	isolateHead    fault = "part the leader of the store from the other members"
	isolateMember  fault = "part a member of the store from the others"
	fillStore      fault = "let the store be out of space"
)

// instanceFaults are all that hit instances. Those that hit a store depend on which it is.
var instanceFaults = []fault{
	killInstance, killLeader, restartSameID, stopInstance, freezeInstance,
	cutInstance, muteInstance, deafInstance, slowInstance,
}

// blow is a fault at a time.
type blow struct {
	fault fault
	after time.Duration // the beginning of its round
	lasts time.Duration // of those that last, and before what was ended is started again
	slot  int           // whom it hits, unless the fault says so itself
	n     int           // a number, of whatever the fault needs
}

// plan is an endless sequence of rounds of blows, which a seed decides. Between two rounds is calm, so
// that what the fleet should have recovered to can be judged.
type plan struct {
	r     *rand.Rand
	store []fault // that hit the store
	slots int
	ttl   time.Duration
	round int
	decks map[*fault][]fault // what is left of instanceFaults and of store
}

func newPlan(seed uint64, store []fault, slots int, ttl time.Duration) *plan {
	return &plan{r: rand.New(rand.NewPCG(seed, 1)), store: store, slots: slots, ttl: ttl, decks: make(map[*fault][]fault)}
}

// next returns the blows of the next round: some hit instances, each another one, and in every second
// round one hits the store. Every kind has had its turn before one comes again.
func (p *plan) next() []blow {
	p.round++
	var faults []fault
	for range 1 + p.r.IntN(2) + p.round%2 {
		faults = append(faults, p.deal(instanceFaults))
	}
	if p.round%2 == 0 {
		faults = append(faults, p.deal(p.store))
	}
	slots := p.r.Perm(p.slots)
	var blows []blow
	for i, f := range faults {
		b := blow{fault: f, after: p.upTo(time.Second), slot: slots[i], n: p.r.IntN(1000)}
		switch f {
		case freezeInstance, cutInstance, muteInstance, deafInstance, slowInstance: // long enough to lose the session, or not nearly
			if b.lasts = p.ttl + 700*time.Millisecond + p.upTo(time.Second); p.r.IntN(5) == 0 {
				b.lasts = p.upTo(p.ttl / 2)
			}
		case freezeMember, isolateHead, isolateMember, fillStore:
			b.lasts = p.ttl/2 + p.upTo(p.ttl)
		default:
			b.lasts = p.upTo(700 * time.Millisecond)
		}
		blows = append(blows, b)
	}
	return blows
}

// deal takes a fault off a shuffled deck.
func (p *plan) deal(kinds []fault) fault {
	deck := p.decks[&kinds[0]]
	if len(deck) == 0 {
		deck = slices.Clone(kinds)
		p.r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	}
	p.decks[&kinds[0]] = deck[1:]
	return deck[0]
}

func (p *plan) upTo(d time.Duration) time.Duration {
	return time.Duration(p.r.Int64N(int64(d))).Truncate(time.Millisecond)
}

// String tells the blow in a line.
func (b blow) String() string {
	return fmt.Sprintf("after %s %s (slot %d, %s, %d)", b.after, b.fault, b.slot, b.lasts, b.n)
}

func TestPlanIsDecidedByItsSeed(t *testing.T) {
	t.Parallel()
	tell := func(seed uint64) string {
		var text strings.Builder
		p := newPlan(seed, (*store).faults(nil), 5, time.Second)
		for range 20 {
			fmt.Fprintln(&text, p.next())
		}
		return text.String()
	}
	require.Equal(t, tell(7), tell(7))
	require.NotEqual(t, tell(7), tell(8))
}

func TestPlanForgetsNoFault(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		ofStore := (*store).faults(nil)
		p := newPlan(seed, ofStore, 5, time.Second)
		seen := make(map[fault]bool)
		for range 2 * len(ofStore) {
			hit := make(map[int]bool)
			for _, b := range p.next() {
				seen[b.fault] = true
				require.False(t, hit[b.slot], "two blows for slot %d", b.slot)
				hit[b.slot] = true
			}
		}
		require.Len(t, seen, len(instanceFaults)+len(ofStore), "seed %d", seed)
	}
}
