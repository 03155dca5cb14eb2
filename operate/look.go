package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// look is one job, and what is worked out of it once.
type look struct {
	st  *jobtree.State
	job string // its name
	now time.Time

	paused   string            // why every instance pauses the job; empty if none does
	schedule cronexpr.Schedule // nil while paused
	delay    time.Duration     // of a fixed delay; 0 = none
	servers  []serverOfJob     // in ascending order of their addresses
	parts    []part            // of the live instances, in ascending order of their ids
	stay     []stayer          // those that have left the job, and still run items of it
	lasts    lastRuns
	noted
}

// noted is what nodes say of which a [jobtree.State] knows nothing.
type noted struct {
	operated     jobtree.Stored[jobtree.Operated]
	operatedLast time.Time // when the newest of its operations was done
	dueSince     time.Time // when an operation last changed which fires its items have to run for
	removing     string    // how far an operation is that removes the job; empty if none does
	moving       string    // why it does not run because it moves to another registry; empty if it does not
}

// serverOfJob is a server that an operator said something of, or on which an instance lives.
type serverOfJob struct {
	ip       string
	disabled bool
}

func newLook(st *jobtree.State, now time.Time, schedules map[timing]cronexpr.Schedule) *look {
	l := &look{st: st, job: st.Tree().Job(), now: now, lasts: lastRunsOf(st)}
	l.parts, l.stay = partsOf(st)
	l.paused = pausedFor(st)
	if l.paused == "" {
		l.schedule = scheduleOf(st.Config.Value, schedules)
	}
	if l.schedule != nil {
		l.delay, _ = cronexpr.DelayOf(l.schedule)
	}
	for _, s := range st.Servers {
		l.servers = append(l.servers, serverOfJob{ip: s.IP})
	}
	for _, in := range st.Instances {
		l.servers = append(l.servers, serverOfJob{ip: jobtree.ServerOf(in.ID)})
	}
	slices.SortFunc(l.servers, func(a, b serverOfJob) int { return strings.Compare(a.ip, b.ip) })
	l.servers = slices.Compact(l.servers)
	for i := range l.servers {
		l.servers[i].disabled = !st.ServerEnabled(l.servers[i].ip)
	}
	return l
}

// noteOperated takes over what operators did.
func (l *look) noteOperated(nodes []registry.Change) {
	i := slices.IndexFunc(nodes, isOperated)
	if i < 0 {
		return
	}
	l.operated.Revision = nodes[i].New.Revision
	l.operated.Value, l.operated.Err = jobtree.DecodeOperated(nodes[i].New)
	l.removing = unfinished(l.operated.Value, l.st.Config.Exists())
	if m, runs := l.operated.Value.Moving, l.st.Config.Err == nil && !l.st.Config.Value.Disabled; m != nil && !runs {
		l.moving = fmt.Sprintf("the move %s has stopped it at %s on its way to the registry %q", m.Move, m.Since.UTC().Format(time.RFC3339), m.To)
	}
	for i := range l.operated.Value.Operations {
		op := &l.operated.Value.Operations[i]
		if i == 0 || op.When.After(l.operatedLast) {
			l.operatedLast = op.When
		}
		// That of a machine whose clock is far ahead says nothing, lest the job is not overdue until then, whatever stands still.
		told := !op.When.After(l.now.Add(inforce.ClockTolerance))
		if told && changesFires(Verb(op.Verb)) && op.When.After(l.dueSince) {
			l.dueSince = op.When
		}
	}
}

// unfinished says that the removal of a job has begun, and what to do if whoever began it is gone: what the registry tells is the
// same while somebody waits for the last run to end. Empty if none has begun.
func unfinished(o jobtree.Operated, configured bool) string {
	if o.Removing == "" {
		return ""
	}
	begun := ""
	for _, op := range slices.Backward(o.Operations) {
		if op.Verb == string(VerbRemove) || op.Verb == string(VerbNoFiles) {
			begun = " (" + credit(op) + ")"
			break
		}
	}
	text := fmt.Sprintf("its removal has begun%s and is not finished: if nobody goes on with it, elasticron remove finishes it", begun)
	if !configured { // which is deleted first of a job that is large
		return text + ", and nothing calls it off any more"
	}
	return text + ", and elasticron enable calls it off"
}

// noteMigration takes over how far elasticron migrate is with the job.
func (l *look) noteMigration(nodes []registry.Change) {
	path := l.st.Tree().Move()
	if i := slices.IndexFunc(nodes, func(c registry.Change) bool { return c.New.Path == path }); i >= 0 {
		if _, held := held(nodes[i].New); held != nil {
			l.moving = held.Why
		}
	}
}

// changesFires tells whether an operation may change for which fires items have to run.
func changesFires(v Verb) bool {
	switch v {
	case VerbTrigger, VerbBackfill, VerbShutDown, VerbTidy, VerbReshard, VerbGiveUp:
		return false
	default:
		return true
	}
}

func (l *look) name() string { return l.job }

// pausedFor tells why instances pause the job, which is what package scheduler tells, too.
func pausedFor(st *jobtree.State) string {
	switch c := st.Config; {
	case !c.Exists():
		return "the job has no configuration"
	case c.Err != nil:
		return c.Err.Error()
	default:
		if _, faulty := jobtree.CheckConfig(st.Tree().Job(), c.Value); faulty != nil {
			return faulty.Error()
		}
		if st.Leader.Created == 0 { // which an instance is whose code makes something of them, in whichever way it reads quotes
			const quotedEitherWay = true
			return strings.Join(codeFaults(c.Value, quotedEitherWay), "; ")
		}
		return ""
	}
}

// leaderless tells whether nobody leads a job that instances live for which may: there is nobody for a moment at each election,
// and for good where the code of none of them can use the settings, as only that of some processes knows what it allows.
func leaderless(st *jobtree.State) bool {
	return st.Leader.Created == 0 && !st.JobDisabled() && slices.ContainsFunc(st.Instances, st.MayOwn)
}

// nobodyLeads is what there is to say then.
const nobodyLeads = "nobody leads the job: if it stays so, no process can use its settings, and their logs say why"

// butNobodyLeads ends what a leader is waited for, if there is none.
func (w *world) butNobodyLeads() string {
	if !leaderless(w.state) {
		return ""
	}
	return ", but " + nobodyLeads
}

// timing is all of a configuration that says when a job fires.
type timing struct {
	cron, zone string
	daylight   job.DaylightSaving
	start, end time.Time
	offset     time.Duration
}

// scheduleOf parses what many jobs have in common only once, as reading a time zone takes longer than all the rest.
func scheduleOf(c job.Config, known map[timing]cronexpr.Schedule) cronexpr.Schedule {
	key := timing{c.Cron, c.TimeZone, c.DaylightSaving, c.StartTime, c.EndTime, c.Offset}
	s, found := known[key]
	if !found {
		s, _ = c.Schedule() // it was checked before
		known[key] = s
	}
	return s
}
