package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// stateOf returns the state of a job in the registry.
func (c *cluster) stateOf(name string) *jobtree.State {
	c.t.Helper()
	synctest.Wait()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	nodes, revision, err := reg.List(c.t.Context(), "/"+name)
	require.NoError(c.t, err)
	return jobtree.StateOf(name, registry.NewSnapshot(revision, nodes))
}

// ownersOf returns how many items of a job each instance owns.
func (c *cluster) ownersOf(name string) map[string]int {
	s, owners := c.stateOf(name), make(map[string]int)
	for n := range s.Total() {
		owners[s.Owner(n)]++
	}
	return owners
}

// Whose job's tree cannot be followed for a moment begins nothing of it meanwhile, says so, and goes on
// where it was.
func TestAViewThatEndsAndComesBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		var heard diary
		a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), scheduler.WithObserver(&heard)}, jobOf(2))
		sleepUntil(9 * time.Second)
		require.Len(t, c.take(), 2)
		heard.read()
		before := c.state().Instance(fullID("a"))
		a.registry.Deny("/orders", false)
		sleepUntil(10100 * time.Millisecond) // early enough, however long the pauses are that are drawn
		require.Empty(t, c.take(), "it cannot know what it would do")
		_, j := a.look(t)
		require.Contains(t, j.Blind, "no permission to read /orders")
		a.registry.Allow()
		sleepUntil(14500 * time.Millisecond)
		require.Len(t, c.take(), 2, "the fires of second 10, late")
		sleepUntil(17 * time.Second)
		require.Len(t, c.take(), 2)
		require.Equal(t, before, c.state().Instance(fullID("a")), "it never left")
		require.Equal(t, []string{
			`view of "orders": view /orders: registry access denied: no permission to read /orders`, `view of "orders": <nil>`,
		}, heard.read())
		require.Contains(t, log.line("the job cannot be followed"), "no permission to read /orders")
		require.NotEmpty(t, log.line("the job can be followed again"))
		_, j = a.look(t)
		require.Empty(t, j.Blind)
	})
}

// When that lasts for longer than a session would, others get the items: the instance leaves the job, or
// if it may not even write that, gives its session up. Its other jobs go on, and it comes back when it may.
func TestAViewThatEndsForLong(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"may leave": false, "may not leave": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				other := job.Config{Name: "bills", Cron: everyFive, ShardingTotalCount: 2}
				a := c.start("a", nil, jobOf(4), other)
				c.start("b", nil, jobOf(4), other)
				sleepUntil(9 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("b"): 2}, c.ownersOf("orders"))
				session := c.stateOf("bills").Instance(fullID("a")).Session
				a.registry.Deny("/orders", writes)
				patience := 7 * time.Second // the session's TTL and some
				if writes {
					patience = 14 * time.Second // and that of the session that was given up
				}
				sleepUntil(9*time.Second + patience)
				require.Equal(t, map[string]int{fullID("b"): 4}, c.ownersOf("orders"))
				require.Equal(t, writes, session != c.stateOf("bills").Instance(fullID("a")).Session)
				c.take()
				sleepUntil(41 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 1, fullID("b"): 1}, c.ownersOf("bills"))
				runs := map[string]int{}
				for _, r := range c.take() {
					runs[r.instance+" "+r.sc.JobName]++
				}
				require.Zero(t, runs["a orders"])
				require.Positive(t, runs["a bills"])
				require.Positive(t, runs["b orders"])
				a.registry.Allow()
				sleepUntil(50 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("b"): 2}, c.ownersOf("orders"))
			})
		})
	}
}

