package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// store writes a job's configuration as an operator does.
func (c *cluster) store(cfg job.Config) {
	c.t.Helper()
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(c.t, err)
	put(c.t, c.server, jobtree.For(cfg.Name).Config(), text)
}

// serveJobs starts an instance that declares nothing and has handlers of some classes.
func (c *cluster) serveJobs(id string, work job.HandlerFunc, classes ...string) {
	c.t.Helper()
	c.launchWith(id, nil, handlers(c, id, work, classes...), nil)
}

func handlers(c *cluster, id string, work job.HandlerFunc, classes ...string) []scheduler.Option {
	var opts []scheduler.Option
	for _, class := range classes {
		opts = append(opts, scheduler.WithHandler(class, c.record(id, work)))
	}
	return opts
}

func ofClass(name, class string, total int) job.Config {
	cfg := job.Config{Name: name, Cron: everyFive, ShardingTotalCount: total}
	cfg.Class = class
	return cfg
}

// Jobs that are there, and jobs that come, are run by every instance that has the handler, without a
// restart; when they go, their instances do.
func TestJobsComeAndGo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("orders", "index", 2))
		c.store(ofClass("mails", "send", 1))
		c.serveJobs("a", nil, "index")
		c.serveJobs("b", nil, "index", "other")
		sleepUntil(6 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2)
		require.NotEqual(t, runs[0].instance, runs[1].instance)
		require.Equal(t, "orders", runs[0].sc.JobName)

		c.store(ofClass("bills", "index", 1))
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 3)

		c.removeJob("bills")
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 2)
		require.Empty(t, c.nodes("/bills"), "nothing of a removed job is made again")

		c.store(ofClass("bills", "index", 1))
		sleepUntil(21 * time.Second)
		require.Len(t, c.take(), 3, "it is back")
	})
}

// When a process says that it is ready, its report names the jobs of the registry: whoever waits for them to be joined misses
// none.
func TestReadyNamesTheJobsOfTheRegistry(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const jobs = 20
		for i := range jobs {
			c.store(ofClass("job"+strconv.Itoa(i), "index", 1))
		}
		reg := c.server.Open("test", memory.WithLatency(50*time.Millisecond))
		s, err := scheduler.New(reg, append(handlers(c, "a", nil, "index"), scheduler.WithInstanceID(fullID("a")))...)
		require.NoError(t, err)
		i := c.run(s, reg)
		<-i.Ready()
		require.Len(t, i.Health(t.Context()).Jobs, jobs)
	})
}

// A filter that panics takes no job, which the log tells; one that does not return holds up neither other jobs nor a stop.
func TestABadFilter(t *testing.T) {
	t.Parallel()
	for name, filter := range map[string]func(over <-chan struct{}) bool{
		"panics":          func(<-chan struct{}) bool { panic("no such label") },
		"does not return": func(over <-chan struct{}) bool { <-over; return true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				over := make(chan struct{})
				defer close(over)
				var log lines
				c.store(ofClass("mail", "index", 1))
				opts := append(handlers(c, "a", nil, "index"), scheduler.WithJobFilter(func(job.Config) bool { return filter(over) }), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
				a := c.launchWith("a", nil, opts, nil)
				require.NoError(t, errOf(a.Add(t.Context(), jobOf(1), c.record("a", nil))))
				sleepUntil(6 * time.Second)
				runs := c.take()
				require.Len(t, runs, 1)
				require.Equal(t, "orders", runs[0].sc.JobName)
				if name == "panics" {
					require.Contains(t, log.line("the filter of jobs panicked"), "no such label")
				}
				a.stop(t)
				require.Less(t, time.Since(bubbleStart), 10*time.Second)
			})
		})
	}
}

