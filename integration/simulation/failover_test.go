package simulation_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

func TestAClaimantThatCrashesIsFailedOverAgain(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(20*time.Second, false)
		c.start(a)
		c.start(b)
		c.start(c3)
		sleepUntil(6 * time.Second)
		c.owner(0).crash()
		sleepUntil(12 * time.Second)
		c.owner(0).crash()
		sleepUntil(44 * time.Second)
		require.Equal(t, jobtree.Counts{Success: 3, Lost: 2}, c.state().Item(0).Record.Value.Counts)
		require.Equal(t, 0, c.state().Item(0).Record.Value.Reruns)
		require.Contains(t, c.ran()[1], "5s failover")
		require.Contains(t, c.ran()[2], "5s failover")
		require.Contains(t, c.ran()[3], "35s misfire")
	})
}

func TestAllCrashAndComeBack(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(10*time.Second, false)
		first, second := c.start(a), c.start(b)
		sleepUntil(6 * time.Second)
		first.crash()
		second.crash()
		sleepUntil(5*time.Minute + time.Second)
		c.start(c3)
		sleepUntil(5*time.Minute + 4*time.Second)
		require.Equal(t, "5s failover on c", c.ran()[len(c.ran())-1])
		sleepUntil(5*time.Minute + 19*time.Second)
		require.Len(t, c.ran(), 4, "the rerun, one catch-up for fires that came while it ran, and the next fire")
	})
}

func TestTheSameIDComesBackUnderANewSession(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(10*time.Second, false)
		c.start(a)
		c.start(b)
		sleepUntil(5500 * time.Millisecond)
		p := c.owner(0)
		p.crash()
		c.start(p.id)
		sleepUntil(13 * time.Second)
		require.Len(t, c.ran(), 2)
		require.Contains(t, c.ran()[1], "5s failover")
	})
}

func TestAClusterOfOneFailsOverToItself(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(10*time.Second, false)
		c.start(a).crashAt(6 * time.Second)
		c.start(a)
		sleepUntil(13 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "5s failover on a"}, c.ran())
	})
}

func TestALeaderThatCrashesTakesNothingWithIt(t *testing.T) {
	cfg := oneItem()
	cfg.ShardingTotalCount = 6
	tell(t, cfg, func(t *testing.T, c *cluster) {
		c.long(20*time.Second, false)
		leader := c.start(a)
		c.start(b)
		c.start(c3)
		sleepUntil(6 * time.Second)
		require.Equal(t, a, c.state().Leader.Instance)
		leader.crash()
		sleepUntil(12 * time.Second)
		require.NotEmpty(t, c.state().Leader.Instance)
		for n := range 6 {
			require.NotEqual(t, a, c.state().Owner(n))
		}
		sleepUntil(26 * time.Second)
		var lost int64
		for n := range 6 {
			lost += c.state().Item(n).Record.Value.Counts.Lost
		}
		require.Equal(t, int64(2), lost, "only what ran on the leader")
	})
}

func TestAGracefulStopIsNotFailedOver(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(12*time.Second, false)
		c.start(a)
		sleepUntil(5500 * time.Millisecond)
		c.start(b)
		sleepUntil(6 * time.Second)
		require.NoError(t, c.processes[0].stop())
		sleepUntil(19 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "15s misfire on b"}, c.ran())
	})
}

// Only executions are failed over: an instance that ran nothing leaves nothing to be run.
func TestTheDeathOfAnIdleInstanceRunsNothing(t *testing.T) {
	for name, end := range map[string]func(p *process) error{
		"crash": func(p *process) error { p.crash(); return nil },
		"stop":  (*process).stop,
	} {
		t.Run(name, func(t *testing.T) {
			tell(t, hourly(4), func(t *testing.T, c *cluster) {
				c.start(a)
				idle := c.start(b)
				sleepUntil(time.Minute)
				require.NoError(t, end(idle))
				sleepUntil(5 * time.Minute)
				require.Empty(t, c.ran())
				require.Equal(t, a, c.state().Owner(3))
			})
		})
	}
}

