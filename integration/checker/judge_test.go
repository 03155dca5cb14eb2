package checker_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// lapse is a finding that a story should have, by its guarantee and a part of its text.
type lapse struct {
	of   checker.Guarantee
	text string
}

// chapter is a story and what is wrong with it; nothing if good.
type chapter struct {
	name string
	tell func(s *story)
	want []lapse
}

func judgeAll(t *testing.T, chapters []chapter, change ...func(*job.Config)) {
	t.Helper()
	for _, c := range chapters {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStory(change...)
			c.tell(s)
			findings := s.judge()
			for _, w := range c.want {
				require.Condition(t, func() bool { return hasLapse(findings, w) }, "no finding %q of %s among %v", w.text, w.of, findings)
			}
			if len(c.want) == 0 {
				require.Empty(t, findings)
			}
		})
	}
}

func hasLapse(findings []checker.Finding, w lapse) bool {
	for _, f := range findings {
		if f.Guarantee == w.of && strings.Contains(f.Text, w.text) {
			return true
		}
	}
	return false
}

func lapses(of checker.Guarantee, text string) []lapse { return []lapse{{of, text}} }

// runningOn begins item 0 on a at the fire, for a story to go on with, and runs item 1.
func runningOn(s *story) *checker.Run {
	s.other()
	return s.at(0).begin(0, a, job.Scheduled, fire)
}

// leavesUnmarked has a hand take the mark of what runs on a, which stops long after, and takes as long for that as it may.
func leavesUnmarked(s *story) *checker.Run {
	r := runningOn(s)
	path := tree.ItemRunning(0)
	hand := s.at(second).happen(checker.Tampered, "")
	hand.Path, hand.Revision = path, s.commit(gone(path))
	s.at(31*second).happen(checker.Stopped, a).Until = fire.Add(65 * second)
	return r
}

func TestOneHolder(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{
		{"a round", func(s *story) { s.round() }, nil},
		{"over a running one", func(s *story) {
			r := runningOn(s)
			record := s.record(0)
			r.Ended = s.at(2 * second).now
			s.write(0, record)
		}, lapses(checker.OneHolder, "over one that was recorded as running")},
		{"not the owner", func(s *story) {
			s.other()
			r := s.at(0).begin(0, b, job.Scheduled, fire)
			s.end(0, r, jobtree.Success)
		}, lapses(checker.OneHolder, "begun by another instance")},
		{"not registered", func(s *story) {
			s.other()
			s.at(0).commit(gone(tree.Instance(a)))
			r := s.begin(0, a, job.Scheduled, fire)
			s.end(0, r, jobtree.Success)
		}, lapses(checker.OneHolder, "not registered")},
		{"a mark from nowhere", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.ItemRunning(0), b, ofB))
		}, lapses(checker.OneHolder, "no begin made")},
		{"code in two places", func(s *story) {
			r := runningOn(s)
			s.at(second)
			s.end(0, r, jobtree.Success)
			r.Ended = fire.Add(10 * second) // in truth it went on
			s.commit(put(tree.ItemInstance(0), b, 0))
			again := jobtree.Execution{Instance: b, Session: ofB, Source: job.Manual, Begin: s.now}
			record := s.record(0)
			record.State, record.Trigger, record.Current, record.Before = jobtree.ItemRunning, 99, &again, &jobtree.Before{State: jobtree.ItemIdle}
			s.write(0, record).Ended = fire.Add(12 * second)
		}, lapses(checker.OneHolder, "ran twice at once")},
		{"code one after the other", func(s *story) {
			r := runningOn(s)
			s.at(second)
			s.end(0, r, jobtree.Success)
			record, err := s.record(0).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: 99, Time: s.now, Failover: true})
			require.NoError(t, err)
			r = s.write(0, record)
			s.at(4 * second)
			s.end(0, r, jobtree.Success)
		}, nil},
	})
}

// What has failed while its context lived is not recorded as cut short.
func TestWhatHasFailedIsNotCutShort(t *testing.T) {
	t.Parallel()
	// recorded has a lose its session while it runs item 0, which fails, and record how that ended.
	recorded := func(fails func(s *story, r *checker.Run), outcome jobtree.Outcome, refused error) func(s *story) {
		return func(s *story) {
			r := runningOn(s)
			s.at(2*second).happen(checker.Expired, a)
			s.drop(ofA)
			s.commit(put(tree.Instance(a), "", ofA), put(tree.Leader(), a, ofA))
			s.at(4 * second)
			s.end(0, r, outcome)
			r.Err = errFailed
			fails(s, r)
			s.at(4 * second)
			s.Reports = append(s.Reports, checker.Report{At: s.now, Instance: a, Item: 0, Token: r.Context.Token, Refused: refused})
			if outcome == jobtree.Interrupted {
				s.runAgain()
			}
		}
	}
	before := func(s *story, r *checker.Run) { s.fails(r, second) }
	found := lapses(checker.NothingForgotten, "had failed and was recorded as cut short")
	judgeAll(t, []chapter{
		{"failed", recorded(before, jobtree.Failure, nil), nil},
		{"cut short", recorded(func(s *story, r *checker.Run) { r.Cancelled, r.Cause = s.at(3*second).now, registry.ErrSessionLost }, jobtree.Interrupted, nil), nil},
		{"failed, and told as cut short", recorded(before, jobtree.Interrupted, nil), found},
		{"failed, and refused", recorded(before, jobtree.Interrupted, errFailed), nil},
		{"it heard of that by a checkpoint", recorded(func(_ *story, r *checker.Run) { r.Err = registry.ErrSessionLost }, jobtree.Interrupted, nil), nil},
	})
	judgeAll(t, []chapter{
		{"to be tried again", recorded(before, jobtree.Interrupted, nil), nil},
		{"tried again", recorded(func(s *story, r *checker.Run) { s.fails(r, second); s.fails(s.again(r, 2*second), 3*second) }, jobtree.Interrupted, nil), found},
	}, func(c *job.Config) { c.Retries, c.RetryBackoff = 1, second })
}

func TestGrowingToken(t *testing.T) {
	t.Parallel()
	report := func(s *story, token int64, refused error) {
		s.Reports = append(s.Reports, checker.Report{At: s.now, Instance: a, Item: 0, Token: token, Refused: refused})
	}
	judgeAll(t, []chapter{
		{"a zombie ends its successor", func(s *story) {
			r := runningOn(s)
			s.crashA()
			s.lost(0)
			s.claim(b)
			record := s.record(0)
			s.at(8 * second)
			record, err := record.End(jobtree.End{Token: r.Context.Token, Time: s.now, Outcome: jobtree.Success})
			require.NoError(t, err)
			s.close(0, record)
		}, lapses(checker.GrowingToken, "was recorded over the execution that ran")},
		{"an end after the mark is gone", func(s *story) {
			r := runningOn(s)
			s.at(second).happen(checker.Expired, a)
			s.drop(ofA)
			s.commit(put(tree.Instance(a), "", ofA), put(tree.Leader(), a, ofA))
			s.end(0, r, jobtree.Success)
		}, nil},
		{"a report of an end that is not", func(s *story) {
			runningOn(s)
			s.crashA()
			report(s, s.runs[1].Context.Token, nil)
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, lapses(checker.GrowingToken, "reported as recorded, and is not")},
		{"a refused end", func(s *story) {
			runningOn(s)
			s.crashA()
			report(s, s.runs[1].Context.Token, registry.ErrSessionLost)
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, nil},
		{"a token from nowhere", func(s *story) {
			s.round()
			s.at(minute).call(0, s.record(0).Current, 4711).Ended = s.now
		}, lapses(checker.GrowingToken, "no begin ever had")},
		{"an old token after a new one", func(s *story) {
			s.round()
			late := s.runs[0]
			record, err := s.record(0).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: 99, Time: s.now, Failover: true})
			require.NoError(t, err)
			s.end(0, s.write(0, record), jobtree.Success)
			late.Began = s.at(9 * second).now
			late.Ended = late.Began
			s.runs = append(s.runs[1:], late)
		}, lapses(checker.GrowingToken, "old token was called after")},
	})
}

