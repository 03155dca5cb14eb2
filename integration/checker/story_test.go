package checker_test

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// The instances of every story, and the sessions under which they are.
const (
	a, b   = "10.0.0.1@-@a", "10.0.0.2@-@b"
	c3     = "10.0.0.3@-@c" // is not there from the beginning
	ofA    = registry.SessionID(1)
	ofB    = registry.SessionID(2)
	ofC    = registry.SessionID(3)
	second = time.Second
	minute = time.Minute
)

// start is when every story starts: long enough before the only fire that all has settled by then.
var (
	start = time.Date(2000, 1, 1, 0, 59, 0, 0, time.UTC)
	fire  = start.Add(minute)
)

// story is a history that is told by hand. Unless it says otherwise, a and b share two items of a job
// that fires once an hour, with failover, and item 0 is a's.
type story struct {
	checker.History
	incidents []*checker.Incident
	runs      []*checker.Run
	now       time.Time
	state     *jobtree.State
	nodes     map[string]registry.Node
	revision  registry.Revision
	hooks     map[string]time.Duration // of the job, as [checker.Rules] names them
	witnesses bool                     // each process follows all items
}

var tree = jobtree.For("orders")

func newStory(change ...func(*job.Config)) *story {
	cfg := job.Config{Name: "orders", Cron: "@every 1h", ShardingTotalCount: 2}
	cfg.Failover = true
	for _, edit := range change {
		edit(&cfg)
	}
	s := &story{History: checker.History{Job: "orders"}, now: start, state: jobtree.NewState("orders"), nodes: make(map[string]registry.Node)}
	s.happen(checker.Started, a)
	s.happen(checker.Started, b)
	s.configure(cfg)
	s.commit(put(tree.Instance(a), "", ofA), put(tree.Instance(b), "", ofB))
	s.commit(put(tree.Leader(), a, ofA))
	owners := []registry.Node{put(tree.ItemInstance(0), a, 0), put(tree.ItemInstance(1), b, 0)}
	s.commit(append(owners[:cfg.ShardingTotalCount], s.epoch(cfg.ShardingTotalCount))...)
	return s
}

// at goes on with the story so long after the fire.
func (s *story) at(d time.Duration) *story {
	s.now = fire.Add(d)
	return s
}

func (s *story) happen(kind checker.Kind, instance string) *checker.Incident {
	i := &checker.Incident{Kind: kind, Instance: instance, From: s.now}
	s.incidents = append(s.incidents, i)
	return i
}

func put(path, value string, session registry.SessionID) registry.Node {
	return registry.Node{Path: path, Value: value, Session: session}
}

func (s *story) epoch(total int) registry.Node {
	return put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: s.state.Leader.Created, Counter: int64(s.revision), Total: total}), 0)
}

// gone is a node that a commit removes.
func gone(path string) registry.Node { return registry.Node{Path: path} }

// commit makes nodes the next revision. Those with neither value nor session are removed, unless they
// are of a kind that may be empty.
func (s *story) commit(nodes ...registry.Node) registry.Revision {
	s.revision++
	step := registry.Step{}
	for _, n := range nodes {
		old := s.nodes[n.Path]
		if mayBeEmpty := n.Path == tree.Necessary() || n.Path == tree.ItemDisabled(0); n.Value == "" && n.Session == 0 && !mayBeEmpty || n.Created < 0 {
			n = registry.Node{}
		} else {
			n.Created, n.Revision = old.Created, s.revision
			if !old.Exists() {
				n.Created = s.revision
			}
		}
		if old.Exists() || n.Exists() {
			change := registry.Change{Old: old, New: n}
			step.Changes = append(step.Changes, change)
			s.nodes[change.Path()] = n
		}
	}
	var all []registry.Node
	for _, n := range s.nodes {
		if n.Exists() {
			all = append(all, n)
		}
	}
	step.Snapshot = registry.NewSnapshot(s.revision, all)
	s.state.Apply(step)
	s.States = append(s.States, checker.State{At: s.now, Step: step})
	return s.revision
}

func (s *story) configure(cfg job.Config) {
	text, err := jobtree.EncodeConfig(cfg)
	if err != nil {
		panic(err)
	}
	s.commit(put(tree.Config(), text, 0))
}

func (s *story) record(n int) jobtree.Record { return s.state.Item(n).Record.Value }

// session returns the one under which an instance is in the story.
func session(instance string) registry.SessionID {
	return map[string]registry.SessionID{a: ofA, b: ofB, c3: ofC}[instance]
}

// begin begins the fire of an item that its record allows.
func (s *story) begin(n int, instance string, source job.Source, of time.Time) *checker.Run {
	record, err := s.record(n).Begin(jobtree.Begin{
		Instance: instance, Session: session(instance), Source: source, Fire: of, Time: s.now, Failover: s.state.Config.Value.Failover,
	})
	if err != nil {
		panic(err)
	}
	return s.write(n, record)
}

