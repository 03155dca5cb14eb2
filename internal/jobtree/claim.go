package jobtree

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Claim describes an instance that takes over a lost execution by [Record.Claim].
type Claim struct {
	Instance string             // id of the instance, required
	Session  registry.SessionID // that will own the running node, required
	Round    string             // what begins together has the same; may be empty
	Time     time.Time          // now
	Base     int64              // where the job's fencing tokens start, see Tokens
}

// Claim returns the record of an item that waits and now runs again, by the claimant: for the same
// fire, with one rerun more, and again under failover. LastFire stays.
func (r Record) Claim(c Claim) (Record, error) {
	if c.Instance == "" || c.Session == 0 {
		return Record{}, r.refuse("claim", fmt.Errorf("%w: a claim needs an instance and a session", registry.ErrInvalid))
	}
	if r.State != ItemWaiting || r.Current == nil {
		return Record{}, r.refuse("claim", ErrItemNotWaiting)
	}
	next := r.start(Execution{
		Instance: c.Instance, Session: c.Session, Source: job.Failover, Fire: r.Current.Fire,
		Begin: moment(c.Time), Failover: true, Round: c.Round, Base: c.Base,
	})
	next.Reruns++
	return next, nil
}