// Who has led the job ceases to once it has left it, or given its session up, or lost it, and says so at once; a view that is
// back before that changes nothing. It says that it leads again only when it has been elected again.
func TestALeaderThatCannotFollowItsJob(t *testing.T) {
	t.Parallel()
	const lost, led = "leads orders false, has a term true", "leads orders true, has a term true"
	for name, test := range map[string]struct {
		deny    func(a *instance)
		seconds int // for which it cannot
		alone   bool
		ceases  int // the second by which it has been told
		then    []string
	}{
		"for a moment":                {deny: func(a *instance) { a.registry.Deny("/orders", false) }, seconds: 1}, // however long the pauses are that are drawn
		"leaves":                      {deny: func(a *instance) { a.registry.Deny("/orders", false) }, seconds: 100, ceases: 15},
		"may not leave":               {deny: func(a *instance) { a.registry.Deny("/orders", true) }, seconds: 100, ceases: 15},
		"is alone, and leaves":        {deny: func(a *instance) { a.registry.Deny("/orders", false) }, seconds: 100, alone: true, ceases: 15, then: []string{led}},
		"is alone, and may not leave": {deny: func(a *instance) { a.registry.Deny("/orders", true) }, seconds: 100, alone: true, ceases: 15, then: []string{led}},
		"loses its session": {deny: func(a *instance) {
			a.registry.Deny("/orders", false)
			time.Sleep(2 * time.Second) // and it has noticed
			a.registry.Cut()
		}, seconds: 100, ceases: 17},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var heard diary
				a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLeadershipListener(heard.leadership)}, jobOf(4))
				if !test.alone {
					c.start("b", nil, jobOf(4))
				}
				sleepUntil(9 * time.Second)
				require.Equal(t, []string{led}, heard.read())
				test.deny(a)
				if test.ceases != 0 {
					sleepUntil(time.Duration(test.ceases) * time.Second)
					require.Equal(t, []string{lost}, heard.read())
					_, j := a.look(t)
					require.NotEmpty(t, j.Blind)
					require.False(t, j.Leading)
					require.Empty(t, j.Leader)
					require.False(t, j.Joined)
				}
				sleepUntil(time.Duration(9+test.seconds) * time.Second)
				require.Empty(t, heard.read())
				a.registry.Heal()
				a.registry.Allow()
				sleepUntil(time.Duration(40+test.seconds) * time.Second)
				require.Equal(t, test.then, heard.read())
				_, j := a.look(t)
				require.Empty(t, j.Blind)
				require.True(t, j.Joined)
				require.Equal(t, test.ceases == 0 || test.alone, j.Leading)
				require.NotEmpty(t, j.Leader)
			})
		})
	}
}

// A stop of a leader that cannot follow its job tells that it leads no more.
func TestAStopOfALeaderThatCannotFollowItsJob(t *testing.T) {
	t.Parallel()
	for name, writes := range map[string]bool{"may leave": false, "may not leave": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var heard diary
				a := c.startWith("a", nil, []scheduler.Option{scheduler.WithLeadershipListener(heard.leadership)}, jobOf(1))
				sleepUntil(9 * time.Second)
				require.Len(t, heard.read(), 1)
				a.registry.Deny("/orders", writes)
				sleepUntil(11 * time.Second)
				a.stop(t)
				require.Equal(t, []string{"leads orders false, has a term true"}, heard.read())
			})
		})
	}
}

// Beside Java instances, too: that it has left by itself does not look as if an operator had shut it down.
func TestAViewThatEndsForLongBesideJava(t *testing.T) {
	t.Parallel()
	for name, beside := range map[string]scheduler.Option{"2.1.5": scheduler.WithJavaPeers(), "3.x": scheduler.WithElasticJob3Peers()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var log lines
				a := c.startWith("a", nil, []scheduler.Option{beside, scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, sharedJob(2))
				sleepUntil(9 * time.Second)
				c.take()
				a.registry.Deny("/orders", false)
				sleepUntil(31 * time.Second)
				require.NotEmpty(t, log.line("left the job: it cannot be followed"))
				c.take()
				a.registry.Allow()
				sleepUntil(51 * time.Second)
				require.NotEmpty(t, c.take(), "it is back")
				require.Empty(t, log.line("shut down by an operator"))
			})
		})
	}
}