func TestOneExecution(t *testing.T) {
	t.Parallel()
	again := func(s *story, source job.Source, of time.Time) *checker.Run {
		record := s.record(0)
		record.Before = &jobtree.Before{State: jobtree.ItemIdle, LastFire: record.LastFire, Trigger: record.Trigger}
		record.State, record.LastFire = jobtree.ItemRunning, of
		record.Current = &jobtree.Execution{Instance: a, Session: ofA, Source: source, Fire: of, Begin: s.now, Failover: true}
		return s.write(0, record)
	}
	judgeAll(t, []chapter{
		{"a fire twice", func(s *story) {
			s.round()
			s.end(0, again(s, job.Scheduled, fire), jobtree.Success)
		}, []lapse{{checker.OneExecution, "executed twice"}, {checker.OneExecution, "not later than the last one"}}},
		{"a fire that is none", func(s *story) {
			s.round()
			s.end(0, again(s, job.Scheduled, fire.Add(second)), jobtree.Success)
		}, lapses(checker.OneExecution, "has no such fire")},
		{"before its time", func(s *story) {
			s.round()
			s.end(0, again(s, job.Scheduled, fire.Add(time.Hour)), jobtree.Success)
		}, lapses(checker.OneExecution, "before its time")},
		{"off schedule", func(s *story) {
			s.other()
			s.at(10 * second)
			s.end(0, s.begin(0, a, job.Scheduled, fire), jobtree.Success)
		}, lapses(checker.OneExecution, "off schedule")},
		{"late, and said so", func(s *story) {
			s.other()
			s.at(0).happen(checker.Paused, a).Until = fire.Add(9 * second)
			s.at(10 * second)
			s.end(0, s.begin(0, a, job.Misfire, fire), jobtree.Success)
		}, nil},
		{"confirmed late", func(s *story) {
			s.other()
			s.at(0).happen(checker.Paused, a).Until = fire.Add(4 * second)
			s.at(4*second).happen(checker.Slow, a).Delay = second
			r := s.at(4500*time.Millisecond).begin(0, a, job.Scheduled, fire)
			r.Began, r.Context.Source = fire.Add(5100*time.Millisecond), job.Misfire
			s.at(6*second).end(0, r, jobtree.Success)
		}, nil},
		{"confirmed in time, and called missed", func(s *story) {
			s.other()
			r := s.at(4500*time.Millisecond).begin(0, a, job.Scheduled, fire)
			r.Began, r.Context.Source = fire.Add(5100*time.Millisecond), job.Misfire
			s.at(6*second).end(0, r, jobtree.Success)
		}, lapses(checker.GrowingToken, "told of another execution")},
		{"late, and not wanted", func(s *story) {
			s.other()
			cfg := s.state.Config.Value
			cfg.Misfire = job.MisfireSkip
			s.at(9 * second).configure(cfg)
			s.end(0, s.at(10*second).begin(0, a, job.Misfire, fire), jobtree.Success)
		}, lapses(checker.OneExecution, "settings do not want that")},
		{"late, and too old to be made up", func(s *story) {
			s.other()
			cfg := s.state.Config.Value
			cfg.MisfireWindow = 8 * time.Second
			s.at(second).configure(cfg)
			s.end(0, s.at(10*second).begin(0, a, job.Misfire, fire), jobtree.Success)
		}, lapses(checker.OneExecution, "was too old")},
		{"a request twice", func(s *story) {
			s.round()
			for range 2 {
				record := s.record(0)
				record.Before = &jobtree.Before{State: jobtree.ItemIdle, LastFire: record.LastFire, Trigger: record.Trigger}
				record.State, record.Trigger = jobtree.ItemRunning, 99
				record.Current = &jobtree.Execution{Instance: a, Session: ofA, Source: job.Manual, Begin: s.now, Failover: true}
				s.end(0, s.write(0, record), jobtree.Success)
			}
		}, lapses(checker.OneExecution, "a request was run again")},
		{"code twice for one execution", func(s *story) {
			s.round()
			s.call(0, s.record(0).Current, s.record(0).Current.Token).Ended = s.now
		}, lapses(checker.OneExecution, "called twice for one execution")},
	})
}

func TestNothingForgotten(t *testing.T) {
	t.Parallel()
	crashed := func(s *story) {
		runningOn(s)
		s.crashA()
	}
	judgeAll(t, []chapter{
		{"lost and run again", func(s *story) {
			crashed(s)
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, nil},
		{"lost and not declared", crashed, lapses(checker.NothingForgotten, "not declared as lost")},
		{"lost and declared after a moment's patience", func(s *story) {
			backAndPatient(s, 0, 4*second)
		}, nil},
		{"lost and declared after patience that began when held up news came", func(s *story) {
			backAndPatient(s, 9*second, 11500*time.Millisecond)
		}, nil},
		{"lost and declared late though no news were held up", func(s *story) {
			backAndPatient(s, 0, 11500*time.Millisecond)
		}, lapses(checker.NothingForgotten, "not declared as lost")},
		{"lost and not claimed", func(s *story) {
			crashed(s)
			s.lost(0)
		}, lapses(checker.NothingForgotten, "waits to be run again")},
		{"lost and given up", func(s *story) {
			crashed(s)
			record, err := s.record(0).DeclareLost(int64(s.state.Item(0).Record.Revision), s.now, 3)
			require.NoError(t, err)
			record.State = jobtree.ItemInterrupted
			s.commit(put(tree.ItemRecord(0), jobtree.EncodeRecord(record), 0))
		}, lapses(checker.NothingForgotten, "should be waiting")},
		{"lost and disabled", func(s *story) {
			crashed(s)
			s.lost(0)
			s.commit(put(tree.ItemDisabled(0), "", 0))
		}, nil},
		{"lost and surplus", func(s *story) {
			s.round() // item 1 is b's
			cfg := s.state.Config.Value
			r := s.at(time.Hour).begin(1, b, job.Scheduled, fire.Add(time.Hour))
			cfg.ShardingTotalCount = 1
			s.configure(cfg)
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			s.happen(checker.Crashed, b)
			r.Died, r.Ended = true, s.now
			s.drop(ofB)
			s.lost(1)
		}, nil},
		{"buried by the schedule", func(s *story) {
			crashed(s)
			s.lost(0)
			record := s.record(0)
			record.Before = &jobtree.Before{State: jobtree.ItemWaiting, LastFire: record.LastFire}
			record.State = jobtree.ItemRunning
			record.Current = &jobtree.Execution{Instance: b, Session: ofB, Source: job.Manual, Begin: s.now, Failover: true}
			record.Trigger = 99
			s.end(0, s.write(0, record), jobtree.Success)
		}, lapses(checker.NothingForgotten, "buried a lost one")},
		{"run again for nothing", func(s *story) {
			s.round()
			record := s.record(0)
			record.State = jobtree.ItemWaiting
			record, err := record.Claim(jobtree.Claim{Instance: a, Session: ofA, Time: s.now})
			require.NoError(t, err)
			s.end(0, s.write(0, record), jobtree.Success)
		}, []lapse{{checker.NothingForgotten, "not owed"}, {checker.NothingForgotten, "had come to its end"}}},
		{"a success that was none", func(s *story) {
			s.round()
			s.runs[0].Err = errFailed
		}, lapses(checker.NothingForgotten, "a success was recorded")},
		{"a success without code", func(s *story) {
			s.round()
			s.runs = s.runs[1:]
		}, lapses(checker.NothingForgotten, "a success was recorded")},
		{"a failure that was none", func(s *story) {
			r := runningOn(s)
			s.end(0, r, jobtree.Failure)
			r.Err = nil
		}, lapses(checker.NothingForgotten, "a failure was recorded")},
		{"declared lost while it ran", func(s *story) {
			r := runningOn(s)
			s.at(second).lost(0)
			r.Ended = s.now
			s.end(0, s.at(2*second).claim(a), jobtree.Success)
		}, lapses(checker.NothingForgotten, "live session held its mark")},
		{"the record vanished", func(s *story) {
			crashed(s)
			s.lost(0)
			s.commit(gone(tree.ItemRecord(0)))
		}, lapses(checker.NothingForgotten, "the record vanished")},
	})
}

func TestNoStall(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{
		{"nobody ran the fire", func(s *story) { s.other() }, lapses(checker.NoStall, "nobody ran the fire")},
		{"somebody ran it late", func(s *story) {
			s.other()
			s.end(0, s.at(4*second).begin(0, a, job.Scheduled, fire), jobtree.Success)
		}, lapses(checker.NoStall, "was run late")},
		{"who ran it late stood still", func(s *story) {
			s.other()
			s.at(0).happen(checker.Paused, a).Until = fire.Add(3 * second)
			s.end(0, s.at(4*second).begin(0, a, job.Scheduled, fire), jobtree.Success)
		}, nil},
		{"a disabled item", func(s *story) {
			s.commit(put(tree.ItemDisabled(0), "", 0))
			s.other()
		}, nil},
		{"no leader", func(s *story) {
			s.round()
			s.at(minute).commit(gone(tree.Leader()))
		}, lapses(checker.NoStall, "there is no leader")},
		{"a new leader", func(s *story) {
			s.round()
			s.at(minute).commit(gone(tree.Leader()))
			s.at(minute + 900*time.Millisecond).commit(put(tree.Leader(), b, ofB))
		}, nil},
		{"the item of a dead one", func(s *story) {
			s.round()
			s.at(minute).happen(checker.Crashed, a)
			s.at(minute + 5*second).drop(ofA)
			s.commit(put(tree.Leader(), b, ofB))
		}, lapses(checker.NoStall, "which cannot run it")},
		{"the item of a disabled one", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.Server("10.0.0.1"), "DISABLED", 0))
		}, lapses(checker.NoStall, "which cannot run it")},
		{"a request for a resharding", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.Necessary(), "", 0))
		}, lapses(checker.NoStall, "not answered")},
		{"the total is raised", func(s *story) {
			s.round()
			cfg := s.state.Config.Value
			cfg.ShardingTotalCount = 3
			s.at(minute).configure(cfg)
		}, lapses(checker.NoStall, "of 2 items and not of 3")},
		{"marked and idle", func(s *story) {
			r := runningOn(s)
			r.Ended = s.at(second).now
			s.at(minute)
			s.end(0, r, jobtree.Success)
			r.Ended = fire.Add(second)
		}, lapses(checker.NoStall, "marked as running and nothing runs")},
	})
	everyMinute := func(cfg *job.Config) { cfg.Cron, cfg.ShardingTotalCount = "@every 1m", 1 }
	long := func(catchUp bool) func(s *story) {
		return func(s *story) {
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			s.at(minute + 30*second)
			s.end(0, r, jobtree.Success)
			if catchUp {
				s.end(0, s.begin(0, a, job.Misfire, fire.Add(minute)), jobtree.Success)
			}
			for i := 2 * minute; i < 5*minute; i += minute {
				s.end(0, s.at(i).begin(0, a, job.Scheduled, fire.Add(i)), jobtree.Success)
			}
		}
	}
	judgeAll(t, []chapter{
		{"a busy item catches up", long(true), nil},
		{"a busy item does not", long(false), lapses(checker.NoStall, "not made up")},
	}, everyMinute)
}

