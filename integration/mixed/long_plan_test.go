package mixed

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fault is a kind of things that are done to processes in a long run.
type fault string

const (
	killGo     fault = "kill a Go process, and start another"
	killJava   fault = "kill a Java process, and start another"
	killLeader fault = "kill the leader of a job, and start another process"
	stopGo     fault = "stop a Go process, and start another"
	stopJava   fault = "stop a Java process, and start another"
	freezeGo   fault = "freeze a Go process"
	freezeJava fault = "freeze a Java process"
	joinGo     fault = "have one more Go process take part for a while"
	joinJava   fault = "have one more Java process take part for a while"
)

// ofJava tells whether the fault hits a Java process, whoever leads.
func (f fault) ofJava() bool {
	return f == killJava || f == stopJava || f == freezeJava || f == joinJava
}

var faults = []fault{killGo, killJava, killLeader, stopGo, stopJava, freezeGo, freezeJava, joinGo, joinJava}

// action is a fault at a time.
type action struct {
	fault fault
	after time.Duration // the beginning of its round
	lasts time.Duration // until what was ended is started again, goes on, or leaves again
	slot  int           // whom it hits; of which job the leader is killed
}

// plan is an endless sequence of rounds of actions, which a seed decides. No two actions of a round hit one slot.
type plan struct {
	r       *rand.Rand
	undrawn []fault
	round   int
}

func newPlan(seed uint64) *plan { return &plan{r: rand.New(rand.NewPCG(seed, 1))} }

// next returns the actions of the next round, one or two. Every kind has had its turn before one comes again. A leader
// may be anybody, so a round that kills one does nothing else.
func (p *plan) next() []action {
	p.round++
	faults := []fault{p.draw()}
	if p.r.IntN(2) == 0 && faults[0] != killLeader && len(p.undrawn) > 0 && p.undrawn[0] != killLeader {
		faults = append(faults, p.draw())
	}
	ofGo, ofJava := p.r.Perm(slotsOfGo), p.r.Perm(slotsOfJava)
	var actions []action
	for i, f := range faults {
		a := action{fault: f, after: p.upTo(2 * time.Second), lasts: p.upTo(2 * time.Second), slot: ofGo[i]}
		if f.ofJava() {
			a.slot = ofJava[i]
		}
		switch f {
		case freezeGo, freezeJava: // long enough to lose the session, or not nearly
			if a.lasts = sessionTimeout + time.Second + p.upTo(2*time.Second); p.r.IntN(4) == 0 {
				a.lasts = p.upTo(sessionTimeout / 2)
			}
		case joinGo, joinJava:
			a.lasts = 3*longPeriod + p.upTo(longPeriod)
		}
		actions = append(actions, a)
	}
	return actions
}

// draw takes a kind at random, each once before any comes again.
func (p *plan) draw() fault {
	if len(p.undrawn) == 0 {
		p.undrawn = slices.Clone(faults)
		p.r.Shuffle(len(p.undrawn), func(i, j int) { p.undrawn[i], p.undrawn[j] = p.undrawn[j], p.undrawn[i] })
	}
	f := p.undrawn[0]
	p.undrawn = p.undrawn[1:]
	return f
}

func (p *plan) upTo(d time.Duration) time.Duration {
	return time.Duration(p.r.Int64N(int64(d))).Truncate(time.Millisecond)
}

// String tells the action in a line.
func (a action) String() string {
	return fmt.Sprintf("after %s %s (%d, %s)", a.after, a.fault, a.slot, a.lasts)
}

func TestThePlanOfALongRun(t *testing.T) {
	t.Parallel()
	rounds := func(seed uint64) (all [][]action) {
		p := newPlan(seed)
		for range 20 {
			all = append(all, p.next())
		}
		return all
	}
	require.Equal(t, rounds(7), rounds(7))
	require.NotEqual(t, rounds(7), rounds(8))
	for seed := range uint64(100) {
		seen := make(map[fault]bool)
		for _, actions := range rounds(seed) {
			type slot struct {
				java   bool
				number int
			}
			hit := make(map[slot]bool)
			for _, a := range actions {
				seen[a.fault] = true
				s := slot{a.fault.ofJava(), a.slot}
				require.False(t, hit[s], "two actions of slot %v", s)
				hit[s] = true
				require.False(t, a.fault == killLeader && len(actions) > 1, "the leader may be whom another action hits")
			}
		}
		require.Len(t, seen, len(faults), "seed %d", seed)
	}
}
