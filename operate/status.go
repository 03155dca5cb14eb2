package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// Status is the state of a job, an item, an instance or a server, in the words of Elastic-Job-Lite's console.
type Status string

// The statuses. For each kind of thing the first that applies counts, in the order of the lists.
const (
	// Crashed: no instance of the job, or of the server, lives.
	Crashed Status = "CRASHED"
	// Disabled: all servers of the job are disabled; or the item is, or the server in all its jobs.
	Disabled Status = "DISABLED"
	// ShardingFlag: an item belongs to an instance that does not live, or no item of the job has an owner.
	ShardingFlag Status = "SHARDING_FLAG"
	// OK: none of the above, of a job, an instance or a server.
	OK Status = "OK"
	// Running: the item runs. Items that run and whose owner is gone are running.
	Running Status = "RUNNING"
	// Pending: the item has a live owner and does not run.
	Pending Status = "PENDING"
)

// ReasonWord says in a word why something is not as it should be, or not as it usually is.
type ReasonWord string

// The reasons. A job may have several; the most important one comes first.
const (
	// Paused: the job's configuration is gone or cannot be used, or the code of scripts and calls makes nothing of it and
	// nobody leads, so every instance pauses the job.
	Paused ReasonWord = "PAUSED"
	// NoLeader: nobody leads the job, though instances live that may. It is so for a moment when a leader leaves or dies. If it
	// stays so, every process refuses the settings: the last one keeps its items, and nothing runs.
	NoLeader ReasonWord = "NO_LEADER"
	// Removing: the removal of the job has begun, and is not finished.
	Removing ReasonWord = "REMOVING"
	// Moving: the job does not run here because it is on its way to another registry, or back, or has gone there.
	Moving ReasonWord = "MOVING"
	// NoInstance: no process takes part.
	NoInstance ReasonWord = "NO_INSTANCE"
	// DisabledJob: the configuration of the job disables it, or its servers as long as nobody enables them.
	DisabledJob ReasonWord = "JOB_DISABLED"
	// DisabledServers: an operator disabled the servers, one by one.
	DisabledServers ReasonWord = "SERVERS_DISABLED"
	// Leaving: an operator asked the instance to leave a job, or it has left one and still runs items of it.
	Leaving ReasonWord = "LEAVING"
	// DisabledItem: an operator disabled the item.
	DisabledItem ReasonWord = "ITEM_DISABLED"
	// Unassigned: the leader has not given the item to anybody, or no item of the job.
	Unassigned ReasonWord = "UNASSIGNED"
	// OwnerGone: the owner does not live; the leader is about to give its items to others.
	OwnerGone ReasonWord = "OWNER_GONE"
	// Overdue: a fire came more than ten seconds and the job's jitter after the last one that the item ran for,
	// and after its last run ended, and the item has not begun. Fires before an operator last changed the job's settings or
	// enabled it do not count. Items of Java instances and those that never ran are not judged, and neither are jobs whose
	// executions are not recorded.
	Overdue ReasonWord = "OVERDUE"
	// Waiting: an execution was lost, and waits to be run again.
	Waiting ReasonWord = "WAITING"
	// GaveUp: an execution was lost as often as the job allows; the item's next fire runs.
	GaveUp ReasonWord = "GAVE_UP"
	// Unreadable: the item's record cannot be read.
	Unreadable ReasonWord = "UNREADABLE"
	// Surplus: the item is beyond the sharding total count, and goes when the leader tidies.
	Surplus ReasonWord = "SURPLUS"
)

// Reason says why something is not as it should be.
type Reason struct {
	Word ReasonWord `json:"word"`
	Text string     `json:"text"` // one sentence for people, in one line
}

func because(word ReasonWord, format string, args ...any) Reason {
	text := fmt.Sprintf(format, args...)
	return Reason{Word: word, Text: strings.ReplaceAll(text, "\n", "; ")}
}