// A stop does not wait for a view that has ended.
func TestAStopWithoutAView(t *testing.T) {
	t.Parallel()
	for _, writes := range []bool{false, true} {
		inBubble(t, func(t *testing.T, c *cluster) {
			a := c.start("a", nil, jobOf(2))
			sleepUntil(9 * time.Second)
			a.registry.Deny("/orders", writes)
			sleepUntil(10 * time.Second)
			began := time.Now()
			a.stop(t)
			require.Less(t, time.Since(began), time.Second)
			require.Empty(t, c.state().Instances, "it has left, or its session was ended")
		})
	}
}

// The list of jobs is followed again, too: jobs that came meanwhile are taken up, those that went are left.
func TestAListOfJobsThatCannotBeFollowed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		greeting := scheduler.WithHandler("greeting", c.record("a", nil))
		a := c.launchWith("a", nil, []scheduler.Option{greeting}, nil)
		put := func(name string) { put(t, c.server, "/"+name+"/config", mustEncode(ofClass(name, "greeting", 1))) }
		put("orders")
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 1)
		a.registry.Deny("/secrets", true) // the root has it below, the job not
		put("bills")
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 1, "what it has goes on")
		require.Contains(t, a.Health(t.Context()).Blind, "/secrets")
		a.registry.Allow()
		sleepUntil(17 * time.Second) // by when it has asked again
		c.take()
		sleepUntil(26 * time.Second)
		require.Len(t, c.take(), 4)
		require.Empty(t, a.Health(t.Context()).Blind)
	})
}

// A process that may not read the list of jobs as it starts runs those that were declared, and the others later. One that
// has no others says so at once.
func TestAListOfJobsThatMayNotBeReadAtFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		put(t, c.server, "/bills/config", mustEncode(ofClass("bills", "greeting", 1)))
		start := func(configs ...job.Config) (*instance, *memory.Registry) {
			reg := c.server.Open("test")
			reg.Deny("/secrets", true)
			s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID(fmt.Sprint(len(configs)))), scheduler.WithHandler("greeting", c.record("a", nil)))
			require.NoError(t, err)
			for _, cfg := range configs {
				require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("a", nil))))
			}
			return c.run(s, reg), reg
		}
		orders := jobOf(1)
		a, reg := start(orders)
		<-a.Ready()
		sleepUntil(6500 * time.Millisecond)
		require.NotEmpty(t, c.take(), "what was declared runs")
		require.Contains(t, a.Health(t.Context()).Blind, "/secrets")
		reg.Allow()
		sleepUntil(20 * time.Second)
		require.Empty(t, a.Health(t.Context()).Blind)
		require.True(t, slices.ContainsFunc(c.take(), func(r run) bool { return r.sc.JobName == "bills" }))

		alone, _ := start()
		require.ErrorIs(t, alone.ended(), registry.ErrDenied)
	})
}

// reluctant is a registry that refuses what it is told to.
type reluctant struct {
	*memory.Registry
	mu     sync.Mutex
	notes  int         // how many requests it refuses that note missed fires
	hidden bool        // it lets nobody follow /orders
	asked  []time.Time // when somebody wanted to nevertheless
}

func (r *reluctant) refuse(notes int, hidden bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes, r.hidden = notes, hidden
}

func (r *reluctant) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	if !r.refuses(txns) {
		return r.Registry.CommitAll(ctx, txns)
	}
	outcomes := make([]registry.Outcome, len(txns))
	for i := range outcomes {
		outcomes[i].Err = registry.ErrUnavailable
	}
	return outcomes
}

// refuses counts the requests that note missed fires.
func (r *reluctant) refuses(txns []registry.Txn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	noted := slices.ContainsFunc(txns, func(txn registry.Txn) bool {
		return slices.ContainsFunc(txn.Then, func(w registry.Write) bool { return w.Path == jobtree.For("orders").ItemMisfire(0) })
	})
	if !noted || r.notes == 0 {
		return false
	}
	r.notes--
	return true
}

func (r *reluctant) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	r.mu.Lock()
	hidden := r.hidden && path == "/orders"
	if hidden {
		r.asked = append(r.asked, time.Now())
	}
	r.mu.Unlock()
	if hidden {
		return nil, registry.ErrDenied
	}
	return r.Registry.View(ctx, path, except...)
}

