package jobtree

import "github.com/elasticron/elasticron/registry"

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

// java is what a state keeps of a job only where Java instances share it.
type java struct {
	assigned   int               // items up to the last that has an instance node
	processing bool              // a Java leader reshards
	stray      registry.Revision // of a processing node that no session owns; 0 = there is none
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
	return s.java != nil && s.LedByJava() && (s.Necessary != 0 || s.java.processing)
}

// JavaAssigns tells whether a Java leader is at a resharding: it has seen that nothing runs, and takes the
// items from their owners.
func (s *State) JavaAssigns() bool { return s.java != nil && s.LedByJava() && s.java.processing }

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
		s.java.processing, s.java.stray = n.Exists(), 0
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
