package home

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func TestNextOfShut(t *testing.T) {
	t.Parallel()
	lives := registry.Node{Path: orders.Instance("10.0.0.1@-@7"), Created: 5, Revision: 5, Session: 3}
	runs := registry.Node{Path: orders.ItemRunning(1), Created: 6, Revision: 6, Session: 3}
	begun, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: "10.0.0.1@-@7", Session: 3, Source: job.Scheduled, Fire: time.Unix(0, 0), Time: time.Unix(1, 0)})
	require.NoError(t, err)
	record := registry.Node{Path: orders.ItemRecord(0), Value: jobtree.EncodeRecord(begun), Created: 6, Revision: 6}
	for name, row := range map[string]struct {
		change func(*job.Config)
		nodes  []registry.Node
		ago    time.Duration
		want   shutting
	}{
		"an item runs":                          {nodes: []registry.Node{lives, runs}, ago: time.Hour, want: shutting{running: []int{1}}},
		"of one no end is recorded":             {nodes: []registry.Node{record, runs}, want: shutting{running: []int{0, 1}}},
		"nobody lives":                          {},
		"its owner may note what it has missed": {nodes: []registry.Node{lives}, want: shutting{left: lateNote}},
		"for a while":                           {nodes: []registry.Node{lives}, ago: lateNote - 1, want: shutting{left: 1}},
		"and no longer":                         {nodes: []registry.Node{lives}, ago: lateNote},
		"it makes nothing up":                   {nodes: []registry.Node{lives}, change: func(c *job.Config) { c.Misfire = job.MisfireSkip }},
		"nothing of it is recorded":             {nodes: []registry.Node{lives}, change: func(c *job.Config) { c.Unmonitored = true }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := configured(t, func(c *job.Config) {
				if c.Disabled = true; row.change != nil {
					row.change(c)
				}
			})
			st := jobtree.StateOf("orders", shownAs(config, jobtree.Operated{}, row.nodes...))
			require.Equal(t, row.want, nextOfShut(st, row.ago))
		})
	}
}