// A view that has ended is asked for again, ever less often, and at least each five seconds.
func TestAViewIsAskedForAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &reluctant{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), nothing)))
		i := c.run(s, reg.Registry)
		<-i.Ready()
		reg.refuse(0, true)
		reg.Deny("/orders", false)
		time.Sleep(time.Minute)
		i.stop(t)
		longest := 200 * time.Millisecond // of the second pause: nobody asks before the first
		different := make(map[time.Duration]struct{})
		for n, at := range reg.asked[1:] {
			pause := at.Sub(reg.asked[n])
			require.GreaterOrEqual(t, pause, longest/2, "pause %d", n)
			require.LessOrEqual(t, pause, longest, "pause %d", n)
			different[pause] = struct{}{}
			longest = min(2*longest, 5*time.Second)
		}
		require.GreaterOrEqual(t, len(reg.asked), 15)
		require.Greater(t, len(different), 10, "others ask at other times")
	})
}

// What an item misses while its owner cannot follow the job goes with it, to one that was not there yet: also
// if it ran and noted something after the view had ended, if a note is refused at first, and if the owner stops. The
// session stays, for it holds nothing that is not known.
func TestMissedFiresOfABlindOwner(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		takes   time.Duration // the run of second 5
		refused int
		stops   bool
	}{
		"idle":                              {},
		"idle, and stops":                   {stops: true},
		"a run ends meanwhile":              {takes: 3 * time.Second},
		"a run ends meanwhile, and stops":   {takes: 3 * time.Second, stops: true},
		"notes are refused at first":        {refused: 2},
		"notes are refused when it stops":   {refused: 2, stops: true},
		"notes are refused, and one is old": {takes: 3 * time.Second, refused: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				work, other := slowOnce(test.takes), job.Config{Name: "bills", Cron: everyFive, ShardingTotalCount: 1}
				reg := &reluctant{Registry: c.server.Open("test")}
				s, err := scheduler.New(reg, scheduler.WithInstanceID("10.0.0.1@-@a"))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), makeUpAll(1), c.record("a", work))))
				require.NoError(t, errOf(s.Add(t.Context(), other, nothing)))
				i := c.run(s, reg.Registry)
				sleepUntil(6500 * time.Millisecond)
				session := c.stateOf("bills").Instance("10.0.0.1@-@a").Session
				reg.Deny("/orders", false)
				sleepUntil(8500 * time.Millisecond)
				reg.refuse(test.refused, true)
				sleepUntil(10200 * time.Millisecond)
				c.onServer(2, "b", 0, nil, makeUpAll(1))
				if test.stops {
					i.cancel()
				}
				sleepUntil(30500 * time.Millisecond)
				requireEachFire(t, c.take(), 1, 1, 30)
				if !test.stops {
					require.Equal(t, session, c.stateOf("bills").Instance("10.0.0.1@-@a").Session)
				}
				i.stop(t)
			})
		})
	}
}

// Of a job that is left because it is not to be run here any more, nobody says for ever that it cannot be followed.
func TestABlindJobIsLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var heard diary
		reg := &reluctant{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg, scheduler.WithHandler("greeting", nothing), scheduler.WithObserver(&heard))
		require.NoError(t, err)
		put(t, c.server, "/orders/config", mustEncode(ofClass("orders", "greeting", 1)))
		i := c.run(s, reg.Registry)
		sleepUntil(6 * time.Second)
		heard.read()
		reg.refuse(0, true)
		reg.Deny("/orders", false)
		reg.Allow() // the list of jobs is followed again, and the job is not
		sleepUntil(7 * time.Second)
		c.removeJob("orders")
		sleepUntil(20 * time.Second)
		require.Empty(t, s.Jobs())
		last := ""
		for _, line := range heard.read() {
			if strings.HasPrefix(line, `view of "orders"`) {
				last = line
			}
		}
		require.Equal(t, `view of "orders": <nil>`, last)
		i.stop(t)
	})
}

