package jobtree

import "github.com/elasticron/elasticron/registry"

// MarkRunning returns what a begin compares and writes for the mark of the item, beside the guard that its instance is
// registered. In the layout [ElasticJob3] the mark outlives the instance if failover is on: it tells the others what
// ran. That there is no mark yet a put in a session says by itself; as it is said here, no backend has to add it.
func (s *State) MarkRunning(item int, instance string, session *registry.Session) (registry.Condition, registry.Write) {
	path := s.tree.ItemRunning(item)
	if s.Layout() == ElasticJob3 && s.Config.Value.Failover {
		return registry.Absent(path), registry.Put(path, instance)
	}
	return registry.Absent(path), registry.PutOwned(path, instance, session)
}

// MarkClaimed returns the writes by which an instance claims an item.
func (s *State) MarkClaimed(item int, instance string, session *registry.Session) []registry.Write {
	writes := []registry.Write{registry.PutOwned(s.tree.ItemFailover(item), instance, session)}
	if s.Layout() == ElasticJob3 {
		writes = append(writes, registry.Put(s.tree.ItemFailovering(item), instance))
	}
	return writes
}

// MarkOutlives tells whether the mark of an item's execution outlives the instance that made it. Then the instance has to
// stay until the execution has ended: to everybody else it is lost as soon as the instance is gone.
func (s *State) MarkOutlives(item int) bool {
	nodes := s.items.get(item)
	return s.Layout() == ElasticJob3 && nodes != nil && nodes.running != nil && nodes.running.Session == 0
}

// Runs tells whether an item runs. Java takes away whatever mark an item has when it ends a run of it, and when it connects
// again: what it takes it from goes on, as the record says while the session lasts under which that runs.
func (s *State) Runs(item int) bool {
	if s.Item(item).Running.Exists() {
		return true
	}
	stored := s.Record(item)
	run := stored.Value.Current
	return stored.Err == nil && stored.Value.State == ItemRunning && run != nil && run.Session != 0 && s.Instance(run.Instance).Session == run.Session
}

// Runner returns the id of the instance that runs an item, whoever owns the item by now; empty if nothing runs. The marks of
// Elastic-Job-Lite do not say whose they are: then it is the owner, or else the one whose session holds the mark.
func (s *State) Runner(item int) string {
	if nodes := s.items.get(item); nodes == nil || nodes.running == nil {
		return ""
	}
	mark := s.Item(item).Running
	if mark.Value != "" || !mark.Exists() {
		return mark.Value
	}
	owner := s.Owner(item)
	if s.Instance(owner).Session == mark.Session {
		return owner
	}
	for _, i := range s.Instances {
		if i.Session == mark.Session {
			return i.ID
		}
	}
	return owner
}

// Unclaim returns the writes that take the marks of a claim away.
func (s *State) Unclaim(item int) []registry.Write {
	writes := []registry.Write{registry.Delete(s.tree.ItemFailover(item))}
	if s.Layout() == ElasticJob3 {
		writes = append(writes, registry.Delete(s.tree.ItemFailovering(item)))
	}
	return writes
}

// TakeRemains returns what takes away the mark that a gone instance left of an item, and the guard that it is still
// that one; nothing if there is none.
func (s *State) TakeRemains(item int) ([]registry.Condition, []registry.Write) {
	remains := s.Item(item).Remains
	if !remains.Exists() {
		return nil, nil
	}
	path := s.tree.ItemRunning(item)
	return []registry.Condition{registry.Unchanged(path, remains.Revision)}, []registry.Write{registry.Delete(path)}
}

// GiveUp returns the record of an item that does not wait any more for a lost execution to be run again, with what has to be
// written then, and its guards.
func (s *State) GiveUp(item int) (record Record, compare []registry.Condition, write []registry.Write, err error) {
	it := s.Item(item)
	if record, err = it.Record.Value.GiveUp(); err != nil {
		return record, nil, nil, err
	}
	compare, write = s.TakeRemains(item) // by which ElasticJob 3.x would run it again
	compare = append(compare,
		registry.Unchanged(s.tree.ItemRecord(item), it.Record.Revision),
		registry.Unchanged(s.tree.FailoverItem(item), it.FailoverItem))
	write = append(write, registry.Put(s.tree.ItemRecord(item), EncodeRecord(record)))
	if it.FailoverItem != 0 {
		write = append(write, registry.Delete(s.tree.FailoverItem(item)))
	}
	return record, compare, write, nil
}

// SameInstance returns the condition that an instance is still gone, or that the one is still there that has its id.
func (s *State) SameInstance(id string) registry.Condition {
	path := s.tree.Instance(id)
	if i := s.Instance(id); i.Created != 0 {
		return registry.CreatedAt(path, i.Created)
	}
	return registry.Absent(path)
}

// markedBy marks the items as touched that an instance's persistent marks are of: with the instance, they come and go.
func (s *State) markedBy(id string, t *Touched) {
	if s.Layout() != ElasticJob3 {
		return
	}
	for n := range s.items {
		if m := s.items[n].running; m != nil && m.Session == 0 && m.Value == id {
			t.addItem(n)
		}
	}
}

// settleMark gives a persistent mark to the session under which it counts, or takes it for what a gone instance left.
func (s *State) settleMark(it *Item) {
	mark := it.Running
	if s.Layout() != ElasticJob3 || !mark.Exists() || mark.Session != 0 {
		return
	}
	runner := s.Instance(mark.Value)
	if session := recordedUnder(it.Record, mark); runner.Created == 0 || session != 0 && session != runner.Session || outlived(it, runner) {
		it.Running, it.Remains = Mark{}, mark
		return
	}
	it.Running.Session = runner.Session
}

// outlived tells whether a mark of Java's is older than the instance that it names: another process may have the id now. A
// process that connects again makes its node anew as well, and takes the marks of its own items away right after that. The
// mark of what it has claimed stands on, and so does the claim, as long as its session.
func outlived(it *Item, runner Instance) bool {
	claims := it.Failover.Value == runner.ID && it.Failover.Session == runner.Session
	return JavaInstance(runner.ID) && it.Running.Revision < runner.Created && !claims
}

// recordedUnder returns the session under which the record says that the execution of a mark runs; 0 if it says
// nothing of that.
func recordedUnder(record Stored[Record], mark Mark) registry.SessionID {
	r := record.Value
	if record.Err != nil || r.State != ItemRunning || r.Current.Instance != mark.Value || r.Token(record.Revision) != mark.Created {
		return 0
	}
	return r.Current.Session
}