// claim takes over item 0, which waits.
func (s *story) claim(instance string) *checker.Run {
	record, err := s.record(0).Claim(jobtree.Claim{Instance: instance, Session: session(instance), Time: s.now})
	if err != nil {
		panic(err)
	}
	return s.write(0, record)
}

// write begins an execution by a record, whatever the rules say, and has its code called.
func (s *story) write(n int, record jobtree.Record) *checker.Run {
	e := record.Current
	token := s.commit(gone(tree.FailoverItem(n)), put(tree.ItemRecord(n), jobtree.EncodeRecord(record), 0), put(tree.ItemRunning(n), e.Instance, e.Session))
	return s.call(n, e, int64(token))
}

func (s *story) call(n int, e *jobtree.Execution, token int64) *checker.Run {
	r := &checker.Run{
		Instance: e.Instance, Began: s.now,
		Context: job.ShardingContext{Item: n, Fire: e.Fire, Source: e.Source, Token: token, TotalCount: s.state.Config.Value.ShardingTotalCount},
	}
	s.runs = append(s.runs, r)
	return r
}

var errFailed = errors.New("failed")

// end has the code return, and records it.
func (s *story) end(n int, r *checker.Run, outcome jobtree.Outcome) {
	r.Ended = s.now
	if outcome != jobtree.Success {
		r.Err = errFailed
	}
	record, err := s.record(n).End(jobtree.End{Token: r.Context.Token, Time: s.now, Outcome: outcome, FailoverLimit: 3})
	if err != nil {
		panic(err)
	}
	s.close(n, record)
}

// close writes the record of an execution that is over.
func (s *story) close(n int, record jobtree.Record) {
	s.commit(gone(tree.ItemRunning(n)), put(tree.ItemRecord(n), jobtree.EncodeRecord(record), 0))
}

// lost records an execution as lost.
func (s *story) lost(n int) {
	node := s.state.Item(n).Record
	record, err := node.Value.DeclareLost(int64(node.Revision), s.now, 3)
	if err != nil {
		panic(err)
	}
	s.commit(put(tree.ItemRecord(n), jobtree.EncodeRecord(record), 0))
}

// drop removes everything that a session holds.
func (s *story) drop(id registry.SessionID) {
	var nodes []registry.Node
	for _, n := range s.nodes {
		if n.Session == id {
			nodes = append(nodes, gone(n.Path))
		}
	}
	s.commit(nodes...)
}

// crashA has a die at once and its session with it, which an incident excuses for a while, and b take
// over its leadership and its item.
func (s *story) crashA() {
	s.happen(checker.Crashed, a)
	for _, r := range s.runs {
		if r.Instance == a && r.Ended.IsZero() {
			r.Ended, r.Died = s.now, true
		}
	}
	s.now = s.now.Add(5 * second)
	s.drop(ofA)
	s.takeOver()
}

// handOver has a hand over what others may have of it, and stay.
func (s *story) handOver() {
	s.commit(put(tree.Instance(a), jobtree.InstanceShutdown, ofA), put(tree.Necessary(), "", 0), gone(tree.Leader()))
}

// tellA has an operator tell a to leave.
func (s *story) tellA() { s.commit(put(tree.Instance(a), jobtree.InstanceShutdown, ofA)) }

// tamper has a hand write to a node.
func (s *story) tamper(n registry.Node) {
	hand := s.happen(checker.Tampered, "")
	hand.Path, hand.Revision = n.Path, s.commit(n)
}

// takeOver makes b the leader and gives it item 0.
func (s *story) takeOver() {
	s.commit(put(tree.Leader(), b, ofB))
	s.commit(put(tree.ItemInstance(0), b, 0), s.epoch(2))
}

// round runs the fire of both items without a fault.
func (s *story) round() {
	s.at(0)
	zero, one := s.begin(0, a, job.Scheduled, fire), s.begin(1, b, job.Scheduled, fire)
	s.at(3 * second)
	s.end(0, zero, jobtree.Success)
	s.end(1, one, jobtree.Success)
}

// other runs the fire of item 1, of which a story has nothing to tell.
func (s *story) other() {
	now := s.now
	s.at(0)
	r := s.begin(1, b, job.Scheduled, fire)
	s.end(1, r, jobtree.Success)
	s.now = now
}

// judge ends the story five minutes after the fire.
func (s *story) judge() []checker.Finding {
	s.End = fire.Add(5 * minute)
	for _, i := range s.incidents {
		s.Incidents = append(s.Incidents, *i)
	}
	for _, r := range s.runs {
		s.Runs = append(s.Runs, *r)
	}
	rules := checker.DefaultRules()
	rules.Hooks, rules.Witnesses = s.hooks, s.witnesses
	return checker.Judge(s.History, rules)
}
