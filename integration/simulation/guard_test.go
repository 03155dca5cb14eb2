package simulation_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// far is how long messages of a process take that lags behind: it decides on what was, and what it
// commits arrives at what will be.
const far = 700 * time.Millisecond

// breach is a story in which something changes between a decision and its arrival at the store. With
// the guards it goes well; without them it goes wrong as findings of the guarantee tell.
type breach struct {
	without []guard
	breaks  checker.Guarantee
	job     job.Config
	story   func(t *testing.T, c *cluster)
}

func TestEachGuardIsNeeded(t *testing.T) {
	t.Parallel()
	for name, x := range breaches() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Empty(t, x.tell(t, nil), "with every guard")
			broken := false
			findings := x.tell(t, x.without)
			for _, f := range findings {
				broken = broken || f.Guarantee == x.breaks
			}
			require.True(t, broken, "without %v nobody found that %s is broken: %v", x.without, x.breaks, findings)
		})
	}
}

// tell tells the story among processes that leave some guards out.
func (x breach) tell(t *testing.T, without []guard) []checker.Finding {
	t.Helper()
	return inBubble(t, x.job, func(t *testing.T, c *cluster) {
		c.wrap = func(r registry.Registry) registry.Registry { return mutant{Registry: r, without: without} }
		x.story(t, c)
		for _, p := range c.processes {
			if p.alive() {
				_ = p.stop()
			}
		}
		time.Sleep(30 * time.Second)
	})
}

func items(total int, change ...func(*job.Config)) job.Config {
	cfg := oneItem()
	cfg.ShardingTotalCount = total
	for _, edit := range change {
		edit(&cfg)
	}
	return cfg
}

// large is so many items that a third instance moves more of them than a transaction may here.
const large = 12

// onceAMinute has a job fire at second 5 of each minute.
func onceAMinute(cfg *job.Config) { cfg.Cron = "5 * * * * ?" }

// breaches has a story for every guard, or for those together of which each is enough, without which
// something goes wrong. There is none for these, each of which another one stands in for:
//
//   - That a lost execution's instance is not there under its session (T6). Instance and mark are of
//     one session and go in one revision, so "no mark" is as good, unless somebody deletes a mark by
//     hand. Then this guard is what waits for the session.
//   - That the instance is the one that leaves, and the leader the one that resigns. A leave that
//     arrives when another process has come under the same id, or another instance leads, would
//     delete that one's node. It registers, or is elected, anew, and until then the guards of begin
//     and reshard on just these nodes refuse all that it decides. So these two spare the cluster a
//     resharding, and no more.
func breaches() map[string]breach {
	all := make(map[string]breach)
	for _, some := range []map[string]breach{beginBreaches(), endBreaches(), claimBreaches(), reshardBreaches(), memberBreaches()} {
		for name, x := range some {
			all[name] = x
		}
	}
	return all
}

// until waits for a state of the job.
func (c *cluster) until(holds func(s *jobtree.State) bool) {
	_, err := c.view.WaitFor(c.t.Context(), func(s registry.Snapshot) bool { return holds(jobtree.StateOf(c.declared.Name, s)) })
	require.NoError(c.t, err)
}

// lag has a process lag behind from now on, for a time.
func (p *process) lag(lasts time.Duration) { go p.slow(lasts, far) }

