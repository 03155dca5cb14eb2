package checker_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// minutely has a job of one item fire once a minute and make up each fire that it missed.
func minutely(change ...func(*job.Config)) func(*job.Config) {
	return func(cfg *job.Config) {
		cfg.Cron, cfg.ShardingTotalCount, cfg.Misfire = "@every 1m", 1, job.MisfireAll
		for _, edit := range change {
			edit(cfg)
		}
	}
}

// The item, which is a's, runs for two and a half minutes, in which something happens. Two fires are
// missed, and then those are run that the story says.
type longRun struct {
	meanwhile func(s *story)
	by        string // who runs from then on
	crashed   bool   // the long run is lost at half past one
	madeUp    []time.Duration
}

func (l longRun) tell(s *story) {
	l.begin(s)
	for _, of := range l.madeUp {
		s.end(0, s.begin(0, l.by, job.Misfire, fire.Add(of)), jobtree.Success)
	}
	for i := 3 * minute; i < 5*minute; i += minute {
		s.end(0, s.at(i).begin(0, l.by, job.Scheduled, fire.Add(i)), jobtree.Success)
	}
}

// begin tells it up to the end of the long run.
func (l longRun) begin(s *story) {
	s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
	s.at(-30 * second)
	once, err := s.record(0).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: 1, Time: s.now, Failover: true})
	if err != nil {
		panic(err)
	}
	s.end(0, s.write(0, once), jobtree.Success)
	r := s.at(0).begin(0, a, job.Scheduled, fire)
	if l.meanwhile != nil {
		l.meanwhile(s)
	}
	if l.crashed {
		s.at(minute + 30*second).crashA()
		s.commit(put(tree.ItemInstance(0), l.by, 0), s.epoch(1))
		s.lost(0)
		r = s.claim(l.by)
	}
	s.at(2*minute + 30*second)
	s.end(0, r, jobtree.Success)
}

// joins has c3 come at a time.
func joins(s *story, at time.Duration) {
	s.at(at).happen(checker.Started, c3)
	s.commit(put(tree.Instance(c3), "", ofC))
}

// moves gives the item to another instance at a time.
func moves(s *story, at time.Duration, to string) {
	s.at(at).commit(put(tree.ItemInstance(0), to, 0), s.epoch(1))
}

func TestEachFireIsAccountedFor(t *testing.T) {
	t.Parallel()
	both, newest := []time.Duration{minute, 2 * minute}, []time.Duration{2 * minute}
	skipped := lapses(checker.NoStall, "not made up before a later one")
	half := minute + 30*second
	tests := []struct {
		name   string
		run    longRun
		change func(*job.Config)
		want   []lapse
	}{
		{"all are made up", longRun{by: a, madeUp: both}, nil, nil},
		{"one is not", longRun{by: a, madeUp: newest}, nil, skipped},
		{"none is", longRun{by: a}, nil, lapses(checker.NoStall, "not made up")},
		{"one run for all", longRun{by: a, madeUp: newest}, func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce }, nil},
		{"one run for all, and none is", longRun{by: a}, func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce }, lapses(checker.NoStall, "not made up by")},
		{"none is wanted", longRun{by: a}, func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip }, nil},
		{"as many as are kept", longRun{by: a, madeUp: newest}, func(cfg *job.Config) { cfg.MisfireMax = 1 }, nil},
		{"fewer than are kept", longRun{by: a, madeUp: newest}, func(cfg *job.Config) { cfg.MisfireMax = 2 }, skipped},
		{"one is too old", longRun{by: a, madeUp: newest}, func(cfg *job.Config) { cfg.MisfireWindow = 60 * time.Second }, nil},
		{"one is nearly too old", longRun{by: a, madeUp: newest}, func(cfg *job.Config) { cfg.MisfireWindow = 120 * time.Second }, skipped},
		{"the item is disabled for a while", longRun{by: a, madeUp: newest, meanwhile: func(s *story) {
			s.at(half).commit(put(tree.ItemDisabled(0), "", 0))
			n := gone(tree.ItemDisabled(0))
			n.Created = -1
			s.at(half + second).commit(n)
		}}, nil, nil},
		{"the cron is another for a while", longRun{by: a, madeUp: newest, meanwhile: func(s *story) {
			cfg := s.state.Config.Value
			other := cfg
			other.Cron = "@every 7m"
			s.at(half).configure(other)
			s.at(half + second).configure(cfg)
		}}, nil, nil},
		{"the parameter is another", longRun{by: a, madeUp: newest, meanwhile: func(s *story) {
			cfg := s.state.Config.Value
			cfg.JobParameter = "other"
			s.at(half).configure(cfg)
			s.runs[len(s.runs)-1].Context.JobParameter = ""
		}}, nil, skipped},
		{"the settings are spoilt as the fire comes", longRun{by: a, madeUp: newest, meanwhile: func(s *story) {
			cfg := s.state.Config.Value
			s.at(50 * second).commit(put(tree.Config(), "{", 0))
			s.at(half).configure(cfg)
		}}, nil, nil},
		{"the settings are spoilt later", longRun{by: a, madeUp: newest, meanwhile: func(s *story) {
			cfg := s.state.Config.Value
			s.at(half).commit(put(tree.Config(), "{", 0))
			s.at(half + second).configure(cfg)
		}}, nil, skipped},
		{"it moves to one who was there", longRun{by: b, madeUp: newest, meanwhile: func(s *story) { moves(s, half, b) }}, nil, skipped},
		{"it moves to one who came later", longRun{by: c3, madeUp: newest, meanwhile: func(s *story) {
			joins(s, half)
			moves(s, half, c3)
		}}, nil, skipped},
		{"it moves, and all are made up", longRun{by: c3, madeUp: both, meanwhile: func(s *story) {
			joins(s, half)
			moves(s, half, c3)
		}}, nil, nil},
		{"it moves away and back", longRun{by: a, madeUp: newest, meanwhile: func(s *story) {
			moves(s, half, b)
			moves(s, half+second, a)
		}}, nil, skipped},
		{"it is lost to one who came later", longRun{by: c3, crashed: true, madeUp: newest, meanwhile: func(s *story) { joins(s, minute+20*second) }}, nil, nil},
		{"it is lost to one who was there", longRun{by: b, crashed: true, madeUp: newest}, nil, skipped},
		{"it is lost to one who came as the fire did", longRun{by: c3, crashed: true, madeUp: newest, meanwhile: func(s *story) {
			joins(s, minute-10*time.Millisecond)
		}}, nil, nil},
		{"its server is disabled while nobody leads", longRun{by: b, madeUp: newest, meanwhile: func(s *story) {
			s.at(30 * second).commit(put(tree.Server("10.0.0.1"), "DISABLED", 0))
			moves(s, half, b)
		}}, nil, skipped},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			change := minutely()
			if tt.change != nil {
				change = minutely(tt.change)
			}
			s := newStory(change)
			tt.run.tell(s)
			findings := s.judge()
			for _, w := range tt.want {
				require.True(t, hasLapse(findings, w), "no finding %q among %v", w.text, findings)
			}
			for _, f := range findings {
				if len(tt.want) == 0 {
					require.NotContains(t, f.Text, "the fire of", "%s", f)
				}
			}
		})
	}
}