func TestStoppedWork(t *testing.T) {
	t.Parallel()
	// cutOff has a be cut off while it runs item 0, and its code be told, or not.
	cutOff := func(told time.Duration) func(s *story) {
		return func(s *story) {
			r := runningOn(s)
			s.at(second).happen(checker.Cut, a).Until = fire.Add(10 * minute)
			if told != 0 {
				r.Cancelled, r.Cause = fire.Add(told), registry.ErrSessionLost
			}
			r.Ended, r.Err = fire.Add(20*second), errFailed
			s.at(6 * second).drop(ofA)
			s.takeOver()
			s.lost(0)
			again := s.claim(b)
			s.at(30 * second)
			s.end(0, again, jobtree.Success)
		}
	}
	judgeAll(t, []chapter{
		{"told in time", cutOff(5 * second), nil},
		{"told too late", cutOff(7 * second), []lapse{{checker.StoppedWork, "the code was not told"}, {checker.StoppedWork, "others began the item"}}},
		{"never told", cutOff(0), lapses(checker.StoppedWork, "the code was not told")},
		{"told for nothing", func(s *story) {
			s.round()
			s.runs[0].Cancelled, s.runs[0].Cause = fire.Add(second), registry.ErrSessionLost
		}, lapses(checker.StoppedWork, "nothing had happened to it")},
		{"told without a reason", func(s *story) {
			s.round()
			s.runs[0].Cancelled, s.runs[0].Cause = fire.Add(second), errFailed
		}, lapses(checker.StoppedWork, "without a reason")},
		{"begun after its session", func(s *story) {
			r := runningOn(s)
			s.crashA()
			r.Began, r.Ended, r.Died = fire.Add(6*second), fire.Add(7*second), false
		}, lapses(checker.StoppedWork, "called after its session was over")},
		{"never back", func(s *story) {
			s.round()
			s.at(minute).happen(checker.Cut, a).Until = fire.Add(2 * minute)
			s.at(minute + 5*second).drop(ofA)
			s.takeOver()
		}, lapses(checker.StoppedWork, "takes no part")},
		{"back in time", func(s *story) {
			s.round()
			s.at(minute).happen(checker.Cut, a).Until = fire.Add(2 * minute)
			s.at(minute + 5*second).drop(ofA)
			s.takeOver()
			s.at(2*minute + second).commit(put(tree.Instance(a), "", 3))
		}, nil},
	})
}

