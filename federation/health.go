package federation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/scheduler"
)

// RegistryHealth is the state of this process with one registry.
type RegistryHealth struct {
	Registry string `json:"registry"`
	// Away tells why the registry was never reached, or does not answer now, or its scheduler has stopped. Empty is none
	// of that.
	Away string `json:"away,omitempty"`
	// Health is the report of the registry's scheduler; the zero one if there is none yet.
	scheduler.Health
}

// Registries tells the state of this process with each registry, in the order of their names. ctx bounds how long jobs have
// to answer.
func (f *Federation) Registries(ctx context.Context) []RegistryHealth {
	all := make([]RegistryHealth, len(f.members))
	var asked sync.WaitGroup
	for i, m := range f.members {
		asked.Go(func() { all[i] = m.health(ctx) })
	}
	asked.Wait()
	return all
}

func (m *member) health(ctx context.Context) RegistryHealth {
	m.mu.Lock()
	s, reason, over := m.sched, m.reason, m.over
	m.mu.Unlock()
	h := RegistryHealth{Registry: m.name}
	switch {
	case s == nil && reason != nil:
		h.Away = fmt.Sprintf("it was never reached: %v", reason)
	case s == nil:
		h.Away = "it was never reached"
	}
	if s == nil {
		return h
	}
	h.Health = s.Health(ctx)
	switch {
	case over && reason != nil:
		h.Away = fmt.Sprintf("its scheduler has stopped: %v", reason)
	case h.State == scheduler.StateRunning && h.Session.State != "connected" && h.Session.State != "suspended":
		h.Away = "the session with it is " + h.Session.State
	}
	return h
}

// Health tells the state of this process over all registries, for package health. The session is the best one of all, as
// the process can take part in jobs while it has any; jobs that it could not take to their homes say why in Blind, and
// Blind of the report names registries that are away. A job that runs in two registries says so in Config.
func (f *Federation) Health(ctx context.Context) scheduler.Health {
	h := scheduler.Health{Time: time.Now(), State: f.phase(), Session: scheduler.SessionHealth{State: "none"}}
	h.Running = h.State == scheduler.StateRunning
	var blind []string
	homes := make(map[string]string)
	for _, r := range f.Registries(ctx) {
		if h.Instance == "" {
			h.Instance = r.Instance
		}
		if r.Away != "" && h.State != scheduler.StateNew {
			blind = append(blind, fmt.Sprintf("registry %s: %s", r.Registry, r.Away))
		}
		if r.Blind != "" {
			blind = append(blind, fmt.Sprintf("registry %s: %s", r.Registry, r.Blind))
		}
		if worth(r.Session) > worth(h.Session) {
			h.Session = r.Session
		}
		h.Load.Overloaded = h.Load.Overloaded || r.Load.Overloaded
		h.Load.Wanted += r.Load.Wanted
		h.Load.Begun += r.Load.Begun
		h.Load.Dropped += r.Load.Dropped
		for _, j := range r.Jobs {
			if other := homes[j.Job]; other != "" && j.Joined {
				j.Config = fmt.Sprintf("the job is in registry %s, too: remove it from one of them", other)
			}
			if j.Joined {
				homes[j.Job] = r.Registry
			}
			h.Jobs = append(h.Jobs, j)
		}
	}
	for _, j := range f.waiting() {
		if !slices.ContainsFunc(h.Jobs, func(known scheduler.JobHealth) bool { return known.Job == j.name }) {
			h.Jobs = append(h.Jobs, scheduler.JobHealth{Job: j.name, Answered: true, Blind: fmt.Sprint(j.Waits())})
		}
	}
	slices.SortStableFunc(h.Jobs, func(a, b scheduler.JobHealth) int { return strings.Compare(a.Job, b.Job) })
	h.Blind = strings.Join(blind, "; ")
	return h
}

// worth orders sessions by what can be done with them.
func worth(s scheduler.SessionHealth) int {
	return slices.Index([]string{"none", "lost", "suspended", "connected"}, s.State)
}

func (f *Federation) phase() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.stop == nil:
		return scheduler.StateNew
	case f.returned:
		return scheduler.StateStopped
	case f.stop.Err() != nil:
		return scheduler.StateStopping
	default:
		return scheduler.StateRunning
	}
}
