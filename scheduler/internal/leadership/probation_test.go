package leadership

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const probationTTL = 5 * time.Second

// The instances of the tests of probation.
const old, sick, sick2, well = "10.0.0.1@-@1", "10.0.0.9@-@1", "10.0.0.9@-@2", "10.0.0.2@-@1"

// watched is a probation with the tree that it sees.
type watched struct {
	probation
	view     room.View
	revision registry.Revision
}

func watching(t *testing.T, ids ...string) *watched {
	t.Helper()
	session, _ := backend.NewSession(mySession, probationTTL, func() time.Duration { return 0 }, 0)
	w := &watched{view: room.View{Facts: &room.Facts{
		Process: &room.Process{Instance: old}, Tree: jobtree.For("orders"), State: jobtree.NewState("orders"),
		Attached: &room.Attachment{Session: session, Ctx: t.Context()},
	}}}
	cfg := seeing(t, 0).State.Config.Value
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	changes := []registry.Node{{Path: w.view.Tree.Config(), Value: text}}
	for _, id := range ids {
		changes = append(changes, w.instance(id))
	}
	w.step(changes...)
	return w
}

func (w *watched) instance(id string) registry.Node {
	return registry.Node{Path: w.view.Tree.Instance(id), Value: jobtree.InstanceIdle, Session: foreignSession}
}

// step has nodes be written, or removed if they have neither value nor session, in one transaction.
func (w *watched) step(nodes ...registry.Node) {
	w.revision++
	step := registry.Step{Snapshot: registry.NewSnapshot(w.revision, nil)}
	for _, n := range nodes {
		change := registry.Change{Old: registry.Node{Path: n.Path, Created: 1, Revision: 1}}
		if n.Value != "" || n.Session != 0 || n.Path == w.view.Tree.Necessary() {
			n.Created, n.Revision = w.revision, w.revision
			change = registry.Change{New: n}
		}
		step.Changes = append(step.Changes, change)
	}
	w.observe(w.view, w.view.State.Apply(step))
}

func (w *watched) joins(id string) {
	w.step(w.instance(id), registry.Node{Path: w.view.Tree.Necessary()})
}

func (w *watched) sickDies() {
	w.step(registry.Node{Path: w.view.Tree.Instance(sick)})
}

// remembered returns the servers whose instances die young.
func (w *watched) remembered() []string {
	var servers []string
	if w.witnessed != nil {
		for server, d := range w.witnessed.deaths {
			if !d.mayLeave {
				servers = append(servers, server)
			}
		}
	}
	return servers
}

// out returns who gets no items.
func (w *watched) out() []string {
	var out []string
	without := w.without(w.view)
	for _, i := range w.view.State.Instances {
		if without != nil && without(i) {
			out = append(out, i.ID)
		}
	}
	return out
}

// After an instance has died young, others of its server that are new get no items until they are not new any more.
func TestWhoIsOnProbation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		w.joins(sick)
		require.Empty(t, w.out(), "nobody died")
		time.Sleep(time.Second)
		w.joins(sick2) // while the session of the first one lives on
		time.Sleep(probationTTL)
		w.sickDies()
		require.Equal(t, []string{sick2}, w.out())
		over, in := w.due()
		require.False(t, over)
		require.Equal(t, probationTTL, in)
		w.joins(well)
		require.Equal(t, []string{sick2}, w.out(), "other servers have nothing to do with it")
		time.Sleep(probationTTL)
		over, _ = w.due()
		require.True(t, over)
		require.Empty(t, w.out())
		over, in = w.due()
		require.False(t, over)
		require.Zero(t, in)
	})
}

// Each death is remembered for a while, also that of one who had no items.
func TestForHowLongADeathIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		for range 5 {
			w.joins(sick)
			time.Sleep(probationTTL + time.Second)
			w.sickDies()
			time.Sleep(remembered - probationTTL - 2*time.Second)
		}
		w.joins(sick)
		require.Equal(t, []string{sick}, w.out())
		_, in := w.due()
		require.Equal(t, probationTTL+2*time.Second, in, "as long as the death is remembered, and no longer")
		time.Sleep(in)
		over, _ := w.due()
		require.True(t, over)
		require.Empty(t, w.out())
	})
}