// A missed fire is made up as soon as nothing keeps the item from it, which for who is new to the item is a little later, and
// whoever does not owe it may take its time.
func TestAMissedFireIsMadeUpAtOnce(t *testing.T) {
	t.Parallel()
	came := func(at time.Duration) func(s *story) { return func(s *story) { joins(s, at) } }
	half := minute + 30*second
	newcomer := longRun{by: c3, meanwhile: func(s *story) {
		joins(s, half)
		moves(s, half, c3)
	}}
	for name, tt := range map[string]struct {
		run   longRun
		after time.Duration // the long run
		late  bool
	}{
		"at once":                      {longRun{by: a}, second, false},
		"later":                        {longRun{by: a}, 2 * second, true},
		"by who is new to the item":    {newcomer, 2 * second, false},
		"later by who is new to it":    {newcomer, 4 * second, true},
		"by who had not known of it":   {longRun{by: c3, crashed: true, meanwhile: came(minute + 20*second)}, 20 * second, false},
		"later by who had known of it": {longRun{by: c3, crashed: true, meanwhile: came(30 * second)}, 20 * second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely())
			tt.run.begin(s)
			s.at(2*minute + 30*second + tt.after)
			for _, of := range []time.Duration{minute, 2 * minute} {
				s.end(0, s.begin(0, tt.run.by, job.Misfire, fire.Add(of)), jobtree.Success)
			}
			require.Equal(t, tt.late, hasLapse(s.judge(), lapse{checker.NoStall, "the fire of 01:01:00.000000 was run late"}))
		})
	}
}

// A fire with a jitter is due when that is over: no sooner, and on time for as long as any other is.
func TestAFireWithAJitterIsDueLater(t *testing.T) {
	t.Parallel()
	delay := jitter.Jitter{Job: "orders", Most: 45 * time.Second}
	first := delay.Of(fire)
	require.Greater(t, first, 2*time.Second, "or it would show nothing")
	require.Less(t, first, 40*time.Second)
	for name, tt := range map[string]struct {
		began time.Duration // after the fire; 0 = never
		want  []lapse
	}{
		"when it is over":                   {first, nil},
		"before":                            {first - 2*time.Second, lapses(checker.OneExecution, "before its time")},
		"just in time":                      {first + 5*time.Second, nil},
		"too late, though not by the bound": {first + 6*time.Second, lapses(checker.OneExecution, "off schedule")},
		"never":                             {0, lapses(checker.NoStall, "nobody ran")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.Jitter = delay.Most }))
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			for i := -minute; i < 5*minute; i += minute {
				at := i + delay.Of(fire.Add(i))
				if i == 0 {
					at = tt.began
				}
				if i == 0 && at > first { // there is a reason for that
					s.at(first).happen(checker.Paused, a).Until = fire.Add(at - second)
				}
				if i != 0 || tt.began > 0 {
					s.end(0, s.at(at).begin(0, a, job.Scheduled, fire.Add(i)), jobtree.Success)
				}
			}
			findings := s.judge()
			require.Len(t, findings, len(tt.want), "%v", findings)
			for _, w := range tt.want {
				require.True(t, hasLapse(findings, w), "no finding %q among %v", w.text, findings)
			}
		})
	}
}

// A fire whose jitter is cut short is on time by when that was, for as long as any other is.
func TestAFireWhoseJitterIsCutShort(t *testing.T) {
	t.Parallel()
	delay := jitter.Jitter{Job: "orders", Most: 45 * time.Second}
	cut := delay.Of(fire) - second
	require.Greater(t, cut, 10*time.Second, "or it would show nothing")
	for after, off := range map[time.Duration]bool{0: false, 4 * second: false, 7 * second: true} {
		cfg := job.Config{}
		s := newStory(minutely(func(c *job.Config) {
			c.Jitter = delay.Most
			cfg = *c
		}))
		s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
		s.end(0, s.at(-minute+delay.Of(fire.Add(-minute))).begin(0, a, job.Scheduled, fire.Add(-minute)), jobtree.Success)
		cfg.Jitter = 0
		s.at(cut).configure(cfg)
		s.end(0, s.at(cut+after).begin(0, a, job.Scheduled, fire), jobtree.Success)
		require.Equal(t, off, hasLapse(s.judge(), lapse{checker.OneExecution, "off schedule"}), after)
	}
}