func TestGracefulStop(t *testing.T) {
	t.Parallel()
	// stopA has a stop while it runs item 0, hand over at handOver, and end the item with outcome at ended.
	stopA := func(handOver, ended time.Duration, outcome jobtree.Outcome) func(s *story) {
		return func(s *story) {
			r := runningOn(s)
			s.at(second).happen(checker.Stopped, a).Until = fire.Add(ended)
			s.at(handOver).commit(gone(tree.Instance(a)), gone(tree.Leader()))
			s.takeOver()
			s.at(ended)
			s.end(0, r, outcome)
			if outcome == jobtree.Interrupted {
				r.Cancelled, r.Cause = s.now, errFailed
				s.end(0, s.claim(b), jobtree.Success)
			}
		}
	}
	judgeAll(t, []chapter{
		{"at once", stopA(second, 9*second, jobtree.Success), nil},
		{"handed over late", stopA(4*second, 9*second, jobtree.Success), lapses(checker.GracefulStop, "still registered")},
		{"interrupted early", stopA(second, 9*second, jobtree.Interrupted), lapses(checker.GracefulStop, "interrupted by a stop")},
		{"interrupted after the grace", stopA(second, 31*second, jobtree.Interrupted), nil},
		{"lost", func(s *story) {
			r := runningOn(s)
			s.at(second).happen(checker.Stopped, a)
			r.Ended = s.now
			s.drop(ofA)
			s.takeOver()
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, lapses(checker.GracefulStop, "its execution was lost")},
		{"lost by its former life", func(s *story) {
			r := runningOn(s)
			s.at(second).happen(checker.Crashed, a)
			r.Ended, r.Died = s.now, true
			s.at(2*second).happen(checker.Started, a)
			s.at(3*second).happen(checker.Stopped, a)
			s.at(6 * second)
			s.drop(ofA)
			s.takeOver()
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, nil},
		{"begun by its former life's last message, and lost", func(s *story) {
			s.other()
			s.at(0).happen(checker.Crashed, a)
			s.happen(checker.Started, a)
			r := s.at(time.Millisecond).begin(0, a, job.Scheduled, fire)
			r.Ended, r.Died = s.now, true
			s.at(3*second).happen(checker.Stopped, a)
			s.at(6 * second)
			s.drop(ofA)
			s.takeOver()
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, nil},
		{"registered by its next life", func(s *story) {
			stopA(second, second, jobtree.Success)(s)
			s.at(second+100*time.Millisecond).happen(checker.Started, a)
			s.commit(put(tree.Instance(a), "", 3))
			s.at(second+200*time.Millisecond).happen(checker.Crashed, a)
			s.at(6 * second).drop(3)
		}, nil},
		{"done too late", stopA(second, 36*second, jobtree.Success), lapses(checker.GracefulStop, "told to stop and has not")},
		{"done too late, as it stood still", func(s *story) {
			stopA(second, 36*second, jobtree.Success)(s)
			s.at(2*second).happen(checker.Paused, a).Until = fire.Add(4 * second)
		}, nil},
		{"called while stopping", func(s *story) {
			stopA(second, 9*second, jobtree.Success)(s)
			s.runs[len(s.runs)-1].Began = fire.Add(2 * second)
		}, lapses(checker.GracefulStop, "code was called after")},
		{"called while stopping, by one that was cut off", func(s *story) {
			stopA(second, 9*second, jobtree.Success)(s)
			s.runs[len(s.runs)-1].Began = fire.Add(2 * second)
			s.at(0).happen(checker.Cut, a).Until = fire.Add(2 * second)
		}, nil},
		{"called while stopping, in its turn, as nobody makes it up", func(s *story) {
			cfg := s.state.Config.Value
			cfg.Misfire = job.MisfireSkip
			s.at(-30 * second).configure(cfg)
			stopA(second, 9*second, jobtree.Success)(s)
			s.runs[len(s.runs)-1].Began = fire.Add(2 * second)
		}, nil},
		{"called while stopping, in its turn, as it is soon too old", func(s *story) {
			cfg := s.state.Config.Value
			cfg.MisfireWindow = 12 * second
			s.at(-30 * second).configure(cfg)
			stopA(second, 9*second, jobtree.Success)(s)
			s.runs[len(s.runs)-1].Began = fire.Add(2 * second)
		}, nil},
		{"called while stopping, though somebody had time to make it up", func(s *story) {
			cfg := s.state.Config.Value
			cfg.MisfireWindow = 20 * second
			s.at(-30 * second).configure(cfg)
			stopA(second, 9*second, jobtree.Success)(s)
			s.runs[len(s.runs)-1].Began = fire.Add(2 * second)
		}, lapses(checker.GracefulStop, "code was called after")},
		{"called while stopping, after a hook", func(s *story) {
			stopA(second, 9*second, jobtree.Success)(s)
			s.runs[len(s.runs)-1].Began = fire.Add(2 * second)
			s.hooks = map[string]time.Duration{"started": minute}
		}, nil},
		{"begun while stopping", func(s *story) {
			s.other()
			s.at(-second).happen(checker.Stopped, a).Until = fire.Add(30 * second)
			s.at(0)
			s.end(0, s.begin(0, a, job.Scheduled, fire), jobtree.Success)
			s.commit(gone(tree.Instance(a)))
			s.takeOver()
		}, lapses(checker.GracefulStop, "after it was told to stop")},
	})
}

func TestNoLeftovers(t *testing.T) {
	t.Parallel()
	allStop := func(s *story) {
		s.round()
		s.at(minute)
		s.happen(checker.Stopped, a)
		s.happen(checker.Stopped, b)
		s.drop(ofA)
		s.drop(ofB)
	}
	judgeAll(t, []chapter{
		{"nothing", allStop, nil},
		{"a ghost", func(s *story) {
			allStop(s)
			s.commit(put(tree.Instance("10.0.0.3@-@c"), "TRIGGER", 0))
		}, lapses(checker.NoLeftovers, "left behind")},
		{"a claim", func(s *story) {
			allStop(s)
			s.commit(put(tree.ItemFailover(0), a, ofA))
		}, lapses(checker.NoLeftovers, "left behind, with a session")},
		{"a stray node", func(s *story) {
			allStop(s)
			s.commit(put("/orders/sharding/0/stray", "x", 0))
		}, lapses(checker.NoLeftovers, "left behind")},
		{"a surplus assignment", func(s *story) {
			allStop(s)
			s.commit(put(tree.ItemInstance(7), a, 0))
		}, lapses(checker.NoLeftovers, "left behind")},
		{"an operator's word", func(s *story) {
			allStop(s)
			s.commit(put(tree.Server("10.0.0.1"), "DISABLED", 0), put(tree.ItemDisabled(0), "", 0))
		}, nil},
		{"a ghost among the living", func(s *story) {
			s.round()
			s.at(minute).happen(checker.Crashed, b)
		}, lapses(checker.NoLeftovers, "though its process is gone")},
	})
}

// Who is asked by hand for an item runs it as soon as nothing keeps the item from it, or the request has ended.
func TestRequestsByHand(t *testing.T) {
	t.Parallel()
	// asks has an operator ask for item 0 at a time, until another.
	asks := func(s *story, at, until time.Duration) registry.Revision {
		text, err := jobtree.EncodeTriggered(jobtree.Triggered{Items: []int{0}, Until: fire.Add(until)})
		require.NoError(t, err)
		return s.at(at).commit(put(tree.Triggered(), text, 0))
	}
	runs := func(s *story, at time.Duration, request registry.Revision) {
		record, err := s.at(at).record(0).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: request, Time: s.now, Failover: true})
		require.NoError(t, err)
		s.end(0, s.write(0, record), jobtree.Success)
	}
	idle := lapses(checker.NoStall, "is asked for by request")
	judgeAll(t, []chapter{
		{"at once", func(s *story) {
			s.round()
			runs(s, minute+800*time.Millisecond, asks(s, minute, 2*minute))
		}, nil},
		{"later", func(s *story) {
			s.round()
			runs(s, minute+2*second, asks(s, minute, 2*minute))
		}, idle},
		{"never", func(s *story) {
			s.round()
			asks(s, minute, 2*minute)
		}, idle},
		{"never, as it has ended", func(s *story) {
			s.round()
			asks(s, minute, minute+second)
		}, nil},
		{"when what ran is over", func(s *story) {
			r := runningOn(s)
			request := asks(s, 30*second, 2*minute)
			s.at(minute).end(0, r, jobtree.Success)
			runs(s, minute+800*time.Millisecond, request)
		}, nil},
		{"when its process goes on", func(s *story) {
			s.round()
			request := asks(s, minute, 2*minute)
			s.happen(checker.Paused, a).Until = fire.Add(minute + 3*second)
			runs(s, minute+4*second, request)
		}, nil},
		{"asked again", func(s *story) {
			s.round()
			asks(s, minute, 2*minute)
			runs(s, minute+1600*time.Millisecond, asks(s, minute+800*time.Millisecond, 2*minute))
		}, nil},
	})
}

func TestMembership(t *testing.T) {
	t.Parallel()
	request := func(s *story, instance string) registry.Revision {
		return s.commit(put(tree.Instance(instance), jobtree.InstanceTriggered, session(instance)))
	}
	answer := func(s *story, owners ...string) {
		var nodes []registry.Node
		for n, owner := range owners {
			nodes = append(nodes, put(tree.ItemInstance(n), owner, 0))
		}
		s.commit(append(nodes, s.epoch(2), registry.Node{Path: tree.Necessary(), Created: -1})...)
	}
	third := func(s *story) { // joins, for whom there is no item
		s.happen(checker.Started, c3)
		s.commit(put(tree.Instance(c3), "", ofC), put(tree.Necessary(), "", 0))
	}
	aLeaves := func(s *story) { // to the third, which gets its item
		s.happen(checker.Stopped, a)
		s.drop(ofA)
		s.commit(put(tree.Leader(), b, ofB))
		s.commit(put(tree.ItemInstance(0), c3, 0), s.epoch(2))
	}
	judgeAll(t, []chapter{
		{"a request that is run", func(s *story) {
			s.round()
			r := request(s, a)
			record, err := s.record(0).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: r, Time: s.now, Failover: true})
			require.NoError(t, err)
			s.end(0, s.write(0, record), jobtree.Success)
			s.commit(put(tree.Instance(a), "", ofA))
		}, nil},
		{"a request that is dropped", func(s *story) {
			s.round()
			request(s, a)
			s.commit(put(tree.Instance(a), "", ofA))
		}, lapses(checker.NothingForgotten, "took back a request")},
		{"a request that is dropped while an item runs whose record cannot be read", func(s *story) {
			s.round()
			s.begin(0, a, job.Scheduled, fire.Add(minute))
			s.happen(checker.Tampered, "").Path = tree.ItemRecord(0)
			s.commit(put(tree.ItemRecord(0), "no record", 0))
			s.at(3 * minute)
			request(s, a)
			s.commit(put(tree.Instance(a), "", ofA))
		}, lapses(checker.NothingForgotten, "took back a request")},
		{"a request that is taken back for an item whose record cannot be read", func(s *story) {
			s.round()
			s.happen(checker.Tampered, "").Path = tree.ItemRecord(0)
			s.commit(put(tree.ItemRecord(0), "no record", 0))
			s.at(3 * minute)
			request(s, a)
			s.commit(put(tree.Instance(a), "", ofA))
		}, nil},
		{"a leader from nowhere", func(s *story) {
			s.round()
			s.commit(gone(tree.Leader()))
			s.commit(put(tree.Leader(), a, 7))
		}, lapses(checker.OneHolder, "elected and is not registered")},
		{"a disabled leader", func(s *story) {
			s.round()
			s.commit(gone(tree.Leader()), put(tree.Server("10.0.0.2"), "DISABLED", 0))
			s.commit(put(tree.Leader(), b, ofB))
		}, lapses(checker.Intent, "its server is disabled")},
		{"an assignment of a former leader", func(s *story) {
			s.round()
			epoch := s.epoch(2)
			s.commit(gone(tree.Leader()))
			s.commit(put(tree.Leader(), b, ofB))
			s.commit(epoch)
		}, lapses(checker.OneHolder, "is not the leader's")},
		{"an assignment of another size", func(s *story) {
			s.round()
			s.commit(s.epoch(3))
		}, lapses(checker.Intent, "an assignment of 3 items")},
		{"an assignment to somebody who is gone", func(s *story) {
			s.round()
			s.commit(put(tree.ItemInstance(0), "10.0.0.9@-@z", 0), s.epoch(2))
		}, lapses(checker.NoStall, "which is not there")},
		{"a request answered without who asked", func(s *story) {
			s.round()
			s.commit(put(tree.Necessary(), "", 0))
			answer(s, a, a)
		}, lapses(checker.NoStall, "got no item")},
		{"a request answered", func(s *story) {
			s.round()
			s.commit(put(tree.Necessary(), "", 0))
			answer(s, b, a)
		}, nil},
		{"a request answered for one too many, of whom one has just been told to leave", func(s *story) {
			s.round()
			third(s)
			s.commit(put(tree.Instance(a), "SHUTDOWN", ofA))
			answer(s, a, b)
			aLeaves(s)
		}, nil},
		{"a request answered for one too many, of whom one was told to leave while the answer was held up", func(s *story) {
			s.round()
			third(s)
			held := s.happen(checker.Held, a)
			s.at(20 * second).commit(put(tree.Instance(a), "SHUTDOWN", ofA))
			held.Until = s.at(minute).now
			answer(s, a, b)
			aLeaves(s)
		}, nil},
		{"a request answered for one too many, of whom one had been told to leave before", func(s *story) {
			s.round()
			s.commit(put(tree.Instance(a), "SHUTDOWN", ofA))
			s.at(4 * second)
			third(s)
			answer(s, a, b)
			aLeaves(s)
		}, lapses(checker.NoStall, c3+" got no item")},
		{"a request answered without who asked, and another just told to leave", func(s *story) {
			s.round()
			s.commit(put(tree.Necessary(), "", 0))
			s.commit(put(tree.Instance(b), "SHUTDOWN", ofB))
			answer(s, b, b)
			s.drop(ofB)
			s.commit(put(tree.ItemInstance(0), a, 0), put(tree.ItemInstance(1), a, 0), s.epoch(2))
		}, lapses(checker.NoStall, a+" got no item")},
		{"joining what was removed", func(s *story) {
			s.round()
			s.commit(gone(tree.Config()))
			s.commit(put(tree.Instance("10.0.0.3@-@c"), "", 3))
		}, lapses(checker.Intent, "joined a job that is not there")},
		{"joining over an operator's word", func(s *story) {
			s.round()
			s.commit(put(tree.Server("10.0.0.3"), "ENABLED", 0))
			s.commit(put(tree.Instance("10.0.0.3@-@c"), "", 3), put(tree.Server("10.0.0.3"), "DISABLED", 0))
		}, lapses(checker.Intent, "changed what an operator had said")},
	})
}

