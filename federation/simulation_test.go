package federation_test

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/health"
)

var (
	seeds     = flag.Int("federation.seeds", 6, "how many attacks TestUnderAttack makes")
	firstSeed = flag.Uint64("federation.seed", 1, "the first seed of TestUnderAttack")
)

var errDied = errors.New("the mover died")

// Processes with different rules die and start, movers die on the way or sleep, and registries go away, as a seed says. At no
// time does an item run twice, tokens only grow, no fire runs twice, and in the end every job runs in one registry.
func TestUnderAttack(t *testing.T) {
	t.Parallel()
	for seed := *firstSeed; seed < *firstSeed+uint64(*seeds); seed++ {
		synctest.Test(t, func(t *testing.T) { attack(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d: go test ./federation -run TestUnderAttack -federation.seed=%d -federation.seeds=1", seed, seed)
		}
	}
}

func attack(t *testing.T, seed uint64) {
	t.Helper()
	chance := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t)
	all := jobs(4)
	begin := func() {
		rule := to(names[chance.IntN(len(names))])
		if alive := slices.DeleteFunc(slices.Clone(w.procs), func(p *process) bool { return p.dead }); len(alive) < 4 {
			w.start(rule, all)
		}
	}
	begin()
	begin()
	away, movers := "", make(chan struct{}, 1_000)
	moving := 0
	for range 60 {
		time.Sleep(time.Duration(chance.IntN(9_000)) * time.Millisecond)
		switch n := chance.IntN(10); {
		case n < 2: // a process dies, and another starts
			w.procs[chance.IntN(len(w.procs))].kill()
			begin()
		case n == 2:
			begin()
		case n == 3:
			w.procs[chance.IntN(len(w.procs))].stop()
			begin()
		case n == 4 && away == "":
			away = names[chance.IntN(len(names))]
			w.servers[away].Stop()
		case n == 5 && away != "":
			w.servers[away].Start()
			away = ""
		default:
			moving++
			name, target := all[chance.IntN(len(all))].Name, names[chance.IntN(len(names))]
			dies, sleeps, pause := chance.IntN(12), chance.IntN(12), time.Duration(chance.IntN(90))*time.Second
			go func() {
				defer func() { movers <- struct{}{} }()
				commits := 0
				d, closed := w.operator(func() error {
					commits++
					if commits == sleeps {
						time.Sleep(pause)
					}
					if commits == dies {
						return errDied
					}
					return nil
				})
				defer closed()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				defer cancel()
				_, _ = d.Move(ctx, name, target, home.MoveOptions{})
			}()
		}
	}
	if away != "" {
		w.servers[away].Start()
	}
	for range moving {
		<-movers
	}
	time.Sleep(time.Minute)
	// What was left on the way is completed, by whoever looks where each job was going.
	d, closed := w.operator(nil)
	defer closed()
	for _, cfg := range all {
		p, err := d.Find(t.Context(), cfg.Name)
		require.NoError(t, err)
		target := p.Registry
		if p.From == "" {
			target = destination(w, d, cfg.Name, p.Registry)
		}
		moved, err := d.Move(t.Context(), cfg.Name, target, home.MoveOptions{})
		require.NoError(t, err)
		require.True(t, moved.Done)
	}
	between(8 * time.Minute) // what was missed meanwhile is made up one by one
	before := w.book.counts()
	time.Sleep(time.Minute)
	after := w.book.counts()
	for _, cfg := range all {
		require.Equal(t, 6, after[cfg.Name+"/0"]-before[cfg.Name+"/0"], "%s, seed %d", cfg.Name, seed)
		found, err := d.Find(t.Context(), cfg.Name)
		require.NoError(t, err)
		require.True(t, found.Exists)
		for _, p := range w.procs {
			if j, err := p.f.Job(cfg.Name); err == nil && !p.dead {
				require.Equal(t, found.Registry, j.Registry())
			}
		}
	}
	for _, p := range w.procs {
		if !p.dead {
			verdict := health.Cluster(p.f.Health(t.Context()))
			require.True(t, verdict.OK, "%v", verdict.Reasons)
		}
	}
	w.stop()
}

// destination is where a stopped job was going; home if it is not stopped.
func destination(w *world, d *home.Directory, job, at string) string {
	w.t.Helper()
	for _, name := range names {
		if name == at {
			continue
		}
		_, err := d.Move(w.t.Context(), job, name, home.MoveOptions{DryRun: true})
		if err == nil {
			continue
		}
		for _, other := range names {
			if other != name && other != at && errors.Is(err, home.ErrRefused) {
				return other
			}
		}
	}
	return at
}