// A fire that came before a record was set aside is not known to be owed, also if it is due later. One that was due before
// a hand spoilt the record had to be run by then, and one that comes afterwards is run like any other.
func TestAFireBeforeARecordIsSetAside(t *testing.T) {
	t.Parallel()
	delay := jitter.Jitter{Job: "orders", Most: 45 * time.Second}
	due := delay.Of(fire)
	for name, tt := range map[string]struct {
		spoilt, aside time.Duration // after the fire
		owed          bool
	}{
		"between the two":            {-30 * second, second, false},
		"before it":                  {-30 * second, -20 * second, true},
		"spoilt when it was overdue": {due + 20*second, due + 25*second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.Jitter = delay.Most }))
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			before := fire.Add(-minute)
			s.end(0, s.at(-minute+delay.Of(before)).begin(0, a, job.Scheduled, before), jobtree.Success)
			s.at(tt.spoilt).tamper(put(tree.ItemRecord(0), "garbage", 0))
			fresh := jobtree.Record{State: jobtree.ItemIdle, LastFire: fire.Add(tt.aside)}
			s.at(tt.aside).commit(put(tree.ItemRecord(0), jobtree.EncodeRecord(fresh), 0), put(tree.ItemAside(0), "garbage", 0))
			for i := minute; i < 5*minute; i += minute {
				s.end(0, s.at(i+delay.Of(fire.Add(i))).begin(0, a, job.Scheduled, fire.Add(i)), jobtree.Success)
			}
			findings := s.judge()
			require.Equal(t, tt.owed, hasLapse(findings, lapse{checker.NoStall, "the fire of 01:00:00"}), "%v", findings)
		})
	}
}

// A fire whose jitter is changed while it is delayed is due by the new one, and at once if that is over.
func TestAFireWhoseJitterIsChangedIsDueAllTheSame(t *testing.T) {
	t.Parallel()
	was := jitter.Jitter{Job: "orders", Most: 45 * time.Second}
	for name, tt := range map[string]struct {
		most  time.Duration // from a second after the fire on
		began time.Duration // after the fire; 0 = never
		want  []lapse
	}{
		"at once":         {0, 2 * second, nil},
		"never":           {0, 0, lapses(checker.NoStall, "was missed")},
		"later":           {59 * second, jitter.Jitter{Job: "orders", Most: 59 * second}.Of(fire), nil},
		"later, or never": {59 * second, 0, lapses(checker.NoStall, "nobody ran")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			delayed := func(most time.Duration) func(*job.Config) {
				return minutely(func(cfg *job.Config) { cfg.Jitter = most })
			}
			s := newStory(delayed(was.Most))
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			for i := -minute; i < 5*minute; i += minute {
				at := i + jitter.Jitter{Job: "orders", Most: tt.most}.Of(fire.Add(i))
				switch {
				case i < 0:
					at = i + was.Of(fire.Add(i))
				case i == 0:
					cfg := s.state.Config.Value
					cfg.Jitter = tt.most
					s.at(second).configure(cfg)
					at = tt.began
				}
				if i != 0 || tt.began > 0 {
					s.end(0, s.at(at).begin(0, a, job.Scheduled, fire.Add(i)), jobtree.Success)
				}
			}
			findings := s.judge()
			require.Len(t, findings, len(tt.want), "%v", findings)
			for _, w := range tt.want {
				require.True(t, hasLapse(findings, w), "no finding %q among %v", w.text, findings)
			}
		})
	}
}

// A new owner waits for what others have to say of fires before it came, also if it was the owner when the item ran last.
func TestAnItemThatComesBackWaitsForOthers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		back time.Duration // before the fire
		late bool
	}{
		"just before the fire": {-500 * time.Millisecond, false},
		"long before":          {-10 * second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely())
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			s.end(0, s.at(-minute).begin(0, a, job.Scheduled, fire.Add(-minute)), jobtree.Success)
			moves(s, -20*second, b)
			moves(s, tt.back, a)
			s.end(0, s.at(1500*time.Millisecond).begin(0, a, job.Scheduled, fire), jobtree.Success)
			require.Equal(t, tt.late, hasLapse(s.judge(), lapse{checker.NoStall, "the fire of 01:00:00.000000 was run late"}))
		})
	}
}

// A fire that comes just as the jitter is changed may be delayed by the new one, and need not have run before that is over: the
// clock of its owner says which one counts.
func TestAFireThatComesAsItsJitterIsChanged(t *testing.T) {
	t.Parallel()
	const most = 59 * second
	due := jitter.Jitter{Job: "orders", Most: most}.Of(fire)
	for name, tt := range map[string]struct {
		changed, disabled time.Duration // after the fire
		owed              bool
	}{
		"and does not count any more":        {10 * time.Millisecond, 20 * second, false},
		"and counts until that is over":      {10 * time.Millisecond, due + 10*second, true},
		"but long enough before to have run": {10 * second, 20 * second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely())
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			s.end(0, s.at(-minute).begin(0, a, job.Scheduled, fire.Add(-minute)), jobtree.Success)
			cfg := s.state.Config.Value
			cfg.Jitter = most
			s.at(tt.changed).configure(cfg)
			s.at(tt.disabled).commit(put(tree.ItemDisabled(0), "", 0))
			findings := s.judge()
			require.Equal(t, tt.owed, hasLapse(findings, lapse{checker.NoStall, "the fire of 01:00:00"}), "%v", findings)
		})
	}
}

