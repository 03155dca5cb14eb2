package javapeers

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// errPeers names a Java instance that takes part in a job of a process that was not told of any.
func errPeers(id string) error {
	return fmt.Errorf("%w: %s is one; without WithJavaPeers both would run the same items: set it on every process, or stop the Java instances first", ErrPeers, id)
}

// ErrPeers says that live Java instances take part in the job, and this process does not know of them.
var ErrPeers = errors.New("live Java instances take part in the job")

// Unaware is the dialect of a process that was not told of Java instances, over a registry in which they may take
// part: the process stays out of the jobs in which one does.
type Unaware struct {
	peers.None
	Registry registry.Registry
}

// Admit implements [peers.Dialect].
func (u Unaware) Admit(ctx context.Context, name string) error {
	ids, err := u.Registry.Children(ctx, jobtree.For(name).Instances())
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(ids, jobtree.JavaInstance); i >= 0 {
		return errPeers(ids[i])
	}
	return nil
}

// New implements [peers.Dialect].
func (u Unaware) New(ports peers.Ports) peers.Peers { return &unknown{ports: ports} }

// unknown are Java instances of one job about which this process was not told.
type unknown struct {
	peers.None
	ports    peers.Ports
	reported string // one that should not be there; empty if there is none
}

// Refuses implements [peers.Members].
func (u *unknown) Refuses(v room.View) error {
	if id := one(v); id != "" {
		return errPeers(id)
	}
	return nil
}

// After implements [peers.Watcher]: such an instance is reported once, until there is none.
func (u *unknown) After(v room.View, t jobtree.Touched) (plan bool) {
	if !t.Instances {
		return false
	}
	id := one(v)
	if id != "" && u.reported == "" {
		u.ports.Log.ErrorContext(u.ports.Life(), "a Java instance takes part in the job, and this process was not told: items may run twice",
			"java_instance", id, room.KeyError, errPeers(id))
	}
	u.reported = id
	return false
}

// one returns a Java instance that takes part; empty if there is none.
func one(v room.View) string {
	i := slices.IndexFunc(v.State.Instances, func(i jobtree.Instance) bool { return jobtree.JavaInstance(i.ID) })
	if i < 0 {
		return ""
	}
	return v.State.Instances[i].ID
}
