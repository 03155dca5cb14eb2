package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

var nothing = job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })

// declare makes a scheduler and adds a job to it.
func declare(t *testing.T, server *memory.Server, cfg job.Config, opts ...scheduler.JobOption) error {
	t.Helper()
	reg := server.Open("test")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	return errOf(s.Add(t.Context(), cfg, nothing, opts...))
}

// stored returns all nodes of the namespace, as text.
func stored(t *testing.T, server *memory.Server) map[string]string {
	t.Helper()
	reg := server.Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	nodes, _, err := reg.List(t.Context(), "/")
	require.NoError(t, err)
	values := make(map[string]string)
	for _, n := range nodes {
		values[n.Path] = n.Value
	}
	return values
}

// put writes a node as an operator would.
func put(t *testing.T, server *memory.Server, path, value string) {
	t.Helper()
	reg := server.Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	_, err := reg.Commit(t.Context(), registryPut(path, value))
	require.NoError(t, err)
}

// Code lives longer than what it declares: when the last fire is over, its next start finds the job in the registry, perhaps
// with another end.
func TestAJobIsDeclaredAfterItsLastFire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.EndTime = time.Now().Add(12 * time.Second)
		a := c.start("a", nil, cfg)
		sleepUntil(7 * time.Second)
		later := cfg
		later.EndTime = time.Time{}
		c.change(later)
		sleepUntil(14 * time.Second)
		a.stop(t)
		c.take()
		c.start("b", nil, cfg)
		sleepUntil(21 * time.Second)
		require.Len(t, c.take(), 2, "what is stored counts")

		c.change(cfg)
		d := c.start("d", nil, cfg)
		sleepUntil(31 * time.Second)
		require.Empty(t, c.take())
		fresh := cfg
		fresh.Name = "fresh"
		require.ErrorContains(t, errOf(d.Add(t.Context(), fresh, c.record("d", nil))), "never fires after")
		e, err := scheduler.New(d.registry, scheduler.WithInstanceID(fullID("e")))
		require.NoError(t, err)
		ends := cfg
		ends.EndTime = cfg.EndTime.Add(time.Second)
		require.ErrorContains(t, errOf(e.Add(t.Context(), ends, c.record("e", nil), scheduler.OnConflict(scheduler.CodeWins))), "never fires after")
		cfg.JobParameter = "new" // with times that are stored
		require.NoError(t, errOf(e.Add(t.Context(), cfg, c.record("e", nil), scheduler.OnConflict(scheduler.CodeWins))))
	})
}

// A declaration that cannot be served is refused with an error that says what to do, and leaves the
// registry as it was.
func TestRefusedDeclarations(t *testing.T) {
	t.Parallel()
	config := jobtree.For("orders").Config()
	tests := map[string]struct {
		stored string
		change func(*job.Config)
		opts   []scheduler.JobOption
		want   []string
	}{
		"several faults at once": {
			change: func(c *job.Config) { c.ShardingTotalCount = 0; c.Cron = "0 61 * * * ?"; c.TimeZone = "Mars/Olympus" },
			want:   []string{"ShardingTotalCount", "61", "Mars/Olympus"},
		},
		"a cron that never fires": {
			change: func(c *job.Config) { c.Cron = "0 0 0 30 2 ?" },
			want:   []string{"Cron", "0 0 0 30 2 ?", "never fires"},
		},
		"item parameters": {
			change: func(c *job.Config) { c.ShardingItemParameters = "0=A,x=B" },
			want:   []string{"ShardingItemParameters", "x=B"},
		},
		"an unknown strategy": {
			change: func(c *job.Config) { c.ShardingStrategy = "by moon" },
			want:   []string{"by moon", sharding.NameAverage},
		},
		"an unknown executor": {
			change: func(c *job.Config) { c.ExecutorServiceHandler = "by moon" },
			want:   []string{"ExecutorServiceHandler", "by moon", job.ExecutorCPU},
		},
		"an unknown error handler": {
			change: func(c *job.Config) { c.ErrorHandler = "PIGEON" },
			want:   []string{"ErrorHandler", "PIGEON", "LOG"},
		},
		"another class": {
			stored: mustEncode(func() job.Config { c := jobOf(1); c.Class = "other"; return c }()),
			change: func(*job.Config) {},
			want:   []string{"orders", "other", "class"},
		},
		"a stored configuration that cannot be read": {
			stored: `{"jobName":"orders"`,
			change: func(*job.Config) {},
			want:   []string{config, "cannot be read"},
		},
		"a tree of ElasticJob 3.x": {
			stored: "cron: 0/5 * * * * ?\njobName: orders\nshardingTotalCount: 2\n",
			change: func(*job.Config) {},
			opts:   onConflict(scheduler.CodeWins),
			want:   []string{config, "ElasticJob 3.x", "elasticron migrate"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := memory.NewServer()
			if test.stored != "" {
				put(t, server, config, test.stored)
			}
			before := stored(t, server)
			cfg := jobOf(2)
			test.change(&cfg)
			err := declare(t, server, cfg, test.opts...)
			require.Error(t, err)
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
			require.Equal(t, before, stored(t, server))
		})
	}
}