// A process takes part only in jobs that its filter takes, from the moment at which their configuration says so.
func TestAFilterTakesJobs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		inZone := func(zone string) []scheduler.Option {
			return []scheduler.Option{scheduler.WithJobFilter(func(cfg job.Config) bool {
				if cfg.Props["zone"] == "broken" {
					panic("a filter that fails")
				}
				return cfg.Props["zone"] == zone
			})}
		}
		placed := func(zone string) job.Config {
			cfg := ofClass("orders", "index", 2)
			cfg.Props = map[string]string{"zone": zone}
			return cfg
		}
		c.store(placed("eu"))
		c.launchWith("a", nil, append(handlers(c, "a", nil, "index"), inZone("eu")...), nil)
		c.launchWith("b", nil, append(handlers(c, "b", nil, "index"), inZone("us")...), nil)
		ran := func() (by []string) {
			for _, r := range c.take() {
				by = append(by, r.instance)
			}
			return by
		}
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"a", "a"}, ran())
		c.store(placed("us"))
		sleepUntil(11 * time.Second)
		require.Equal(t, []string{"b", "b"}, ran())
		for i, zone := range []string{"", "broken"} {
			c.store(placed(zone))
			sleepUntil(time.Duration(16+5*i) * time.Second)
			require.Empty(t, ran(), "%q", zone)
		}
		require.Empty(t, c.nodes("/orders/instances"), "nobody stays in a job that it does not take")
		c.store(placed("eu"))
		sleepUntil(26 * time.Second)
		require.Equal(t, []string{"a", "a"}, ran())
	})
	_, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithJobFilter(nil))
	require.ErrorIs(t, err, scheduler.ErrInvalidOption)
}

// A filter that decides in another way counts when the scheduler is told, and what runs comes to its end.
func TestAFilterChanges(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var none atomic.Bool
		filter := scheduler.WithJobFilter(func(job.Config) bool { return !none.Load() })
		c.store(ofClass("orders", "index", 1))
		s := c.launchWith("a", nil, append(handlers(c, "a", took(7*time.Second), "index"), filter), nil)
		sleepUntil(6 * time.Second)
		none.Store(true)
		require.Equal(t, []string{fullID("a")}, c.members(), "nobody has told it")
		s.Reconsider()
		sleepUntil(7 * time.Second)
		require.Empty(t, c.members())
		sleepUntil(21 * time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.NoError(t, runs[0].cause)
		none.Store(false)
		s.Reconsider()
		s.Reconsider()
		sleepUntil(33 * time.Second)
		require.Equal(t, []string{fullID("a")}, c.members())
		require.NotEmpty(t, c.take())
	})
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	require.NoError(t, err)
	s.Reconsider()
}

// deciding is code that refuses jobs while it is told to.
type deciding struct {
	job.Handler
	refuses *atomic.Bool
}

func (d deciding) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if d.refuses.Load() {
		return nil, errors.New("not now")
	}
	return d.Handler.Configure(cfg)
}

// Code that decides in another way is asked again when the scheduler is told, and what runs comes to its end.
func TestCodeDecidesInAnotherWay(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var refuses atomic.Bool
		c.store(ofClass("orders", "index", 1))
		code := deciding{c.record("a", took(7*time.Second)), &refuses}
		s := c.launchWith("a", nil, []scheduler.Option{scheduler.WithHandler("index", code)}, nil)
		sleepUntil(6 * time.Second)
		refuses.Store(true)
		s.Reconfigure()
		sleepUntil(21 * time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.NoError(t, runs[0].cause)
		require.Equal(t, "not now", s.Health(t.Context()).Jobs[0].Config)
		refuses.Store(false)
		s.Reconfigure()
		s.Reconfigure()
		sleepUntil(33 * time.Second)
		require.NotEmpty(t, c.take())
		require.Empty(t, s.Health(t.Context()).Jobs[0].Config)
	})
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	require.NoError(t, err)
	s.Reconfigure()
}

// Code that refuses a job is asked again each minute, as what it misses may come, and others run the job meanwhile: each fire
// once. The log tells when that changes.
func TestCodeThatRefusesIsAskedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var refuses atomic.Bool
		var logs logbook
		asked := &askedCode{Handler: deciding{c.record("a", nil), &refuses}}
		c.store(ofClass("orders", "index", 2))
		refuses.Store(true)
		a := c.launchWith("a", nil, []scheduler.Option{scheduler.WithHandler("index", asked), scheduler.WithLogger(slog.New(&logs))}, nil)
		c.serveJobs("b", nil, "index")
		sleepUntil(3*time.Minute + 2*time.Second)
		require.EqualValues(t, 4, asked.times.Load())
		require.Equal(t, "not now", a.Health(t.Context()).Jobs[0].Config)
		for _, r := range c.all() {
			require.Equal(t, "b", r.instance)
		}
		refuses.Store(false)
		sleepUntil(6*time.Minute + 2*time.Second)
		require.Empty(t, a.Health(t.Context()).Jobs[0].Config)
		require.EqualValues(t, 5, asked.times.Load(), "nobody asks what does not refuse")
		by := make(map[string]int)
		for _, r := range c.all() {
			by[r.instance]++
		}
		require.Len(t, c.all(), 2*6*12)
		require.Equal(t, 2*12, by["a"], "one item of two, for two minutes")
		for text, times := range map[string]int{"job pauses: its configuration cannot be used": 1, leftByRefusal: 1, jobGoesOn: 1} {
			require.Equal(t, times, logs.of(text), text)
		}
		refuses.Store(true)
		cfg := ofClass("orders", "index", 2)
		cfg.Description = "another one"
		sleepUntil(6*time.Minute + 32*time.Second)
		c.store(cfg)
		sleepUntil(7*time.Minute + 3*time.Second)
		require.EqualValues(t, 6, asked.times.Load())
		c.removeJob("orders")
		sleepUntil(20 * time.Minute)
		require.EqualValues(t, 6, asked.times.Load(), "there is no job to ask about")
	})
}

