package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// judgeMembership judges what one revision did to instances, leader and assignment.
func (j *judge) judgeMembership(at time.Time, step registry.Step) {
	for _, c := range step.Changes {
		name, ok := jobtree.Parse(c.Path())
		if !ok || name.Job != j.Job {
			continue
		}
		switch {
		case name.Kind == jobtree.KindInstance && c.Kind() == registry.Added:
			j.judgeJoin(at, name.Key)
		case name.Kind == jobtree.KindInstance && c.Kind() == registry.Updated:
			j.judgeAcknowledgement(at, name.Key)
		case name.Kind == jobtree.KindLeader && c.New.Exists() && c.New.Created != c.Old.Created:
			j.judgeElection(at)
		case name.Kind == jobtree.KindTriggered && c.New.Exists():
			j.requests[c.New.Revision] = true
		case name.Kind == jobtree.KindEpoch && c.New.Exists():
			j.judgeAssignment(at)
		case name.Kind == jobtree.KindNecessary && c.Kind() == registry.Removed:
			j.judgeAnswer(at)
		}
	}
}

// judgeJoin judges whether there was something to join, and whether what an operator had said of the
// server was left alone.
func (j *judge) judgeJoin(at time.Time, instance string) {
	if j.before.Config.Revision == 0 && j.now.Config.Revision == 0 {
		j.find(Intent, at, NoItem, instance+" joined a job that is not there")
	}
	ip := jobtree.ServerOf(instance)
	if was := j.before.Server(ip); was.Revision != 0 && was != j.now.Server(ip) {
		j.find(Intent, at, NoItem, instance+" joined and changed what an operator had said of its server")
	}
}

// judgeAcknowledgement judges whether a request to run by hand was taken back by an instance when all
// items had begun for it that were the instance's at the time of the request. Those that came later may
// have come while the acknowledgement was under way.
func (j *judge) judgeAcknowledgement(at time.Time, instance string) {
	request := j.before.Instance(instance)
	if now := j.now.Instance(instance); !request.Triggered || now.Triggered || now.Shutdown { // an operator has asked for something else
		return
	}
	if j.unmonitored(j.timeOf(request.Revision), at) {
		return // no record says for what an item ran
	}
	for n := range j.before.Total() {
		item := j.before.Item(n)
		since := max(item.InstanceRevision, item.Next.Revision)
		if began := item.Running.Created; item.Record.Err != nil && (began == 0 || began > request.Revision) {
			continue // nobody knows for what it ran
		}
		if j.before.Owner(n) == instance && since < request.Revision && !j.offSince(request.Revision, n) && item.Record.Value.Trigger < request.Revision {
			j.find(NothingForgotten, at, n, instance+" took back a request to run by hand before it had run the item")
		}
	}
}

// offSince tells whether an item was disabled at any time since a revision.
func (j *judge) offSince(revision registry.Revision, n int) bool {
	return slices.Contains(j.courses.runnable[n].between(j.timeOf(revision), j.End), false)
}

// timeOf returns when the registry came to a revision.
func (j *judge) timeOf(revision registry.Revision) time.Time {
	i, _ := slices.BinarySearchFunc(j.States, revision, func(s State, r registry.Revision) int {
		return cmp.Compare(s.Step.Snapshot.Revision(), r)
	})
	return j.States[i].At
}

// judgeElection judges whether the leader could be one.
func (j *judge) judgeElection(at time.Time) {
	leader := j.now.Leader
	if j.now.Instance(leader.Instance).Session != leader.Session {
		j.find(OneHolder, at, NoItem, leader.Instance+" was elected and is not registered")
	}
	if !j.before.Enabled(leader.Instance) {
		j.find(Intent, at, NoItem, leader.Instance+" was elected and its server is disabled")
	}
}

// judgeAssignment judges whether an assignment is the leader's, of as many items as there should be,
// and to instances that live.
func (j *judge) judgeAssignment(at time.Time) {
	epoch, before := j.now.Epoch.Value, j.before.Epoch.Value
	if j.now.Epoch.Err != nil {
		j.find(NoStall, at, NoItem, "the assignment cannot be read: "+j.now.Epoch.Err.Error())
		return
	}
	// One whose answer was lost may be repeated as it is.
	older := epoch.Term < before.Term || epoch.Term == before.Term && epoch.Counter < before.Counter
	if epoch.Term != j.before.Leader.Created || older || epoch.ID() == before.ID() && epoch != before {
		j.find(OneHolder, at, NoItem, fmt.Sprintf("the assignment %d/%d is not the leader's, whose term is %d, or is not later than %d/%d",
			epoch.Term, epoch.Counter, j.before.Leader.Created, before.Term, before.Counter))
	}
	if total := j.before.Config.Value.ShardingTotalCount; epoch.Total != total {
		j.find(Intent, at, NoItem, fmt.Sprintf("an assignment of %d items was made when there should be %d", epoch.Total, total))
	}
	for n := range epoch.Total {
		if owner := j.now.Owner(n); owner != j.before.Owner(n) && j.before.Instance(owner).Created == 0 {
			j.find(NoStall, at, n, fmt.Sprintf("the item was given to %q, which is not there", owner))
		}
	}
}

// judgeAnswer judges whether a request for a resharding was answered for everybody who was there: if
// there is an item for each, nobody is left without one. One who was told to leave while the answer was under way may
// have been among them: an item that is his by the answer is given to another afterwards.
func (j *judge) judgeAnswer(at time.Time) {
	s, decided := j.now, j.stale(at.Add(-j.jitter()))
	var members []string
	leaving := 0
	for _, i := range s.Instances {
		switch told := of(j.courses.leaves, i.ID); {
		case j.hands.mayOwn(s, i):
			members = append(members, i.ID)
		case i.Shutdown && slices.Contains(told.between(decided, at), false):
			leaving++
		}
	}
	if len(members)+leaving > s.Total() {
		return
	}
	owners := make(map[string]bool)
	for n := range s.Total() {
		owners[s.Owner(n)] = true
	}
	// An answer that was under way when a server was enabled or disabled does not know of that.
	for _, off := range j.courses.servers {
		if was := off.between(decided, at); slices.Contains(was, true) && slices.Contains(was, false) {
			return
		}
	}
	for _, m := range members {
		if !owners[m] && !j.onProbation(m, at) {
			j.find(NoStall, at, NoItem, m+" got no item when a request for a resharding was answered")
		}
	}
}
