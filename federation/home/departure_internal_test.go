package home

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

var orders = jobtree.For("orders")

// shownAs is a job with a configuration and what operators did to it; without a text it is not there.
func shownAs(config string, operated jobtree.Operated, more ...registry.Node) registry.Snapshot {
	nodes := more
	if config != "" {
		nodes = append(nodes, registry.Node{Path: orders.Config(), Value: config, Created: 7, Revision: 7},
			registry.Node{Path: orders.Operated(), Value: jobtree.EncodeOperated(operated), Created: 8, Revision: 8})
	}
	return registry.NewSnapshot(9, nodes)
}

func configured(t *testing.T, change func(*job.Config)) string {
	t.Helper()
	cfg := job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 2}
	change(&cfg)
	text, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	return text
}

// A job moves from a to b.
func TestNextOfDeparture(t *testing.T) {
	t.Parallel()
	enabled := configured(t, func(*job.Config) {})
	disabled := configured(t, func(c *job.Config) { c.Disabled = true })
	none, toB, toC := jobtree.Operated{}, jobtree.Operated{Moving: &jobtree.Moving{To: "b", Move: "1"}}, jobtree.Operated{Moving: &jobtree.Moving{To: "c", Move: "2"}}
	for name, row := range map[string]struct {
		config   string
		operated jobtree.Operated
		began    bool
		next     departure
		err      error
	}{
		"a job that runs":                         {config: enabled, operated: none, next: toStop},
		"a disabled one":                          {config: disabled, operated: none, next: toStop},
		"one of which a move was called off":      {config: enabled, operated: toB, next: toStop},
		"and one elsewhere":                       {config: enabled, operated: toC, next: toStop},
		"one that is stopped":                     {config: disabled, operated: toB, began: true, next: toShut},
		"and by another call":                     {config: disabled, operated: toB, next: toShut},
		"one that is stopped to go elsewhere":     {config: disabled, operated: toC, err: ErrRefused},
		"one that was enabled meanwhile":          {config: enabled, operated: toB, began: true, err: ErrCalledOff},
		"one that nobody moves any more":          {config: disabled, operated: none, began: true, err: ErrCalledOff},
		"one that is being removed":               {config: disabled, operated: jobtree.Operated{Removing: "3"}, err: ErrRefused},
		"one that was removed":                    {began: true, err: ErrCalledOff},
		"one that cannot be read":                 {config: "{", operated: none, err: ErrRefused},
		"one that somebody has closed":            {config: jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "b", Config: enabled}), began: true, next: hasDeparted},
		"one that somebody has brought elsewhere": {config: jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: "c"}), began: true, err: ErrRefused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &mover{r: &Moved{Job: "orders", From: "a", To: "b"}, tree: orders}
			now, err := m.nextOfDeparture(shownAs(row.config, row.operated), row.began)
			if row.err != nil {
				require.ErrorIs(t, err, row.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.next, now.next)
		})
	}
}