// Who had to give its notes up once, when it was blind, makes them the next time.
func TestABlindOwnerThatGaveUpNotesAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &reluctant{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg, scheduler.WithInstanceID("10.0.0.1@-@a"))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), makeUpAll(1), c.record("a", nil))))
		i := c.run(s, reg.Registry)
		sleepUntil(6500 * time.Millisecond)
		reg.refuse(99, true)
		reg.Deny("/orders", false)
		sleepUntil(17 * time.Second)
		require.Empty(t, c.state().Instances)
		reg.refuse(0, false)
		reg.Allow()
		sleepUntil(25500 * time.Millisecond)
		c.take()
		reg.refuse(0, true)
		reg.Deny("/orders", false)
		sleepUntil(28200 * time.Millisecond)
		c.onServer(2, "b", 0, nil, makeUpAll(1))
		sleepUntil(40500 * time.Millisecond)
		requireEachFire(t, c.take(), 1, 26, 40)
		i.stop(t)
	})
}

// startPatient starts "a", whose session lasts five minutes, which is its patience, too, and then "b". Both take part in two
// jobs, "orders" and "bills", which "a" leads, and have an item of each. It returns the session of "a".
func (c *cluster) startPatient(log *lines, cron string) (*instance, registry.SessionID) {
	c.t.Helper()
	bills := job.Config{Name: "bills", Cron: cron, ShardingTotalCount: 2}
	reg := c.server.Open("test", memory.WithTTL(5*time.Minute))
	s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
	require.NoError(c.t, err)
	for _, cfg := range []job.Config{jobOf(2), bills} {
		require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record("a", nil))))
	}
	a := c.run(s, reg)
	<-a.Ready()
	c.start("b", nil, jobOf(2), bills)
	return a, c.state().Instance(fullID("a")).Session
}

// Who had to give its session up and may follow the job again before the registry has ended that session takes its
// own instance away, and the leader, as nobody would lead until then: neither this job, nor the others of the process. It
// does not say that somebody wrote them by hand.
func TestAProcessClearsUpAfterItsFormerSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		a, former := c.startPatient(&log, everyFive)
		sleepUntil(6 * time.Second)
		require.Equal(t, former, c.stateOf("orders").Leader.Session)
		require.Equal(t, former, c.stateOf("bills").Leader.Session)
		a.registry.Deny("/orders", true)
		for log.count("giving the session up") == 0 {
			time.Sleep(100 * time.Millisecond)
		}
		a.registry.Allow()
		time.Sleep(30 * time.Second) // more than the pause before a view is opened again, and much less than the TTL
		for _, name := range []string{"orders", "bills"} {
			now := c.stateOf(name)
			require.NotEqual(t, former, now.Instance(fullID("a")).Session, name)
			require.NotZero(t, now.Leader.Created, name)
			require.NotEqual(t, former, now.Leader.Session, name)
			require.Zero(t, now.Necessary, "%s: a request for a resharding is answered", name)
			require.Equal(t, map[string]int{fullID("a"): 1, fullID("b"): 1}, c.ownersOf(name), name)
		}
		require.Equal(t, 2, log.count(`"removed what a former session of this process left"`), "of each job once")
		require.Zero(t, log.count("written by hand"))
	})
}