func TestIntent(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{
		{"a disabled item", func(s *story) {
			s.commit(put(tree.ItemDisabled(0), "", 0))
			s.round()
		}, lapses(checker.Intent, "a disabled item")},
		{"a surplus item", func(s *story) {
			cfg := s.state.Config.Value
			cfg.ShardingTotalCount = 1
			s.configure(cfg)
			s.commit(s.epoch(1))
			s.round()
		}, lapses(checker.Intent, "there are only 1")},
		{"old settings", func(s *story) {
			s.round()
			s.runs[0].Context.TotalCount = 5
		}, lapses(checker.Intent, "code was told of 5 items")},
		{"a disabled server takes over", func(s *story) {
			runningOn(s)
			s.crashA()
			s.commit(put(tree.Server("10.0.0.2"), "DISABLED", 0))
			s.lost(0)
			s.end(0, s.claim(b), jobtree.Success)
		}, lapses(checker.Intent, "a disabled server")},
	})
}

// A process whose clock is ahead begins a fire before its time. That is so only up to the difference
// that clocks may have.
func TestClocksThatDiffer(t *testing.T) {
	t.Parallel()
	s := newStory()
	s.at(-2 * second)
	r := s.begin(0, a, job.Scheduled, fire)
	s.end(0, r, jobtree.Success)
	s.other()
	require.NotEmpty(t, s.judge())
	rules := checker.DefaultRules()
	rules.Skew = 3 * second
	require.Empty(t, checker.Judge(s.History, rules))
}

// A process that cannot use the settings leaves the job to others, and comes back soon after it can. Where nobody else is, the
// job pauses.
func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	refuse := func(s *story) {
		cfg := s.state.Config.Value
		cfg.Description = "new"
		s.at(-30 * second).configure(cfg)
		s.happen(checker.Refused, a).Until = fire.Add(30 * second)
	}
	leave := func(s *story) {
		s.at(-29*second).commit(gone(tree.Instance(a)), gone(tree.Leader()))
		s.takeOver()
	}
	run := func(s *story) {
		for n := range 2 {
			s.end(n, s.at(0).begin(n, b, job.Scheduled, fire), jobtree.Success)
		}
	}
	back := func(s *story) {
		s.at(31 * second).commit(put(tree.Instance(a), "", ofA))
		s.commit(put(tree.ItemInstance(0), a, 0), s.epoch(2))
		s.at(minute)
	}
	judgeAll(t, []chapter{
		{"it leaves and comes back", func(s *story) {
			refuse(s)
			leave(s)
			run(s)
			back(s)
		}, nil},
		{"it keeps its items", func(s *story) {
			refuse(s)
			s.at(0)
			s.end(1, s.begin(1, b, job.Scheduled, fire), jobtree.Success)
			s.at(minute)
		}, []lapse{{checker.NoStall, "which refuses the settings"}, {checker.NoStall, "nobody ran the fire"}}},
		{"it could not use them for a moment, in which others changed something", func(s *story) {
			cfg := s.state.Config.Value
			cfg.Description = "new"
			s.at(-50 * second).configure(cfg)
			s.happen(checker.Refused, a).Until = fire.Add(-49 * second)
			cfg.Description = "newer"
			s.configure(cfg)
			s.round()
			s.at(minute)
		}, nil},
		{"it does not come back", func(s *story) {
			refuse(s)
			leave(s)
			run(s)
			s.at(minute)
		}, lapses(checker.StoppedWork, "takes no part")},
		{"it leaves though it refuses nothing", func(s *story) {
			leave(s)
			run(s)
			s.at(minute)
		}, lapses(checker.StoppedWork, "takes no part")},
		{"nobody else is there", func(s *story) {
			s.at(-40*second).happen(checker.Stopped, b)
			s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
			s.drop(ofB)
			refuse(s)
			s.at(minute)
		}, nil},
	})
}

// A process that cannot follow the job has left it when its patience is over, and comes back soon after it can.
func TestJobsThatAreDenied(t *testing.T) {
	t.Parallel()
	deny := func(s *story, writes bool) {
		i := s.at(-30*second).happen(checker.Denied, a)
		i.Until, i.Writes = fire.Add(30*second), writes
	}
	leave := func(s *story, at time.Duration) {
		s.at(at).commit(gone(tree.Instance(a)), gone(tree.Leader()))
		s.commit(put(tree.Leader(), b, ofB))
		s.commit(put(tree.ItemInstance(0), b, 0), s.epoch(2))
		for n := range 2 {
			s.end(n, s.at(0).begin(n, b, job.Scheduled, fire), jobtree.Success)
		}
	}
	back := func(s *story) {
		s.at(36 * second).commit(put(tree.Instance(a), "", ofA))
		s.commit(put(tree.ItemInstance(0), a, 0), s.epoch(2))
	}
	judgeAll(t, []chapter{
		{"it leaves and comes back", func(s *story) {
			deny(s, false)
			leave(s, -25*second)
			back(s)
			s.at(minute)
		}, nil},
		{"it keeps its items", func(s *story) {
			deny(s, false)
			s.at(0)
			s.end(1, s.begin(1, b, job.Scheduled, fire), jobtree.Success)
			s.at(minute)
		}, lapses(checker.NoStall, "nobody ran the fire")},
		{"it has just joined, and leaves only with its session", func(s *story) {
			s.at(-30*second).commit(gone(tree.Instance(a)), gone(tree.Leader()))
			s.commit(put(tree.Instance(a), "", ofA), put(tree.Leader(), a, ofA), put(tree.Necessary(), "", 0))
			deny(s, false)
			s.at(-20 * second).commit(registry.Node{Path: tree.Necessary(), Created: -1})
			leave(s, -20*second)
			back(s)
			s.at(minute)
		}, nil},
		{"it does not come back", func(s *story) {
			deny(s, true)
			leave(s, -20*second)
			s.at(minute)
		}, lapses(checker.StoppedWork, "takes no part")},
	})
}

// What a store of limited capacity can take is run, and its incident excuses nothing else for long.
func TestGoodput(t *testing.T) {
	t.Parallel()
	told := func(ran int) func(s *story) {
		return func(s *story) {
			cfg := s.state.Config.Value
			cfg.Cron, cfg.Misfire = "@every 1s", job.MisfireSkip
			s.at(0).configure(cfg)
			i := s.happen(checker.Paced, "")
			i.Rate, i.Until = 4, fire.Add(50*second) // two executions a second, for twenty seconds that count
			for k := range ran {
				at := 25*second + time.Duration(k/2)*second
				s.end(k%2, s.at(at).begin(k%2, []string{a, b}[k%2], job.Scheduled, fire.Add(at)), jobtree.Success)
			}
			cfg.Cron = "@every 1h"
			s.at(51 * second).configure(cfg)
		}
	}
	judgeAll(t, []chapter{
		{"all", told(40), nil},
		{"enough", told(20), nil},
		{"too little", told(19), lapses(checker.NoStall, "19 executions ran")},
	})
}

// Who starts when nobody else is there has to learn what the store can take. The others tell one who comes to them. What
// ran before is judged for itself.
func TestGoodputAfterAStart(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ran     int           // two a second from 25 seconds on
		stopped []string      // which end by then
		at      time.Duration // when they do
		started []string      // which come five seconds later, at once
		until   time.Duration // when the store is as fast as ever again
		want    []string
	}{
		"the first":                        {0, []string{a, b}, 10 * second, []string{c3}, 50 * second, nil},
		"one of several":                   {0, []string{a}, 10 * second, []string{c3}, 50 * second, []string{"0 executions ran until 01:00:45"}},
		"two who are the first together":   {0, []string{a, b}, 10 * second, []string{a, c3}, 50 * second, nil},
		"the first, and long after that":   {0, []string{a, b}, 10 * second, []string{c3}, minute + 5*second, []string{"0 executions ran until 01:01:00"}},
		"the first, after others for long": {0, []string{a, b}, 50 * second, []string{c3}, 75 * second, []string{"0 executions ran until 01:00:45"}},
		"long before and after": {
			0,
			[]string{a, b},
			50 * second,
			[]string{c3},
			105 * second,
			[]string{"0 executions ran until 01:00:45", "0 executions ran until 01:01:40"},
		},
		"all ran before":                      {40, []string{a, b}, 50 * second, []string{c3}, 75 * second, nil},
		"enough ran before":                   {20, []string{a, b}, 50 * second, []string{c3}, 75 * second, nil},
		"too little ran before":               {19, []string{a, b}, 50 * second, []string{c3}, 75 * second, []string{"19 executions ran until 01:00:45"}},
		"all ran before, and nobody comes":    {40, []string{a, b}, 50 * second, nil, 3 * minute, nil},
		"nothing ran, and they had just come": {0, []string{a, b}, 44 * second, []string{c3}, 75 * second, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory()
			cfg := s.state.Config.Value
			cfg.Cron, cfg.Misfire = "@every 1s", job.MisfireSkip
			s.at(0).configure(cfg)
			i := s.happen(checker.Paced, "")
			i.Rate, i.Until = 4, fire.Add(tt.until)
			for k := range tt.ran {
				at := 25*second + time.Duration(k/2)*second
				s.end(k%2, s.at(at).begin(k%2, []string{a, b}[k%2], job.Scheduled, fire.Add(at)), jobtree.Success)
			}
			s.at(tt.at)
			for _, id := range tt.stopped {
				s.happen(checker.Stopped, id)
				s.drop(session(id))
			}
			s.at(tt.at + 5*second)
			for _, id := range tt.started {
				s.happen(checker.Started, id)
				s.commit(put(tree.Instance(id), "", session(id)))
			}
			var found []string
			for _, f := range s.judge() {
				if strings.Contains(f.Text, "executions ran") {
					found = append(found, f.Text)
				}
			}
			require.Len(t, found, len(tt.want), "%v", found)
			for i, want := range tt.want {
				require.Contains(t, found[i], want)
			}
		})
	}
}

