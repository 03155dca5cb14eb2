package javapeers

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// options name the option for each kind of Java instances.
var options = map[jobtree.Layout]string{jobtree.Lite: "WithJavaPeers", jobtree.ElasticJob3: "WithElasticJob3Peers"}

// errPeers names a Java instance that takes part in a job of a process that was not told of any.
func errPeers(id string, of jobtree.Layout) error {
	return fmt.Errorf("%w: %s is one; without %s both would run the same items: set it on every process, or stop the Java instances first",
		ErrPeers, id, options[of])
}

// errOther names an instance that takes part in a job in the words of another kind of Java instances than this process.
func errOther(id string, of jobtree.Layout) error {
	kind := "Elastic-Job-Lite 2.1.5"
	if of == jobtree.ElasticJob3 {
		kind = "ElasticJob 3.x"
	}
	return fmt.Errorf("%w: %s writes its node as %s does, and one job is never shared by two kinds: set %s here, or stop that instance first",
		ErrPeers, id, kind, options[of])
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
	return admit(ctx, u.Registry, name, func(instance registry.Node) error {
		id := path.Base(instance.Path)
		if of := jobtree.LayoutOf(instance); unexpected(id, of) {
			return errPeers(id, of)
		}
		return nil
	})
}

// unexpected tells whether an instance is Java's, or one of ours that writes its node as ElasticJob 3.x does because such
// instances take part.
func unexpected(id string, of jobtree.Layout) bool {
	return jobtree.JavaInstance(id) || of != jobtree.Lite
}

// admit asks of each live instance of a job what is wrong with it.
func admit(ctx context.Context, reg registry.Registry, name string, wrong func(instance registry.Node) error) error {
	instances, _, err := reg.List(ctx, jobtree.For(name).Instances())
	if err != nil {
		return err
	}
	for _, n := range instances {
		if at, ok := jobtree.Parse(n.Path); !ok || at.Kind != jobtree.KindInstance {
			continue
		}
		if err := wrong(n); err != nil {
			return err
		}
	}
	return nil
}

// New implements [peers.Dialect].
func (u Unaware) New(ports peers.Ports) peers.Peers {
	return &unknown{ports: ports, strangers: strangers{
		is:  func(i jobtree.Instance) bool { return unexpected(i.ID, i.Layout) },
		err: func(i jobtree.Instance) error { return errPeers(i.ID, i.Layout) },
	}}
}

// unknown are Java instances of one job about which this process was not told.
type unknown struct {
	peers.None
	ports peers.Ports
	strangers
}

// Refuses implements [peers.Members].
func (u *unknown) Refuses(v room.View) error { return u.strangers.Refuses(v) }

// After implements [peers.Watcher].
func (u *unknown) After(v room.View, t jobtree.Touched) (plan bool) {
	u.report(u.ports, v, t)
	return false
}

// strangers are instances with which this process does not share a job.
type strangers struct {
	is       func(jobtree.Instance) bool
	err      func(jobtree.Instance) error
	reported string // one that should not be there; empty if there is none
}

// Refuses implements [peers.Members].
func (s *strangers) Refuses(v room.View) error {
	if i := slices.IndexFunc(v.State.Instances, s.is); i >= 0 {
		return s.err(v.State.Instances[i])
	}
	return nil
}

// report tells once of a stranger, until there is none.
func (s *strangers) report(ports peers.Ports, v room.View, t jobtree.Touched) {
	if !t.Instances {
		return
	}
	i := slices.IndexFunc(v.State.Instances, s.is)
	if i < 0 {
		s.reported = ""
		return
	}
	stranger := v.State.Instances[i]
	if s.reported == "" {
		ports.Log().ErrorContext(ports.Life(), "a Java instance takes part in the job, and this process was not told: items may run twice",
			"java_instance", stranger.ID, room.KeyError, s.err(stranger))
	}
	s.reported = stranger.ID
}
