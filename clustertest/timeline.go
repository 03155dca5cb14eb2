package clustertest

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// timeline is what a job's tree said when, as far as it decides which fires are due.
type timeline struct {
	config    job.Config
	schedule  cronexpr.Schedule // nil if the settings cannot be used
	instances map[string]bool   // the live ones, by id
	servers   map[string]bool   // the disabled ones, by address
	disabled  map[int]bool      // items
	joined    bool              // an instance has been there
	phases    []phase
}

// phase is a time in which nothing of that changed.
type phase struct {
	from     time.Time
	schedule cronexpr.Schedule // nil if nothing is due
	items    int
	disabled map[int]bool
	jitter   jitter.Jitter
}

// follow writes down what changed in the jobs' trees.
func (b *book) follow(step registry.Step) {
	b.mu.Lock()
	defer b.mu.Unlock()
	changed := make(map[string]bool)
	for _, change := range step.Changes {
		name, known := jobtree.Parse(change.Path())
		if !known {
			continue
		}
		t := b.timelines[name.Job]
		if t == nil {
			t = &timeline{instances: make(map[string]bool), servers: make(map[string]bool), disabled: make(map[int]bool)}
		}
		if t.apply(name, change.New) {
			changed[name.Job], b.timelines[name.Job] = true, t
		}
	}
	for name := range changed {
		b.timelines[name].turn()
	}
}

// apply takes over one node, and tells whether it says something of what is due.
func (t *timeline) apply(name jobtree.Name, n registry.Node) bool {
	switch name.Kind {
	case jobtree.KindConfig:
		t.config, t.schedule = job.Config{}, nil
		if cfg, err := jobtree.DecodeConfig(n); n.Exists() && err == nil {
			if schedule, err := cfg.Schedule(); err == nil {
				t.config, t.schedule = cfg, schedule
			}
		}
	case jobtree.KindInstance:
		set(t.instances, name.Key, n.Exists())
		t.joined = t.joined || n.Exists()
	case jobtree.KindServer:
		disabled, _ := jobtree.DecodeServer(n)
		set(t.servers, name.Key, n.Exists() && disabled)
	case jobtree.KindItemDisabled:
		set(t.disabled, name.Item, n.Exists())
	default:
		return false
	}
	return true
}

func set[K comparable](in map[K]bool, key K, is bool) {
	if is {
		in[key] = true
	} else {
		delete(in, key)
	}
}

// turn begins another phase.
func (t *timeline) turn() {
	next := phase{
		from: time.Now(), items: t.config.ShardingTotalCount, disabled: maps.Clone(t.disabled),
		jitter: jitter.For(t.config),
	}
	if t.joined && !t.config.Disabled && !t.asleep() {
		next.schedule = t.schedule
	}
	t.phases = append(t.phases, next)
}

// asleep tells whether all live instances are on disabled servers, so that fires are none. While nobody
// lives, they are missed.
func (t *timeline) asleep() bool {
	for id := range t.instances {
		if !t.servers[jobtree.ServerOf(id)] {
			return false
		}
	}
	return len(t.instances) > 0
}

// due returns the fires that were due until now, in their order. A fire is delayed by its jitter, and what holds then decides
// whether it is due. It is among them when it would be with any delay, so that nobody needs to know its own.
func (t *timeline) due(now time.Time) []Fire {
	var fires []Fire
	delayed := false
	for n, p := range t.phases {
		if p.schedule == nil {
			continue
		}
		delayed = delayed || p.jitter.Most > 0
		until := now
		if n+1 < len(t.phases) {
			until = t.phases[n+1].from
		}
		for at := range cronexpr.Between(p.schedule, p.from.Add(-p.jitter.Most), until) {
			if begins := at.Add(p.jitter.Of(at)); !begins.After(p.from) || begins.After(until) || at.Add(p.jitter.Most).After(now) {
				continue
			}
			for item := range p.items {
				if !p.disabled[item] {
					fires = append(fires, Fire{Item: item, Time: at.UTC()})
				}
			}
		}
	}
	if delayed { // then one of a phase may come after one of the next, and be one of both if the delay is another one there
		slices.SortFunc(fires, Fire.compare)
		fires = slices.Compact(fires)
	}
	return fires
}

// knows tells whether there is, or was, such a job.
func (b *book) knows(name string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.timelines[name] != nil
}

// due returns the fires of a job until now, of which there are many in a long test.
func (b *book) due(name string) []Fire {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.timelines[name]
	if t == nil {
		return nil
	}
	return t.due(time.Now())
}

// jobs names all jobs.
func (b *book) jobs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.timelines))
}