// A job that is to be left when the process has given its session up is left with what that session still holds of it: its
// items and its leader are others' at once.
func TestAJobIsLeftWithWhatAFormerSessionHolds(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("bills")
	for name, leave := range map[string]func(t *testing.T, c *cluster, a *instance){
		"by the application": func(t *testing.T, _ *cluster, a *instance) {
			j, err := a.Job("bills")
			require.NoError(t, err)
			left := make(chan error, 1)
			go func() { left <- j.Leave(t.Context()) }()
			time.Sleep(10 * time.Second)
			select {
			case err := <-left:
				require.NoError(t, err)
			default:
				require.Fail(t, "the job is not left")
			}
		},
		"by an operator": func(t *testing.T, c *cluster, _ *instance) {
			hand := c.server.Open("test")
			_, err := hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Update(tree.Instance(fullID("a")), jobtree.InstanceShutdown)}})
			require.NoError(t, err)
			require.NoError(t, hand.Close(t.Context()))
			time.Sleep(10 * time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var log lines
				a, former := c.startPatient(&log, everyFive)
				sleepUntil(6 * time.Second)
				a.registry.Deny("/orders", true)
				a.registry.SetLatency(time.Second) // so that the next session comes a while later
				for log.count("giving the session up") == 0 {
					time.Sleep(100 * time.Millisecond)
				}
				before := c.stateOf("bills")
				require.Equal(t, former, before.Leader.Session)
				require.Equal(t, former, before.Instance(fullID("a")).Session)
				leave(t, c, a)
				now := c.stateOf("bills")
				require.Zero(t, now.Instance(fullID("a")))
				require.Equal(t, fullID("b"), now.Leader.Instance)
				require.Zero(t, now.Necessary, "a request for a resharding is answered")
				require.Equal(t, map[string]int{fullID("b"): 2}, c.ownersOf("bills"))
			})
		})
	}
}

// A begin that was under way when its process gave the session up, and that the store did, is taken back under the next
// session: else its item would stand still until the store ends the former one.
func TestABeginOfAFormerSessionIsTakenBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		a, former := c.startPatient(&log, "5 5 0 * * ?")
		sleepUntil(6500 * time.Millisecond)
		a.registry.Deny("/orders", true)
		sleepUntil(300 * time.Second)
		a.registry.SetLatency(time.Second)
		c.take()
		sleepUntil(306900 * time.Millisecond)
		require.Equal(t, 1, log.count("giving the session up"), "while the answer to the begin is on its way")
		marks := 0
		for n := range 2 {
			if c.stateOf("bills").Item(n).Running.Session == former {
				marks++
			}
		}
		require.Equal(t, 1, marks, "the store did it")
		a.registry.SetLatency(0)
		sleepUntil(350 * time.Second)
		var ran []string
		for _, r := range c.take() {
			if r.sc.JobName == "bills" {
				ran = append(ran, fmt.Sprintf("item %d fire %s", r.sc.Item, r.sc.Fire.Sub(bubbleStart)))
			}
		}
		require.Equal(t, []string{"item 0 fire 5m5s", "item 1 fire 5m5s"}, ran, "each once, and long before the former session ends")
		for n := range 2 {
			require.False(t, c.stateOf("bills").Item(n).Running.Exists())
		}
	})
}

// When another instance leads and does not spread the items over all instances, as one from which the store hides
// some, health says so once it has had the time; it does not when the leader does its work after all.
func TestALeaderThatDoesNotSeeAnInstance(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		other := c.server.Open("test")
		defer func() { require.NoError(t, other.Close(context.Background())) }()
		session, err := other.Session(t.Context())
		require.NoError(t, err)
		tree, leader := jobtree.For("orders"), "10.0.0.9@-@x"
		spread := func(second string) {
			_, err := other.Commit(t.Context(), registry.Txn{Then: []registry.Write{
				registry.Put(tree.ItemInstance(0), leader), registry.Put(tree.ItemInstance(1), second),
				registry.Put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: 2})),
			}})
			require.NoError(t, err)
		}
		_, err = other.Commit(t.Context(), registry.Txn{Then: []registry.Write{
			registry.PutOwned(tree.Instance(leader), jobtree.InstanceIdle, session),
			registry.PutOwned(tree.Leader(), leader, session),
		}})
		require.NoError(t, err)
		spread(leader)
		a := c.start("a", nil, jobOf(2))
		sleepUntil(9 * time.Second)
		_, j := a.look(t)
		require.True(t, j.Joined)
		require.Equal(t, leader, j.Leader)
		require.Empty(t, j.Sharding, "it may come yet")
		sleepUntil(time.Minute)
		_, j = a.look(t)
		require.Contains(t, j.Sharding, "the leader does not spread them")
		spread(fullID("a"))
		sleepUntil(61 * time.Second)
		_, j = a.look(t)
		require.Empty(t, j.Sharding)
		sleepUntil(2 * time.Minute)
		_, j = a.look(t)
		require.Empty(t, j.Sharding)
	})
}

