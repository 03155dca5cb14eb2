//go:build linux

package process_test

import (
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
)

// rerun is a lost execution and the one that ran it again.
type rerun struct {
	lost  checker.Run
	died  time.Time
	again checker.Run
}

// after is how long it took from the crash until the item ran again.
func (r rerun) after() time.Duration { return r.again.Began.Sub(r.died) }

// reruns returns, of a job, the executions that died with their processes and ran again.
func (c *chronicle) reruns(name string) []rerun {
	var all []rerun
	runs := c.history(name).Runs
	for i, lost := range runs {
		if !lost.Died {
			continue
		}
		for _, again := range runs[i+1:] {
			same := again.Context.Item == lost.Context.Item && again.Context.Fire.Equal(lost.Context.Fire)
			if same && again.Context.Source == job.Failover {
				all = append(all, rerun{lost, lost.Ended, again})
				break
			}
		}
	}
	return all
}

// count returns how many runs of a job there were, by source.
func (c *chronicle) count(name string) map[job.Source]int {
	counts := make(map[job.Source]int)
	for _, run := range c.history(name).Runs {
		counts[run.Context.Source]++
	}
	return counts
}