// One run is for all missed fires, so it waits for the newest one if that came by a jitter that was changed then, and is delayed
// by the new one.
func TestOneRunForAllWaitsForAChangedJitter(t *testing.T) {
	t.Parallel()
	const most = 48 * second
	delay := jitter.Jitter{Job: "orders", Most: most}
	for name, owed := range map[string]bool{"as the newest came": false, "long before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce }))
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			long := s.at(0).begin(0, a, job.Scheduled, fire)
			changed := 2*minute + 10*time.Millisecond
			if owed {
				changed = 2*minute - 10*second
			}
			cfg := s.state.Config.Value
			cfg.Jitter = most
			s.at(changed).configure(cfg)
			s.end(0, long, jobtree.Success)
			for i := 2 * minute; i < 5*minute; i += minute {
				at := i + delay.Of(fire.Add(i))
				s.end(0, s.at(at).begin(0, a, job.Scheduled, fire.Add(i)), jobtree.Success)
			}
			findings := s.judge()
			require.Equal(t, owed, hasLapse(findings, lapse{checker.NoStall, "the fire of 01:01:00"}), "%v", findings)
		})
	}
}

// A begin that is taken back ends no fire but for as long as it stood: not the ones that it passed over, as who made it did
// not know of them. Who runs the item next makes them up, also if the item came there while the begin stood.
func TestABeginThatIsTakenBackEndsNoFire(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		by    string // who begins and takes that back, and came after the fire, or was there
		moves bool   // the item, to b, which was there, before the begin is taken back, or else afterwards
	}{
		"who came later, and the item moves before":     {c3, true},
		"who came later, and the item moves afterwards": {c3, false},
		"who was there": {b, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, made := range []bool{false, true} {
				s := newStory(minutely())
				longRun{by: tt.by, crashed: true, meanwhile: func(s *story) { joins(s, minute+20*second) }}.begin(s)
				r := s.begin(0, tt.by, job.Misfire, fire.Add(2*minute))
				if tt.moves {
					moves(s, 2*minute+35*second, b)
				}
				record, err := s.at(2*minute+40*second).record(0).Undo(r.Context.Token, s.now)
				require.NoError(t, err)
				s.close(0, record)
				s.runs = s.runs[:len(s.runs)-1] // its code was not called
				if !tt.moves {
					moves(s, 2*minute+40*second, b)
				}
				first := 2 * minute
				if made {
					first = minute
				}
				for i := first; i < 5*minute; i += minute {
					s.end(0, s.at(max(i, 2*minute+41*second)).begin(0, b, job.Misfire, fire.Add(i)), jobtree.Success)
				}
				missed := slices.ContainsFunc(s.judge(), func(f checker.Finding) bool { return strings.Contains(f.Text, "the fire of 01:01:00") })
				require.Equal(t, !made, missed)
			}
		})
	}
}

// What has begun for a fire that nobody makes up is not taken back while it can still be run.
func TestABeginThatNobodyMakesUpIsNotTakenBack(t *testing.T) {
	t.Parallel()
	skip := func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip }
	all := func(cfg *job.Config) { cfg.Misfire = job.MisfireAll }
	none := func(cfg *job.Config) { cfg.Misfire, cfg.MisfireMax = job.MisfireAll, -1 }
	window := func(cfg *job.Config) { cfg.MisfireWindow = 10 * second }
	for name, tt := range map[string]struct {
		policy    func(cfg *job.Config)
		meanwhile func(s *story)
		found     bool
	}{
		"for no reason":                   {skip, func(*story) {}, true},
		"it is made up":                   {all, func(*story) {}, false},
		"none is kept":                    {none, func(*story) {}, true},
		"it is too old":                   {window, func(s *story) { s.at(10 * second) }, true},
		"it is not too old":               {window, func(s *story) { s.at(9 * second) }, false},
		"its item moves":                  {skip, func(s *story) { s.commit(put(tree.ItemInstance(0), b, 0), s.epoch(1)) }, true},
		"its instance stops":              {skip, func(s *story) { s.happen(checker.Stopped, a) }, true},
		"the stop timeout is over":        {skip, func(s *story) { s.happen(checker.Stopped, a); s.at(35 * second) }, false},
		"its process stood still":         {skip, func(s *story) { s.happen(checker.Paused, a) }, false},
		"its item is disabled":            {skip, func(s *story) { s.commit(put(tree.ItemDisabled(0), "", 0)) }, false},
		"its server is disabled":          {skip, func(s *story) { s.commit(put(tree.Server("10.0.0.1"), jobtree.EncodeServer(true), 0)) }, false},
		"its mark has gone, and its time": {skip, func(s *story) { s.commit(gone(tree.ItemRunning(0))) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(tt.policy, func(cfg *job.Config) { cfg.MaxConcurrentItems = 1 }))
			r := s.at(0).begin(0, a, job.Scheduled, fire)
			s.runs = s.runs[:len(s.runs)-1] // its code is not called
			s.at(second)
			tt.meanwhile(s)
			record, err := s.record(0).Undo(r.Context.Token, s.now)
			require.NoError(t, err)
			s.close(0, record)
			found := slices.ContainsFunc(s.judge(), func(f checker.Finding) bool { return strings.Contains(f.Text, "nobody makes up") })
			require.Equal(t, tt.found, found)
		})
	}
}