func beginBreaches() map[string]breach {
	// meanwhile has a process's begin of the fire of second 10 arrive at 10.7, and something happen
	// before that.
	meanwhile := func(change func(c *cluster, p *process)) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			p := c.start(a)
			sleepUntil(9 * time.Second)
			p.lag(3 * time.Second)
			sleepUntil(10300 * time.Millisecond)
			change(c, p)
			sleepUntil(21 * time.Second)
		}
	}
	// inParts has a lead and lag behind, c3 join at a time, and the begins of b of second 10 be under way
	// for so long. What c3 gets it begins later than that, as it lags behind by then.
	inParts := func(joins, takes time.Duration) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			leader := c.start(a)
			sleepUntil(time.Second)
			p := c.start(b)
			sleepUntil(7500 * time.Millisecond)
			leader.lag(9 * time.Second)
			sleepUntil(joins)
			newcomer := c.start(c3)
			sleepUntil(9990 * time.Millisecond)
			p.slow(60*time.Millisecond, takes)
			newcomer.lag(4 * time.Second)
			sleepUntil(21 * time.Second)
		}
	}
	return map[string]breach{
		"begin/item not disabled": {[]guard{{begin, jobtree.KindItemDisabled}}, checker.Intent, oneItem(), meanwhile(func(c *cluster, _ *process) {
			c.put(c.tree().ItemDisabled(0), "")
		})},
		"begin/config unchanged": {[]guard{{begin, jobtree.KindConfig}}, checker.Intent, oneItem(), meanwhile(func(c *cluster, _ *process) {
			c.configure(func(cfg *job.Config) { cfg.JobParameter = "new" })
		})},
		"begin/my instance is there": {[]guard{{begin, jobtree.KindInstance}}, checker.OneHolder, oneItem(), meanwhile(func(c *cluster, p *process) {
			c.commit(registry.Delete(c.tree().Instance(p.id)))
		})},
		// Missed fires are not made up: c3 would be told of that of second 10, and its begin change the record.
		"begin/item still mine": {[]guard{{begin, jobtree.KindItemInstance}}, checker.OneHolder, items(6, func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip }), func(_ *testing.T, c *cluster) {
			c.start(a) // leads
			sleepUntil(time.Second)
			p := c.start(b)
			sleepUntil(9 * time.Second)
			p.lag(3 * time.Second)
			sleepUntil(10100 * time.Millisecond)
			c.start(c3) // gets items of b
			sleepUntil(21 * time.Second)
		}},
		// c3's coming makes the leader write its parts at 10.2 and put them into force at 11.6. The begins
		// of b, decided when there were none, arrive at 12, before the leader has tidied.
		"begin/no other owner in parts": {[]guard{{begin, jobtree.KindItemNext}}, checker.OneHolder, items(large), inParts(8780*time.Millisecond, 2*time.Second)},
		// The parts are there at 9.5 and in force at 10.9. The begins of b, which has seen the parts,
		// arrive at 11.5.
		"begin/the parts not in force": {[]guard{{begin, jobtree.KindEpoch}}, checker.OneHolder, items(large), inParts(8080*time.Millisecond, 1500*time.Millisecond)},
		// The begin of second 10 takes six seconds to arrive. Meanwhile its process loses its session
		// and takes it up again, so that it neither waits for the answer nor is another instance, and
		// runs the fire.
		"begin/record unchanged": {[]guard{{begin, jobtree.KindItemRecord}}, checker.OneExecution, oneItem(), func(_ *testing.T, c *cluster) {
			sleepUntil(500 * time.Millisecond) // no keep-alive is to be sent together with the begin
			p := c.start(a)
			sleepUntil(9990 * time.Millisecond)
			p.slow(60*time.Millisecond, 6*time.Second)
			sleepUntil(10100 * time.Millisecond)
			p.cut(3300 * time.Millisecond)
			sleepUntil(31 * time.Second)
		}},
	}
}

func endBreaches() map[string]breach {
	// The session of a is dropped while its end is under way to the store; b takes over.
	zombie := func(_ *testing.T, c *cluster) {
		c.work = func(sc job.ShardingContext) work {
			if sc.Source == job.Failover {
				return work{takes: 3 * time.Second}
			}
			return work{takes: 300 * time.Millisecond}
		}
		p := c.start(c3) // leads, and owns the item
		sleepUntil(time.Second)
		c.start(b)
		sleepUntil(9 * time.Second)
		p.lag(5 * time.Second)
		sleepUntil(11500 * time.Millisecond) // it runs from 11.4 to 11.7
		p.expire()
		sleepUntil(26 * time.Second)
	}
	// The owner of the item dies in mid-run and comes back. It finds out by itself what it lost, and
	// runs it again, while a, the leader, lags behind and declares it lost, too.
	twice := func(rerun time.Duration) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			c.work = func(sc job.ShardingContext) work {
				if sc.Source == job.Failover {
					return work{takes: rerun}
				}
				return work{takes: 3 * time.Second}
			}
			leader := c.start(a)
			sleepUntil(time.Second)
			p := c.start(c3)
			sleepUntil(6 * time.Second)
			leader.lag(9 * time.Second)
			p.crash()
			c.start(p.id)
			sleepUntil(31 * time.Second)
		}
	}
	return map[string]breach{
		"end/the mark is this execution's": {[]guard{{end, jobtree.KindItemRunning}}, checker.GrowingToken, oneItem(), zombie},
		"declare lost/record unchanged":    {[]guard{{declare, jobtree.KindItemRecord}}, checker.NothingForgotten, items(1, onceAMinute), twice(100 * time.Millisecond)},
		"declare lost/no mark": {
			[]guard{{declare, jobtree.KindItemRunning}, {declare, jobtree.KindItemRecord}}, checker.NothingForgotten, items(1, onceAMinute), twice(4 * time.Second),
		},
	}
}