func TestAStoreThatPausesRunsNothing(t *testing.T) {
	for _, lasts := range []time.Duration{5 * time.Second, time.Minute} {
		t.Run(lasts.String(), func(t *testing.T) {
			tell(t, hourly(4), func(t *testing.T, c *cluster) {
				c.start(a)
				c.start(b)
				sleepUntil(time.Minute)
				c.storeDown(lasts)
				sleepUntil(5 * time.Minute)
				require.Empty(t, c.ran())
				sleepUntil(time.Hour + time.Minute)
				require.Len(t, c.ran(), 4)
			})
		})
	}
}

// A process that stood still past its session wakes up, cannot write, and takes part again.
func TestAZombieIsFenced(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(3*time.Second, true)
		zombie := c.start(a)
		sleepUntil(6 * time.Second)
		c.start(b)
		sleepUntil(7 * time.Second)
		zombie.pause(15 * time.Second)
		sleepUntil(32 * time.Second)
		require.Equal(t, "5s failover on b", c.ran()[1])
		reports := c.rec.history().Reports
		var refused int
		for _, r := range reports {
			if r.Instance == a && r.Token == c.rec.history().Runs[0].Context.Token {
				require.Error(t, r.Refused)
				refused++
			}
		}
		require.Equal(t, 1, refused)
		require.NotZero(t, c.state().Instance(a).Created)
	})
}

// A leader that stood still while another was elected changes nothing when it wakes up.
func TestAZombieLeaderIsFenced(t *testing.T) {
	cfg := oneItem()
	cfg.ShardingTotalCount = 6
	tell(t, cfg, func(t *testing.T, c *cluster) {
		leader := c.start(a)
		c.start(b)
		sleepUntil(6 * time.Second)
		require.Equal(t, a, c.state().Leader.Instance)
		go func() {
			time.Sleep(7 * time.Second)
			c.start(c3)
		}()
		leader.pause(8 * time.Second)
		sleepUntil(16 * time.Second)
		require.Equal(t, b, c.state().Leader.Instance)
		for n := range 6 {
			require.NotEmpty(t, c.state().Owner(n))
		}
	})
}

func TestALostAnswerToABeginDoesNotRunTheItemTwice(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		p := c.start(a)
		sleepUntil(4 * time.Second)
		p.loseAnswers(1)
		sleepUntil(9 * time.Second)
		require.Equal(t, []string{"5s scheduled on a"}, c.ran())
		require.Equal(t, jobtree.Counts{Success: 1}, c.state().Item(0).Record.Value.Counts)
	})
}

func TestALostAnswerToAnEndIsNoFailure(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(2*time.Second, false)
		p := c.start(a)
		sleepUntil(6 * time.Second)
		p.loseAnswers(1)
		sleepUntil(9 * time.Second)
		reports := c.rec.history().Reports
		require.Len(t, reports, 1)
		require.NoError(t, reports[0].Refused)
		require.Equal(t, jobtree.Counts{Success: 1}, c.state().Item(0).Record.Value.Counts)
	})
}

// The answer to a begin is lost together with the process: the execution was lost, though its code
// was never called.
func TestACrashBeforeTheAnswerToABegin(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		p := c.start(a)
		sleepUntil(4 * time.Second)
		p.loseAnswers(1)
		p.crashAt(5050 * time.Millisecond)
		require.Empty(t, c.ran())
		require.Equal(t, jobtree.ItemRunning, c.state().Item(0).Record.Value.State)
		c.start(b)
		sleepUntil(12 * time.Second)
		require.Equal(t, "5s failover on b", c.ran()[0])
	})
}

// Code that ignores its context may return after its session was lost and taken up again. What it left
// marked as running has then finished, whether the process goes on or is leaving.
func TestLateCodeLeavesNoMark(t *testing.T) {
	for name, leaving := range map[string]bool{"going on": false, "leaving": true} {
		t.Run(name, func(t *testing.T) {
			tell(t, oneItem(), func(t *testing.T, c *cluster) {
				c.long(10*time.Second, true)
				p := c.start(a)
				sleepUntil(5500 * time.Millisecond)
				p.cut(4200 * time.Millisecond) // the store waits for five seconds from the keep-alive of second 5
				require.Equal(t, jobtree.ItemRunning, c.state().Item(0).Record.Value.State)
				sleepUntil(12 * time.Second)
				if leaving {
					require.NoError(t, p.stop())
				}
				sleepUntil(16 * time.Second)
				counts := c.state().Item(0).Record.Value.Counts
				require.Positive(t, counts.Success)
				require.Equal(t, jobtree.Counts{Success: counts.Success}, counts)
			})
		})
	}
}