// A misfire window reaches back to the record of an item: what came while nobody lived is made up if there was one by then
// that nothing but a fault could take away.
func TestAWindowReachesBackToTheRecord(t *testing.T) {
	t.Parallel()
	remove := func(path string) registry.Node { return registry.Node{Path: path, Created: -1} }
	total := func(s *story, n int) {
		cfg := s.state.Config.Value
		cfg.ShardingTotalCount = n
		s.configure(cfg)
		owner := gone(tree.ItemInstance(1))
		if n == 2 {
			owner = put(tree.ItemInstance(1), a, 0)
		}
		s.commit(owner, s.epoch(n))
	}
	away := func(s *story) {
		total(s.at(10*second), 1)
		s.at(20 * second).commit(gone(tree.ItemRecord(1)))
		total(s.at(70*second), 2)
	}
	leave := func(s *story) {
		s.happen(checker.Stopped, a)
		s.happen(checker.Stopped, b)
		s.drop(ofA)
		s.drop(ofB)
	}
	come := func(s *story) {
		s.happen(checker.Started, a)
		s.commit(put(tree.Instance(a), "", ofA))
		s.commit(put(tree.Leader(), a, ofA))
		s.commit(put(tree.ItemInstance(0), a, 0), put(tree.ItemInstance(1), a, 0), s.epoch(2))
	}
	for name, tt := range map[string]struct {
		before func(s *story) // between the first fire and the one that is missed
		owed   bool
	}{
		"it is there":                            {func(*story) {}, true},
		"it went with the item, which came back": {away, false},
		"it went with the item, which came back and has run": {func(s *story) {
			away(s)
			record, err := s.record(1).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: 1, Time: s.now, Failover: true})
			require.NoError(t, err)
			s.end(1, s.write(1, record), jobtree.Success)
		}, true},
		"it stayed though the item went": {func(s *story) {
			total(s.at(10*second), 1)
			total(s.at(70*second), 2)
		}, true},
		"somebody lost it": {func(s *story) { s.at(10 * second).commit(gone(tree.ItemRecord(1))) }, true},
		"a hand took it": {func(s *story) {
			hand := s.at(second).happen(checker.Tampered, "")
			hand.Path, hand.Revision = tree.ItemRecord(1), s.commit(gone(tree.ItemRecord(1)))
		}, false},
		"it went with the job, which came back": {func(s *story) {
			leave(s.at(10 * second))
			was := s.state.Config.Value
			cfg := was
			cfg.Disabled = true
			s.configure(cfg)
			s.commit(put(tree.Operated(), `{"operations":[{"id":"x","verb":"disable job","who":"anna"}],"removing":"yes"}`, 0))
			var all []registry.Node
			for path, node := range s.nodes {
				if node.Exists() {
					all = append(all, remove(path))
				}
			}
			s.commit(all...)
			s.at(30 * second).configure(was)
			come(s.at(40 * second))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.ShardingTotalCount, cfg.MisfireWindow = 2, time.Hour }))
			s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
			s.end(1, s.at(0).begin(1, a, job.Scheduled, fire), jobtree.Success)
			tt.before(s)
			leave(s.at(90 * second))
			come(s.at(2*minute + 20*second))
			s.end(1, s.at(3*minute).begin(1, a, job.Scheduled, fire.Add(3*minute)), jobtree.Success)
			missed := slices.ContainsFunc(s.judge(), func(f checker.Finding) bool {
				return f.Guarantee == checker.NoStall && f.Item == 1 && strings.Contains(f.Text, "the fire of 01:02:00")
			})
			require.Equal(t, tt.owed, missed)
		})
	}
}

// An instance that leaves stays for what runs there without its mark, and begins nothing. Fires that come while nobody
// else is there are not to be run then.
func TestWhoLeavesRunsNothing(t *testing.T) {
	t.Parallel()
	leaves := func(s *story) {
		s.tellA()
		s.handOver()
	}
	stops := func(s *story) {
		s.happen(checker.Stopped, a).Until = fire.Add(150 * second)
		s.handOver()
	}
	comes := func(s *story, at time.Duration) { // to lead and to own item 0
		joins(s, at)
		s.commit(put(tree.Leader(), c3, ofC))
		s.commit(put(tree.ItemInstance(0), c3, 0), put(tree.ItemInstance(1), c3, 0), s.epoch(2), registry.Node{Path: tree.Necessary(), Created: -1})
	}
	for name, tt := range map[string]struct {
		meanwhile func(s *story) // item 1 runs for two minutes and a half, unmarked
		want      []string       // of item 0
	}{
		"it stops":                      {stops, nil},
		"an operator tells it to leave": {leaves, nil},
		"a hand does": {func(s *story) {
			s.tamper(put(tree.Instance(a), "SHUTDOWN", ofA))
			s.at(31 * second).handOver()
		}, nil},
		"it does not leave":  {func(*story) {}, []string{"nobody ran the fire of 01:01:00", "nobody ran the fire of 01:02:00"}},
		"nobody asked it to": {(*story).handOver, []string{"nobody ran the fire of 01:01:00", "nobody ran the fire of 01:02:00"}},
		"it is asked to later": {func(s *story) {
			s.handOver()
			stops(s.at(100 * second))
		}, []string{"nobody ran the fire of 01:01:00"}},
		"its former life was asked to": {func(s *story) {
			s.happen(checker.Stopped, a).Until = s.now
			s.drop(ofA)
			s.at(31*second).happen(checker.Started, a)
			s.commit(put(tree.Instance(a), "", ofA), put(tree.Leader(), a, ofA))
			s.at(32 * second).handOver()
		}, []string{"nobody ran the fire of 01:01:00", "nobody ran the fire of 01:02:00"}},
		"another is there": {func(s *story) {
			stops(s)
			comes(s, 40*second)
		}, []string{"nobody ran the fire of 01:01:00", "nobody ran the fire of 01:02:00"}},
		"another comes later": {func(s *story) {
			stops(s)
			comes(s, 110*second)
		}, []string{"nobody ran the fire of 01:02:00"}},
		"another comes later, and one that lived and was told to leave knows what was missed": {func(s *story) {
			leaves(s)
			comes(s, 110*second)
		}, []string{"the fire of 01:01:00.000000 was missed, and not made up by " + c3, "nobody ran the fire of 01:02:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.ShardingTotalCount = 2 }))
			s.at(-30*second).happen(checker.Stopped, b)
			s.drop(ofB)
			s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
			s.end(0, s.at(0).begin(0, a, job.Scheduled, fire), jobtree.Success)
			r := s.begin(1, a, job.Scheduled, fire)
			path := tree.ItemRunning(1)
			hand := s.at(second).happen(checker.Tampered, "")
			hand.Path, hand.Revision = path, s.commit(gone(path))
			tt.meanwhile(s.at(30 * second))
			s.at(150*second).end(1, r, jobtree.Success)
			s.drop(ofA)
			var missed []string
			for _, f := range s.judge() {
				if f.Item == 0 && strings.Contains(f.Text, "the fire of") && f.At.Before(fire.Add(150*second)) {
					missed = append(missed, f.Text)
				}
			}
			require.Len(t, missed, len(tt.want), "%v", missed)
			for i, want := range tt.want {
				require.Contains(t, missed[i], want)
			}
		})
	}
}