// Who leaves, or was there for long, or before anybody watched, did not die young.
func TestWhoDidNotDieYoung(t *testing.T) {
	t.Parallel()
	gone := func(w *watched) registry.Node { return registry.Node{Path: w.view.Tree.Instance(sick)} }
	resharded := func(w *watched) registry.Node {
		return registry.Node{Path: w.view.Tree.Epoch(), Value: jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 2, Total: 1})}
	}
	for name, goes := range map[string]func(w *watched){
		"it leaves": func(w *watched) { w.step(gone(w), registry.Node{Path: w.view.Tree.Necessary()}) },
		"it leaves, as it was told to": func(w *watched) {
			n := w.instance(sick)
			n.Value = jobtree.InstanceShutdown
			n.Created, n.Revision = w.view.State.Instance(sick).Created, w.revision+1
			touched := w.view.State.Apply(registry.Step{Changes: []registry.Change{{New: n}}, Snapshot: registry.NewSnapshot(w.revision, nil)})
			w.observe(w.view, touched)
			w.step(gone(w))
		},
		"it leaves beside what it owned": func(w *watched) {
			left := registry.Node{Path: w.view.Tree.FailoverLeft(sick), Value: " "}
			w.step(gone(w), left)
		},
		"it leaves with the leadership": func(w *watched) {
			w.step(registry.Node{Path: w.view.Tree.Leader(), Value: sick, Session: foreignSession})
			w.step(gone(w), registry.Node{Path: w.view.Tree.Leader()})
		},
		"its leave is seen with the resharding that answered it": func(w *watched) { w.step(gone(w), resharded(w)) },
		"its leave is seen with a resharding that moved nothing": func(w *watched) {
			var changes []registry.Change
			for _, path := range []string{w.view.Tree.Instance(sick), w.view.Tree.Necessary()} {
				changes = append(changes, registry.Change{Old: registry.Node{Path: path, Created: 1, Revision: 1}})
			}
			w.revision++
			w.observe(w.view, w.view.State.Apply(registry.Step{Changes: changes, Snapshot: registry.NewSnapshot(w.revision, nil)}))
		},
		"the job is removed": func(w *watched) {
			w.step(registry.Node{Path: w.view.Tree.Config()})
			w.step(gone(w))
		},
		"it was there for long": func(w *watched) {
			time.Sleep(youngFor * probationTTL)
			w.sickDies()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := watching(t, old)
				w.joins(sick)
				time.Sleep(time.Second)
				goes(w)
				require.Empty(t, w.remembered())
				w.joins(sick2)
				require.Empty(t, w.out())
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old, sick)
		w.sickDies()
		require.Empty(t, w.remembered(), "it was there first")
		w.joins(sick2)
		w.step(w.instance(sick2)) // under another session: its own was lost
		require.Contains(t, w.remembered(), "10.0.0.9")
		require.Equal(t, []string{sick2}, w.out())
	})
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		w.step(registry.Node{Path: w.view.Tree.Leader(), Value: old, Session: mySession})
		w.joins(sick)
		w.step(gone(w), resharded(w))
		require.NotEmpty(t, w.remembered(), "whoever leads has answered no leave that it had not seen")
	})
}

// Whoever follows a job from afar may see each death with the resharding that answered it. One such step may be a leave;
// another one soon after, of a new instance of the same server, is not taken for one.
func TestDeathsThatAreSeenWithTheirReshardings(t *testing.T) {
	t.Parallel()
	goes := func(w *watched, counter int64) {
		resharded := jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: counter, Total: 1})
		w.step(registry.Node{Path: w.view.Tree.Instance(sick)}, registry.Node{Path: w.view.Tree.Epoch(), Value: resharded})
	}
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		for life := range 5 {
			w.joins(sick)
			require.Equal(t, life >= 2, len(w.out()) == 1, life)
			time.Sleep(probationTTL + time.Second)
			goes(w, int64(life+1))
		}
		require.Contains(t, w.remembered(), "10.0.0.9")
	})
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		for life := range 3 {
			w.joins(sick)
			require.Empty(t, w.out(), "the one before may have left, a minute ago")
			time.Sleep(probationTTL)
			goes(w, int64(life+1))
			time.Sleep(remembered)
		}
		w.joins(sick)
		time.Sleep(time.Second)
		w.sickDies()
		w.joins(sick)
		require.Equal(t, []string{sick}, w.out(), "a death that is seen to be one is enough")
	})
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		w.joins(sick)
		w.joins(sick2)
		time.Sleep(time.Second)
		w.step(registry.Node{Path: w.view.Tree.Instance(sick)}, registry.Node{Path: w.view.Tree.Instance(sick2)},
			registry.Node{Path: w.view.Tree.Epoch(), Value: jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: 1})})
		w.joins(sick)
		require.Empty(t, w.out(), "all that ran on the server have left together")
	})
}

