package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Judge returns every violation of the guarantees that the history shows, in the order of time.
func Judge(h History, rules Rules) []Finding {
	j := newJudge(h, rules)
	j.joinAttempts()
	j.matchRuns()
	j.replay()
	j.judgeRuns()
	j.judgeReports()
	j.judgeExecutions()
	j.judgeFires()
	j.judgeUnmonitored()
	j.judgeConcurrency()
	j.judgeClocks()
	j.judgeGoodput()
	j.judgeLoops()
	j.judgeCheckpoints()
	j.judgeHooks()
	j.judgeStops()
	j.judgeLeftovers()
	slices.SortStableFunc(j.findings, func(a, b Finding) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Guarantee, b.Guarantee))
	})
	return j.findings
}

// judge is the work on one history.
type judge struct {
	History
	rules    Rules
	messages time.Duration // what messages under way may shift things against each other
	excused  spans         // the moments at which a change is still being dealt with
	findings []Finding

	before, now *jobtree.State // while the states are replayed
	open        map[int]*execution
	byToken     map[registry.Revision]map[int]*execution
	byItem      map[int][]*execution
	runs        map[registry.Revision]map[int][]*Run
	courses     courses
	outOfTouch  spans // the times at which some process may not know what the registry says
	ailments    ailments
	presence    map[string]spans                 // when instances were registered
	joined      map[registry.SessionID]time.Time // when an instance was first registered under a session
	refusals    []Incident                       // those in which processes could not use the settings
	patient     spans                            // see [judge.patience]; nil until it is asked for
	hands       hands                            // what careless hands did
	requests    map[registry.Revision]bool       // by hand, that the job had as nodes
	operations  map[string]*operation            // of operators, by their ids, since the job was removed last
	operation   *operation                       // that the step which is judged did; nil = none
	changed     map[string]time.Time             // when a node that operations are about changed last, by its path
	removals    []time.Time                      // when the job was removed
	removing    bool                             // an operator has begun to remove the job
	told        map[string][]time.Time           // when operators, or hands, told instances to leave
	untold      map[int]bool                     // items whose records a careless hand wrote, until somebody else does
	unrecorded  map[int]*execution               // those whose marks stand though a careless hand wrote their records
	forgotten   map[int][]time.Time              // when records of items went though the job stayed, and no process is to blame
	spoilt      map[int]time.Time                // since when records cannot be read, or could not the last time
	setAside    map[int][]setAside               // records that could not be read
	abandoned   map[int]abandoned                // items to be run again because their owners crashed
	requeued    map[int]bool                     // items that wait for that
	feigned     map[int]spans                    // when records that a hand wrote said that items run, of which nothing is known
}

func newJudge(h History, rules Rules) *judge {
	j := &judge{
		History: h, rules: rules,
		before: jobtree.NewState(h.Job), now: jobtree.NewState(h.Job),
		open:     make(map[int]*execution),
		byToken:  make(map[registry.Revision]map[int]*execution),
		byItem:   make(map[int][]*execution),
		runs:     make(map[registry.Revision]map[int][]*Run),
		presence: make(map[string]spans), joined: make(map[registry.SessionID]time.Time),
		courses:  newCourses(),
		requests: make(map[registry.Revision]bool),
		untold:   make(map[int]bool), unrecorded: make(map[int]*execution), forgotten: make(map[int][]time.Time),
		feigned: make(map[int]spans), abandoned: make(map[int]abandoned), requeued: make(map[int]bool),
		spoilt: make(map[int]time.Time), setAside: make(map[int][]setAside),

		operations: make(map[string]*operation), changed: make(map[string]time.Time), told: make(map[string][]time.Time),
	}
	j.messages = rules.Settle / 10
	j.refusals = slices.DeleteFunc(slices.Clone(h.Incidents), func(i Incident) bool { return i.Kind != Refused })
	j.hands = j.handsOf(h.Incidents)
	j.excused = j.excuses()
	return j
}

// jitter is what messages under way may shift things against each other.
func (j *judge) jitter() time.Duration { return j.messages }

// find notes a violation, unless a careless hand may be the reason. Proof may be executions, runs,
// incidents and texts; nil ones are left out.
func (j *judge) find(g Guarantee, at time.Time, item int, text string, proof ...fmt.Stringer) {
	if !j.hands.near(at, item) {
		j.findAnyway(g, at, item, text, proof...)
	}
}

// findAnyway notes a violation that no careless hand excuses.
func (j *judge) findAnyway(g Guarantee, at time.Time, item int, text string, proof ...fmt.Stringer) {
	f := Finding{Guarantee: g, At: at, Item: item, Text: text}
	for _, p := range proof {
		f.Proof = append(f.Proof, p.String())
	}
	j.findings = append(j.findings, f)
}

// matchRuns finds the calls of user code by their tokens. Those of jobs without records have none.
func (j *judge) matchRuns() {
	for i := range j.Runs {
		r := &j.Runs[i]
		token := registry.Revision(r.Context.Token)
		if token == 0 {
			continue
		}
		if j.runs[token] == nil {
			j.runs[token] = make(map[int][]*Run)
		}
		j.runs[token][r.Context.Item] = append(j.runs[token][r.Context.Item], r)
	}
}

// execution returns the execution of an item with a token; nil if the registry never had one.
func (j *judge) execution(item int, token int64) *execution {
	return j.byToken[registry.Revision(token)][item]
}

// replay goes through the states of the registry, and judges each step from one to the next.
func (j *judge) replay() {
	for _, state := range j.States {
		touched := j.now.Apply(state.Step)
		if touched.Instances {
			j.notePresence(state.At)
		}
		j.noteTold(state.At, state.Step)
		if j.hands.made(state.At, state.Step) {
			for _, n := range touched.Items {
				j.tampered(state.At, n)
			}
		} else if j.isRemoval(state.Step) {
			j.removed(state.At)
		} else {
			j.operation = j.operationOf(state.At, state.Step)
			j.judgeOperation(j.operation)
			j.judgeMembership(state.At, state.Step)
			for _, n := range touched.Items {
				j.judgeStep(state.At, n)
			}
		}
		j.noteFeigned(state, touched.Items)
		j.courses.note(state.At, j.now, touched, part{
			minds: func(i jobtree.Instance) bool {
				return j.now.Enabled(i.ID) && !j.hands.ghost(j.now, i) && !j.willRefuse(i.ID, state.At)
			},
			serves: func(i jobtree.Instance) bool { return j.serves(i, state.At) },
		})
		j.noteChanges(state.At, state.Step)
		j.noteOrphans(state.At)
		j.noteAbandoned(state.At)
		j.examine(state.At)
		j.before.Apply(state.Step)
	}
	j.examineEnd()
}