// An instance that leaves though nobody asked it to is to care for the job as before: what it leaves undone is found, also
// if nobody else is there, and something runs on it whose mark a hand took.
func TestWhoLeavesUnasked(t *testing.T) {
	t.Parallel()
	noLeader := lapse{checker.NoStall, "there is no leader"}
	noAnswer := lapse{checker.NoStall, "a request for a resharding is not answered"}
	noRun := lapse{checker.NoStall, "nobody ran the fire"}
	idle := lapse{checker.NoStall, "recorded as running and nothing runs"}
	absent := lapse{checker.StoppedWork, a + " is alive and takes no part"}
	// alone has b stop, a run item 1 from the fire on, and a hand take its mark.
	alone := func(s *story) *checker.Run {
		s.at(-30*second).happen(checker.Stopped, b)
		s.drop(ofB)
		s.commit(put(tree.ItemInstance(1), a, 0), s.epoch(2))
		s.end(0, s.at(0).begin(0, a, job.Scheduled, fire), jobtree.Success)
		r := s.begin(1, a, job.Scheduled, fire)
		s.at(second).tamper(gone(tree.ItemRunning(1)))
		return r
	}
	judgeAll(t, []chapter{
		{"its code has returned, and no end was recorded", func(s *story) {
			r := alone(s)
			r.Ended = s.at(2 * second).now
			s.at(30 * second).handOver()
		}, []lapse{noLeader, noAnswer, noRun, idle}},
		{"no end was recorded, and it does not leave", func(s *story) {
			r := alone(s)
			r.Ended = s.at(2 * second).now
		}, []lapse{noRun, idle}},
		{"its code runs on", func(s *story) {
			r := alone(s)
			s.at(30 * second).handOver()
			s.at(4*minute).end(1, r, jobtree.Success)
		}, []lapse{noLeader, noAnswer, noRun}},
		{"it is gone when its code has returned", func(s *story) {
			r := alone(s)
			s.at(30 * second).handOver()
			s.end(1, r, jobtree.Success)
			s.drop(ofA)
		}, []lapse{absent}},
	}, minutely(func(cfg *job.Config) { cfg.ShardingTotalCount = 2 }))
	judgeAll(t, []chapter{
		{"an operator asked it to", func(s *story) {
			r := alone(s)
			s.at(30 * second).tellA()
			s.handOver()
			s.at(4*minute).end(1, r, jobtree.Success)
			s.drop(ofA)
		}, nil},
		{"it was asked to stop", func(s *story) {
			r := alone(s)
			s.at(30*second).happen(checker.Stopped, a).Until = fire.Add(minute)
			s.handOver()
			s.at(minute).end(1, r, jobtree.Success)
			s.drop(ofA)
		}, nil},
	})
}

// Each run of an item of a job with a fixed delay of a minute follows the one before it.
func TestAFixedDelayIsKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		begins []time.Duration
		want   []lapse
	}{
		"a minute after each end": {[]time.Duration{0, 70 * second, 140 * second, 210 * second, 280 * second}, nil},
		"sooner":                  {[]time.Duration{0, 50 * second, 120 * second, 190 * second, 260 * second}, lapses(checker.OneExecution, "before its delay was over")},
		"later":                   {[]time.Duration{0, 100 * second, 170 * second, 240 * second}, lapses(checker.NoStall, "did not run")},
		"no more":                 {[]time.Duration{0, 70 * second}, lapses(checker.NoStall, "did not run")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.Cron = "@delay 1m" }))
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			s.at(-60*second + 100*time.Millisecond)
			for i, at := range tt.begins {
				if i > 0 {
					s.at(at)
				}
				r := s.begin(0, a, job.Scheduled, s.now)
				s.at(at + 10*second)
				s.end(0, r, jobtree.Success)
			}
			findings := s.judge()
			if tt.want == nil {
				require.Empty(t, findings)
			}
			for _, w := range tt.want {
				require.True(t, hasLapse(findings, w), "no finding %q among %v", w.text, findings)
			}
		})
	}
}

