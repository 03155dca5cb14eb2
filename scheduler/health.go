package scheduler

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// The states of a process in [Health].
const (
	StateNew      = "new"
	StateRunning  = "running"
	StateStopping = "stopping"
	StateStopped  = "stopped"
)

// Health is the state of this process as a scheduler, as far as it can be told without asking the
// registry.
type Health struct {
	Instance string    `json:"instance"`
	Time     time.Time `json:"time"`
	Running  bool      `json:"running"` // Run was called and has not been told to stop
	// State tells how far the process is: new before Run, running, stopping, or stopped when Run has returned.
	State   string        `json:"state"`
	Session SessionHealth `json:"session"`
	Load    LoadHealth    `json:"load"`
	Jobs    []JobHealth   `json:"jobs"` // by name
	// Blind tells why the list of jobs cannot be followed; empty is that it can, or that nobody wants to.
	Blind string `json:"blind,omitempty"`
	// Clock tells that the registry cannot tell its time, so that nobody notices if this process's clock is off. Empty means that
	// it can, or that it was not asked yet. Whether the clock is off, each job tells.
	Clock string `json:"clock,omitempty"`
}

// SessionHealth is the state of the process's session with the registry.
type SessionHealth struct {
	ID    string `json:"id,omitempty"`
	State string `json:"state"` // connected, suspended, lost, or none before the first one
	// Deadline is when the session is lost if no keep-alive is confirmed until then.
	Deadline time.Time `json:"deadline,omitzero"`
}

// JobHealth is the state of one job as this process sees it.
type JobHealth struct {
	Job string `json:"job"`
	// Answered is false if the job's runner did not answer in time, as when it waits for the registry.
	// Then only Job says something.
	Answered bool `json:"answered"`
	Joined   bool `json:"joined"` // registered under the present session
	// Leaving tells that this process is giving the job up, and waits for what still runs.
	Leaving bool   `json:"leaving,omitempty"`
	Leader  string `json:"leader,omitempty"`
	Leading bool   `json:"leading"` // this process is it
	// Sharding tells why the job's items stay where they are although they should be spread. On the leader:
	// the sharding strategy fails, or does not return; of another total count, new items then belong to nobody. On others: the
	// leader has not moved them for more than 10 s and two TTLs of the session, for example because it may not read the node of
	// an instance. Empty means that they are where they should be, or, with a strategy of the application's, that each has a live
	// owner: others than the leader do not ask it.
	Sharding string `json:"sharding,omitempty"`
	// Config tells why the job pauses here: its configuration is gone, or cannot be read or used, with every
	// fault. Empty is that it does not.
	Config string `json:"config,omitempty"`
	// Disabled tells that no live instance of the job may run anything, because all servers or the job are disabled.
	Disabled bool `json:"disabled,omitempty"`
	// Blind tells why the job's tree cannot be followed. Then the rest is as it was seen last, if it was ever; but this process
	// is neither joined nor the leader once it has left the job because of that, or lost its session.
	Blind string `json:"blind,omitempty"`
	// Clock tells that this process's clock is too far off the registry's, and that its instance stays out
	// of the job because of that, or would if it were not the only one. Empty means neither.
	Clock string `json:"clock,omitempty"`
	// LeftToOthers tells that this process leaves the job to other instances, for what Config or Clock says: it owns no item
	// until that is over, or no other instance is left.
	LeftToOthers bool `json:"left_to_others,omitempty"`
	// ShutDown tells that an operator has shut this instance down: it takes no part in the job until the process starts
	// anew, or leaves the job and adds it again, see [Job.Leave]; a job that it has not added comes back only at a start.
	ShutDown bool `json:"shut_down,omitempty"`
	// ViewRevision is the state that the view shows, and ViewAge for how long it has shown it: for an idle
	// job, an old state is right. Behind is the newer revision that is known to exist and not shown yet.
	ViewRevision int64         `json:"view_revision"`
	ViewAge      time.Duration `json:"view_age_ns"`
	Behind       int64         `json:"behind,omitempty"`
	Instances    int           `json:"instances"` // that live, this one among them if it joined
	Items        int           `json:"items"`     // sharding total count in force
	// Followed is how many of the items this process follows: it may be its own alone, see [WithFollowing]. What
	// follows below tells of these; the process that leads follows all.
	Followed int `json:"followed"`
	// Unowned are the items that no live instance owns.
	Unowned []int `json:"unowned,omitempty"`
	// Overdue are enabled items, whoever owns them, that should have run by now, and neither did nor do: their fire
	// was ten seconds and the job's jitter ago. A job with a fixed delay is not judged. An unmonitored job leaves
	// nothing that would tell, and neither does an item that a Java instance owns. One of Unrecorded counts, too.
	Overdue []OverdueItem `json:"overdue,omitempty"`
	// Unrecorded are items whose code has returned in this process more than ten seconds ago, and whose end the registry has
	// not taken yet, for example because it is full. They show as running to everybody, and do not run again before that.
	// The log has "end not recorded yet, will try again", with the reason.
	Unrecorded []UnrecordedEnd `json:"unrecorded,omitempty"`
	// Waiting are enabled items whose execution was lost or cut short and waits to be run again.
	Waiting []int `json:"waiting,omitempty"`
	// Failed are enabled items whose last execution did not succeed and is not run again. Those that run just now
	// count, until they succeed.
	Failed []int `json:"failed,omitempty"`
	// LastSuccess is when an execution of any item succeeded last, as far as records tell: they keep the last two
	// executions of an item. Zero means none. An unmonitored job has neither this nor Waiting and Failed, and items that
	// Java instances run do not count.
	LastSuccess time.Time `json:"last_success,omitzero"`
}

