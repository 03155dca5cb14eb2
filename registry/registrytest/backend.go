package registrytest

import (
	"testing"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Ability is a fault that a case asks the backend to produce, or a property that not every store
// has.
type Ability string

// Faults of one participant.
const (
	// Cut: Participant.Cut and Heal.
	Cut Ability = "cut"
	// Expire: Participant.Expire.
	Expire Ability = "expire"
	// LoseAnswer: Participant.LoseAnswer.
	LoseAnswer Ability = "lose answer"
	// HoldBack: Participant.HoldBack. A store that never carries out a request after one that its
	// process sent later lacks it.
	HoldBack Ability = "hold back"
	// Vanish: Participant.Vanish.
	Vanish Ability = "vanish"
	// BreakWatch: Participant.BreakWatch.
	BreakWatch Ability = "break watch"
	// Deny: Participant.Deny and Allow.
	Deny Ability = "deny"
)

// Faults of the whole store. A case that needs one of them must get a store of its own.
const (
	// Restart: Store.Restart.
	Restart Ability = "restart"
	// Compact: Store.Compact.
	Compact Ability = "compact"
	// Full: Store.Fill and Free.
	Full Ability = "full"
)

// Properties. They have no function; a backend without them says so in Lacks.
const (
	// ServerTime: the store has a clock.
	ServerTime Ability = "server time"
	// Adopt: after an outage in which the store kept a session that its process counts as lost, the
	// next session takes up the old one's claim.
	Adopt Ability = "adopt"
	// ConsistentList: List and the first state of a view are one state of the store.
	ConsistentList Ability = "consistent list"
	// OwnedParents: a node that a session owns can have descendants. Without it a backend refuses what
	// would give it one with registry.ErrUnsupported.
	OwnedParents Ability = "owned parents"
	// OneRequest: a batch of a few transactions is one request, so that the answers of all are lost together.
	OneRequest Ability = "one request"
)

// Steady is a wish, and no ability: the case has nothing to do with how long sessions last, so the
// store should give it a TTL, and each request a time, that outlast any standstill of a busy machine.
// Every store may ignore it.
const Steady Ability = "steady"

// Backend tells the suite how to start a store and what cannot be asked of it.
type Backend struct {
	// Start gives a case its store, and undoes everything with tb.Cleanup. needs are the abilities
	// that the case uses, so that a store may be shared by cases that break nothing, and proxies be
	// made only for those that cut connections. Cases run in parallel. Required.
	Start func(tb testing.TB, needs []Ability) *Store

	// Lacks names the abilities that the backend does not have, and why.
	Lacks map[Ability]string

	// Around runs the body of a case in a surrounding of the backend's choice, as
	// testing/synctest.Test. If nil, the body just runs.
	Around func(t *testing.T, body func(t *testing.T))

	// Idle is for how long the cases about long idleness do nothing. The default is 4 TTLs.
	Idle time.Duration

	// MaxOps is how many writes one transaction may hold, and MaxBytes how long a value may be. The
	// suite tries transactions well above. 0 means that there is no limit to be tested.
	MaxOps, MaxBytes int
}

// Store is one running store.
type Store struct {
	// TTL is that of the sessions of the handles that Open returns. Required.
	TTL time.Duration

	// Slack is how much later than its TTL the store may drop a session. The default is the TTL.
	Slack time.Duration

	// Open returns a handle on a namespace. The suite closes it. Required.
	Open func(tb testing.TB, namespace string) *Participant

	// OpenSteady is Open for a handle whose session is to outlast any standstill of a busy machine, as that
	// of a bystander in a case that ends the sessions of others. If nil, it is Open.
	OpenSteady func(tb testing.TB, namespace string) *Participant

	// Restart takes the store down and brings it up again after a while. It returns when it is up.
	Restart func(down time.Duration)

	// Compact makes the store forget its history up to now.
	Compact func()

	// Fill makes the store refuse puts for want of space; Free ends that.
	Fill, Free func()
}

// Participant is the handle of one simulated process, and what may happen to it.
type Participant struct {
	registry.Registry

	// Cut makes the network between this handle and the store hang: connections stay open, nothing
	// gets through in either direction. Heal ends that.
	Cut, Heal func()

	// Expire makes the store drop the handle's session now, without telling it.
	Expire func()

	// LoseAnswer makes the store do the next commit of this handle, and the answer get lost.
	LoseAnswer func()

	// HoldBack makes the network hold the next commit of this handle back for a time. The handle is told
	// that there was no answer, or finds out; the store does what it can of the commit when the time is
	// over.
	HoldBack func(late time.Duration)

	// Vanish ends the handle as the death of its process would, without a farewell: no goroutine of
	// it is left, and the store still holds the session.
	Vanish func()

	// BreakWatch makes the store end the watches of this handle.
	BreakWatch func()

	// Deny takes from this handle the permission to read and to write what lies at and below a path.
	// Allow gives it back.
	Deny  func(path string)
	Allow func()
}
