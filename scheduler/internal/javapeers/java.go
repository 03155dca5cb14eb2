// Package javapeers are the Java instances of Elastic-Job-Lite 2.1.5 that share a job over the same ZooKeeper, as
// the peers of those of this library: what they expect, what they leave out, and what is done about it. All that
// differs for them stands here. docs/java.md says what that means for users.
package javapeers

import (
	"github.com/elasticron/elasticron/internal/javarules"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Dialect is the dialect of a process that was told of Java instances.
type Dialect struct {
	peers.None
	Instance string // the id of this process
	Registry registry.Registry
}

// Traits implements [peers.Dialect].
func (Dialect) Traits() peers.Traits {
	return peers.Traits{
		Unrecorded: true, StartDisabled: true, OwnRules: true, Unsteady: true, AloneAnswered: true, CountOnNotes: true, Borrow: true, OwnWishes: true,
	}
}

// Faults implements [peers.Dialect]. Some of it would stop every Java instance of the job.
func (d Dialect) Faults(cfg job.Config) []error {
	root, _ := Root(d.Registry)
	return javarules.Faults(root, d.Instance, cfg)
}

// NewState implements [peers.Dialect].
func (Dialect) NewState(job string) *jobtree.State {
	s := jobtree.NewState(job)
	s.ShareWithJava()
	return s
}

// StateOf implements [peers.Dialect].
func (Dialect) StateOf(job string, s registry.Snapshot) *jobtree.State {
	return jobtree.SharedStateOf(job, s)
}

// New implements [peers.Dialect].
func (Dialect) New(ports peers.Ports) peers.Peers {
	return &java{ports: ports, former: make(map[int]string)}
}

// java is what is known of the Java instances of one job.
type java struct {
	ports   peers.Ports
	held    bool           // items wait for the end of their executions to be moved
	former  map[int]string // owners of items before their present ones
	blocked bool           // a Java leader was resharding at the last tick: no Java instance began anything
	departure
	losses
	runs
	sideChanges
	abandoned
	urging
	lastCron
	taken actor.Lookout // items that Java may have taken over
}

var (
	_ peers.Dialect = Dialect{}
	_ peers.Dialect = Unaware{}
	_ peers.Peers   = (*java)(nil)
)

// Refuses implements [peers.Members].
func (*java) Refuses(room.View) error { return nil }

// Joining implements [peers.Members]: each instance writes the node of its server when it joins.
func (*java) Joining(v room.View) ([]registry.Condition, []registry.Write) {
	server := jobtree.ServerOf(v.Instance)
	if v.State.Server(server).Revision != 0 {
		return nil, nil
	}
	path := v.Tree.Server(server)
	return []registry.Condition{registry.Absent(path)},
		[]registry.Write{registry.Put(path, jobtree.EncodeServer(v.State.Config.Value.Disabled))}
}

// LeaderDeclaresNone implements [peers.Leaders].
func (*java) LeaderDeclaresNone(v room.View) bool { return v.State.LedByJava() }

// MayBegin implements [peers.Executors]: while a Java leader reshards nothing begins, as in Java instances. Fires
// that come meanwhile are late or missed.
func (*java) MayBegin(v room.View) bool { return v.Leads() || !v.State.JavaReshards() }

// Beginning implements [peers.Executors]: a Java leader has seen that nothing runs, and does not look again.
func (*java) Beginning(v room.View) []registry.Condition {
	if v.Leads() || !v.State.LedByJava() {
		return nil
	}
	return []registry.Condition{registry.Absent(v.Tree.Necessary()), registry.Absent(v.Tree.Processing())}
}

// Claiming implements [peers.Executors]: Java instances read which items wait and take one in two steps, in a
// latch. A leader that assigns items has seen that nothing runs, and does not look again.
func (*java) Claiming(v room.View) (latch string, guards []registry.Condition) {
	if v.State.LedByJava() {
		guards = []registry.Condition{registry.Absent(v.Tree.Processing())}
	}
	return v.Tree.FailoverLatch(), guards
}

// Decide implements [peers.Peers].
func (s *java) Decide(v room.View) []room.Batch { return []room.Batch{s.yield(v), s.settleLosses(v)} }
