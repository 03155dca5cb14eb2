//go:build linux

package process_test

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
)

// judge has all that happened judged, job by job. All instances must be gone.
func (f *fleet) judge() *chronicle {
	f.t.Helper()
	c := f.chronicle()
	for _, cfg := range f.jobs {
		findings := checker.Judge(c.history(cfg.Name), f.rules)
		for i, finding := range findings {
			if i == 10 {
				f.t.Errorf("job %s: and %d more", cfg.Name, len(findings)-i)
				break
			}
			f.t.Errorf("job %s: %s", cfg.Name, finding)
		}
	}
	for _, fault := range c.unreported() {
		f.t.Error(fault)
	}
	f.judgeSessions()
	return c
}

// judgeSessions finds sessions that do not end though nobody keeps them alive.
func (f *fleet) judgeSessions() {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		alive, err := f.tape.sessions(f.namespace)
		return err == nil && len(alive) == 0
	}, patience, 50*time.Millisecond, "sessions are left")
}

// unreported returns what is wrong with the reports of processes that ended by themselves: every run of
// theirs must have been reported, as recorded or as refused, once.
func (c *chronicle) unreported() []string {
	type run struct {
		job       string
		execution execution
	}
	var faults []string
	for l, events := range c.events {
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
				faults = append(faults, fmt.Sprintf("%s: job %s, item %d, token %d: runs less reports: %d", l.id, r.job, r.execution.item, r.execution.token, n))
			}
		}
	}
	return faults
}
