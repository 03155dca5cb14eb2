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
	killInstance    fault = "kill an instance, and start another"
	killLeader      fault = "kill the leader of a job, and start another instance"
	restartSameID   fault = "kill an instance, and start it again under its id"
	stopInstance    fault = "stop an instance, and start another"
	freezeInstance  fault = "freeze an instance"
	cutInstance     fault = "cut an instance off the store"
	cutSending      fault = "let the store not hear an instance"
	cutReceiving    fault = "let an instance not hear the store"
	slowInstance    fault = "give an instance a slow and lossy network"
	killStoreLeader fault = "kill the leader of the store, and start it again"
	restartStore    fault = "kill the whole store, and start it again"
	freezeMember    fault = "freeze a member of the store"
	isolateLeader   fault = "part the leader of the store from the other members"
	isolateMember   fault = "part a member of the store from the others"
	fillStore       fault = "let the store be out of space"
)

// instanceFaults are all that hit instances. Those that hit a store depend on which it is.
var instanceFaults = []fault{
	killInstance, killLeader, restartSameID, stopInstance, freezeInstance,
	cutInstance, cutSending, cutReceiving, slowInstance,
}

// action is a fault at a time.
type action struct {
	fault fault
	after time.Duration // the beginning of its round
	lasts time.Duration // of those that last, and before what was ended is started again
	slot  int           // whom it hits, unless the fault says so itself
	n     int           // a number, of whatever the fault needs
}

// plan is an endless sequence of rounds of actions, which a seed decides. Between two rounds is calm, so
// that what the cluster should have recovered to can be judged.
type plan struct {
	r       *rand.Rand
	store   []fault // that hit the store
	slots   int
	ttl     time.Duration
	round   int
	undrawn map[*fault][]fault // what is left of instanceFaults and of store
}

func newPlan(seed uint64, store []fault, slots int, ttl time.Duration) *plan {
	return &plan{r: rand.New(rand.NewPCG(seed, 1)), store: store, slots: slots, ttl: ttl, undrawn: make(map[*fault][]fault)}
}

// next returns the actions of the next round: some hit instances, each another one, and in every second
// round one hits the store. Every kind has had its turn before one comes again.
func (p *plan) next() []action {
	p.round++
	var faults []fault
	for range 1 + p.r.IntN(2) + p.round%2 {
		faults = append(faults, p.draw(instanceFaults))
	}
	if p.round%2 == 0 {
		faults = append(faults, p.draw(p.store))
	}
	slots := p.r.Perm(p.slots)
	var actions []action
	for i, f := range faults {
		a := action{fault: f, after: p.upTo(time.Second), slot: slots[i], n: p.r.IntN(1000)}
		switch f {
		case freezeInstance, cutInstance, cutSending, cutReceiving, slowInstance: // long enough to lose the session, or not nearly
			if a.lasts = p.ttl + 700*time.Millisecond + p.upTo(time.Second); p.r.IntN(5) == 0 {
				a.lasts = p.upTo(p.ttl / 2)
			}
		case freezeMember, isolateLeader, isolateMember, fillStore:
			a.lasts = p.ttl/2 + p.upTo(p.ttl)
		default:
			a.lasts = p.upTo(700 * time.Millisecond)
		}
		actions = append(actions, a)
	}
	return actions
}

// draw takes a fault at random, each kind once before any comes again.
func (p *plan) draw(kinds []fault) fault {
	undrawn := p.undrawn[&kinds[0]]
	if len(undrawn) == 0 {
		undrawn = slices.Clone(kinds)
		p.r.Shuffle(len(undrawn), func(i, j int) { undrawn[i], undrawn[j] = undrawn[j], undrawn[i] })
	}
	p.undrawn[&kinds[0]] = undrawn[1:]
	return undrawn[0]
}

func (p *plan) upTo(d time.Duration) time.Duration {
	return time.Duration(p.r.Int64N(int64(d))).Truncate(time.Millisecond)
}

// String tells the action in a line.
func (a action) String() string {
	return fmt.Sprintf("after %s %s (slot %d, %s, %d)", a.after, a.fault, a.slot, a.lasts, a.n)
}

func TestPlanIsDecidedByItsSeed(t *testing.T) {
	t.Parallel()
	describe := func(seed uint64) string {
		var text strings.Builder
		p := newPlan(seed, (*etcdCluster).faults(nil), 5, time.Second)
		for range 20 {
			fmt.Fprintln(&text, p.next())
		}
		return text.String()
	}
	require.Equal(t, describe(7), describe(7))
	require.NotEqual(t, describe(7), describe(8))
}

func TestPlanForgetsNoFault(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		ofStore := (*etcdCluster).faults(nil)
		p := newPlan(seed, ofStore, 5, time.Second)
		seen := make(map[fault]bool)
		for range 2 * len(ofStore) {
			hit := make(map[int]bool)
			for _, a := range p.next() {
				seen[a.fault] = true
				require.False(t, hit[a.slot], "two actions for slot %d", a.slot)
				hit[a.slot] = true
			}
		}
		require.Len(t, seen, len(instanceFaults)+len(ofStore), "seed %d", seed)
	}
}