// A process whose clock is wrong leaves the job to others that are there, and comes back.
func TestClocksThatAreWrong(t *testing.T) {
	t.Parallel()
	misset := func(s *story, ahead time.Duration, until time.Duration) {
		i := s.at(-30*second).happen(checker.Misset, a)
		i.Ahead, i.Until = ahead, fire.Add(until)
	}
	leave := func(s *story) {
		s.at(-20*second).commit(gone(tree.Instance(a)), gone(tree.Leader()))
		s.commit(put(tree.Leader(), b, ofB))
		s.commit(put(tree.ItemInstance(0), b, 0), s.epoch(2))
	}
	run := func(s *story) {
		for n := range 2 {
			s.end(n, s.at(0).begin(n, b, job.Scheduled, fire), jobtree.Success)
		}
	}
	back := func(s *story, at time.Duration) {
		s.at(at).commit(put(tree.Instance(a), "", ofA))
		s.commit(put(tree.ItemInstance(0), a, 0), s.epoch(2))
	}
	judgeAll(t, []chapter{
		{"it leaves and comes back", func(s *story) {
			misset(s, 5*minute, minute)
			leave(s)
			run(s)
			back(s, 2*minute+10*second)
			s.at(5 * minute)
		}, nil},
		{"it stays", func(s *story) {
			misset(s, 5*minute, minute)
			s.round()
			s.at(5 * minute)
		}, lapses(checker.NoStall, "takes part though its clock is off")},
		{"it does not come back", func(s *story) {
			misset(s, 5*minute, minute)
			leave(s)
			run(s)
			s.at(5 * minute)
		}, lapses(checker.StoppedWork, "takes no part")},
		{"it begins a fire before its time", func(s *story) {
			misset(s, 5*minute, 5*minute)
			s.at(-25 * second)
			s.end(0, s.begin(0, a, job.Scheduled, fire), jobtree.Success)
			leave(s)
			s.other()
			s.at(minute)
		}, nil},
		{"it begins a fire long before its time", func(s *story) {
			misset(s, 5*minute, 5*minute)
			s.at(-29 * second)
			s.end(0, s.begin(0, a, job.Scheduled, fire.Add(minute)), jobtree.Success)
			leave(s)
			s.other()
			s.at(minute)
		}, lapses(checker.OneExecution, "before its time")},
		{"it begins early when its clock is right again", func(s *story) {
			misset(s, 5*minute, -10*second)
			s.at(-5 * second)
			s.end(0, s.begin(0, a, job.Scheduled, fire), jobtree.Success)
			s.other()
			s.at(minute)
		}, lapses(checker.OneExecution, "before its time")},
	})
}

func TestOperations(t *testing.T) {
	t.Parallel()
	// did is what an operator writes down.
	did := func(ops ...jobtree.Operation) registry.Node {
		return put(tree.Operated(), jobtree.EncodeOperated(jobtree.Operated{Operations: ops}), 0)
	}
	op := func(id, verb, target string) jobtree.Operation {
		return jobtree.Operation{ID: id, Verb: verb, Target: target, Who: "anna"}
	}
	decided := func(o jobtree.Operation, after time.Duration) jobtree.Operation {
		o.When = fire.Add(after)
		return o
	}
	settings := func(s *story, change func(*job.Config)) registry.Node {
		cfg := s.state.Config.Value
		change(&cfg)
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(t, err)
		return put(tree.Config(), text, 0)
	}
	disabled := func(c *job.Config) { c.Disabled = true }
	givenUp := func(s *story, what ...registry.Node) {
		runningOn(s)
		s.crashA()
		s.lost(0)
		record, err := s.record(0).GiveUp()
		require.NoError(t, err)
		s.commit(append(what, put(tree.ItemRecord(0), jobtree.EncodeRecord(record), 0), gone(tree.FailoverItem(0)))...)
	}
	removed := func(s *story) {
		var all []registry.Node
		for path := range s.nodes {
			all = append(all, gone(path))
			all[len(all)-1].Created = -1
		}
		s.commit(all...)
	}
	removing := put(tree.Operated(), `{"operations":[{"id":"x","verb":"remove","who":"anna"}],"removing":"yes"}`, 0)
	judgeAll(t, []chapter{
		{"given up", func(s *story) { givenUp(s, did(op("x", "give up item", "item 0"))) }, nil},
		{"given up by nobody", func(s *story) { givenUp(s) }, lapses(checker.NothingForgotten, "without an execution went from waiting")},
		{"given up by somebody else", func(s *story) {
			givenUp(s, did(op("x", "give up item", "item 1")))
		}, []lapse{{checker.NothingForgotten, "without an execution went from waiting"}, {checker.Intent, "that was not done"}}},
		{"done", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.ItemDisabled(0), "", 0), did(op("1", "disable item", "item 0")))
			s.commit(settings(s, func(c *job.Config) { c.JobParameter = "x" }), did(op("2", "change settings", "")))
			s.commit(put(tree.Server("10.0.0.9"), "DISABLED", 0), did(op("3", "disable server", "server 10.0.0.9")))
			s.commit(gone(tree.Server("10.0.0.9")), did(op("4", "tidy servers", "")))
		}, nil},
		{"decided before another change", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.ItemDisabled(0), "", 0), did(decided(op("1", "disable item", "item 0"), 59*time.Second)))
			s.at(minute + 10*time.Second).commit(put(tree.Server("10.0.0.9"), "DISABLED", 0))
			s.at(minute+11*time.Second).commit(gone(tree.Server("10.0.0.9")), did(decided(op("2", "enable server", "server 10.0.0.9"), minute+10500*time.Millisecond)))
		}, nil},
		{"decided before what it is about changed", func(s *story) {
			s.round()
			s.at(minute + 10*time.Second).commit(put(tree.Server("10.0.0.9"), "DISABLED", 0))
			s.at(minute+11*time.Second).commit(gone(tree.Server("10.0.0.9")), did(decided(op("2", "enable server", "server 10.0.0.9"), minute+9*time.Second)))
		}, lapses(checker.Intent, "was decided at")},
		{"decided before the settings changed", func(s *story) {
			s.round()
			s.at(minute + 10*time.Second).commit(settings(s, func(c *job.Config) { c.JobParameter = "x" }))
			s.at(minute+11*time.Second).commit(put(tree.ItemDisabled(0), "", 0), did(decided(op("1", "disable item", "item 0"), minute+9*time.Second)))
		}, lapses(checker.Intent, "was decided at")},
		{"written down alone", func(s *story) {
			s.round()
			s.commit(did(op("1", "disable item", "item 0")))
		}, lapses(checker.Intent, "that was not done")},
		{"the wrong item", func(s *story) {
			s.round()
			s.commit(put(tree.ItemDisabled(0), "", 0), did(op("1", "disable item", "item 1")))
		}, lapses(checker.Intent, "that was not done")},
		{"done twice", func(s *story) {
			s.round()
			s.commit(settings(s, func(c *job.Config) { c.JobParameter = "x" }), did(op("1", "change settings", "")))
			s.commit(settings(s, func(c *job.Config) { c.JobParameter = "y" }), did(op("2", "change settings", ""), op("1", "change settings", "")))
		}, lapses(checker.Intent, "done twice")},
		{"settings that disable", func(s *story) {
			s.round()
			s.commit(settings(s, disabled), did(op("1", "change settings", "")))
		}, lapses(checker.Intent, "that was not done")},
		{"a disabled job", func(s *story) {
			s.commit(settings(s, disabled), did(op("1", "disable job", "")))
			s.round()
		}, lapses(checker.Intent, "an item of a disabled job")},
		{"removed", func(s *story) {
			s.round()
			s.at(minute).happen(checker.Stopped, a)
			s.happen(checker.Stopped, b)
			s.drop(ofA)
			s.drop(ofB)
			s.commit(settings(s, disabled), removing)
			removed(s)
		}, nil},
		{"removed while it runs", func(s *story) {
			runningOn(s)
			s.at(second).commit(settings(s, disabled), removing)
			removed(s)
		}, lapses(checker.Intent, "removed while session")},
		{"gone, and not removed", func(s *story) {
			runningOn(s)
			removed(s.at(second))
		}, lapses(checker.NothingForgotten, "the record vanished")},
		{"told to leave, and left", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.Instance(a), "SHUTDOWN", ofA), did(op("1", "shut down instance", "instance "+a)))
			s.drop(ofA)
			s.takeOver()
		}, nil},
		{"told to leave, and stayed", func(s *story) {
			s.round()
			s.at(minute).commit(put(tree.Instance(a), "SHUTDOWN", ofA), did(op("1", "shut down instance", "instance "+a)))
		}, lapses(checker.NoStall, "was told to leave and stays")},
		{"stayed for a run whose mark was taken, and handed over", func(s *story) {
			r := leavesUnmarked(s)
			s.at(32*second).commit(put(tree.Instance(a), "SHUTDOWN", ofA), gone(tree.Leader()))
			s.takeOver()
			s.at(65*second).end(0, r, jobtree.Success)
			s.drop(ofA)
		}, nil},
		{"stayed for longer than the run", func(s *story) {
			r := leavesUnmarked(s)
			s.at(32*second).commit(put(tree.Instance(a), "SHUTDOWN", ofA), gone(tree.Leader()))
			s.takeOver()
			s.at(minute).end(0, r, jobtree.Success)
		}, []lapse{{checker.NoStall, "was told to leave and stays"}, {checker.NoLeftovers, "is registered though its process is gone"}}},
		{"stayed for a run whose end was never recorded", func(s *story) {
			r := leavesUnmarked(s)
			s.at(32 * second).handOver()
			s.takeOver()
			r.Ended = s.at(minute).now
		}, []lapse{
			{checker.NoStall, "was told to leave and stays"},
			{checker.NoLeftovers, "is registered though its process is gone"},
			{checker.NoStall, "recorded as running and nothing runs"},
		}},
		{"stayed after a run for as long as it could not have its end recorded", func(s *story) {
			r := leavesUnmarked(s)
			s.happen(checker.Stopped, b)
			s.drop(ofB)
			s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
			s.at(32 * second).handOver()
			denied := s.at(50*second).happen(checker.Denied, a)
			denied.Until, denied.Writes = fire.Add(2*minute), true
			r.Ended = s.at(minute).now
			s.at(100*second).happen(checker.Crashed, a)
			s.at(105 * second).drop(ofA)
		}, nil},
		{"stayed for a run, and handed nothing over", func(s *story) {
			r := leavesUnmarked(s)
			s.at(32 * second).commit(put(tree.Instance(a), "SHUTDOWN", ofA))
			s.at(65*second).end(0, r, jobtree.Success)
			s.drop(ofA)
			s.takeOver()
		}, []lapse{{checker.NoStall, "was told to leave and leads"}, {checker.NoStall, "which cannot run it"}}},
	})
}