// Why code refuses a job may differ each time that it is asked again, as by an address in an error. The log has that ever more
// rarely, and at once when somebody has changed something; Health has it as it is.
func TestCodeThatRefusesForAnotherReasonEachTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const pauses = "job pauses: its configuration cannot be used"
		var refuses atomic.Bool
		var logs logbook
		refuses.Store(true)
		code := &moody{deciding: deciding{c.record("a", nil), &refuses}}
		c.store(ofClass("orders", "index", 1))
		s := c.launchWith("a", nil, []scheduler.Option{scheduler.WithHandler("index", code), scheduler.WithLogger(slog.New(&logs))}, nil)
		var told int
		for _, at := range []struct{ minute, lines int }{{0, 1}, {1, 2}, {2, 3}, {3, 3}, {4, 4}, {59, 7}, {60, 8}, {119, 8}, {120, 9}, {179, 9}, {180, 10}} {
			sleepUntil(time.Duration(at.minute)*time.Minute + 2*time.Second)
			told = logs.of(pauses)
			require.Equal(t, at.lines, told, "minute %d", at.minute)
			require.Equal(t, fmt.Sprintf("not now, at the try %d", at.minute+1), s.Health(t.Context()).Jobs[0].Config)
		}
		s.ReconfigureRefused()
		sleepUntil(180*time.Minute + 3*time.Second)
		require.Equal(t, told+1, logs.of(pauses), "somebody waits for it")
		cfg := ofClass("orders", "index", 1)
		cfg.Description = "another one"
		c.store(cfg)
		sleepUntil(180*time.Minute + 4*time.Second)
		require.Equal(t, told+2, logs.of(pauses))
		refuses.Store(false)
		sleepUntil(182 * time.Minute)
		require.Equal(t, 1, logs.of(jobGoesOn))
		refuses.Store(true)
		s.Reconfigure()
		sleepUntil(182*time.Minute + time.Second)
		require.Equal(t, told+3, logs.of(pauses))
	})
}

// Code may refuse a job later than it has to answer, as where it waits for a server that is away. That it has not answered yet is
// no news either then.
func TestCodeThatRefusesLateEachTime(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const pauses = "job pauses: its configuration cannot be used"
		var refuses atomic.Bool
		var logs logbook
		refuses.Store(true)
		code := &moody{deciding: deciding{c.record("a", nil), &refuses}, takes: 15 * time.Second}
		c.store(ofClass("orders", "index", 1))
		s := c.launchWith("a", nil, []scheduler.Option{scheduler.WithHandler("index", code), scheduler.WithLogger(slog.New(&logs))}, nil)
		sleepUntil(12 * time.Second)
		require.Equal(t, 1, logs.of(pauses))
		require.Contains(t, s.Health(t.Context()).Jobs[0].Config, "has not returned in time")
		sleepUntil(16 * time.Second)
		require.Equal(t, 2, logs.of(pauses))
		require.Contains(t, s.Health(t.Context()).Jobs[0].Config, "not now, at the try 1")
		sleepUntil(3 * time.Hour)
		require.Equal(t, int64(144), code.times.Load())
		require.Equal(t, 2*9, logs.of(pauses), "after one, two, four … tries, and then each 60 of them")
		refuses.Store(false)
		sleepUntil(3*time.Hour + 2*time.Minute)
		require.Equal(t, 1, logs.of(jobGoesOn))
	})
}

// moody is code that says each time in other words that it refuses a job.
type moody struct {
	deciding
	takes time.Duration
	times atomic.Int64
}

func (m *moody) Configure(cfg job.Config) (job.HandlerFunc, error) {
	time.Sleep(m.takes)
	code, err := m.deciding.Configure(cfg)
	if err != nil {
		err = fmt.Errorf("%w, at the try %d", err, m.times.Add(1))
	}
	return code, err
}