// What was missed is not made up once an operator switched that off.
func TestMisfireSwitchedOffIsOff(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(8*time.Second, false)
		c.start(a)
		sleepUntil(11 * time.Second)
		c.configure(func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip })
		sleepUntil(16 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "15s scheduled on a"}, c.ran())
	})
}

// A missed fire of a cron that is no more is not made up, also by an instance that gets the item
// later.
func TestAChangeOfCronClearsWhatWasMissed(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(9500*time.Millisecond, false)
		p := c.start(a)
		sleepUntil(14 * time.Second)
		c.put(c.tree().Server("10.0.0.1"), jobtree.EncodeServer(true)) // it ends what runs, and begins no more
		sleepUntil(17 * time.Second)
		require.True(t, c.state().Item(0).Misfire.Exists())
		c.configure(func(cfg *job.Config) { cfg.Cron = "@every 7s" })
		c.start(b)
		sleepUntil(20 * time.Second)
		require.NoError(t, p.stop())
		require.Len(t, c.ran(), 1)
		sleepUntil(24 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "23s scheduled on b"}, c.ran())
	})
}

// A store that was away gives the sessions of the dead their full time again. Who waits for the
// former session of its own id has to wait longer then.
func TestAnIDIsWaitedForThroughAnOutage(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.start(a).crashAt(3 * time.Second)
		c.start(a)
		sleepUntil(6 * time.Second)
		c.storeDown(4 * time.Second)
		sleepUntil(21 * time.Second)
		require.NotZero(t, c.state().Instance(a).Created)
		require.Equal(t, []string{"20s scheduled on a"}, c.ran()[len(c.ran())-1:])
	})
}

func TestATriggerThatMeetsADeathLeavesNoGhost(t *testing.T) {
	tell(t, hourly(2), func(t *testing.T, c *cluster) {
		c.start(a)
		dying := c.start(b)
		sleepUntil(time.Minute)
		dying.crash()
		for range 100 { // before, while and after its session ends
			c.trigger()
			time.Sleep(70 * time.Millisecond)
		}
		sleepUntil(2 * time.Minute)
		require.Len(t, c.state().Instances, 1)
	})
}

func TestRequestsThatComeWhileAnItemRunsAreOne(t *testing.T) {
	tell(t, hourly(1), func(t *testing.T, c *cluster) {
		c.work = func(job.ShardingContext) work { return work{takes: 10 * time.Second} }
		c.start(a)
		for _, at := range []time.Duration{60, 62, 64} {
			sleepUntil(at * time.Second)
			c.trigger()
		}
		sleepUntil(2 * time.Minute)
		require.Equal(t, []string{"by hand manual on a", "by hand manual on a"}, c.ran())
	})
}

// If every run takes longer than the time between fires, a missed fire is due whenever one ends.
func TestARequestIsNotHeldUpByFiresThatAreAlwaysMissed(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.work = func(job.ShardingContext) work { return work{takes: 7 * time.Second} }
		c.start(a)
		sleepUntil(30 * time.Second)
		c.ask(57) // for a minute
		sleepUntil(45 * time.Second)
		require.Contains(t, c.ran(), "by hand manual on a")
		c.trigger()
		sleepUntil(65 * time.Second)
		ran := c.ran()
		byHand := slices.DeleteFunc(slices.Clone(ran), func(r string) bool { return r != "by hand manual on a" })
		require.Len(t, byHand, 2)
		require.Greater(t, len(ran), 6, "the fires go on")
	})
}

func TestALongRunIsFollowedByOneCatchUp(t *testing.T) {
	tell(t, oneItem(), func(t *testing.T, c *cluster) {
		c.long(13*time.Second, false)
		c.start(a)
		sleepUntil(21 * time.Second)
		require.Equal(t, []string{"5s scheduled on a", "15s misfire on a", "20s scheduled on a"}, c.ran())
	})
}
