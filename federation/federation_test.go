package federation_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation"
	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func TestJobsAreSpreadAndRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(12)
		one, two := w.start(nil, all), w.start(nil, all)
		began := time.Now()
		time.Sleep(time.Minute)
		require.Equal(t, homes(one), homes(two))
		used := slices.Compact(slices.Sorted(maps.Values(homes(one))))
		require.Equal(t, names, used)
		rule := federation.Rendezvous(names...)
		for name, home := range homes(one) {
			require.Equal(t, rule(job.Config{Name: name}), home)
		}
		w.book.ranEveryFire(all, began, time.Now())
		h := one.f.Health(t.Context())
		require.Len(t, h.Jobs, len(all))
		require.True(t, health.Cluster(h).OK, "%v", health.Cluster(h).Reasons)
		require.True(t, health.Ready(h).OK)
		w.stop()
		require.False(t, health.Live(one.f.Health(t.Context())).OK)
	})
}

// Of processes with different rules, one decides for each job, whichever comes first.
func TestRulesThatDiffer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(9)
		for _, name := range names {
			w.start(to(name), nil)
		}
		synctest.Wait()
		began := time.Now()
		var added sync.WaitGroup
		for _, p := range w.procs {
			added.Go(func() {
				for _, cfg := range all {
					if _, err := p.f.Add(t.Context(), cfg, p.code()); err != nil {
						t.Errorf("process %d: %v", p.number, err)
					}
				}
			})
		}
		added.Wait()
		time.Sleep(time.Minute)
		for _, p := range w.procs[1:] {
			require.Equal(t, homes(w.procs[0]), homes(p))
		}
		w.book.ranEveryFire(all, began.Add(10*time.Second), time.Now())
		w.stop()
	})
}

// A registry that is away takes its own jobs with it, also for a process that starts meanwhile, and gives them back.
func TestARegistryIsAway(t *testing.T) {
	t.Parallel()
	for _, gone := range names { // a is the directory
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			all := jobs(9)
			rule := func(cfg job.Config) string { return names[int(cfg.Name[5]-'0')%len(names)] }
			p := w.start(rule, all)
			between(35 * time.Second)
			for _, h := range homesOf(p, gone) {
				require.Contains(t, w.book.counts(), h+"/0")
			}
			w.servers[gone].Stop()
			time.Sleep(20 * time.Second)
			late := w.start(rule, all)
			between(0)
			before := w.book.counts()
			time.Sleep(2 * time.Minute)
			after := w.book.counts()
			for _, cfg := range all {
				home := rule(cfg)
				ran := after[cfg.Name+"/0"] - before[cfg.Name+"/0"]
				if home == gone {
					require.Zero(t, ran, "%s of %s, which is away", cfg.Name, home)
				} else {
					require.Equal(t, 12, ran, "%s of %s", cfg.Name, home)
				}
			}
			for _, p := range w.procs {
				h := p.f.Health(t.Context())
				require.True(t, health.Ready(h).OK, "%v", health.Ready(h).Reasons)
				require.True(t, health.Live(h).OK)
				require.False(t, health.Cluster(h).OK)
				require.Contains(t, h.Blind, "registry "+gone)
				require.Len(t, h.Jobs, len(all))
			}
			w.servers[gone].Start()
			between(5 * time.Minute) // what was missed is made up one by one
			require.Equal(t, homes(p), homes(late))
			back := w.book.counts()
			time.Sleep(time.Minute)
			for _, cfg := range all {
				require.Equal(t, 6, w.book.counts()[cfg.Name+"/0"]-back[cfg.Name+"/0"], cfg.Name)
			}
			for _, p := range w.procs {
				require.True(t, health.Cluster(p.f.Health(t.Context())).OK)
			}
			w.stop()
		})
	}
}

func homesOf(p *process, registry string) (all []string) {
	for name, home := range homes(p) {
		if home == registry {
			all = append(all, name)
		}
	}
	return all
}

// A job that no registry knows is created only when all answer: it may be in the one that does not.
func TestANewJobWhileARegistryIsAway(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(to("b"), nil)
		time.Sleep(time.Second)
		w.servers["c"].Stop()
		time.Sleep(20 * time.Second)
		j, err := p.f.Add(t.Context(), jobs(1)[0], p.code())
		require.NoError(t, err)
		require.ErrorContains(t, j.Waits(), "registry c is away")
		_, err = j.Handle()
		require.ErrorIs(t, err, j.Waits())
		time.Sleep(time.Minute)
		require.Empty(t, w.book.counts())
		w.servers["c"].Start()
		time.Sleep(time.Minute)
		require.NoError(t, j.Waits())
		require.Equal(t, "b", j.Registry())
		require.NotEmpty(t, w.book.counts())
		w.stop()
	})
}

