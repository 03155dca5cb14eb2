package scheduler

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// tellChanges logs which items, whether this server and whether the job were disabled or enabled by a step, each change once:
// one line for all items. What is enabled when a process comes needs no word.
func (r *runner) tellChanges(t jobtree.Touched) {
	var disabled, enabled []int
	for _, n := range t.Items {
		ended, known := r.toldItems[n]
		switch now := r.state.Disabled(n); {
		case now == (known && ended.IsZero()):
		case now:
			if r.toldItems == nil {
				r.toldItems = make(map[int]time.Time)
			}
			r.toldItems[n] = time.Time{}
			disabled = append(disabled, n)
		default:
			r.toldItems[n] = r.s.now()
			enabled = append(enabled, n)
		}
	}
	if disabled != nil {
		r.log.WarnContext(r.life, "items disabled, they do not run", logItems, disabled)
	}
	if enabled != nil {
		r.log.InfoContext(r.life, "items enabled", logItems, enabled)
	}
	c := r.state.Config // one that is gone, or cannot be read, says nothing of it
	if now := r.state.JobDisabled(); t.Config && c.Exists() && c.Err == nil && now != r.toldJob {
		r.toldJob = now
		if now {
			r.log.WarnContext(r.life, "job disabled, nothing of it begins on any server")
		} else {
			r.log.InfoContext(r.life, "job enabled")
		}
	}
	server := jobtree.ServerOf(r.s.instance)
	if !t.Servers || r.toldServer == r.state.Server(server).Disabled {
		return
	}
	r.toldServer = !r.toldServer
	if r.toldServer {
		r.log.WarnContext(r.life, "server disabled, its instances get no items", logServer, server)
	} else {
		r.log.InfoContext(r.life, "server enabled", logServer, server)
	}
}

// reportUnreadable tells of values that nothing can be decided upon. They are reported when they
// come, and not whenever they are in the way.
func (r *runner) reportUnreadable(t jobtree.Touched) {
	if err := r.state.Epoch.Err; t.Epoch && err != nil {
		r.log.ErrorContext(r.life, "the assignment cannot be read", logError, err)
	}
	if err := r.state.Tokens().Err; t.Config && err != nil {
		r.log.ErrorContext(r.life, "where the fencing tokens start cannot be read: nothing begins in processes that do not remember it until it is put back", logError, err)
	}
	if err := r.state.Triggered().Err; t.Triggered && err != nil {
		r.log.ErrorContext(r.life, "the request by hand cannot be read: no item runs for it", logError, err)
	}
	for _, n := range t.Items {
		if err := r.state.Record(n).Err; errors.Is(err, jobtree.ErrNewerFormat) {
			r.log.ErrorContext(r.life, "item pauses: a newer version wrote its record", logItem, n, logError, err)
		}
	}
}
