package demo

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// shared is a picture in which the first of the instances leads, and each holds one of two items for
// as long as there are items.
func shared(ids ...string) picture {
	p := picture{leader: ids[0], instances: make(map[string]registry.Revision), owners: []string{ids[0], ids[1]}}
	for i, id := range ids {
		p.instances[id] = registry.Revision(i + 1)
	}
	if len(ids) > 2 {
		p.owners = append(p.owners, ids[2:]...)
	}
	return p
}

// play has a script decide about scenes that are a second apart.
type play struct {
	t      *testing.T
	script script
	now    time.Time
}

func newPlay(t *testing.T, rounds int, keep bool) *play {
	t.Helper()
	return &play{t: t, script: script{rounds: rounds, keep: keep, every: time.Second}, now: time.Unix(1000, 0)}
}

func (p *play) expect(want action, sc scene, why string) {
	p.t.Helper()
	p.now = p.now.Add(time.Second)
	sc.now = p.now
	sc.newest = max(sc.newest, sc.rounds)
	require.Equal(p.t, want, p.script.next(sc), why)
}

func TestScript(t *testing.T) {
	t.Parallel()
	p := newPlay(t, 8, false)
	abc := []string{"a", "b", "c"}
	p.expect(wait, scene{}, "nobody is there")
	p.expect(wait, scene{picture: shared("a", "b"), members: abc, all: true}, "one is missing")
	p.expect(wait, scene{picture: shared("a", "b"), members: abc[:2]}, "one has not said hello")
	p.expect(count, scene{picture: shared("a", "b", "c"), members: abc, all: true}, "all share the items")

	sc := scene{picture: shared("a", "b", "c"), members: abc, all: true, rounds: 1}
	p.expect(wait, sc, "one round is too few")
	sc.rounds = 2
	p.expect(wait, sc, "now it aims")
	sc.started = "b"
	p.expect(wait, sc, "b does not lead")
	sc.started = "a"
	p.expect(kill, sc, "the leader runs")
	require.Equal(t, "a", p.script.victim)

	bc := []string{"b", "c"}
	p.expect(wait, scene{picture: shared("a", "b", "c"), members: bc, all: true, rounds: 2}, "nobody noticed yet")
	p.expect(wait, scene{picture: shared("b", "c"), members: bc, all: true, rounds: 2, newest: 5}, "items moved, three rounds are open")
	p.expect(wait, scene{picture: shared("b", "c"), members: bc, all: true, rounds: 5}, "they settle")
	p.expect(wait, scene{picture: shared("b", "c"), members: bc, all: true, rounds: 6}, "one round more")
	p.expect(join, scene{picture: shared("b", "c"), members: bc, all: true, rounds: 7}, "two rounds more")

	bcd := []string{"b", "c", "d"}
	p.expect(wait, scene{picture: shared("b", "c"), members: bcd, rounds: 7}, "d has not said hello")
	p.expect(wait, scene{picture: shared("b", "c"), members: bcd, all: true, rounds: 7}, "d has no item")
	p.expect(invite, scene{picture: shared("b", "c", "d"), members: bcd, all: true, rounds: 7}, "d has one")
	p.expect(wait, scene{picture: shared("b", "c", "d"), members: bcd, all: true, rounds: 8}, "enough rounds, too few with d")
	p.expect(finish, scene{picture: shared("b", "c", "d"), members: bcd, all: true, rounds: 9}, "all was shown")
}

func TestScriptKillsALeaderThatIsNotSeenToRun(t *testing.T) {
	t.Parallel()
	p := newPlay(t, 8, false)
	sc := scene{picture: shared("a", "b"), members: []string{"a", "b"}, all: true}
	p.expect(count, sc, "")
	sc.rounds = 2
	for range 4 {
		p.expect(wait, sc, "it waits for a run")
	}
	p.expect(kill, sc, "and kills it anyhow")
}

func TestScriptKillsAHolderIfTheLeaderHoldsNothing(t *testing.T) {
	t.Parallel()
	p := newPlay(t, 8, false)
	sc := scene{picture: shared("a", "b"), members: []string{"a", "b"}, all: true}
	p.expect(count, sc, "")
	sc.rounds, sc.picture.owners = 2, []string{"b", "b"}
	p.expect(wait, sc, "")
	sc.started = "b"
	p.expect(kill, sc, "")
	require.Equal(t, "b", p.script.victim)
}

func TestScriptThatKeepsDoesNotFinish(t *testing.T) {
	t.Parallel()
	p := newPlay(t, 3, true)
	p.script.phase = finishing
	for rounds := range 500 {
		p.expect(wait, scene{rounds: rounds}, "")
	}
}

func TestScriptGivesUp(t *testing.T) {
	t.Parallel()
	limit := int((patience + 5*time.Second) / time.Second)
	for ph := gathering; ph <= finishing; ph++ {
		t.Run(ph.String(), func(t *testing.T) {
			t.Parallel()
			p := newPlay(t, 8, false)
			p.script.phase, p.script.goal = ph, 1000
			still := scene{picture: shared("a", "b"), members: []string{"a", "b", "c"}, all: true, rounds: 1}
			if ph == aiming {
				still.picture, still.members = picture{}, nil // there is nobody to aim at
			}
			for range limit + 1 {
				p.expect(wait, still, "")
			}
			p.expect(standstill, still, "nothing has moved")
		})
	}
}
