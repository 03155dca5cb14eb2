package catalog

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/scheduler"
)

// patience is how long the runners of jobs have to answer when somebody collects.
const patience = 2 * time.Second

// Reporter is the Health of a scheduler.
type Reporter func(context.Context) scheduler.Health

// Sample is the value of a metric.
type Sample struct {
	Metric
	Job   string // empty if the metric has no label of a job
	Value float64
}

// Samples asks for a report, and returns what it says. It takes no longer than two seconds. A nil Reporter has nothing to
// say.
func (report Reporter) Samples(ctx context.Context) []Sample {
	if report == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return SamplesOf(report(ctx))
}

// SamplesOf returns what a health report says. What the report cannot know, it does not say: before Run and after it,
// nothing of sessions and jobs; without a session, and until a job was read or while it cannot be followed, nothing of
// what others do there.
func SamplesOf(h scheduler.Health) []Sample {
	running := h.State == scheduler.StateRunning
	said := samples{{Metric: Running, Value: truth(running)}}
	if !running {
		return said
	}
	held := h.Session.State == "connected" || h.Session.State == "suspended"
	said.add(SessionHeld, "", truth(held))
	for _, j := range h.Jobs {
		said.add(Unanswered, j.Job, truth(!j.Answered))
		if j.Answered {
			said.ofJob(j, held && j.Blind == "" && j.ViewRevision != 0)
		}
	}
	return said
}

type samples []Sample

func (s *samples) add(m Metric, job string, value float64) {
	*s = append(*s, Sample{Metric: m, Job: job, Value: value})
}

// ofJob adds what a report says of a job; sees tells whether it is what is true of the others, too.
func (s *samples) ofJob(j scheduler.JobHealth, sees bool) {
	paused := j.Config != ""
	outside := !j.Joined && !j.Leaving && !paused && !j.ShutDown && j.Blind == "" && j.Clock == ""
	s.add(NotJoined, j.Job, truth(outside))
	s.add(ClockOff, j.Job, truth(j.Clock != ""))
	if !sees {
		return
	}
	s.add(Disabled, j.Job, truth(j.Disabled))
	s.add(Leaderless, j.Job, truth(j.Leader == "" && !j.Disabled && !paused))
	s.add(Stuck, j.Job, truth(j.Sharding != ""))
	s.add(Instances, j.Job, float64(j.Instances))
	s.add(Items, j.Job, float64(j.Items))
	s.add(Overdue, j.Job, float64(len(j.Overdue)))
	s.add(Waiting, j.Job, countUnless(j.Disabled, j.Waiting))
	s.add(Unowned, j.Job, countUnless(j.Disabled || paused, j.Unowned))
	s.add(Failed, j.Job, float64(len(j.Failed)))
	if !j.LastSuccess.IsZero() {
		s.add(LastSuccess, j.Job, float64(j.LastSuccess.UnixMilli())/1000)
	}
}

func truth(holds bool) float64 {
	if holds {
		return 1
	}
	return 0
}

func countUnless(wanted bool, items []int) float64 {
	if wanted {
		return 0
	}
	return float64(len(items))
}