func TestAClassConflictIsTyped(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	require.NoError(t, declare(t, server, jobOf(1)))
	cfg := jobOf(1)
	cfg.Class = "other"
	err := declare(t, server, cfg)
	require.ErrorIs(t, err, scheduler.ErrClassConflict)
	var conflict *scheduler.ClassConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, &scheduler.ClassConflictError{Job: "orders", Stored: "orders", Declared: "other"}, conflict)
}

func TestTheStoredConfigurationCounts(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	require.NoError(t, declare(t, server, jobOf(3)))
	before := stored(t, server)
	require.NoError(t, declare(t, server, jobOf(5)))
	require.Equal(t, before, stored(t, server))
}

func TestTheCodeMayReplaceTheStoredConfiguration(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	require.NoError(t, declare(t, server, jobOf(3)))
	require.NoError(t, declare(t, server, jobOf(5), scheduler.OnConflict(scheduler.CodeWins)))
	require.Contains(t, stored(t, server)["/orders/config"], `"shardingTotalCount":5`)
	require.Contains(t, stored(t, server)["/orders/config"], `"overwrite":false`)
}

func TestAJobIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), nothing)))
	require.ErrorIs(t, errOf(s.Add(t.Context(), jobOf(1), nothing)), scheduler.ErrDeclared)
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	_, err := scheduler.New(reg, scheduler.WithInstanceID("no separator"), scheduler.WithStopTimeout(-time.Second), scheduler.WithLogger(nil))
	require.ErrorIs(t, err, scheduler.ErrInvalidOption)
	for _, want := range []string{"no separator", "-1s", "logger"} {
		require.ErrorContains(t, err, want)
	}
}

// Two processes with one instance id: the second says so and does not disturb the first.
func TestADuplicateInstanceID(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		before := c.state().Instances
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		ran := make(chan error, 1)
		go func() { ran <- s.Run(t.Context()) }()
		synctest.Wait()
		waits := errOf(s.Add(t.Context(), jobOf(1), nothing))
		err = <-ran
		for _, added := range []error{waits, errOf(s.Add(t.Context(), job.Config{Name: "late", Cron: everyFive, ShardingTotalCount: 1}, nothing))} {
			require.ErrorIs(t, added, scheduler.ErrStopped)
			require.ErrorIs(t, added, scheduler.ErrDuplicateInstance, "who adds a job hears why, too")
		}
		require.ErrorIs(t, err, scheduler.ErrDuplicateInstance)
		require.ErrorContains(t, err, fullID("a"))
		require.Equal(t, before, c.state().Instances)
		require.NoError(t, reg.Close(context.Background()))
	})
}

// Two schedulers with one instance id over one handle have one session, so the tree cannot tell them apart.
func TestADuplicateInstanceIDOverOneHandle(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		second := func() (*scheduler.Scheduler, chan error) {
			s, err := scheduler.New(a.registry, scheduler.WithInstanceID(fullID("a")))
			require.NoError(t, err)
			require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("b", nil))))
			ran := make(chan error, 1)
			go func() { ran <- s.Run(t.Context()) }()
			return s, ran
		}
		b, ran := second()
		defer b.StopNow()
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 1)
		require.Equal(t, scheduler.StateStopped, b.Health(t.Context()).State)
		err := <-ran
		require.ErrorIs(t, err, scheduler.ErrDuplicateInstance)
		require.ErrorContains(t, err, fullID("a"))

		a.cancel()
		ended := <-a.done
		require.NoError(t, ended)
		again, ran := second()
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 1, "the id is free")
		again.StopNow()
		require.NoError(t, <-ran)
		a.done <- ended
	})
}