// A record in which a hand has written that the item runs tells when it may begin: the delay of a minute counts from when the
// loss of what never ran was found.
func TestAFixedDelayAfterWhatAHandWrote(t *testing.T) {
	t.Parallel()
	const found = 50 * second
	for again, late := range map[time.Duration]bool{
		found + minute:             false,
		found + minute + 40*second: true,
	} {
		t.Run(again.String(), func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.Cron, cfg.Failover = "@delay 1m", false }))
			s.commit(s.epoch(1), gone(tree.ItemInstance(1)))
			s.at(-60*second + 100*time.Millisecond)
			r := s.begin(0, a, job.Scheduled, s.now)
			s.end(0, r, jobtree.Success)
			hand := s.at(-20*second).happen(checker.Tampered, "")
			written := jobtree.Record{
				State: jobtree.ItemRunning, Before: &jobtree.Before{State: jobtree.ItemIdle},
				Current: &jobtree.Execution{Instance: "10.9.9.9@-@nobody", Session: 31, Source: job.Scheduled, Fire: fire.Add(-minute)},
			}
			hand.Path = tree.ItemRecord(0)
			hand.Revision = s.commit(put(hand.Path, jobtree.EncodeRecord(written), 0))
			s.at(found)
			lost, err := written.DeclareLost(int64(hand.Revision), s.now, 3)
			require.NoError(t, err)
			s.commit(put(hand.Path, jobtree.EncodeRecord(lost), 0))
			for i := range 4 {
				s.at(again + time.Duration(i)*minute)
				s.end(0, s.begin(0, a, job.Scheduled, s.now), jobtree.Success)
			}
			findings := s.judge()
			require.Equal(t, late, hasLapse(findings, lapse{checker.NoStall, "did not run"}), "%v", findings)
		})
	}
}

// After an execution that was lost, and is not run again, the delay of a minute counts from when that was found out.
// The record may tell of it later than that, if the message was held up, and then the next run comes sooner after it.
func TestAFixedDelayAfterALoss(t *testing.T) {
	t.Parallel()
	sooner := lapses(checker.OneExecution, "before its delay was over")
	const gone, recorded = 15 * second, 40 * second
	for name, tt := range map[string]struct {
		held  time.Duration // since when the message was; 0 = it was not
		again time.Duration // when the item begins again
		ended time.Duration // when its code did, which lived and had heard; 0 = it died
		want  []lapse
	}{
		"a minute after the record":                    {0, recorded + minute, 0, nil},
		"a minute after the mark was gone":             {0, gone + minute, 0, sooner},
		"a minute after it was found out":              {30 * second, 30*second + minute, 0, nil},
		"a minute after the record, which was late":    {30 * second, recorded + minute, 0, nil},
		"sooner than a minute after it was found out":  {30 * second, 25*second + minute, 0, sooner},
		"sooner than a minute after the mark was gone": {second, gone + minute - second, 0, sooner},
		"the message was held up since before that":    {second, gone + minute, 0, nil},
		"its code heard of it later":                   {30 * second, 30*second + minute, 35 * second, nil},
		"its code ended before that":                   {0, 20*second + minute, 20 * second, nil},
		"sooner than a minute after its code ended":    {0, gone + minute, 20 * second, sooner},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.Cron, cfg.Failover = "@delay 1m", false }))
			r := s.at(0).begin(0, a, job.Scheduled, s.now)
			if tt.held > 0 {
				s.at(tt.held).happen(checker.Held, b).Until = fire.Add(recorded)
			}
			if tt.ended > 0 {
				r.Ended, r.Err = fire.Add(tt.ended), errFailed
				s.at(gone).drop(ofA)
				s.takeOver()
			} else {
				s.at(gone - 5*second).crashA()
			}
			s.at(recorded).lost(0)
			s.end(0, s.at(tt.again).begin(0, b, job.Scheduled, s.now), jobtree.Success)
			findings := s.judge()
			for _, w := range tt.want {
				require.True(t, hasLapse(findings, w), "no finding %q among %v", w.text, findings)
			}
			if tt.want == nil {
				require.False(t, hasLapse(findings, sooner[0]), "%v", findings)
			}
		})
	}
}

// What had finished while the store was away is a success.
func TestWhatFinishedIsNotRunAgain(t *testing.T) {
	t.Parallel()
	// away has the store be down for a minute while item 0 finishes, and its end be recorded as something.
	away := func(record func(s *story), also ...checker.Kind) func(s *story) {
		return func(s *story) {
			r := runningOn(s)
			s.at(second).happen(checker.Down, "").Until = fire.Add(minute)
			for _, kind := range also {
				s.happen(kind, a).Until = fire.Add(30 * second)
			}
			r.Ended = s.at(10 * second).now
			s.at(minute + second)
			record(s)
		}
	}
	interrupted := func(s *story) {
		r := *s.runs[len(s.runs)-1]
		record, err := s.record(0).End(jobtree.End{Token: r.Context.Token, Time: s.now, Outcome: jobtree.Interrupted, FailoverLimit: 3})
		if err != nil {
			panic(err)
		}
		s.close(0, record)
		s.end(0, s.claim(a), jobtree.Success)
	}
	lost := func(s *story) {
		s.drop(ofA)
		s.lost(0)
		s.takeOver()
		s.end(0, s.claim(b), jobtree.Success)
	}
	success := func(s *story) {
		r := s.runs[len(s.runs)-1]
		ended := r.Ended
		s.end(0, r, jobtree.Success)
		r.Ended = ended
	}
	// slowly has the store be slow, lose all sessions while the end of item 0 is sent, and the execution be declared lost.
	slowly := func(at time.Duration) func(s *story) {
		return func(s *story) {
			r := runningOn(s)
			slow := s.at(5*second).happen(checker.Slow, "")
			slow.Until, slow.Delay = fire.Add(minute), second
			r.Ended = s.at(10 * second).now
			s.at(10*second+second/2).happen(checker.Expired, "")
			s.at(at)
			lost(s)
		}
	}
	for name, tt := range map[string]struct {
		tell func(s *story)
		bad  bool
	}{
		"lost, before a slow store was told": {slowly(12 * second), false},
		"lost, and there was time to tell":   {slowly(20 * second), true},
		"a success":                          {away(success), false},
		"interrupted":                        {away(interrupted), true},
		"lost":                               {away(lost), true},
		"lost, while others were there":      {away(lost, checker.Cut), false},
		"interrupted, and stood still":       {away(interrupted, checker.Paused), false},
		"lost, and its process was, too":     {away(lost, checker.Crashed), false},
		"lost, its session was dropped":      {away(lost, checker.Expired), false},
		"lost, a message was held up":        {away(lost, checker.Held), false},
		"lost, though others were dealt with": {func(s *story) {
			s.happen(checker.Cut, b).Until = fire.Add(minute)
			away(lost)(s)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory()
			tt.tell(s)
			require.Equal(t, tt.bad, hasLapse(s.judge(), lapse{checker.NothingForgotten, "had finished and was recorded"}))
		})
	}
}