// A hand's record that goes with the hand's session tells no more of what runs than it did before.
func TestAHandsRecordGoesWithItsSession(t *testing.T) {
	t.Parallel()
	s := newStory()
	r := runningOn(s)
	path := tree.ItemRecord(0)
	hand := s.at(second).happen(checker.Tampered, "")
	hand.Path, hand.Revision = path, s.commit(put(path, "", ofB))
	hand.Until = s.at(2 * second).now
	s.commit(gone(path))
	s.at(50 * minute).commit(put(tree.ItemMisfire(0), "", 0)) // by then nothing excuses what is wrong
	s.at(time.Hour)
	r.Ended = s.now
	s.commit(gone(tree.ItemRunning(0)))
	require.False(t, hasLapse(s.judge(), lapse{checker.OneHolder, "no begin made"}))
}

// Whoever runs an item whose job was deleted under it may mark it anew, and nobody else.
func TestAnItemThatIsHeldAnew(t *testing.T) {
	t.Parallel()
	for _, mine := range []bool{true, false} {
		s := newStory()
		runningOn(s)
		s.at(second)
		var all []registry.Node
		for path := range s.nodes {
			all = append(all, gone(path))
			all[len(all)-1].Created = -1
		}
		s.commit(all...)
		if mine {
			s.at(2 * second).commit(put(tree.ItemRunning(0), a, ofA))
		} else {
			s.at(2 * second).commit(put(tree.ItemRunning(0), b, ofB))
		}
		require.Equal(t, !mine, hasLapse(s.judge(), lapse{checker.OneHolder, "no begin made"}))
	}
}

// A hand may take the mark of what runs on an instance that has left: then nothing shows any more that it runs. As long as
// the instance is there, that shows it.
func TestAMarkThatIsTakenFromWhoHasLeft(t *testing.T) {
	t.Parallel()
	for _, left := range []bool{true, false} {
		s := newStory()
		r := runningOn(s)
		leave := func() {
			s.happen(checker.Stopped, a).Until = fire.Add(minute)
			s.drop(ofA)
			s.takeOver()
		}
		take := func() {
			hand := s.happen(checker.Tampered, "")
			hand.Path, hand.Revision = tree.ItemRunning(0), s.commit(gone(tree.ItemRunning(0)))
		}
		s.at(second)
		if left {
			s.happen(checker.Stopped, a).Until = fire.Add(minute)
			s.commit(gone(tree.Instance(a)), gone(tree.Leader()))
			s.takeOver()
			s.at(20 * second)
			take()
		} else {
			take()
			s.at(20 * second)
			leave()
		}
		s.at(40 * second).lost(0)
		r.Cancelled, r.Ended, r.Err = s.now, s.now, errFailed
		require.Equal(t, !left, hasLapse(s.judge(), lapse{checker.GracefulStop, "its execution was lost"}), "had left: %t", left)
	}
}

// The mark of an execution whose record a hand has deleted keeps others from the item for as long as it is there. If the
// store drops its session, the process hears of that with its next keep-alive.
func TestAMarkThatGoesAfterItsRecord(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{true, false} {
		s := newStory()
		r := runningOn(s)
		hand := s.at(second).happen(checker.Tampered, "")
		hand.Path, hand.Revision = tree.ItemRecord(0), s.commit(gone(tree.ItemRecord(0)))
		s.at(minute)
		if dropped {
			s.happen(checker.Expired, a)
			s.drop(ofA)
		}
		s.takeOver()
		s.begin(0, b, job.Misfire, fire)
		r.Cancelled = s.at(minute + second).now
		r.Ended, r.Err = s.now, errFailed
		require.Equal(t, !dropped, hasLapse(s.judge(), lapse{checker.OneHolder, "ran twice at once"}), "dropped: %t", dropped)
	}
}

// Two hands may take all that shows that an item runs, its mark and then its instance: others begin it before its process finds
// that out.
func TestHandsThatTakeMarkAndInstance(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		taken  bool          // the instance, by a hand
		called time.Duration // the other's code, after that
		want   bool
	}{
		"a hand took both":                    {true, 0, false},
		"no hand took the instance":           {false, 0, true},
		"others' code was called before that": {true, -second, true},
		"and long after it":                   {true, 3 * minute, true},
	} {
		s := newStory()
		r := runningOn(s)
		s.at(second).tamper(gone(tree.ItemRunning(0)))
		s.at(minute)
		if test.taken {
			s.happen(checker.Unlisted, a)
		}
		s.commit(gone(tree.Instance(a)))
		s.lost(0)
		s.takeOver()
		other := s.claim(b)
		other.Began = fire.Add(minute + test.called)
		r.Cancelled = s.at(5 * minute).now
		r.Ended, r.Err = s.now, errFailed
		require.Equal(t, test.want, hasLapse(s.judge(), lapse{checker.OneHolder, "ran twice at once"}), name)
	}
}

// What has ended before its job was deleted is not marked anew, not even by who ran it.
func TestAnItemThatIsHeldAnewThoughItHasEnded(t *testing.T) {
	t.Parallel()
	s := newStory()
	r := runningOn(s)
	s.at(second).end(0, r, jobtree.Success)
	var all []registry.Node
	for path := range s.nodes {
		all = append(all, gone(path))
		all[len(all)-1].Created = -1
	}
	s.commit(all...)
	s.at(2 * second).commit(put(tree.ItemRunning(0), a, ofA))
	require.True(t, hasLapse(s.judge(), lapse{checker.OneHolder, "no begin made"}))
}

// haunted tells of a job whose instances both died in the middle of a run, and of a node that somebody wrote by hand
// among those of its instances afterwards.
func haunted(s *story, tampered bool) {
	crashed := func(instance string) {
		s.happen(checker.Crashed, instance)
		s.drop(session(instance))
	}
	r := runningOn(s)
	r.Ended, r.Died = s.at(second).now, true
	crashed(a)
	crashed(b)
	ghost := tree.Instance("10.9.9.9@-@nobody")
	revision := s.at(20 * second).commit(put(ghost, "garbage", 0))
	if tampered {
		hand := s.happen(checker.Tampered, "")
		hand.Path, hand.Revision = ghost, revision
	}
}

// bReturns has b come back under a new session, after its process has started.
func bReturns(s *story) {
	s.happen(checker.Started, b)
	s.commit(put(tree.Instance(b), "", ofC), put(tree.Necessary(), "", 0))
}

// A node of an instance that a hand wrote is not somebody who could lead, declare what is lost, or run fires. It stays until
// somebody leads, and no longer.
func TestAGhostIsNobody(t *testing.T) {
	t.Parallel()
	ghost := tree.Instance("10.9.9.9@-@nobody")
	often := func(cfg *job.Config) { cfg.Cron = "@every 2m" }
	judgeAll(t, []chapter{
		{"nobody else is there", func(s *story) { haunted(s, true) }, nil},
		{"it is told to leave", func(s *story) {
			haunted(s, true)
			s.at(minute).commit(put(ghost, jobtree.InstanceShutdown, 0))
		}, nil},
		{"no hand wrote it", func(s *story) { haunted(s, false) }, []lapse{
			{checker.NoStall, "there is no leader"}, {checker.NothingForgotten, "not declared as lost"}, {checker.NoStall, "which cannot run it"},
		}},
		{"it has a session", func(s *story) { // which whoever wrote it would have
			haunted(s, true)
			s.commit(gone(ghost))
			s.commit(put(ghost, "garbage", ofC))
		}, lapses(checker.NoStall, "there is no leader")},
		{"only one that is disabled comes", func(s *story) {
			haunted(s, true)
			s.commit(put(tree.Server("10.0.0.2"), "DISABLED", 0))
			bReturns(s.at(minute))
		}, nil},
		{"somebody comes, and does nothing", func(s *story) {
			haunted(s, true)
			bReturns(s.at(minute))
		}, []lapse{
			{checker.NoStall, "there is no leader"},
			{checker.NothingForgotten, "not declared as lost"},
			{checker.NoStall, "a request for a resharding is not answered"},
			{checker.NoLeftovers, "no session holds it"},
		}},
	})
	judgeAll(t, []chapter{
		{"fires that nobody is there to run", func(s *story) { haunted(s, true) }, nil},
		{"fires though no hand wrote it", func(s *story) {
			haunted(s, false)
		}, lapses(checker.NoStall, "nobody ran the fire")},
	}, often)
}

