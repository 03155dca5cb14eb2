package home

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// original is a job that was closed. Nothing of it begins any more, and who owned its items has noted what they missed, unless
// that took longer than lateNote.
type original struct {
	state  *jobtree.State
	cfg    job.Config
	config string
	tokens jobtree.Tokens
	nodes  map[string]string // that it is to have in its new home, by path, but for those above
	read   moment            // when it was read
	fires  []time.Time       // that came since it was closed, or come until it is taken up
}

// closedConfig returns the configuration as it was when the job was closed.
func (m *mover) closedConfig(left registry.Snapshot, e jobtree.Elsewhere) (job.Config, error) {
	closed := left.Get(m.tree.Config()).Revision
	cfg, err := jobtree.DecodeConfig(registry.Node{Path: m.tree.Config(), Value: e.Config, Revision: closed})
	if err != nil {
		return cfg, fmt.Errorf("the configuration that was closed cannot be read: %w", err)
	}
	return cfg, nil
}

func (m *mover) originalOf(ctx context.Context, cfg job.Config, left registry.Snapshot, e jobtree.Elsewhere) (original, error) {
	st := jobtree.StateOf(m.r.Job, left)
	closed := left.Get(m.tree.Config()).Revision
	o := original{state: st, cfg: cfg, config: e.Config, nodes: make(map[string]string), read: m.now(ctx)}
	if err := tellsFires(cfg); err != nil { // it has left its home: it is to run again all the same
		m.noteOnce(err.Error())
	}
	if err := o.findFires(ctx, e.Since, o.read.Add(m.copies+takenUp)); err != nil {
		return o, err
	}
	// Nothing has begun since it was closed, so no token is above this revision. Every mover finds the same one: it is
	// that of the node from which the job is copied.
	o.tokens = jobtree.Tokens{Base: st.Tokens().Value.Of(closed)}
	for n := range left.All() {
		name, known := jobtree.Parse(n.Path)
		if known && !n.Ephemeral() && carried(name.Kind) {
			o.nodes[n.Path] = n.Value
		}
	}
	for n := range st.Items() {
		it := st.Item(n)
		if it.Record.Revision != 0 {
			o.nodes[m.tree.ItemRecord(n)] = jobtree.EncodeRecord(it.Record.Value.Moved())
		}
		if fires := o.missed(n, e.Since); fires != "" {
			o.nodes[m.tree.ItemMisfire(n)] = fires
		}
	}
	if err := m.request(&o, o.read.Time); err != nil {
		return o, err
	}
	operated, err := jobtree.DecodeOperated(left.Get(m.tree.Operated()))
	if err != nil {
		return o, err
	}
	operated.Moving = nil
	m.noteFiles(operated.Files, cfg.Disabled)
	o.nodes[m.tree.Operated()] = jobtree.EncodeOperated(operated.Moved(o.begun()))
	return o, nil
}

// carried tells which nodes go with a job as they are. The others say who does what in a registry, or are made anew.
func carried(kind jobtree.Kind) bool {
	switch kind {
	case jobtree.KindServer, jobtree.KindItemDisabled, jobtree.KindItemMisfire, jobtree.KindItemRecord, jobtree.KindItemAside,
		jobtree.KindFailoverItem, jobtree.KindOffset, jobtree.KindOperated:
		return true
	default:
		return false
	}
}

// open is the job as it was before it was closed: which items run for a request is a matter of the configuration. It is without
// an assignment, as it arrives: a request also waits for items that no resharding has come to yet.
func (o *original) open() *jobtree.State {
	open := *o.state
	open.Config.Value, open.Config.Err = o.cfg, nil
	open.Epoch = jobtree.Stored[jobtree.Epoch]{}
	return &open
}

// begun is the id of the operation that made the last request by hand, if all items have run for it, and well; else it is
// empty. Nothing goes with the job of such a request, so its operation is to say so. An item that did not begin, as one that
// is disabled or that no resharding has come to yet, did not run, whether or not it still may.
func (o *original) begun() string {
	asked := o.state.Triggered()
	if !asked.Exists() || asked.Err != nil || asked.Value.Each || o.cfg.Unmonitored {
		return ""
	}
	for n := range max(o.state.Total(), o.cfg.ShardingTotalCount) {
		if !asked.Value.Asks(n) {
			continue
		}
		record := o.state.Record(n)
		answer, e := record.Value.AnswerTo(asked.Revision)
		if record.Err != nil || answer != jobtree.Answered || e == nil || e.Outcome != jobtree.Success {
			return ""
		}
	}
	return asked.Value.Operation
}

