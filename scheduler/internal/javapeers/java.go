package javapeers

import (
	"context"
	"path"

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
	Of       jobtree.Layout // which Java instances they are
}

// Traits implements [peers.Dialect].
func (Dialect) Traits() peers.Traits {
	return peers.Traits{
		Unrecorded: true, StartDisabled: true, OwnRules: true, Unsteady: true, AloneAnswered: true, CountOnNotes: true, Borrow: true, OwnWishes: true,
		ElectInLatch: true,
	}
}

// Faults implements [peers.Dialect]. Some of it would stop every Java instance of the job.
func (d Dialect) Faults(cfg job.Config) []error {
	root, _ := registry.JavaRoot(d.Registry)
	if d.Of == jobtree.ElasticJob3 {
		return javarules.Faults3(root, d.Instance, cfg)
	}
	return javarules.Faults(root, d.Instance, cfg)
}

// Admit implements [peers.Dialect]: instances that write their nodes in other words would be misread, and misread ours.
func (d Dialect) Admit(ctx context.Context, name string) error {
	return admit(ctx, d.Registry, name, func(instance registry.Node) error {
		if found := jobtree.LayoutOf(instance); found != d.Of {
			return errOther(path.Base(instance.Path), found)
		}
		return nil
	})
}

// Layout implements [peers.Dialect].
func (d Dialect) Layout() jobtree.Layout { return d.Of }

// NewState implements [peers.Dialect].
func (d Dialect) NewState(job string) *jobtree.State {
	s := jobtree.NewState(job)
	if d.Of == jobtree.ElasticJob3 {
		s.ShareWithElasticJob3()
	} else {
		s.ShareWithJava()
	}
	return s
}

// StateOf implements [peers.Dialect].
func (d Dialect) StateOf(job string, s registry.Snapshot) *jobtree.State {
	if d.Of == jobtree.ElasticJob3 {
		return jobtree.ElasticJob3StateOf(job, s)
	}
	return jobtree.SharedStateOf(job, s)
}

// New implements [peers.Dialect].
func (d Dialect) New(ports peers.Ports) peers.Peers {
	return &java{
		ports: ports, of: d.Of, past: past{former: make(map[int]string), unsure: make(map[int]registry.Revision)},
		strangers: strangers{is: func(i jobtree.Instance) bool { return i.Layout != d.Of }, err: func(i jobtree.Instance) error { return errOther(i.ID, i.Layout) }},
	}
}

// java is what is known of the Java instances of one job.
type java struct {
	ports peers.Ports
	of    jobtree.Layout // which Java instances they are
	held  []int          // items that wait for the end of their executions to be moved, while this instance leads
	past
	departure
	losses
	runs
	nearFires
	abandoned
	urging
	rests
	making
	lastCron
	once onceListeners
	strangers
	taken   actor.Lookout // items that Java may have taken over
	claimed claimedWhile
	left    actor.Lookout // items of which gone instances may have left marks
}

var (
	_ peers.Dialect = Dialect{}
	_ peers.Dialect = Unaware{}
	_ peers.Peers   = (*java)(nil)
)

// Joining implements [peers.Members]: each instance writes the node of its server when it joins.
func (s *java) Joining(v room.View) ([]registry.Condition, []registry.Write) {
	ip := jobtree.ServerOf(v.Instance)
	server := v.State.Server(ip)
	if server.Revision != 0 && !server.Unset {
		return nil, nil
	}
	path := v.Tree.Server(ip)
	return []registry.Condition{registry.Unchanged(path, server.Revision)},
		[]registry.Write{registry.Put(path, s.of.EncodeServer(v.State.Config.Value.Disabled))}
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
func (s *java) Decide(v room.View) []room.Batch {
	s.noteRemains(v)
	s.settleRests(v)
	return []room.Batch{s.yield(v), s.settleLosses(v), s.keepServer(v), s.endResharding(v)}
}

// endResharding proposes to take away what says that a Java leader reshards, while this instance leads. A former leader that
// stood still until its session was over goes on with its resharding: its last transaction deletes this node, and so fails,
// and while the node stands, each Java instance that meets a request for a resharding waits.
func (s *java) endResharding(v room.View) room.Batch {
	seen := v.State.Processing()
	if seen == 0 || v.State.StrayProcessing() != 0 || !v.Leads() {
		return nil
	}
	txn := registry.Txn{
		If:   []registry.Condition{v.Term(), registry.Unchanged(v.Tree.Processing(), seen)},
		Then: []registry.Write{registry.Delete(v.Tree.Processing())},
	}
	return room.Batch{{Step: "end a resharding of a former leader", Alone: true, Txn: txn, Done: func(registry.Outcome) {
		s.ports.Log().InfoContext(s.ports.Life(), "ended the resharding of a Java instance that leads no more")
	}}}
}

// keepServer proposes to write the node of this server again. An instance of ElasticJob 3.x that starts takes away those
// of servers on which it has seen no instance, also if one joins in that moment, though 3.0.4 does so to empty nodes alone; and
// all take a server without a node for disabled. Whoever removes a server on purpose takes its instances out as well.
func (s *java) keepServer(v room.View) room.Batch {
	if s.of != jobtree.ElasticJob3 || v.Attached == nil || !v.Registered() || v.Leaving {
		return nil
	}
	conditions, writes := s.Joining(v)
	if writes == nil {
		return nil
	}
	txn := registry.Txn{
		If: append(conditions, v.Mine()), Then: writes,

		Repeat: registry.RepeatHarmless, // as long as this instance takes part, its server has a node
	}
	return room.Batch{{Step: "keep the server", Txn: txn, Done: func(registry.Outcome) {
		s.ports.Log().InfoContext(s.ports.Life(), "wrote the node of this server again: somebody had taken it away")
	}}}
}
