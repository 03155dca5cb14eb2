package simulation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// desk is where an operator works who does everything by package operate: a program of his own, whose messages are
// slow and get lost like those of processes. He asks again with the id of what he has no answer to, and some day he
// goes away in the middle.
type desk struct {
	*memory.Registry
	op *operate.Operator
}

// desks are how many such operators there are.
const desks = 2

func deskID(i int) string { return fmt.Sprintf("desk-%d", i) }

// isDesk tells whether a message is one of such an operator. What it does when it arrives, the registry shows.
func isDesk(id string) bool { return id == deskID(0) || id == deskID(1) }

// openDesks opens the desks of a plan that has need of them.
func (d *driver) openDesks() {
	if d.plan.kind != operators {
		return
	}
	for i := range desks {
		id := deskID(i)
		handle := d.server.Open(namespace, memory.WithLatency(d.latency(id)), memory.WithSpread(d.spread(id)), memory.WithDelays(d.delays(id)))
		op, err := operate.New(d.wrap(handle), operate.By(id, "simulation"))
		require.NoError(d.t, err)
		d.desks = append(d.desks, desk{handle, op})
	}
}

// closeDesks has the operators go home.
func (d *driver) closeDesks() {
	for _, desk := range d.desks {
		desk.Vanish()
	}
}

// operate has an operator do one thing, in the background. The caller holds mu.
func (d *driver) operate(a action) {
	if len(d.desks) == 0 {
		return
	}
	desk := d.desks[a.n%desks]
	switch a.n % 7 {
	case 0:
		desk.LoseAnswers(1)
	case 1:
		desk.DuplicateLater(2, a.lasts)
	case 2:
		desk.HoldBack(1, a.lasts)
	}
	item := a.n % max(1, d.state().Total())
	server := d.slots[a.slot].ip
	goes := max(a.lasts, 30*time.Second) // away, whatever has become of it
	opts := operate.Options{ID: fmt.Sprintf("%d-%d-%d", a.at, a.do, a.n), Reason: "drawn", Force: true, Wait: a.n%3 == 0}
	ask := func(do func(ctx context.Context, opts operate.Options) error) {
		d.wg.Go(func() { d.askAgain(goes, opts, do) })
	}
	one := func(do func(ctx context.Context, job string, opts operate.Options) (operate.Result, error)) {
		ask(func(ctx context.Context, opts operate.Options) error {
			_, err := do(ctx, jobName, opts)
			return err
		})
	}
	state := d.state()
	switch op := desk.op; a.do {
	case opTrigger:
		t := operate.Trigger{Within: time.Duration(1+a.n%60) * time.Second, Replace: a.n%2 == 0}
		if a.n%3 != 0 {
			t.Items, t.Parameter, t.Fire = []int{item}, fmt.Sprint("operated ", a.n), time.Now().Add(-time.Hour).Truncate(time.Second).UTC()
		}
		one(func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return op.Trigger(ctx, job, t, opts)
		})
	case opBackfill:
		from := time.Now().Add(-time.Duration(2+a.n%3) * d.plan.pace.unit)
		ask(func(ctx context.Context, opts operate.Options) error {
			fires, err := op.Fires(ctx, jobName, from, from.Add(2*d.plan.pace.unit))
			if err == nil && len(fires) > 0 {
				_, err = op.Backfill(ctx, jobName, fires, operate.Trigger{}, opts)
			}
			return err
		})
	case opJob:
		if one(op.DisableJob); a.n%4 != 0 {
			d.later(a, func() { d.askAgain(goes, operate.Options{ID: opts.ID + "-back"}, enabling(op)) })
		}
	case opItem:
		do := op.DisableItem
		if state.Disabled(item) {
			do = op.EnableItem
		}
		one(func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return do(ctx, job, item, opts)
		})
	case opServer:
		do := op.DisableServer
		if state.Server(server).Disabled {
			do = op.EnableServer
		}
		one(func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return do(ctx, job, server, opts)
		})
	case opSettings:
		one(func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return op.ChangeSettings(ctx, job, operate.Settings{Change: d.settingsOf(a)}, opts)
		})
	case opRollBack:
		one(func(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
			return rollBackOne(ctx, op, job, a.n, opts)
		})
	case opRemove:
		d.removeAndCreate(a, desk, goes, opts)
	case opGiveUp:
		d.giveUp(a, desk, goes, opts)
	case opReshard:
		one(op.Reshard)
	case opTidy:
		// A server at which nobody lives, of which somebody had said something.
		gone := "10.0.0.99"
		for _, s := range d.slots {
			if s.process == nil && s.lives > 0 {
				gone = s.ip
			}
		}
		ask(func(ctx context.Context, opts operate.Options) error {
			known := opts
			known.ID, known.Wait = opts.ID+"-known", false
			if _, err := op.DisableServer(ctx, jobName, gone, known); err != nil {
				if _, refused := operate.IsRefused(err); !refused {
					return err
				}
			}
			_, err := op.TidyServers(ctx, jobName, []string{gone}, opts)
			return err
		})
	case opShutDown:
		d.leaveByDesk(a, desk, goes, opts)
	}
}

