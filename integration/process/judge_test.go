//go:build linux

package process_test

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
)

// judge has all that happened judged, job by job. All instances must be gone.
func (c *cluster) judge() *observations {
	c.t.Helper()
	o := c.observe()
	bad := false
	for _, cfg := range c.jobs {
		findings := checker.Judge(o.history(cfg.Name), c.rules)
		bad = bad || len(findings) > 0
		for i, finding := range findings {
			if i == 10 {
				c.t.Errorf("job %s: and %d more", cfg.Name, len(findings)-i)
				break
			}
			c.t.Errorf("job %s: %s", cfg.Name, finding)
		}
	}
	if bad { // whoever reads that asks what happened then
		for _, i := range o.incidents {
			c.t.Logf("incident: %s", i)
		}
	}
	for _, fault := range o.unreported() {
		c.t.Error(fault)
	}
	c.judgeSessions()
	return o
}

// judgeSessions finds sessions that do not end though nobody keeps them alive.
func (c *cluster) judgeSessions() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		alive, err := c.recording.sessions(c.namespace)
		return err == nil && len(alive) == 0
	}, waitTimeout, 50*time.Millisecond, "sessions are left")
}

// unreported returns what is wrong with the reports of processes that ended by themselves: every run of
// theirs must have been reported, as recorded or as refused, once.
func (o *observations) unreported() []string {
	type run struct {
		job       string
		execution execution
	}
	var faults []string
	for p, events := range o.events {
		balance := make(map[run]int)
		for _, e := range events {
			r := run{e.Job, execution{e.Item, e.Token}}
			switch e.Kind {
			case kindBegan:
				balance[r]++
			case kindRecorded, kindRefused:
				balance[r]--
			}
		}
		if len(events) == 0 || events[len(events)-1].Kind != kindDown {
			continue
		}
		for r, n := range balance {
			if n != 0 {
				faults = append(faults, fmt.Sprintf("%s: job %s, item %d, token %d: runs less reports: %d", p.id, r.job, r.execution.item, r.execution.token, n))
			}
		}
	}
	return faults
}