// backAndPatient has a lose its session, join again, and declare what it lost at a time; news of it were held up until
// another, if that is not 0.
func backAndPatient(s *story, held, declared time.Duration) {
	r := runningOn(s)
	s.at(second).happen(checker.Expired, a)
	s.drop(ofA)
	r.Cancelled, r.Cause, r.Ended, r.Err = s.now, registry.ErrSessionLost, s.now, errFailed
	s.at(2*second).commit(put(tree.Instance(a), "", ofA+7), put(tree.Leader(), b, ofB))
	if held > 0 {
		s.happen(checker.Held, a).Until = fire.Add(held)
	}
	s.at(declared).lost(0)
	s.end(0, s.claim(b), jobtree.Success)
}

// An epoch that a hand wrote is mended as soon as somebody sees it. Who cannot begins what the assignment before it gave to
// it: a begin compares the owner of its item, and not the epoch.
func TestAnEpochThatAHandWrote(t *testing.T) {
	t.Parallel()
	garbled := func(s *story, unheard ...string) {
		s.at(-30 * second)
		for _, instance := range unheard {
			s.happen(checker.Held, instance).Until = fire
		}
		epoch := s.epoch(2)
		s.tamper(put(tree.Epoch(), "garbage", 0))
		s.at(0)
		zero, one := s.begin(0, a, job.Scheduled, fire), s.begin(1, b, job.Scheduled, fire)
		s.commit(epoch)
		s.end(0, zero, jobtree.Success)
		s.end(1, one, jobtree.Success)
	}
	judgeAll(t, []chapter{
		{"nobody heard of it", func(s *story) { garbled(s, a, b) }, nil},
		{"one heard of it", func(s *story) { garbled(s, a) }, []lapse{
			{checker.OneHolder, "was begun by another instance"},
			{checker.Intent, "begun though there are only 0"},
			{checker.Intent, "code was told of 2 items"},
		}},
	})
}

// What a hand's commit finds as it wants it has the revision of the step before, which was none of the hand's.
func TestAHandThatFindsWhatItWants(t *testing.T) {
	t.Parallel()
	judgeAll(t, []chapter{{"a note that a begin has just deleted", func(s *story) {
		s.at(-30 * second).tamper(put(tree.FailoverItem(0), "x", 0))
		s.at(0)
		r := s.begin(0, a, job.Scheduled, fire) // which deletes that
		hand := s.happen(checker.Tampered, "")
		hand.Path, hand.Revision = tree.FailoverItem(0), s.revision
		s.at(minute).end(0, r, jobtree.Success)
		s.Reports = append(s.Reports, checker.Report{At: s.now, Instance: a, Item: 0, Token: r.Context.Token})
		s.at(0).other()
	}, nil}})
}

// What a hand did to the node of an instance, or to another, says nothing of a node that comes to be there without it.
func TestWhatAHandDidExcusesNoOtherNode(t *testing.T) {
	t.Parallel()
	hand := func(s *story) { // deletes the node of a, which comes back at once
		s.round()
		s.at(10 * second).tamper(gone(tree.Instance(a)))
		s.commit(put(tree.Instance(a), "", ofA))
	}
	stays := func(s *story) { // a stops, and its node stays, without a session
		s.at(110*second).happen(checker.Stopped, a)
		s.commit(gone(tree.Leader()), put(tree.Instance(a), jobtree.InstanceTriggered, 0))
		s.takeOver()
	}
	bStops := func(s *story) {
		s.happen(checker.Stopped, b)
		s.drop(ofB)
	}
	claim := put(tree.ItemFailover(0), a, 0)
	left := lapse{checker.NoLeftovers, "left behind: "}
	registered := []lapse{{checker.GracefulStop, "is still registered"}, {checker.NoLeftovers, "is registered though its process is gone"}}
	judgeAll(t, []chapter{
		{"a hand deleted it before", func(s *story) {
			hand(s)
			stays(s)
		}, registered},
		{"a hand deleted it before, and nobody else is there", func(s *story) {
			hand(s)
			stays(s)
			bStops(s)
		}, append(registered, left)},
		{"a hand deletes it later", func(s *story) {
			s.round()
			stays(s)
			s.at(4 * minute).tamper(gone(tree.Instance(a)))
		}, registered},
		{"a hand wrote there before", func(s *story) {
			s.round()
			s.at(10 * second).tamper(gone(tree.Instance(a)))
			s.tamper(put(tree.Instance(a), "garbage", 0))
			s.at(11 * second).commit(gone(tree.Instance(a)))
			s.commit(put(tree.Instance(a), "", ofA))
			stays(s)
		}, registered},
		{"a claim where a hand had put one", func(s *story) {
			s.round()
			s.at(10 * second).tamper(claim)
			s.at(11 * second).commit(gone(tree.ItemFailover(0)))
			s.at(110*second).happen(checker.Stopped, a)
			s.drop(ofA)
			bStops(s)
			s.commit(claim)
		}, []lapse{left}},
		{"a claim that a hand has put", func(s *story) {
			s.round()
			s.at(110*second).happen(checker.Stopped, a)
			s.drop(ofA)
			bStops(s)
			s.tamper(claim)
		}, nil},
		{"a claim that a hand has altered", func(s *story) {
			s.round()
			s.at(110*second).happen(checker.Stopped, a)
			s.drop(ofA)
			bStops(s)
			s.tamper(claim)
			s.tamper(put(tree.ItemFailover(0), "garbage", 0))
		}, nil},
		{"nothing stays", func(s *story) {
			hand(s)
			s.at(110*second).happen(checker.Stopped, a)
			s.drop(ofA)
			s.takeOver()
		}, nil},
	})
}

// comesBack has b lead a haunted job again a minute after the fire, and do all that is to be done but for the ghost.
func comesBack(s *story) {
	haunted(s, true)
	bReturns(s.at(minute))
	s.commit(put(tree.Leader(), b, ofC))
	s.lost(0)
	record, err := s.record(0).Claim(jobtree.Claim{Instance: b, Session: ofC, Time: s.now})
	if err != nil {
		panic(err)
	}
	s.end(0, s.write(0, record), jobtree.Success)
}

// A ghost has no need of an item when a request for a resharding is answered.
func TestAGhostGetsNoItem(t *testing.T) {
	t.Parallel()
	s := newStory()
	comesBack(s)
	s.commit(put(tree.ItemInstance(0), b, 0), put(tree.ItemInstance(1), b, 0), s.epoch(2), registry.Node{Path: tree.Necessary(), Created: -1})
	require.False(t, hasLapse(s.judge(), lapse{checker.NoStall, "got no item"}))
}

// Whoever leads removes a ghost at once, gives it no items, and nobody leaves its own node to be one.
func TestAGhostGoesWhenSomebodyLeads(t *testing.T) {
	t.Parallel()
	ghost := tree.Instance("10.9.9.9@-@nobody")
	answer := func(s *story, owner string) {
		s.commit(put(tree.ItemInstance(0), owner, 0), put(tree.ItemInstance(1), b, 0), s.epoch(2), registry.Node{Path: tree.Necessary(), Created: -1})
	}
	judgeAll(t, []chapter{
		{"at once", func(s *story) {
			comesBack(s)
			s.commit(gone(ghost))
			answer(s, b)
		}, nil},
		{"never", func(s *story) {
			comesBack(s)
			answer(s, b)
		}, lapses(checker.NoLeftovers, "10.9.9.9@-@nobody is registered and no session holds it")},
		{"never, and it gets an item", func(s *story) {
			comesBack(s)
			answer(s, "10.9.9.9@-@nobody")
		}, lapses(checker.NoStall, `belongs to "10.9.9.9@-@nobody", which cannot run it`)},
		{"it is that of a process that lives", func(s *story) {
			s.round()
			hand := s.at(second).happen(checker.Tampered, "")
			s.commit(gone(tree.Instance(b)))
			hand.Path, hand.Revision = tree.Instance(b), s.commit(put(tree.Instance(b), "garbage", 0))
		}, lapses(checker.StoppedWork, b+" is alive and takes no part")},
		{"it was that of a process that lives", func(s *story) {
			s.round()
			hand := s.at(4*second).happen(checker.Tampered, "")
			s.commit(gone(tree.Instance(b)))
			hand.Path, hand.Revision = tree.Instance(b), s.commit(put(tree.Instance(b), "garbage", 0))
			s.at(5 * second).commit(gone(tree.Instance(b)))
			s.commit(put(tree.Instance(b), "", ofB))
		}, nil},
	})
}