// contradict has somebody else change what an operation is about while that is under way, by hand: he says nothing of
// it in the node operated.
func (d *driver) contradict(a action) {
	name, ok := jobtree.Parse(a.path)
	if !ok {
		return
	}
	switch name.Kind {
	case jobtree.KindServer:
		d.put(a.path, jobtree.EncodeServer(!d.state().Server(name.Key).Disabled))
	case jobtree.KindItemDisabled:
		d.toggleItem(name.Item)
	case jobtree.KindTriggered:
		d.ask(a.n)
	case jobtree.KindInstance: // it comes again, under its id
		d.careless(registry.Delete(a.path))
	case jobtree.KindItemRecord: // what is given up is written anew as it is
		if record := d.view.Snapshot().Get(a.path); record.Exists() && d.state().Item(name.Item).Record.Value.State == jobtree.ItemWaiting {
			d.put(a.path, record.Value)
		}
	}
}

// later has something happen after a time, unless it is calm by then.
func (d *driver) later(a action, do func()) {
	d.wg.Go(func() {
		time.Sleep(a.lasts)
		d.mu.Lock()
		calm := d.calm
		d.mu.Unlock()
		if !calm {
			do()
		}
	})
}

func enabling(op *operate.Operator) func(context.Context, operate.Options) error {
	return func(ctx context.Context, opts operate.Options) error {
		_, err := op.EnableJob(ctx, jobName, opts)
		return err
	}
}

// settingsOf is a change of settings, by number.
func (d *driver) settingsOf(a action) func(*job.Config) error {
	return func(cfg *job.Config) error {
		switch a.n % 5 {
		case 0:
			cfg.ShardingTotalCount = 1 + a.n%12
		case 1:
			cfg.Cron = d.plan.pace.crons[a.n%3]
		case 2:
			cfg.Failover = !cfg.Failover
		case 3:
			setMisfire(cfg, a.n)
		default:
			cfg.JobParameter = fmt.Sprint("operated ", a.n)
		}
		return nil
	}
}

// rollBackOne goes back to before one of the operations that changed settings.
func rollBackOne(ctx context.Context, op *operate.Operator, job string, n int, opts operate.Options) (operate.Result, error) {
	all, err := op.Operations(ctx, job)
	if err != nil {
		return operate.Result{}, err
	}
	all = slices.DeleteFunc(all, func(o operate.Operation) bool { return o.Verb == operate.VerbTrigger || o.Verb == operate.VerbReshard })
	if len(all) == 0 {
		return operate.Result{}, nil
	}
	return op.RollBack(ctx, job, all[n%len(all)].ID, opts)
}