// OverdueItem is an item that should have run.
type OverdueItem struct {
	Item int       `json:"item"`
	Fire time.Time `json:"fire"` // the newest that should have run
}

// UnrecordedEnd is an execution in this process whose end is not recorded.
type UnrecordedEnd struct {
	Item  int       `json:"item"`
	Ended time.Time `json:"ended"` // when its code returned
}

// Health tells the state of this process. Every job's runner is asked, and ctx bounds how long they have to answer; it asks
// nothing of the registry. It costs the time to look at each item. If ctx has ended already, no runner is asked, and Health
// returns at once: no job has answered, and the rest is as ever.
func (s *Scheduler) Health(ctx context.Context) Health { //nolint:contextcheck // whether Run has ended is not up to the caller
	s.mu.Lock()
	runners, attached := s.list(), s.attached
	running, state := s.stop != nil && s.stop.Err() == nil, s.phase()
	blind, life := s.catalogBlind, s.life
	s.mu.Unlock()
	h := Health{Instance: s.instance, Time: s.now(), Running: running, State: state, Session: s.sessionHealth(attached), Load: loadHealth(s.load.Last())}
	if blind != nil {
		h.Blind = blind.Error()
	}
	if s.clock.Mute() {
		h.Clock = registryIsMute
	}
	type answer struct {
		JobHealth
		left bool // the job was left meanwhile
	}
	answers := make(chan answer, len(runners)) // each runner answers once
	asked := make(map[string]bool, len(runners))
	for _, r := range runners {
		asked[r.name] = true
		if ctx.Err() != nil {
			continue
		}
		r.box.PostElse(func() { answers <- answer{JobHealth: r.health()} }, func() {
			answers <- answer{JobHealth{Job: r.name}, life == nil || life.Err() == nil}
		})
	}
	for range runners {
		select {
		case answer := <-answers:
			delete(asked, answer.Job)
			if !answer.left {
				h.Jobs = append(h.Jobs, answer.JobHealth)
			}
			continue
		case <-ctx.Done():
		}
		break
	}
	for name := range asked {
		h.Jobs = append(h.Jobs, JobHealth{Job: name})
	}
	slices.SortFunc(h.Jobs, func(a, b JobHealth) int { return strings.Compare(a.Job, b.Job) })
	return h
}

// phase returns the state of the process. The caller holds mu.
func (s *Scheduler) phase() string {
	switch {
	case s.stop == nil:
		return StateNew
	case s.stop.Err() == nil:
		return StateRunning
	case s.returned:
		return StateStopped
	default:
		return StateStopping
	}
}

func (s *Scheduler) sessionHealth(a *room.Attachment) SessionHealth {
	if a == nil {
		return SessionHealth{State: "none"}
	}
	h := SessionHealth{ID: a.Session.ID().String(), State: a.Session.State().String()}
	if left := a.Session.Remaining(); left > 0 {
		h.Deadline = s.now().Add(left)
	}
	return h
}