func claimBreaches() map[string]breach {
	// meanwhile has c3 die while it runs item 3, which then goes to a, which lags behind, and something
	// happen while the claim of a is under way. b leads.
	meanwhile := func(change func(c *cluster)) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			c.work = func(sc job.ShardingContext) work {
				if sc.Source == job.Failover {
					return work{takes: 100 * time.Millisecond}
				}
				return work{takes: 2 * time.Second}
			}
			c.start(b)
			sleepUntil(time.Second)
			claimant, dying := c.start(a), c.start(c3)
			sleepUntil(6 * time.Second)
			dying.crash()
			claimant.lag(9 * time.Second)
			c.until(func(s *jobtree.State) bool {
				return s.Owner(3) == a && s.Item(3).Record.Value.State == jobtree.ItemWaiting
			})
			change(c)
			sleepUntil(31 * time.Second)
		}
	}
	// later is right before the claim arrives, and the leader sees it after that, so that it does not reshard in between.
	later := func(change func(c *cluster)) func(t *testing.T, c *cluster) {
		return meanwhile(func(c *cluster) {
			time.Sleep(2*far - 10*time.Millisecond)
			go c.processes[0].slow(time.Second, 20*time.Millisecond)
			time.Sleep(time.Millisecond)
			change(c)
		})
	}
	record, item := guard{claim, jobtree.KindItemRecord}, guard{claim, jobtree.KindFailoverItem}
	epoch, config := guard{claim, jobtree.KindEpoch}, guard{claim, jobtree.KindConfig}
	return map[string]breach{
		"claim/item not disabled": {[]guard{{claim, jobtree.KindItemDisabled}}, checker.Intent, items(4, onceAMinute), later(func(c *cluster) {
			c.put(c.tree().ItemDisabled(3), "")
		})},
		"claim/server unchanged": {[]guard{{claim, jobtree.KindServer}}, checker.Intent, items(4, onceAMinute), later(func(c *cluster) {
			c.put(c.tree().Server("10.0.0.1"), jobtree.EncodeServer(true))
		})},
		"claim/config unchanged": {[]guard{config}, checker.Intent, items(4, onceAMinute), later(func(c *cluster) {
			c.configure(func(cfg *job.Config) { cfg.JobParameter = "new" })
		})},
		"claim/my instance is there": {[]guard{{claim, jobtree.KindInstance}}, checker.OneHolder, items(4, onceAMinute), later(func(c *cluster) {
			c.commit(registry.Delete(c.tree().Instance(a)))
		})},
		// Each of the three is enough here: every step out of waiting changes the record and removes the
		// item, and who else could take it has got it by another assignment.
		"claim/record, item or epoch unchanged": {[]guard{record, item, epoch}, checker.NothingForgotten, items(4, onceAMinute), meanwhile(func(c *cluster) {
			time.Sleep(50 * time.Millisecond)
			c.start("10.0.0.4@-@d") // gets item 3, and runs it again
		})},
		// Each of the three is enough: the number of items changes with the config, and a resharding to
		// fewer removes the wishes of surplus ones.
		"claim/epoch, item or config unchanged": {[]guard{epoch, item, config}, checker.Intent, items(4, onceAMinute), meanwhile(func(c *cluster) {
			time.Sleep(far)
			c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 2 })
		})},
	}
}