// Items are not left to nobody, and where Java shares the job, its rules count.
func TestNobodyElseIsThere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		w.joins(sick)
		w.sickDies()
		w.joins(sick2)
		require.Equal(t, []string{sick2}, w.out())
		w.step(registry.Node{Path: w.view.Tree.Server("10.0.0.1"), Value: jobtree.EncodeServer(true)})
		require.Empty(t, w.out(), "the other one may have none")
		w.step(registry.Node{Path: w.view.Tree.Server("10.0.0.1")})
		require.Equal(t, []string{sick2}, w.out())
		w.view.Leaving = true
		require.Empty(t, w.out(), "the other one leaves")
		w.view.Leaving = false
		w.view.State.ShareWithJava()
		require.Empty(t, w.out())
	})
}

// A failure ends the sessions of all, also of whoever leads. All are as new then, and nobody has to do the work of all.
func TestALeaderThatIsNewItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		w.joins(sick)
		time.Sleep(time.Second)
		w.sickDies()
		w.view.Attached.Since = time.Now()
		w.joins(sick2)
		require.NotEmpty(t, w.remembered())
		require.Empty(t, w.out())
	})
}

// A leader leaves out who is on probation, and reshards when that is over.
func TestALeaderWaitsForTheEndOfAProbation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{}
		l := w.room(t, peers.None{})
		seen := watching(t, "me")
		seen.joins(sick)
		seen.sickDies()
		seen.joins(sick2)
		l.probation = seen.probation
		v := seeing(t, mySession, registry.Node{
			Path: seen.view.Tree.Instance(sick2), Value: jobtree.InstanceIdle, Created: seen.revision, Revision: seen.revision, Session: foreignSession,
		})
		l.Decide(v)
		time.Sleep(gatherFor)
		batch := l.Decide(v)
		require.Len(t, batch, 1)
		for _, c := range batch[0].Txn.If {
			require.NotEqual(t, v.Tree.Instance(sick2), c.Path)
		}
		require.Empty(t, l.Decide(v))
		require.Greater(t, w.wakes[len(w.wakes)-1], probationTTL)
		time.Sleep(probationFor * probationTTL)
		l.Decide(v)
		time.Sleep(gatherFor)
		batch = l.Decide(v)
		require.Len(t, batch, 1)
	})
}

// What is remembered goes when it is of no use any more, though nobody comes or goes, and whoever does not lead asks for no
// more than one look at it.
func TestWhatIsRememberedGoes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(w *watched)
		within  time.Duration
	}{
		"many have joined": {func(w *watched) {
			for n := range 50 {
				w.joins(fmt.Sprintf("10.0.1.%d@-@1", n))
			}
		}, youngFor * probationTTL},
		"one has died": {func(w *watched) {
			w.joins(sick)
			w.sickDies()
			w.joins(sick2)
		}, remembered},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &world{}
				l := w.room(t, peers.None{})
				seen := watching(t, old)
				test.happens(seen)
				l.probation = seen.probation
				v := seeing(t, foreignSession, registry.Node{
					Path: seen.view.Tree.Instance(sick2), Value: jobtree.InstanceIdle, Created: seen.revision, Revision: seen.revision, Session: foreignSession,
				})
				l.misplaced(v) // as a health report asks
				require.NotNil(t, l.probation.witnessed)
				l.Decide(v)
				require.Equal(t, []time.Duration{test.within}, w.wakes)
				time.Sleep(test.within)
				l.Decide(v)
				require.Nil(t, l.probation.witnessed)
				require.Len(t, w.wakes, 1)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := watching(t, old)
		w.joins(sick)
		time.Sleep(youngFor * probationTTL)
		w.step(registry.Node{Path: w.view.Tree.Necessary()})
		require.Nil(t, w.witnessed, "any step will do")
	})
}