// An instance that cannot follow the job does not leave it while something runs there whose mark was taken away: that
// would be run again elsewhere at the same time.
func TestAMarkIsTakenAwayWhileTheJobCannotBeFollowed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := yearly(1)
		cfg.Failover = true
		both := map[string]*instance{"a": c.start("a", took(time.Minute), cfg), "b": c.start("b", took(time.Minute), cfg)}
		sleepUntil(time.Second)
		trigger(t, both["a"])
		sleepUntil(2 * time.Second)
		runner := "a"
		if c.state().Owner(0) == fullID("b") {
			runner = "b"
		}
		both[runner].registry.Deny("/orders", false)
		sleepUntil(3 * time.Second)
		remove(t, c.server, ofOrders.ItemRunning(0))
		sleepUntil(5 * time.Minute)
		runs := c.take()
		require.Len(t, runs, 2)
		for i, x := range runs {
			for _, y := range runs[i+1:] {
				require.False(t, x.began.Before(y.ended) && y.began.Before(x.ended), "%s and %s", x, y)
			}
		}
	})
}

// Others have noted missed fires of an item that runs where nobody may read that any more. Its end is recorded all the same,
// and the job is left.
func TestAnEndOverANoteThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.onServer(1, "a", 5*time.Millisecond, slowOnce(10*time.Second), makeUpAll(1)) // with the fire of second 5
		sleepUntil(6500 * time.Millisecond)
		a.registry.Deny("/orders", false)
		c.onServer(2, "b", 0, nil, makeUpAll(1))
		hand := c.server.Open("test")
		text := jobtree.EncodeMisfire(jobtree.Misfire{Fires: []time.Time{bubbleStart.Add(6 * time.Second)}})
		_, err := hand.Commit(t.Context(), registryPut(jobtree.For("orders").ItemMisfire(0), text))
		require.NoError(t, err)
		require.NoError(t, hand.Close(t.Context()))
		sleepUntil(14500 * time.Millisecond)
		before := a.registry.Stats()
		sleepUntil(20500 * time.Millisecond)
		require.Less(t, a.registry.Stats().CommitRequests-before.CommitRequests, 30, "it does not try without a pause")
		sleepUntil(30500 * time.Millisecond)
		require.Equal(t, map[string]int{"10.0.0.2@-@b": 1}, c.owners())
		runs := c.take()
		ended := slices.IndexFunc(runs, func(r run) bool { return r.instance == "a" && r.ended.Sub(r.began) > time.Second })
		require.NotEqual(t, -1, ended)
		require.Equal(t, "b", runs[len(runs)-1].instance)
		require.Less(t, time.Since(runs[len(runs)-1].began), 2*time.Second, "the item goes on there")
	})
}

// A job that this process may not read is named and left alone, and the others run. If it may read none, Run
// says so.
func TestJobsThatMayNotBeRead(t *testing.T) {
	t.Parallel()
	for name, denied := range map[string][]string{"one of two": {"/bills"}, "both": {"/bills", "/orders"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := c.server.Open("test")
				defer func() { require.NoError(t, reg.Close(context.Background())) }()
				var log lines
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", nil))))
				require.NoError(t, errOf(s.Add(t.Context(), job.Config{Name: "bills", Cron: everyFive, ShardingTotalCount: 1}, c.record("a", nil))))
				for _, path := range denied {
					reg.Deny(path, true)
				}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Run(ctx) }()
				if len(denied) == 2 {
					require.ErrorIs(t, <-done, registry.ErrDenied)
					stop()
					return
				}
				sleepUntil(6 * time.Second)
				require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
				select {
				case <-s.Ready():
				default:
					require.Fail(t, "it waits for the job that it may not read")
				}
				require.Equal(t, 1, log.count("job is left alone"))
				require.Contains(t, errorLine(&log), "no permission to read /bills")
				require.Contains(t, errorLine(&log), "job=bills")
				stop()
				require.NoError(t, <-done)
			})
		})
	}
}