// shown returns the word that stands in a list's column of statuses: the status or, of what is fine in Java's
// words, the first reason why it is not.
func shown(status Status, reasons []Reason) string {
	if (status == OK || status == Pending) && len(reasons) > 0 {
		return string(reasons[0].Word)
	}
	return string(status)
}

// status returns the job's status and all reasons.
func (l *look) status(items []ItemRow) (Status, []Reason) {
	var reasons []Reason
	if l.removing != "" {
		reasons = append(reasons, because(Removing, "%s", l.removing))
	}
	if l.moving != "" {
		reasons = append(reasons, because(Moving, "%s", l.moving))
	}
	if l.paused != "" {
		reasons = append(reasons, because(Paused, "%s", l.paused))
	}
	status, reason := l.javaStatus()
	if status != OK {
		reasons = append(reasons, reason)
	}
	if l.paused == "" && l.removing == "" && l.moving == "" && leaderless(l.st) {
		reasons = append(reasons, because(NoLeader, "%s", nobodyLeads))
	}
	if status == Crashed && l.disabled() { // which goes on when somebody joins
		reasons = append(reasons, l.whyDisabled())
	}
	return status, append(reasons, reasonsOfItems(items)...)
}

// javaStatus returns what Java's console shows for the same tree. Where it asks for servers, it sees a node of
// each; instances of ours leave none behind, so their servers are those on which they live.
func (l *look) javaStatus() (Status, Reason) {
	if len(l.st.Instances) == 0 {
		return Crashed, because(NoInstance, "no instance lives")
	}
	if l.st.JobDisabled() {
		return Disabled, l.whyDisabled()
	}
	if l.noServerEnabled() {
		return Disabled, because(DisabledServers, "all servers are disabled")
	}
	owned := false
	for n := range max(l.st.Total(), l.st.Items()) {
		owner := l.st.Owner(n)
		if owner == "" {
			continue
		}
		owned = true
		if !l.lives(owner) {
			return ShardingFlag, because(OwnerGone, "item %d belongs to %s, which does not live", n, owner)
		}
	}
	if !owned {
		return ShardingFlag, because(Unassigned, "no item has an owner yet; if it stays so, the log of the instances says why")
	}
	return OK, Reason{}
}

// disabled tells whether the job is disabled as a whole, so that [Operator.EnableJob] is what it needs. One is not whose
// servers were disabled one by one.
func (l *look) disabled() bool {
	return l.st.JobDisabled() || l.operated.Value.DisabledServers != nil || l.st.Config.Value.Disabled && l.noServerEnabled()
}

func (l *look) noServerEnabled() bool {
	return !slices.ContainsFunc(l.servers, func(s serverOfJob) bool { return !s.disabled })
}

func (l *look) whyDisabled() Reason {
	if l.st.Config.Value.Disabled {
		return because(DisabledJob, "the configuration has disabled = true")
	}
	return because(DisabledJob, "the job was disabled, and with it all its servers")
}

func (l *look) lives(instance string) bool { return l.st.Instance(instance).Created != 0 }

// reasonsOfItems sums up what of a job's items is worth knowing.
func reasonsOfItems(items []ItemRow) (reasons []Reason) {
	for _, word := range []ReasonWord{Overdue, Waiting, Unreadable, GaveUp} {
		var numbers []string
		for _, it := range items {
			if slices.ContainsFunc(it.Reasons, func(r Reason) bool { return r.Word == word }) {
				numbers = append(numbers, fmt.Sprint(it.Item))
			}
		}
		if len(numbers) > 0 {
			reasons = append(reasons, because(word, "%s", sumUp(word, numbers)))
		}
	}
	return reasons
}

// fewNumbers is how many items a reason names.
const fewNumbers = 10

