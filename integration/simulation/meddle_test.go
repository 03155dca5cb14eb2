package simulation_test

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/careless"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// hand is the registry of a careless operator, who is watched.
type hand struct {
	registry.Registry
	d    *driver
	path string
	last func() // tells that the newest deed is over
}

// Commit implements registry.Committer.
func (h *hand) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := h.Registry.Commit(ctx, txn)
	if err == nil {
		i := h.d.rec.tampered(h.path, revision)
		h.last = func() { h.d.rec.over(i) }
	}
	return revision, err
}

// meddle has a careless hand do any single deed to a node of the job. What takes the settings away is put
// right after a time, and what is held by a session goes with it.
func (d *driver) meddle(a action) {
	chance := rand.New(rand.NewPCG(d.plan.seed, uint64(a.at)+uint64(a.n)))
	instance := "10.9.9.9@-@nobody"
	if p := d.slots[a.slot].process; p != nil {
		instance = p.id
	}
	all := careless.Deeds(jobName, instance, a.n%max(1, d.state().Total()))
	deed := all[chance.IntN(len(all))]
	settings := deed.Kind == jobtree.KindConfig
	if settings {
		if d.missing != "" || d.state().Config.Revision == 0 {
			return
		}
		d.missing = d.view.Snapshot().Get(d.tree().Config()).Value
	}
	h := &hand{Registry: d.operator, d: d, path: deed.Path}
	if deed.Act == careless.Borrow {
		h.Registry = d.server.Open(namespace, memory.WithTTL(d.ttl))
	}
	require.NoError(d.t, deed.Do(d.t.Context(), h))
	if !settings && deed.Act != careless.Borrow {
		return
	}
	d.wg.Go(func() {
		time.Sleep(a.lasts)
		if deed.Act == careless.Borrow {
			_ = h.Close(context.Background()) // or its session runs out
		}
		if h.last != nil {
			h.last()
		}
		for settings && !d.repair(time.Second) {
		}
	})
}