func TestCheckpoints(t *testing.T) {
	t.Parallel()
	// saves has the run try to save something, be told so or not, and the registry show it.
	saves := func(s *story, r *checker.Run, offset string, confirmed, shown bool) {
		save := checker.Save{Offset: offset, At: s.now}
		if shown {
			s.commit(put(tree.Offset(0), offset, 0))
		}
		if confirmed {
			save.Confirmed = s.now.Add(time.Millisecond)
		}
		r.Saves = append(r.Saves, save)
		s.now = s.now.Add(second)
	}
	again := func(s *story, offset string) {
		s.other()
		r := s.runs[0]
		s.end(0, r, jobtree.Success)
		record, err := s.record(0).Begin(jobtree.Begin{Instance: a, Session: ofA, Source: job.Manual, Trigger: 99, Time: s.now, Failover: true})
		if err != nil {
			panic(err)
		}
		r = s.write(0, record)
		r.Context.Offset = offset
		s.end(0, r, jobtree.Success)
	}
	begin := func(s *story) *checker.Run { return s.at(0).begin(0, a, job.Scheduled, fire) }
	judgeAll(t, []chapter{
		{"the last one", func(s *story) {
			r := begin(s)
			saves(s, r, "1", true, true)
			saves(s, r, "2", true, true)
			again(s, "2")
		}, nil},
		{"none", func(s *story) {
			begin(s)
			again(s, "")
		}, nil},
		{"one that nobody was told of", func(s *story) {
			r := begin(s)
			saves(s, r, "1", true, true)
			saves(s, r, "2", false, true)
			again(s, "2")
		}, nil},
		{"one that came to nothing", func(s *story) {
			r := begin(s)
			saves(s, r, "1", true, true)
			saves(s, r, "2", false, false)
			again(s, "1")
		}, nil},
		{"an older one", func(s *story) {
			r := begin(s)
			saves(s, r, "1", true, true)
			saves(s, r, "2", true, true)
			again(s, "1")
		}, lapses(checker.Checkpoint, `began at "1" though "2" had been confirmed`)},
		{"none after all", func(s *story) {
			r := begin(s)
			saves(s, r, "1", true, true)
			again(s, "")
		}, lapses(checker.Checkpoint, `began at "" though "1" had been confirmed`)},
		{"one that arrived late", func(s *story) {
			r := begin(s)
			saves(s, r, "1", false, false)
			saves(s, r, "2", true, true)
			s.commit(put(tree.Offset(0), "1", 0))
			again(s, "1")
		}, []lapse{{checker.Checkpoint, `went back from "2" to "1"`}, {checker.Checkpoint, "had been confirmed"}}},
	})
}

// Whoever knew that an item missed a fire has noted that when it stopped in order, though the item's owner seemed to live.
func TestWhoStopsHasToldWhatItKnew(t *testing.T) {
	t.Parallel()
	stops := func(s *story, at time.Duration) {
		s.at(at).happen(checker.Stopped, b).Until = s.now.Add(100 * time.Millisecond)
		s.drop(ofB)
	}
	for name, tt := range map[string]struct {
		stops func(s *story) // b, after a died, whose item 0 is
		all   bool           // b followed it
		owed  bool
	}{
		"it knew":             {func(s *story) { stops(s, 64*second) }, true, true},
		"it followed its own": {func(s *story) { stops(s, 64*second) }, false, false},
		"it stopped before":   {func(s *story) { stops(s, 58*second) }, true, false},
		"it stopped too soon": {func(s *story) { stops(s, 60*second+100*time.Millisecond) }, true, false},
		"it stopped too late": {func(s *story) { stops(s, 119*second) }, true, false},
		"it could not tell":   {func(s *story) { s.at(62*second).happen(checker.Cut, b).Until = s.now; stops(s, 64*second) }, true, false},
		"it died":             {func(s *story) { s.at(64*second).happen(checker.Crashed, b); s.drop(ofB) }, true, false},
		"its server is disabled": {func(s *story) {
			s.at(62 * second).commit(put(tree.Server("10.0.0.2"), jobtree.EncodeServer(true), 0))
			stops(s, 64*second)
		}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStory(minutely(func(cfg *job.Config) { cfg.ShardingTotalCount = 1 }))
			s.witnesses = tt.all
			s.end(0, s.at(0).begin(0, a, job.Scheduled, fire), jobtree.Success)
			s.at(57*second).happen(checker.Crashed, a)
			tt.stops(s)
			if at := fire.Add(65 * second); s.now.Before(at) {
				s.now = at
			}
			s.happen(checker.Started, c3)
			s.commit(put(tree.Instance(c3), "", ofC))
			s.drop(ofA)
			s.commit(put(tree.Leader(), c3, ofC))
			s.commit(put(tree.ItemInstance(0), c3, 0), s.epoch(1))
			s.end(0, s.at(2*minute).begin(0, c3, job.Scheduled, fire.Add(2*minute)), jobtree.Success)
			owed := slices.ContainsFunc(s.judge(), func(f checker.Finding) bool {
				return f.Guarantee == checker.NoStall && strings.Contains(f.Text, "the fire of 01:01:00.000000 was missed, and not made up")
			})
			require.Equal(t, tt.owed, owed)
		})
	}
}