// Code that does not return is waited for, and not called again beside.
func TestCodeThatHangsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := &slowToConfigure{HandlerFunc: c.record("a", nil)}
		slow.takes.Store(int64(5 * time.Minute))
		asked := &askedCode{Handler: slow}
		c.store(ofClass("orders", "index", 1))
		c.launchWith("a", nil, []scheduler.Option{scheduler.WithHandler("index", asked)}, nil)
		sleepUntil(6 * time.Minute)
		require.EqualValues(t, 1, asked.times.Load())
		require.NotEmpty(t, c.all())
	})
}

// askedCode is code that counts how often it is asked.
type askedCode struct {
	job.Handler
	times atomic.Int32
}

func (h *askedCode) Configure(cfg job.Config) (job.HandlerFunc, error) {
	h.times.Add(1)
	return h.Handler.Configure(cfg)
}

// A job that is removed while an item of it runs: the run comes to its end, nobody can record that, and
// nothing is made again.
func TestAJobIsRemovedInMidRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("orders", "index", 2))
		c.serveJobs("a", took(7*time.Second), "index")
		sleepUntil(6 * time.Second)
		c.removeJob("orders")
		sleepUntil(time.Minute)
		runs := c.take()
		require.Len(t, runs, 2)
		require.NoError(t, runs[0].cause)
		require.Empty(t, c.nodes("/orders"))
		c.store(ofClass("orders", "index", 1))
		sleepUntil(66 * time.Second)
		require.Equal(t, []string{fullID("a")}, c.members())
	})
}

// A job changes hands when its class does. What runs then goes on to its end.
func TestAJobChangesItsClass(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("orders", "index", 1))
		c.serveJobs("a", took(7*time.Second), "index")
		c.serveJobs("b", nil, "send")
		sleepUntil(6 * time.Second)
		c.store(ofClass("orders", "send", 1))
		sleepUntil(9 * time.Second)
		require.Empty(t, c.take())
		require.Equal(t, []string{fullID("b")}, c.members())
		sleepUntil(16 * time.Second)
		got := c.shown()
		require.Equal(t, "item 0 fire 5s scheduled on a", got[0])
		require.Equal(t, "item 0 fire 15s scheduled on b", got[len(got)-1])
		c.store(ofClass("orders", "index", 1))
		sleepUntil(21 * time.Second)
		require.Equal(t, []string{fullID("a")}, c.members())
	})
}

// What is stored is given to the handler that makes code of it, each time that it changes.
func TestAHandlerSeesTheConfiguration(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := ofClass("orders", "index", 1)
		cfg.JobParameter = "first"
		c.store(cfg)
		code := configured{c}
		c.launchWith("a", nil, []scheduler.Option{scheduler.WithHandler("index", code)}, nil)
		sleepUntil(6 * time.Second)
		require.Equal(t, "first", c.take()[0].instance)
		cfg.JobParameter = "bad"
		c.store(cfg)
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take(), "the job pauses")
		cfg.JobParameter = "second"
		c.store(cfg)
		sleepUntil(16 * time.Second)
		runs := c.take()
		require.Equal(t, "second", runs[len(runs)-1].instance)
	})
}

// configured is code that is named after the job's parameter.
type configured struct{ c *cluster }

func (f configured) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "bad" {
		return nil, errors.New("bad parameter")
	}
	return f.c.record(cfg.JobParameter, nil), nil
}

// A job that was declared is left to its declaration, before and after.
func TestADeclaredJobIsNotTakenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		opts := []scheduler.Option{scheduler.WithHandler("orders", c.record("handler", nil))}
		a := c.launchWith("a", nil, opts, nil, jobOf(1))
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
		require.ErrorIs(t, errOf(a.Add(t.Context(), jobOf(1), c.record("a", nil))), scheduler.ErrDeclared)
	})
}

// A job that is stored when Run begins is data by the time that it is declared, and whoever declares it hears that, and not
// that it was declared.
func TestAJobThatWasTakenUpCannotBeDeclared(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		opts := handlers(c, "handler", nil, "index")
		a := c.launchWith("a", nil, opts, nil)
		<-a.Ready()
		require.NoError(t, errOf(a.Add(t.Context(), ofClass("orders", "index", 1), nothing)), "the first time")
		a.stop(t)

		b := c.launchWith("b", nil, opts, nil)
		<-b.Ready()
		err := errOf(b.Add(t.Context(), ofClass("orders", "index", 1), nothing, scheduler.OnConflict(scheduler.CodeWins)))
		require.ErrorIs(t, err, scheduler.ErrDeclared)
		require.ErrorContains(t, err, "has taken the job up as data")
		b.stop(t)

		before := c.launchWith("c", nil, opts, nil, ofClass("orders", "index", 1))
		<-before.Ready()
		require.ErrorContains(t, errOf(before.Add(t.Context(), ofClass("orders", "index", 1), nothing)), "already declared")
	})
}

