package membership

import (
	"hash/fnv"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// refusal keeps an instance out of the job whose process refuses a configuration that others may be able to use: a secret is
// missing on this machine, or the code is of another version. Its items would stand still here, so it leaves the job to
// others until it can use the configuration.
//
// The last instance stays, and leaves when another one comes. Whether that one can use the configuration nobody knows, so of
// several that all refuse it, one stays: a leave compares that another instance is there.
type refusal struct {
	deserted time.Time // since when there has been no other one; zero = there is
}

// mindRefusal decides whether what this process makes of the configuration lets the instance take part. One that nobody can
// use is no reason to leave, nor one to come back.
func (m *Membership) mindRefusal(v room.View) {
	switch {
	case v.Usable && m.refusal != nil:
		m.refusal = nil
		if !m.clock.out {
			m.comeBack()
		}
	case m.refusal == nil && v.Refused && other(v).Created != 0:
		m.refusal = &refusal{}
		m.ports.Log().WarnContext(m.ports.Life(), "this process cannot use the job's configuration: the instance leaves the job to others until it can",
			room.KeyReason, m.ports.Refusal())
	}
}

// other returns another live instance of the job that could run its items.
func other(v room.View) jobtree.Instance {
	i := slices.IndexFunc(v.State.Instances, func(i jobtree.Instance) bool {
		return i.ID != v.Instance && i.Session != 0 && v.State.MayOwn(i)
	})
	if i < 0 {
		return jobtree.Instance{}
	}
	return v.State.Instances[i]
}

// Out tells whether this instance stays out of the job.
func (m *Membership) Out() bool { return m.clock.out || m.refusal != nil }

// Away tells whether this instance takes no part because it stays out, and so leaves if it has not. It joins for the first
// time in any case: somebody may wait for that.
func (m *Membership) Away() bool { return m.Out() && m.joinedAs != 0 }

const (
	// returnStep sets those apart who find at once that no other instance is left, so that as a rule only one comes back.
	returnStep = 25 * time.Millisecond
	// returnSteps bounds how long one of them holds back.
	returnSteps = 20
)

// returnAfter is how long an instance that refuses the configuration leaves it to others to come back as the last one. They
// are not registered, so there is no order among them but that of a hash.
func returnAfter(instance string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(instance))
	return time.Duration(h.Sum32()%returnSteps) * returnStep
}

// deserted tells whether this instance, which stays out, is the last one and has to take part.
func (m *Membership) deserted(v room.View) bool {
	r := m.refusal
	if other(v).Created != 0 {
		if r != nil {
			r.deserted = time.Time{}
		}
		return false
	}
	if r == nil || m.Standing(v) != Absent || len(v.State.Instances) > 0 { // it is there, or others are, which are disabled
		return true
	}
	if r.deserted.IsZero() {
		r.deserted = time.Now()
	}
	left := returnAfter(v.Instance) - time.Since(r.deserted)
	if left > 0 {
		m.ports.Wake(left)
	}
	return left <= 0
}

func (m *Membership) comeBackAsLast(v room.View) {
	if m.refusal != nil && v.Refused {
		m.ports.Log().WarnContext(m.ports.Life(), "this process cannot use the job's configuration, and there is no other instance that could run its items: this one takes part, and the job pauses",
			room.KeyReason, m.ports.Refusal())
	}
	m.comeBack()
}

func (m *Membership) comeBack() {
	m.clock.out, m.clock.right = false, time.Time{}
	m.refusal = nil
	m.parting, m.leftAt = false, time.Time{}
	m.ports.ComesBack()
}