// request carries over what items still have to run by hand.
func (m *mover) request(o *original, now time.Time) error {
	items, before := o.open().Pending(now), o.state.Triggered()
	if len(items) == 0 || before.Err != nil || o.cfg.Unmonitored {
		return nil
	}
	asked := before.Value
	asked.Items, asked.Total = items, o.cfg.ShardingTotalCount // in the new home, records may be younger than the request
	text, err := jobtree.EncodeTriggered(asked)
	if err != nil {
		return err
	}
	o.nodes[m.tree.Triggered()] = text
	return nil
}

// lateBegin is how long before the stop a fire may have come that was still on time to begin: by the rules, and by the clock
// of a process that is behind by as much as clocks may be.
const lateBegin = inforce.LateAfter + inforce.ClockTolerance

// takenUp is how long it may take from then on until processes see the fires come in the new home, by clocks that are ahead of
// the registry's. What comes meanwhile has no other witness. Who takes the item up leaves out a noted fire that is still to
// come, and one that the item ran for.
const takenUp = 10*time.Second + inforce.ClockTolerance

// makesUp tells whether fires of a job that come while it stands are made up.
func makesUp(cfg job.Config) bool {
	return !cfg.Disabled && !cfg.Unmonitored && cfg.Misfire != job.MisfireSkip
}

// tellsFires fails if the mover cannot tell when the job fires, and should. It may not know the job's time zone.
func tellsFires(cfg job.Config) error {
	if _, err := cfg.Schedule(); err != nil && makesUp(cfg) {
		return fmt.Errorf("when it fires cannot be told here, so nothing that comes while it stands would be made up: %w", err)
	}
	return nil
}

// findFires finds the newest fires that an item may have missed while the job stood, or may miss before it is taken up. A
// fire has come when its jitter is over. Of a job without records nobody makes up what is noted, or takes out what has run: it
// would all run if executions were recorded one day.
func (o *original) findFires(ctx context.Context, since, until time.Time) error {
	schedule, err := o.cfg.Schedule()
	if err != nil || !makesUp(o.cfg) || since.IsZero() || cronexpr.IsTriggered(schedule) {
		return nil
	}
	if _, delayed := cronexpr.DelayOf(schedule); delayed {
		return nil
	}
	since = since.Add(-lateBegin)
	for fire := range cronexpr.Between(schedule, since.Add(-o.cfg.Jitter), until) { // a job may have stood for months
		if len(o.fires) == 0 && !o.told(fire).After(since) {
			continue
		}
		o.fires = append(o.fires, fire)
		if len(o.fires) == 2*jobtree.MaxMissedFires {
			o.fires = append(o.fires[:0], o.fires[jobtree.MaxMissedFires:]...)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	for last := len(o.fires) - 1; last >= 0 && o.told(o.fires[last]).After(until); last-- {
		o.fires = o.fires[:last]
	}
	return nil
}

// told is when processes are told of a fire.
func (o *original) told(fire time.Time) time.Time {
	return fire.Add(jitter.For(o.cfg).Of(fire))
}

// missed returns what is noted of an item's missed fires, with those that came while the job stood, or come before it is
// taken up. What came before the first run of an item is not made up: it may have come before the item.
func (o *original) missed(item int, since time.Time) string {
	it := o.state.Item(item)
	if it.Disabled || item >= o.cfg.ShardingTotalCount {
		return ""
	}
	last := it.Record.Value.LastFire
	later := slices.IndexFunc(o.fires, func(fire time.Time) bool {
		if last.IsZero() {
			return !o.told(fire).Before(since)
		}
		return fire.After(last)
	})
	if later < 0 {
		return ""
	}
	noted := it.Misfire.Value
	noted.Times = "" // what is noted may be of another cron. Who reads a note of none takes out what is no fire of its own
	noted.Fires = jobtree.MissedFires(append(slices.Clone(noted.Fires), o.fires[later:]...)...)
	return jobtree.EncodeMisfire(noted)
}
