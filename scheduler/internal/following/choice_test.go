package following_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/scheduler/internal/following"
)

func TestWhoFollowsItsOwnItems(t *testing.T) {
	t.Parallel()
	large := following.Circumstances{Rule: following.ByCost, Items: 200, Own: 4, Calm: time.Minute, Spares: true}
	for name, c := range map[string]struct {
		change func(c *following.Circumstances)
		narrow bool
		again  time.Duration
	}{
		"a small part of a large job":          {change: func(*following.Circumstances) {}, narrow: true},
		"nothing of a large job":               {change: func(c *following.Circumstances) { c.Own = 0 }, narrow: true},
		"the leader":                           {change: func(c *following.Circumstances) { c.Needed = true }},
		"a store that sends all anyway":        {change: func(c *following.Circumstances) { c.Spares = false }},
		"half of the items":                    {change: func(c *following.Circumstances) { c.Items, c.Own = 40, 20 }},
		"a quarter of the items":               {change: func(c *following.Circumstances) { c.Items, c.Own = 100, 25 }, narrow: true},
		"many own items":                       {change: func(c *following.Circumstances) { c.Items, c.Own = 2000, 33 }},
		"a small job":                          {change: func(c *following.Circumstances) { c.Items, c.Own = 10, 1 }},
		"hardly any others":                    {change: func(c *following.Circumstances) { c.Items, c.Own = 40, 9 }},
		"something has just moved":             {change: func(c *following.Circumstances) { c.Calm = time.Second }, again: 2 * time.Second},
		"that keeps moving":                    {change: func(c *following.Circumstances) { c.Calm, c.Brief = 10*time.Second, true }, again: 20 * time.Second},
		"that kept moving, and does not now":   {change: func(c *following.Circumstances) { c.Brief = true }, narrow: true},
		"told to follow all":                   {change: func(c *following.Circumstances) { c.Rule = following.Whole }},
		"told to follow its own":               {change: func(c *following.Circumstances) { c.Rule, c.Items, c.Own, c.Spares = following.Own, 2, 1, false }, narrow: true},
		"told so, of a job that is all its":    {change: func(c *following.Circumstances) { c.Rule, c.Items, c.Own = following.Own, 2, 2 }},
		"told so, of a job of one item":        {change: func(c *following.Circumstances) { c.Rule, c.Items, c.Own = following.Own, 1, 0 }},
		"told so, as the leader":               {change: func(c *following.Circumstances) { c.Rule, c.Needed = following.Own, true }},
		"told so, when something just moved":   {change: func(c *following.Circumstances) { c.Rule, c.Calm = following.Own, 0 }, again: 50 * time.Millisecond},
		"told so, and it moved a moment ago":   {change: func(c *following.Circumstances) { c.Rule, c.Calm = following.Own, time.Second }, narrow: true},
		"a job without items that is assigned": {change: func(c *following.Circumstances) { c.Items, c.Own = 0, 0 }},
	} {
		circumstances := large
		c.change(&circumstances)
		narrow, again := circumstances.Narrow()
		require.Equal(t, c.narrow, narrow, name)
		require.Equal(t, c.again, again, name)
	}
}