// giveUp has an operator give up an item that waits to be run again. If none does, he disables one that runs, its process
// dies, and he gives up what waits then: nothing else lets an item wait for as long as its operator's messages take.
func (d *driver) giveUp(a action, desk desk, goes time.Duration, opts operate.Options) {
	n := waitingItem(d.state())
	running, slot := d.runningItem(a.n)
	if n < 0 && running >= 0 {
		n = running
	} else {
		slot = -1
	}
	n = max(n, 0)
	d.wg.Go(func() {
		if slot >= 0 {
			d.askAgain(goes, operate.Options{ID: opts.ID + "-held"}, func(ctx context.Context, opts operate.Options) error {
				_, err := desk.op.DisableItem(ctx, jobName, n, opts)
				return err
			})
			d.act(action{do: crash, slot: slot})
			for waited := time.Duration(0); waited < 2*d.ttl && d.view.Snapshot().Get(d.tree().ItemRecord(n)).Exists() && !d.waits(n); waited += d.ttl / 20 {
				time.Sleep(d.ttl / 20)
			}
		}
		d.askAgain(goes, opts, func(ctx context.Context, opts operate.Options) error {
			_, err := desk.op.GiveUp(ctx, jobName, n, opts)
			return err
		})
		if slot >= 0 {
			d.askAgain(goes, operate.Options{ID: opts.ID + "-free"}, func(ctx context.Context, opts operate.Options) error {
				_, err := desk.op.EnableItem(ctx, jobName, n, opts)
				return err
			})
		}
	})
}

// waits tells whether an item waits to be run again.
func (d *driver) waits(item int) bool {
	record, err := jobtree.DecodeRecord(d.view.Snapshot().Get(d.tree().ItemRecord(item)))
	return err == nil && record.State == jobtree.ItemWaiting
}

// waitingItem returns an item that waits to be run again; below 0 if none does.
func waitingItem(s *jobtree.State) int {
	for n := range s.Items() {
		if s.Item(n).Record.Value.State == jobtree.ItemWaiting {
			return n
		}
	}
	return -1
}

// runningItem returns one of the items that run, from any number on, and the slot of its process; below 0 if none does. The
// caller holds mu.
func (d *driver) runningItem(from int) (item, slot int) {
	s := d.state()
	for i := range s.Items() {
		n := (from + i) % s.Items()
		if s.Item(n).Running.Exists() {
			if slot := d.slotOf(s.Item(n).Running.Value); slot >= 0 {
				return n, slot
			}
		}
	}
	return -1, -1
}

// removeAndCreate has an operator remove the job, and somebody create it again. Some who do not get to the end of the
// removal leave it to others.
func (d *driver) removeAndCreate(a action, desk desk, goes time.Duration, opts operate.Options) {
	cfg := d.state().Config
	if !cfg.Exists() || cfg.Err != nil || d.missing != "" {
		return
	}
	cfg.Value.Disabled = false
	d.wg.Go(func() {
		d.askAgain(goes, opts, func(ctx context.Context, opts operate.Options) error {
			_, err := desk.op.Remove(ctx, jobName, opts)
			return err
		})
		time.Sleep(time.Duration(a.n) * 10 * time.Millisecond)
		if a.n%5 > 0 {
			d.askAgain(goes, operate.Options{ID: opts.ID + "-back"}, enabling(desk.op)) // if it is still there
		}
		d.askAgain(goes, operate.Options{ID: opts.ID + "-anew"}, func(ctx context.Context, opts operate.Options) error {
			_, err := desk.op.Create(ctx, cfg.Value, opts)
			return err
		})
	})
}