// A process that comes back under its old id waits for its former session to end, and joins.
func TestAnInstanceComesBackUnderItsID(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1)).crash(t)
		c.start("a", nil, jobOf(1))
		require.Len(t, c.state().Instances, 1)
		require.Less(t, time.Since(bubbleStart), 7*time.Second)
	})
}

func TestAddWhileRunning(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, job.Config{Name: "first", Cron: everyFive, ShardingTotalCount: 1})
		require.NoError(t, errOf(a.Add(t.Context(), jobOf(2), c.record("a", nil))))
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 3)
	})
}

// shy is a registry that shows nothing until it is told to.
type shy struct {
	*memory.Registry
	show chan struct{}
}

func (r *shy) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	select {
	case <-r.show:
		return r.Registry.View(ctx, path, except...)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// The context of Add bounds Add, also while the registry does not show the job, and not the job.
func TestAddWhileTheRegistryShowsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &shy{Registry: c.server.Open("test"), show: make(chan struct{})}
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		run, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(run) }()
		<-s.Ready()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, errOf(s.Add(ctx, jobOf(1), c.record("a", nil))), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(bubbleStart))
		close(reg.show)
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 1, "it joins when it can")
		stop()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
	})
}

func mustEncode(cfg job.Config) string {
	text, err := jobtree.EncodeConfig(cfg)
	if err != nil {
		panic(err)
	}
	return text
}

// remove deletes a node as an operator would.
func remove(t *testing.T, server *memory.Server, path string) {
	t.Helper()
	reg := server.Open("test")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(path)}})
	require.NoError(t, err)
}

// A configuration whose creation got no answer, and that is not there, is not created again: the first one
// may be under way for long, and would bring the job back when somebody has removed it.
func TestAJobIsCreatedOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const config = "/orders/config"
		reg := c.server.Open("test")
		defer func() { require.NoError(t, reg.Close(context.Background())) }()
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		reg.HoldBack(1, 10*time.Minute)
		_, err = s.Add(t.Context(), jobOf(1), nothing)
		if err == nil { // then nothing of it may be under way
			remove(t, c.server, config)
			sleepUntil(15 * time.Minute)
			require.NotContains(t, stored(t, c.server), config, "a job is back that was removed")
		}
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.NotContains(t, stored(t, c.server), config)
		sleepUntil(15 * time.Minute)
		require.Contains(t, stored(t, c.server), config, "the try that was sent arrives")
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), nothing)))
		remove(t, c.server, config)
		sleepUntil(time.Hour)
		require.NotContains(t, stored(t, c.server), config)

		reg.LoseAnswers(1)
		cfg := jobOf(1)
		cfg.Name = "invoices"
		require.NoError(t, errOf(s.Add(t.Context(), cfg, nothing)), "what is there was created")
	})
}

// Code that can tell what it lacks on this machine is asked when its job is declared.
func TestADeclarationIsRefusedWhoseCodeCannotRunHere(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	reg := server.Open("test")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	cfg := jobOf(1)
	cfg.Type, cfg.ScriptCommandLine = job.TypeScript, "/no/such/script.sh"
	_, err = s.Add(t.Context(), cfg, script.Job{})
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	require.ErrorContains(t, err, "/no/such/script.sh")
	require.Empty(t, stored(t, server))
}

// However large what was declared is, the error repeats only its beginning.
func TestErrorsOfDeclarationsAreBounded(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("x", 1_000_000)
	for name, change := range map[string]func(*job.Config){
		"name":          func(c *job.Config) { c.Name = huge + "/" },
		"strategy":      func(c *job.Config) { c.ShardingStrategy = huge },
		"error handler": func(c *job.Config) { c.ErrorHandler = huge },
		"executor":      func(c *job.Config) { c.ExecutorServiceHandler = huge },
		"cron":          func(c *job.Config) { c.Cron = huge },
		"cron field":    func(c *job.Config) { c.Cron = "0 0 0 ? * " + huge },
		"zone":          func(c *job.Config) { c.TimeZone = huge },
		"parameters":    func(c *job.Config) { c.ShardingItemParameters = "0=" + huge + "=" },
		"props":         func(c *job.Config) { c.Props = map[string]string{huge: "env:" + huge + "="} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := jobOf(1)
			change(&cfg)
			err := declare(t, memory.NewServer(), cfg)
			require.Error(t, err)
			require.Less(t, len(err.Error()), 3_000)
		})
	}
}