func sumUp(word ReasonWord, numbers []string) string {
	items := "item " + numbers[0]
	if len(numbers) > 1 {
		items = "items " + strings.Join(numbers[:min(len(numbers), fewNumbers)], ", ")
	}
	if more := len(numbers) - fewNumbers; more > 0 {
		items += fmt.Sprintf(" and %d more", more)
	}
	switch word {
	case Overdue:
		return "should have run and did not: " + items
	case Waiting:
		return "lost executions wait to be run again: " + items
	case Unreadable:
		return "records cannot be read: " + items
	default:
		return "lost executions were given up: " + items
	}
}

// itemStatus returns an item's status and reasons. overdue is the first fire that it should have run for.
func (l *look) itemStatus(it jobtree.Item, owner string, overdue time.Time) (Status, []Reason) {
	var reasons []Reason
	status := Pending
	switch {
	case it.Disabled:
		status = Disabled
		reasons = append(reasons, because(DisabledItem, "an operator disabled the item"))
	case it.Running.Exists():
		status = Running
	case owner == "":
		status = ShardingFlag
	case !l.lives(owner):
		status = ShardingFlag
		reasons = append(reasons, because(OwnerGone, "its owner does not live"))
	}
	switch record := it.Record; {
	case l.st.Surplus(it.Number):
		return status, append(reasons, because(Surplus, "the job has %s", itemCount(l.st.Total())))
	case status == ShardingFlag && owner == "":
		reasons = append(reasons, because(Unassigned, "it has no owner"))
	case record.Err != nil:
		reasons = append(reasons, because(Unreadable, "%s", record.Err))
	case record.Value.MadeRoom():
		reasons = append(reasons, because(Waiting, "what is left of an execution that made room waits to be run"))
	case record.Value.State == jobtree.ItemWaiting:
		reasons = append(reasons, because(Waiting, "a lost execution waits to be run again"))
	case record.Value.GaveUp():
		reasons = append(reasons, because(GaveUp, "lost executions were run again %d times and were given up", record.Value.Reruns))
	}
	if !overdue.IsZero() {
		reasons = append(reasons, because(Overdue, "the fire of %s has not run", overdue.UTC().Format(time.RFC3339)))
	}
	return status, reasons
}

// overdueSince returns the first fire that the item should have run for by now; the zero time if there is none.
func (l *look) overdueSince(it jobtree.Item, owner string) time.Time {
	record := it.Record.Value
	switch {
	case l.schedule == nil || l.delay != 0 || l.st.Config.Value.Unmonitored,
		it.Disabled, it.Running.Exists(), it.Record.Err != nil, it.Number >= l.st.Total(),
		record.State == jobtree.ItemWaiting, record.LastFire.IsZero(), !l.st.AnybodyEnabled():
		return time.Time{}
	case l.st.SharedWithJava() && (record.Current == nil || record.Current.Instance != owner):
		return time.Time{} // Java may have run it since, and does not say for which fire
	}
	since := record.LastFire
	if e := record.Current; e != nil && e.End.After(since) {
		since = e.End
	}
	if l.dueSince.After(since) {
		since = l.dueSince
	}
	fire := l.schedule.Next(since)
	if until := l.now.Add(-inforce.OverdueAfter(l.st.Config.Value)); fire.After(until) {
		return time.Time{}
	}
	return fire
}

// next returns when the job fires next; the zero time if that is not known, or never.
func (l *look) next() time.Time {
	switch {
	case l.schedule == nil || !l.st.AnybodyEnabled():
		return time.Time{}
	case l.delay != 0:
		return l.nextAfterDelay()
	default:
		return l.schedule.Next(l.now)
	}
}

// nextAfterDelay returns when the first item of a job with a fixed delay begins again.
func (l *look) nextAfterDelay() (next time.Time) {
	for n := range l.st.Total() {
		it := l.st.Item(n)
		e := it.Record.Value.Current
		if e == nil || e.End.IsZero() || it.Running.Exists() || it.Disabled {
			continue
		}
		if again := e.End.Add(l.delay); next.IsZero() || again.Before(next) {
			next = again
		}
	}
	return next
}