// leaveByDesk has an operator ask the process in a slot to leave the job, which stops a moment later: see
// [driver.shutDown].
func (d *driver) leaveByDesk(a action, desk desk, goes time.Duration, opts operate.Options) {
	s := &d.slots[a.slot]
	p := s.process
	if p == nil || s.stopping || p.troubled {
		return
	}
	p.troubled = true
	d.wg.Go(func() {
		d.askAgain(goes, opts, func(ctx context.Context, opts operate.Options) error {
			_, err := desk.op.ShutDown(ctx, jobName, p.id, opts)
			return err
		})
		time.Sleep(time.Duration(a.n%400) * time.Millisecond)
		d.mu.Lock()
		defer d.mu.Unlock()
		p.troubled = false
		if d.slots[a.slot].process == p {
			d.stop(a.slot)
		}
	})
}

// askAgain does an operation, and asks again with its id while it has no answer, until the operator goes away.
func (d *driver) askAgain(goes time.Duration, opts operate.Options, do func(context.Context, operate.Options) error) {
	ctx, cancel := context.WithTimeout(context.Background(), goes)
	defer cancel()
	for ctx.Err() == nil {
		err := do(ctx, opts)
		var refused *operate.Refusal
		var unconfirmed *operate.UnconfirmedError
		var failed *operate.ItemsFailedError
		switch {
		case err == nil, errors.As(err, &refused), errors.As(err, &failed), errors.Is(err, operate.ErrReplaced), ctx.Err() != nil:
			return
		case errors.As(err, &unconfirmed):
			if unconfirmed.Result.Progress.Overtaken {
				return
			}
		case !errors.Is(err, registry.ErrUnknownOutcome) && !errors.Is(err, registry.ErrUnavailable):
			d.mu.Lock()
			d.failures = append(d.failures, fmt.Sprintf("operation %s: %v", opts.ID, err))
			d.mu.Unlock()
			return
		}
		time.Sleep(time.Second)
	}
}

// putRight ends what operators left undone: a job that is disabled, or removed. The caller holds mu.
func (d *driver) putRight() {
	if len(d.desks) > 0 && !d.state().Config.Exists() {
		text, err := jobtree.EncodeConfig(d.plan.config)
		require.NoError(d.t, err)
		d.put(d.tree().Config(), text)
	}
	if d.state().JobDisabled() {
		d.configure(func(cfg *job.Config) { cfg.Disabled = false })
	}
	if d.plan.kind == refusals {
		d.configure(func(cfg *job.Config) { cfg.JobParameter = "" })
	}
}

// TestOperatorsDoEverything makes sure that what operators are drawn to do comes about: each verb is done in some of
// the first seeds about them.
func TestOperatorsDoEverything(t *testing.T) {
	t.Parallel()
	done := make(map[operate.Verb]int)
	all := []operate.Verb{
		operate.VerbTrigger, operate.VerbBackfill, operate.VerbDisableJob, operate.VerbEnableJob, operate.VerbDisableItem, operate.VerbEnableItem,
		operate.VerbDisableServer, operate.VerbEnableServer, operate.VerbShutDown, operate.VerbSettings, operate.VerbRollBack, operate.VerbCreate,
		operate.VerbRemove, operate.VerbGiveUp, operate.VerbReshard, operate.VerbTidy,
	}
	removals := 0
	path := jobtree.For(jobName).Operated()
	lacking := func(v operate.Verb) bool { return done[v] == 0 }
	for s := uint64(1); s < 2_000 && (slices.ContainsFunc(all, lacking) || removals == 0); s++ {
		p := planOf(s)
		if p.kind != operators {
			continue
		}
		_, h := simulated(t, p, nil) // TestSimulation judges it
		for _, state := range h.States {
			for _, c := range state.Step.Changes {
				if c.Path() != path {
					continue
				}
				if c.Kind() == registry.Removed {
					removals++
					continue
				}
				if operated, err := jobtree.DecodeOperated(c.New); err == nil && len(operated.Operations) > 0 { // or somebody has spoilt it
					done[operate.Verb(operated.Operations[len(operated.Operations)-1].Verb)]++
				}
			}
		}
	}
	t.Logf("%v, %d removals came to their end", done, removals)
	for _, v := range all {
		require.NotZero(t, done[v], v)
	}
	require.NotZero(t, removals)
}
