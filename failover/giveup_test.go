package failover_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func TestMoot(t *testing.T) {
	t.Parallel()
	unrecorded := configNode(t, func(c *job.Config) { c.Unmonitored, c.Failover = true, false })
	for name, test := range map[string]struct {
		different []registry.Node
		want      bool
	}{
		"nothing is recorded":       {[]registry.Node{unrecorded, recordNode(waiting(t))}, true},
		"it is recorded":            {[]registry.Node{recordNode(waiting(t))}, false},
		"it does not wait":          {[]registry.Node{unrecorded}, false},
		"its record cannot be read": {[]registry.Node{unrecorded, node(tree.ItemRecord(item), "{", 20)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stateOf(afterACrash(t), test.different...)
			require.Equal(t, test.want, failover.Moot(s, item))
		})
	}
}

func TestGiveUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := decisions(t)["give up"]
	d.prepare(w)
	require.Nil(t, w.commit(d.decide(w)))
	s := w.state()
	require.Equal(t, jobtree.ItemInterrupted, s.Record(item).Value.State)
	require.Empty(t, s.FailoverItems, "nobody is asked to claim it")
	_, err := failover.GiveUp(s, item)
	require.ErrorIs(t, err, jobtree.ErrItemNotWaiting)
}