// A declared job that was left is not taken up as data, also under another session and when it has changed.
func TestADeclaredJobThatWasLeftIsNotTakenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.launchWith("a", nil, handlers(c, "handler", nil, "index"), nil, ofClass("orders", "index", 1))
		<-a.Ready()
		require.NoError(t, ordersOf(t, a).Leave(t.Context()))
		c.store(ofClass("orders", "index", 2))
		time.Sleep(10 * time.Second)
		a.registry.Expire()
		time.Sleep(10 * time.Second)
		c.store(ofClass("orders", "index", 3))
		time.Sleep(10 * time.Second)
		require.Empty(t, c.take())
		require.Empty(t, a.Jobs())
	})
}

// A configuration that cannot be read is reported and left alone until it can be read.
func TestAnUnreadableJobIsLeftAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		put(t, c.server, "/orders/config", "nonsense")
		c.serveJobs("a", nil, "index")
		sleepUntil(6 * time.Second)
		require.Empty(t, c.members())
		c.store(ofClass("orders", "index", 1))
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 1)
		put(t, c.server, "/orders/config", "nonsense")
		sleepUntil(16 * time.Second)
		require.Empty(t, c.take())
		require.Equal(t, []string{fullID("a")}, c.members(), "it waits")
	})
}

// One cause gives one line: a job that the process declares pauses then, and is not left alone as well.
func TestADeclaredJobThatIsUnreadableIsNotLeftAlone(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var log lines
		opts := append(handlers(c, "a", nil, "index"), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		c.startWith("a", nil, opts, jobOf(1))
		put(t, c.server, "/orders/config", "nonsense")
		put(t, c.server, "/bills/config", "nonsense")
		sleepUntil(6 * time.Second)
		require.Equal(t, 1, log.count("job pauses: its configuration cannot be read"))
		require.Equal(t, 1, log.count("job is left alone: its configuration cannot be read"), "that of bills")
	})
}

func TestHandlersThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		for _, opts := range [][]scheduler.Option{
			{scheduler.WithHandler("", handler)},
			{scheduler.WithHandler("index", nil)},
			{scheduler.WithHandler("index", handler), scheduler.WithHandler("index", handler)},
		} {
			_, err := scheduler.New(reg, opts...)
			require.ErrorIs(t, err, scheduler.ErrInvalidOption)
		}
		require.NoError(t, reg.Close(t.Context()))
	})
}

// nodes returns the paths below a folder of the cluster's registry.
func (c *cluster) nodes(folder string) []string {
	c.t.Helper()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	list, _, err := reg.List(c.t.Context(), folder)
	if !errors.Is(err, registry.ErrNotFound) {
		require.NoError(c.t, err)
	}
	var paths []string
	for _, node := range list {
		paths = append(paths, node.Path)
	}
	return paths
}

// members returns the instances of "orders".
func (c *cluster) members() []string {
	c.t.Helper()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	children, err := reg.Children(c.t.Context(), "/orders/instances")
	if !errors.Is(err, registry.ErrNotFound) {
		require.NoError(c.t, err)
	}
	slices.Sort(children)
	return children
}

// removeJob deletes a job and all that belongs to it, as an operator does.
func (c *cluster) removeJob(name string) {
	c.t.Helper()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	_, err := reg.Commit(c.t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree(jobtree.For(name).Root())}})
	require.NoError(c.t, err)
}

// answersLate is a registry whose answers come after what they tell of.
type answersLate struct{ registry.Registry }

func (s answersLate) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := s.Registry.Commit(ctx, txn)
	time.Sleep(time.Millisecond)
	return revision, err
}

// A job that is declared while there is a handler for its class is the declaration's.
func TestADeclarationGoesBeforeAHandler(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, stop := c.serveOver(answersLate{reg}, c.record("handler", nil))
		<-s.Ready()
		require.NoError(t, errOf(s.Add(t.Context(), ofClass("orders", "index", 1), c.record("declared", nil))))
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on declared"}, c.shown())
		require.NoError(t, stop())
		require.NoError(t, reg.Close(context.Background()))
	})
}