// Every fire runs once while jobs move between processes that go on.
func TestJobsMoveWhileTheyRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(3)
		for range 3 {
			w.start(to("b"), all)
		}
		began := time.Now()
		time.Sleep(25 * time.Second)
		for _, home := range []string{"c", "a", "b", "c"} {
			for _, cfg := range all {
				w.move(cfg.Name, home)
				time.Sleep(7 * time.Second)
			}
			time.Sleep(20 * time.Second)
			for _, p := range w.procs {
				for name, at := range homes(p) {
					require.Equal(t, home, at, "%s in process %d", name, p.number)
				}
				require.True(t, health.Cluster(p.f.Health(t.Context())).OK)
			}
		}
		time.Sleep(20 * time.Second)
		w.book.ranEveryFire(all, began, time.Now().Add(-10*time.Second))
		stats, err := w.procs[0].f.Jobs()[0].Statistics(t.Context())
		require.NoError(t, err)
		require.Greater(t, stats.Items[0].Success, int64(15), "what ran before the moves counts")
		w.stop()
	})
}

// Jobs that are data are run wherever they are, and followed when they move.
func TestJobsThatAreData(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		all := jobs(2)
		for i := range all {
			all[i].Class = "report"
		}
		declaring := w.start(to("b"), all)
		p := &process{w: w, number: 9}
		follows := w.start(to("c"), nil, federation.WithScheduler(scheduler.WithHandler("report", p.code())))
		time.Sleep(30 * time.Second)
		declaring.kill()
		time.Sleep(30 * time.Second)
		began := time.Now()
		w.move("job-00", "c")
		time.Sleep(time.Minute)
		require.Equal(t, map[string]string{"job-00": "c", "job-01": "b"}, homes(follows))
		w.book.ranEveryFire(all, began, time.Now().Add(-10*time.Second))
		follows.stop()
	})
}

func TestWhatCannotBeAdded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := w.start(to("nowhere"), nil)
		_, err := p.f.Add(t.Context(), jobs(1)[0], p.code())
		require.ErrorIs(t, err, federation.ErrInvalidOption)
		_, err = p.f.Add(t.Context(), job.Config{Name: "x"}, p.code())
		require.ErrorContains(t, err, "Cron")
		_, err = p.f.Add(t.Context(), jobs(1)[0], nil)
		require.ErrorContains(t, err, "no code")
		_, err = p.f.Job("job-00")
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		require.Empty(t, p.f.Jobs())
		other := w.start(to("b"), jobs(1))
		_, err = other.f.Add(t.Context(), jobs(1)[0], p.code())
		require.ErrorIs(t, err, scheduler.ErrDeclared)
		j, err := other.f.Job("job-00")
		require.NoError(t, err)
		require.NoError(t, j.Leave(t.Context()))
		require.Empty(t, other.f.Jobs())
		w.stop()
		require.ErrorIs(t, p.f.Run(t.Context()), scheduler.ErrRan)
	})
}

func TestOptionsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	open := func(context.Context) (registry.Registry, error) { return nil, nil }
	for text, make := range map[string]func() (*federation.Federation, error){
		"there is no registry": func() (*federation.Federation, error) { return federation.New("a", nil) },
		`the directory is "b"`: func() (*federation.Federation, error) {
			return federation.New("b", []federation.Registry{{Name: "a", Open: open}})
		},
		`"A/"`: func() (*federation.Federation, error) {
			return federation.New("A/", []federation.Registry{{Name: "A/", Open: open}})
		},
		"two registries": func() (*federation.Federation, error) {
			return federation.New("a", []federation.Registry{{Name: "a", Open: open}, {Name: "a", Open: open}})
		},
		"has no Open": func() (*federation.Federation, error) { return federation.New("a", []federation.Registry{{Name: "a"}}) },
		"must be positive": func() (*federation.Federation, error) {
			return federation.New("a", []federation.Registry{{Name: "a", Open: open}}, federation.WithPatience(0))
		},
		"the rule is nil": func() (*federation.Federation, error) {
			return federation.New("a", []federation.Registry{{Name: "a", Open: open}}, federation.WithRule(nil))
		},
		"the logger is nil": func() (*federation.Federation, error) {
			return federation.New("a", []federation.Registry{{Name: "a", Open: open}}, federation.WithLogger(nil))
		},
	} {
		_, err := make()
		require.ErrorIs(t, err, federation.ErrInvalidOption, text)
		require.ErrorContains(t, err, text)
	}
}

// shared is a registry that Java instances may share.
type shared struct{ registry.Registry }

func (shared) JavaLayout() (root string, ok bool) { return "/shop", true }

func TestARegistryOfJavaInstancesIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := memory.NewServer()
		f, err := federation.New("a", []federation.Registry{{Name: "a", Open: func(context.Context) (registry.Registry, error) {
			return shared{server.Open("shop")}, nil
		}}})
		require.NoError(t, err)
		_, err = f.Add(t.Context(), jobs(1)[0], job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
		require.ErrorIs(t, err, federation.ErrInvalidOption)
		require.ErrorContains(t, err, "Java instances")
		require.NoError(t, f.Close(t.Context()))
	})
}
