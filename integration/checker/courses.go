package checker

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// courses are how what decides about fires changed over time, as the registry shows it. It is what operators
// and the cluster wrote there, and nothing that a process says of itself.
type courses struct {
	settings course[*settings]
	attended course[bool]             // whether an instance minds the fires: what is missed then is to be made up
	manned   course[bool]             // whether one of them may begin anything, or could if it did not leave the job unasked
	owner    map[int]*course[string]  // of an item
	runnable map[int]*course[bool]    // whether the item is there, and enabled
	servers  map[string]*course[bool] // by address: whether it is disabled
	leaves   map[string]*course[bool] // by instance: whether it is told to leave; one that joins is not
}

// settings are a configuration that was in force.
type settings struct {
	job.Config
	there    bool // false: the job was removed
	usable   bool // false: no process can run the job by them
	schedule cronexpr.Schedule
	delay    time.Duration // after the end of a run; 0 = the job fires by its schedule
}

// due returns when a job runs for a fire: it has come, and its jitter is over.
func due(cfg job.Config, fire time.Time) time.Time {
	return fire.Add(jitter.For(cfg).Of(fire))
}

// told returns when a fire was told of at the latest, by the settings in force until a moment: a jitter that is replaced ends
// then, if it was not over, and the fire is on time by what ended last.
func (c *courses) told(fire, until time.Time) time.Time {
	var last time.Time
	for i, s := range c.settings {
		if s.from.After(until) {
			break
		}
		if !s.is.usable {
			continue
		}
		told := due(s.is.Config, fire)
		if i+1 < len(c.settings) && told.After(c.settings[i+1].from) {
			told = c.settings[i+1].from
		}
		last = maxTime(last, told)
	}
	return last
}

// sameTimes tells whether the job has the same fires under other settings. A jitter moves their begin, and no more.
func (s *settings) sameTimes(other *settings) bool {
	return s.Cron == other.Cron && s.TimeZone == other.TimeZone && s.DaylightSaving == other.DaylightSaving &&
		s.StartTime.Equal(other.StartTime) && s.EndTime.Equal(other.EndTime) && s.Offset == other.Offset
}

func settingsOf(stored jobtree.Stored[job.Config]) *settings {
	s := &settings{Config: stored.Value, there: stored.Exists()}
	if !s.there || stored.Err != nil || stored.Value.Validate() != nil {
		return s
	}
	var err error
	if s.schedule, err = stored.Value.Schedule(); err != nil {
		return s
	}
	s.usable = true
	s.delay, _ = cronexpr.DelayOf(s.schedule)
	return s
}

func newCourses() courses {
	return courses{
		owner: make(map[int]*course[string]), runnable: make(map[int]*course[bool]),
		servers: make(map[string]*course[bool]), leaves: make(map[string]*course[bool]),
	}
}

// part tells of an instance what it does in a state.
type part struct {
	minds  func(jobtree.Instance) bool // it sees which fires come
	serves func(jobtree.Instance) bool // see [judge.serves]
}

// note takes note of a state that the registry came to, in which instances have their part.
func (c *courses) note(at time.Time, s *jobtree.State, touched jobtree.Touched, has part) {
	if touched.Config {
		c.settings.note(at, settingsOf(s.Config))
	}
	c.attended.note(at, slices.ContainsFunc(s.Instances, has.minds))
	c.manned.note(at, slices.ContainsFunc(s.Instances, has.serves))
	for _, i := range s.Instances {
		ip := jobtree.ServerOf(i.ID)
		of(c.servers, ip).note(at, !s.Enabled(i.ID))
		of(c.leaves, i.ID).note(at, i.Shutdown)
	}
	items := touched.Items
	if touched.Config || touched.Epoch {
		items = nil
		for n := range max(s.Total(), len(c.owner)) {
			items = append(items, n)
		}
	}
	total := s.Total()
	if s.Config.Exists() && s.Config.Err == nil {
		total = min(total, s.Config.Value.ShardingTotalCount)
	}
	for _, n := range items {
		of(c.owner, n).note(at, s.Owner(n))
		of(c.runnable, n).note(at, !s.Item(n).Disabled && n < total)
	}
}

func of[K comparable, T comparable](all map[K]*course[T], key K) *course[T] {
	if all[key] == nil {
		all[key] = new(course[T])
	}
	return all[key]
}
