package jobtree

import (
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Begin describes an execution that is about to begin by [Record.Begin].
type Begin struct {
	Instance string             // id of the instance, required
	Session  registry.SessionID // that will own the running node, required
	Source   job.Source         // Scheduled, Misfire or Manual
	Fire     time.Time          // the newest that it stands for; zero if and only if by hand
	Trigger  registry.Revision  // the request to run by hand; 0 unless by hand
	Failover bool               // whether failover is on now
	Round    string             // what begins together has the same; may be empty
	Time     time.Time          // now
	Base     int64              // where the job's fencing tokens start, see Tokens
	// Next is the job's next fire after this begin, for those who look; zero if it is not known.
	Next time.Time
	// Horizon is the latest time that a clock in order can show: the registry's clock and the
	// difference that is tolerated. Zero does not check.
	Horizon time.Time
}

// Begin returns the record of an item that begins to run.
//
// Nothing may run or wait. A scheduled or misfire execution needs a fire later than LastFire, which
// it moves up, and not beyond the horizon; a LastFire beyond the horizon does not count. A run by
// hand needs a trigger later than the last one and leaves LastFire alone. If failover is off by now,
// an item that waits may begin too, and what it waited for is given up.
func (r Record) Begin(b Begin) (Record, error) {
	if err := r.mayBegin(b); err != nil {
		return Record{}, r.refuse("begin", err)
	}
	next := r.start(Execution{
		Instance: b.Instance, Session: b.Session, Source: b.Source, Fire: b.Fire.UTC(),
		Begin: moment(b.Time), Failover: b.Failover, Round: b.Round, Base: b.Base,
	})
	next.Reruns = 0
	next.NextFire = time.Time{}
	if storable(b.Next) {
		next.NextFire = b.Next.UTC()
	}
	if b.Source == job.Manual {
		next.Trigger = b.Trigger
	} else {
		next.LastFire = b.Fire.UTC()
	}
	return next, nil
}

func (r Record) mayBegin(b Begin) error {
	if err := b.check(); err != nil {
		return err
	}
	switch {
	case r.State == ItemRunning:
		return ErrItemRunning
	case r.State == ItemWaiting && b.Failover:
		return ErrItemWaiting
	case b.Source == job.Manual && b.Trigger <= r.Trigger:
		return fmt.Errorf("%w: trigger %d, last one %d", ErrTriggerPassed, b.Trigger, r.Trigger)
	case b.Source == job.Manual:
		return nil
	case !b.Horizon.IsZero() && b.Fire.After(b.Horizon):
		return fmt.Errorf("%w: fire %s, latest time %s", ErrFireAhead, show(b.Fire), show(b.Horizon))
	case !r.FireAhead(b.Horizon) && !b.Fire.After(r.LastFire):
		return fmt.Errorf("%w: fire %s, last one %s", ErrFirePassed, show(b.Fire), show(r.LastFire))
	default:
		return nil
	}
}

// check tells whether the description makes sense, whatever the record is.
func (b Begin) check() error {
	switch {
	case b.Instance == "" || b.Session == 0:
		return fmt.Errorf("%w: an execution needs an instance and a session", registry.ErrInvalid)
	case b.Source == job.Manual && b.Fire.IsZero() && b.Trigger > 0:
		return nil
	case b.Source == job.Manual:
		return fmt.Errorf("%w: a run by hand needs a trigger and no fire", registry.ErrInvalid)
	case b.Source != job.Scheduled && b.Source != job.Misfire:
		return fmt.Errorf("%w: source %q cannot begin", registry.ErrInvalid, b.Source)
	case !storable(b.Fire) || b.Trigger != 0:
		return fmt.Errorf("%w: a %s execution needs a fire and no trigger", registry.ErrInvalid, b.Source)
	default:
		return nil
	}
}

func show(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