func reshardBreaches() map[string]breach {
	// meanwhile has a lead, and lag behind: what c3's coming makes it decide at 8.72 arrives at 9.42,
	// and something happens before that.
	meanwhile := func(change func(c *cluster)) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			leader := c.start(a)
			sleepUntil(time.Second)
			c.start(b)
			sleepUntil(7 * time.Second)
			leader.lag(6 * time.Second)
			sleepUntil(8 * time.Second)
			c.start(c3)
			sleepUntil(9 * time.Second)
			change(c)
			sleepUntil(31 * time.Second)
		}
	}
	return map[string]breach{
		"reshard/necessary unchanged": {[]guard{{reshard, jobtree.KindNecessary}}, checker.NoStall, items(6), meanwhile(func(c *cluster) {
			c.start("10.0.0.4@-@d")
		})},
		"reshard/config unchanged": {[]guard{{reshard, jobtree.KindConfig}}, checker.Intent, items(6), meanwhile(func(c *cluster) {
			c.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 9 })
		})},
		"reshard/the members live": {[]guard{{reshard, jobtree.KindInstance}}, checker.NoStall, items(6), meanwhile(func(c *cluster) {
			p := c.processes[1]
			go p.cut(10 * time.Second)
			time.Sleep(10 * time.Millisecond)
			p.expire()
		})},
		// An operator excludes a server, which nobody asks a resharding for, and then the leader's node
		// is removed while the leader's resharding is under way.
		"reshard/I lead": {[]guard{{reshard, jobtree.KindLeader}, {reshard, jobtree.KindEpoch}}, checker.OneHolder, items(6), func(_ *testing.T, c *cluster) {
			leader := c.start(a)
			sleepUntil(time.Second)
			c.start(b)
			c.start(c3)
			sleepUntil(7 * time.Second)
			leader.lag(6 * time.Second)
			sleepUntil(8 * time.Second)
			c.put(c.tree().Server("10.0.0.3"), jobtree.EncodeServer(true))
			sleepUntil(9 * time.Second)
			c.commit(registry.Delete(c.tree().Leader()))
			sleepUntil(31 * time.Second)
		}},
	}
}

func memberBreaches() map[string]breach {
	// elected has b, which lags behind, want to lead when a has left, and something happen meanwhile.
	elected := func(change func(c *cluster)) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			leader := c.start(a)
			sleepUntil(time.Second)
			p := c.start(b)
			sleepUntil(7 * time.Second)
			p.lag(9 * time.Second)
			sleepUntil(8 * time.Second)
			go func() { _ = leader.stop() }()
			sleepUntil(9 * time.Second)
			change(c)
			sleepUntil(31 * time.Second)
		}
	}
	// joining has b join with messages that take long, and something happen while its join, decided at
	// 10.8, is under way.
	joining := func(change func(c *cluster)) func(t *testing.T, c *cluster) {
		return func(_ *testing.T, c *cluster) {
			c.start(a)
			sleepUntil(8 * time.Second)
			c.rec.incident(checker.Slow, b, time.Minute, far)
			c.processes = append(c.processes, c.launch(b, memory.WithLatency(far)))
			sleepUntil(10600 * time.Millisecond)
			change(c)
			sleepUntil(31 * time.Second)
		}
	}
	return map[string]breach{
		"elect/server unchanged": {[]guard{{elect, jobtree.KindServer}}, checker.Intent, oneItem(), elected(func(c *cluster) {
			c.put(c.tree().Server("10.0.0.2"), jobtree.EncodeServer(true))
		})},
		"elect/config unchanged": {[]guard{{elect, jobtree.KindConfig}}, checker.Intent, oneItem(), elected(func(c *cluster) {
			c.configure(func(cfg *job.Config) { cfg.Disabled = true })
		})},
		"elect/my instance is there": {[]guard{{elect, jobtree.KindInstance}}, checker.OneHolder, oneItem(), elected(func(c *cluster) {
			for range 30 { // it registers again whenever it notices
				c.commit(registry.Delete(c.tree().Instance(b)))
				time.Sleep(100 * time.Millisecond)
			}
		})},
		"join/there is a job": {[]guard{{join, jobtree.KindConfig}}, checker.Intent, oneItem(), joining(func(c *cluster) {
			c.commit(registry.Delete(c.tree().Config()))
		})},
		"begin/the request is asked for": {[]guard{{begin, jobtree.KindTriggered}}, checker.Intent, hourly(1), func(_ *testing.T, c *cluster) {
			p := c.start(a)
			sleepUntil(59 * time.Second)
			p.lag(9 * time.Second)
			sleepUntil(time.Minute)
			c.ask(5)
			time.Sleep(time.Second)
			c.ask(10)
			sleepUntil(2 * time.Minute)
		}},
		"operate/request unchanged": {[]guard{{acknowledge, jobtree.KindInstance}}, checker.NothingForgotten, hourly(1), func(_ *testing.T, c *cluster) {
			p := c.start(a)
			sleepUntil(59 * time.Second)
			p.lag(9 * time.Second)
			sleepUntil(time.Minute)
			c.trigger()
			c.until(func(s *jobtree.State) bool { return s.Item(0).Record.Value.Trigger != 0 })
			time.Sleep(time.Second)
			c.trigger()
			sleepUntil(2 * time.Minute)
		}},
	}
}
