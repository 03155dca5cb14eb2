package jobtree

import (
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// ShareWithJava has the state read the tree as Java instances of Elastic-Job-Lite 2.1.5 read it, for
// jobs that they take part in. Call it before the first [State.Apply]. Then
//
//   - who owns an item is what its instance node says, and nothing else: Java instances know neither
//     next nor epoch.
//   - the items in force are those up to the last one that has an instance node. A Java leader keeps no
//     epoch.
//   - that the configuration disables the job means that new servers start disabled, and nothing for those that
//     are there: each instance writes its server's node when it joins.
func (s *State) ShareWithJava() { s.java = &java{} }

// SharedStateOf is [StateOf] for a job that Java instances share.
func SharedStateOf(job string, snapshot registry.Snapshot) *State {
	s := NewState(job)
	s.ShareWithJava()
	s.show(snapshot)
	return s
}

// ShareWithElasticJob3 is [State.ShareWithJava] for Java instances of ElasticJob 3.0.x. Besides,
//
//   - nodes are read in the layout [ElasticJob3], and a server without a node counts as disabled.
//   - the mark of an execution may be persistent and hold the id of its instance. It counts as that of the
//     instance's session, see [Item.Running], and what an instance left that is gone, or another of its id now, is in [Item.Remains].
func (s *State) ShareWithElasticJob3() { s.java = &java{layout: ElasticJob3} }

// ElasticJob3StateOf is [StateOf] for a job that Java instances of ElasticJob 3.0.x share.
func ElasticJob3StateOf(job string, snapshot registry.Snapshot) *State {
	s := NewState(job)
	s.ShareWithElasticJob3()
	s.show(snapshot)
	return s
}

// Layout returns in which words the nodes of the job are written.
func (s *State) Layout() Layout {
	if s.java == nil {
		return Lite
	}
	return s.java.layout
}

// java is what a state keeps of a job only where Java instances share it.
type java struct {
	layout     Layout
	root       string                       // the value of the job's own node
	config     registry.Node                // likewise
	static     bool                         // its items stay where they are while members change
	triggers   map[string]registry.Revision // of the nodes that ask instances to run their items
	assigned   int                          // items up to the last that has an instance node
	processing registry.Revision            // of the node that says that a Java leader reshards; 0 = there is none
	stray      registry.Revision            // of a processing node that no session owns; 0 = there is none
}

// SharedWithJava tells whether [State.ShareWithJava] was called.
func (s *State) SharedWithJava() bool { return s.java != nil }

// LedByJava tells whether the job has a leader that has not said, by an epoch of its term, that it is one
// of ours. A leader of ours says so with the first thing that it commits; until then it counts as Java.
func (s *State) LedByJava() bool {
	return s.Leader.Created != 0 && s.Epoch.Value.Term != s.Leader.Created
}

// JavaReshards tells whether a Java leader is asked for a resharding, or is at one. Java instances begin
// nothing meanwhile, and the leader waits until nothing runs.
func (s *State) JavaReshards() bool {
	return s.java != nil && s.LedByJava() && (s.Necessary != 0 || s.java.processing != 0)
}

// OnlyLeadersAsk tells whether only leaders ask for a resharding when members change, as in ElasticJob 3.x. So who gives
// the leadership up asks for one, too: the next leader has not seen the change as a leader.
func (s *State) OnlyLeadersAsk() bool { return s.Layout() == ElasticJob3 }

// JavaAssigns tells whether a Java leader is at a resharding: it has seen that nothing runs, and takes the
// items from their owners.
func (s *State) JavaAssigns() bool { return s.java != nil && s.LedByJava() && s.java.processing != 0 }

// Processing returns the revision of the node that says that a Java leader reshards; 0 if there is none. Java instances wait
// for its end, whoever leads.
func (s *State) Processing() registry.Revision {
	if s.java == nil {
		return 0
	}
	return s.java.processing
}

// StrayProcessing returns the revision of a node that says that a leader reshards, and that no session
// owns, so that it would say so for ever; 0 if there is none.
func (s *State) StrayProcessing() registry.Revision {
	if s.java == nil {
		return 0
	}
	return s.java.stray
}

// Surplus tells whether an item is beyond those of the job. While a Java leader assigns items anew they
// have no owners for a moment, and are not surplus for that.
func (s *State) Surplus(item int) bool {
	return item >= s.Total() && (s.java == nil || item >= s.Config.Value.ShardingTotalCount)
}

// noteAssigned counts the items of items up to the last that has an instance node. It is kept, because
// every look at an owner asks for it.
func (s *State) noteAssigned(item int, n registry.Node) {
	switch j := s.java; {
	case j == nil:
	case n.Exists():
		j.assigned = max(j.assigned, item+1)
	case item+1 == j.assigned:
		for j.assigned > 0 && !s.hasInstanceNode(j.assigned-1) {
			j.assigned--
		}
	}
}

// noteProcessing takes over whether a Java leader reshards, and tells whether that matters.
func (s *State) noteProcessing(n registry.Node) bool {
	if s.java != nil {
		s.java.processing, s.java.stray = n.Revision, 0
		if !n.Ephemeral() {
			s.java.stray = n.Revision
		}
	}
	return s.java != nil
}

func (s *State) hasInstanceNode(item int) bool {
	nodes := s.items.get(item)
	return nodes != nil && nodes.instanceRevision != 0
}

// setConfig takes over the configuration, which may be in two nodes.
func (s *State) setConfig(name Name, n registry.Node) bool {
	j := s.java
	switch {
	case j == nil || j.layout == Lite:
		if name.Kind == KindConfig {
			s.Config = stored(n, DecodeConfig)
		}
		return name.Kind == KindConfig
	case name.Kind == KindConfig:
		j.config = n
	default:
		j.root = n.Value
	}
	s.Config = stored(j.config, func(n registry.Node) (job.Config, error) { return j.layout.DecodeConfig(j.root, n) })
	if s.Config.Err == nil { // one that cannot be read moves nothing
		kept, err := keptOf(s.Config.Value.Unknown)
		_, static := kept[memberStatic]
		j.static = static && err == nil
	}
	return true
}

// StaticSharding tells whether the items stay where they are when members change, until their number changes or somebody
// asks for a resharding: the setting staticSharding of ElasticJob 3.x.
func (s *State) StaticSharding() bool { return s.java != nil && s.java.static }

// Incomplete tells whether the items that have owners, living or gone, are others than those of the configuration: before
// the first assignment, and when their number has changed.
func (s *State) Incomplete() bool {
	total := s.Config.Value.ShardingTotalCount
	for item := range total {
		if s.Owner(item) == "" {
			return true
		}
	}
	for item := total; item < s.Items(); item++ {
		if s.hasInstanceNode(item) {
			return true
		}
	}
	return false
}

// MembersMatter tells whether another assignment is wanted when an instance comes or goes, or a server is disabled or
// enabled. While a Java leader assigns the items, they have no owners for a moment, and it does not matter for that.
func (s *State) MembersMatter() bool {
	return !s.StaticSharding() || s.Incomplete() && !s.JavaAssigns()
}

// setTrigger takes over whether an instance is asked to run its items.
func (s *State) setTrigger(id string, n registry.Node) bool {
	j := s.java
	if j == nil || j.layout != ElasticJob3 {
		return false
	}
	if j.triggers == nil {
		j.triggers = make(map[string]registry.Revision)
	}
	if j.triggers[id] = n.Revision; !n.Exists() {
		delete(j.triggers, id)
	}
	if len(j.triggers) == 0 {
		j.triggers = nil
	}
	if i := s.Instance(id); i.Created != 0 {
		s.Instances = replace(s.Instances, id, compareInstance, s.asked(i), true)
	}
	return true
}

// asked adds to an instance what is asked of it by another node than its own.
func (s *State) asked(i Instance) Instance {
	if s.java != nil && s.java.layout == ElasticJob3 {
		if asked := s.java.triggers[i.ID]; asked > i.Created { // an older one was for another instance of this id
			i.Triggered, i.Request = true, asked
		} else {
			i.Triggered, i.Request = false, 0
		}
	}
	return i
}
