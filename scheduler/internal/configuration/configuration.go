// Package configuration is the room of a job's configuration: what of the stored one can be used, what the
// application's code makes of it, and why the job pauses if it cannot be used.
package configuration

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler/internal/asking"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/sharding"
)

// Settings are the job's configuration as the registry has it, made ready for use. Once they are in force they
// do not change: what holds them shares them.
type Settings struct {
	OK         bool            // false: there is none, or it cannot be used, and nothing may begin
	Config     *job.Config     // what the state has, and not a copy: there may be thousands of jobs
	Parameters map[int]string  // of items; nil if there are none
	Rules      policy.Rules    // by what it fires
	Code       job.HandlerFunc // what runs the items
	AwaitsCode bool            // the code is that of a former configuration, or there was none, and nothing begins
	Handler    job.ErrorHandler
	MaxRunning int // items at once in this process; 0 = without limit
}

// None are the settings of a job that cannot run.
func None() *Settings { return &none }

var none = Settings{Config: new(job.Config)} // never written

// ErrNotStored says that the job has no configuration.
var ErrNotStored = errors.New("the job is not in the registry")

// errDeleted is ErrNotStored of a job that was enabled when this process saw it last. Whoever removes a job disables it first, so
// that nothing of it runs. So this one was deleted by hand, or both steps of its removal came as one, as after a watch that was
// interrupted for a moment.
var errDeleted = fmt.Errorf("%w: it was not seen disabled first, as a removal does", ErrNotStored)

// Ports are what the room may ask of the process.
type Ports interface {
	room.Ports
	// Class is the one that this process declares the job to have; empty if the job is data.
	Class() string
	// Handler is the job's code, as it was declared.
	Handler() job.Handler
	Traits() peers.Traits
	ErrorHandlers() *errorhandler.Registry
	Lookup(strategy string) (sharding.Strategy, error)
	Schedules() *fires.Schedules
	// Adopt puts settings into force.
	Adopt(next *Settings)
	// TakenUp hears that the job goes on by the settings in force.
	TakenUp()
	// Paused hears why the job pauses, or nil when it goes on.
	Paused(why error)
	// Again takes the configuration up once more: its code could not be asked before, or has refused it.
	Again()
}

// AskAgain is how long after the code has refused a configuration it is asked once more: what it did not find on its machine,
// such as a secret, may have come, and nobody tells of that.
const AskAgain = time.Minute

// Configuration is what an instance knows of a job's configuration.
type Configuration struct {
	ports   Ports
	inForce *Settings
	maker   asking.Asker // what the application's code makes of it
	again   *time.Timer  // by which it is asked once more; nil = it has not refused
	// pausedFor is why the job pauses, and doubts what its configuration is used in spite of, as they were
	// told last; empty = nothing.
	pausedFor, doubts string
	refuses           bool // this process alone, it may be: others may be able to use it
	unreadable        bool // the stored one
	enabled           bool // as it was stored last
	retries           retries
}

// New makes the room of a job.
func New(ports Ports) *Configuration {
	return &Configuration{ports: ports, inForce: None(), maker: asking.Asker{For: ports}}
}

// Stop stops the timers. It is for the end, when the runner does nothing any more.
func (c *Configuration) Stop() {
	c.maker.Stop()
	c.dropAgain()
}

func (c *Configuration) dropAgain() {
	if c.again != nil {
		c.again.Stop()
		c.again = nil
	}
}

// askAgain has the code asked once more later, unless the configuration is taken up before.
func (c *Configuration) askAgain() {
	var timer *time.Timer
	timer = time.AfterFunc(AskAgain, func() {
		c.ports.Post(func() { // by then timer is set
			if c.again == timer {
				c.retries.asked()
				c.ports.Again()
				c.retries.over()
			}
		})
	})
	c.again = timer
}

// TakeUp takes up a new configuration. If it cannot be used, no part of it is taken up: half of it might be
// worse than none. What the application's code makes of it comes later, and until then nothing begins.
func (c *Configuration) TakeUp(v room.View, leaders peers.Leaders) {
	c.retries.begin()
	c.dropAgain()
	c.unreadable = v.State.Config.Err != nil
	next, found, warnings := c.judge(v, leaders)
	if stored := v.State.Config; stored.Exists() {
		c.enabled = stored.Err == nil && !stored.Value.Disabled
	} else if c.enabled {
		found.common = errDeleted
	}
	if next.Config == nil {
		c.maker.Drop()
		c.takeUp(None(), found, nil, false)
		return
	}
	switch {
	case found.all() != nil && c.inForce.OK, c.refuses && found.common == nil: // others perhaps go on at once
		c.adopt(None())
	case found.all() != nil, !c.inForce.OK && v.Out: // it goes on, and comes back, when everything is known
	default: // its fires come from now on, also those of a job that was not followed before: others take it that they do
		known := *next
		known.Code, known.Handler, known.AwaitsCode = c.inForce.Code, c.inForce.Handler, true
		c.adopt(&known)
	}
	c.makeCode(v.Tree.Config(), *next.Config, func(m made) {
		faults := found
		if m.fault != nil {
			faults.own = errors.Join(faults.own, m.fault)
		}
		only := m.fault != nil && found.all() == nil // the code has something against it, and nobody else
		if only && m.returned {
			c.askAgain()
		}
		if faults.all() == nil && m.instead != nil {
			c.ports.Log().ErrorContext(c.ports.Life(), "the job's error handler cannot be used, its failures are logged instead", room.KeyError, m.instead)
		}
		next.Code, next.Handler = m.code, m.errorHandler
		c.takeUp(next, faults, warnings, only && c.retries.known())
	})
}

// takeUp lets the job go on by its settings, or pauses it for what is wrong with them. known is that the log knows as much.
func (c *Configuration) takeUp(next *Settings, found faults, warnings error, known bool) {
	c.refuses = found.common == nil && found.own != nil
	c.tellPause(found.all(), known)
	if found.all() != nil {
		c.adopt(None())
		return
	}
	c.tellDoubts(warnings)
	c.tellExecutor(*next.Config)
	c.adopt(next)
	c.ports.TakenUp()
}

func (c *Configuration) adopt(next *Settings) {
	c.inForce = next
	c.ports.Adopt(next)
}

// Refusal is why this process, as it is set up or by its code, refuses the configuration, which others may be able to use;
// empty if it does not, or nobody can use it.
func (c *Configuration) Refusal() string {
	if !c.refuses {
		return ""
	}
	return c.pausedFor
}

// faults are why a configuration cannot be used: common ones keep all processes from it, own ones perhaps this one alone.
type faults struct{ common, own error }

func (f faults) all() error {
	if f.own == nil {
		return f.common
	}
	return errors.Join(f.common, f.own)
}

// judge makes the settings of the configuration as the registry has it. The faults are every reason why they
// cannot be used, except those of the code; warnings has the faults in spite of which they are used. They lack
// the code, and have no configuration if there is none that could be read.
func (c *Configuration) judge(v room.View, leaders peers.Leaders) (next *Settings, found faults, warnings error) {
	stored := v.State.Config
	switch {
	case stored.Revision == 0:
		return &Settings{}, faults{common: ErrNotStored}, nil
	case stored.Err != nil:
		return &Settings{}, faults{common: stored.Err}, nil
	}
	cfg := leaders.InForce(v, &v.State.Config.Value)
	warnings, found.common = jobtree.CheckConfig(v.Job(), *cfg)
	if class := cfg.ClassName(); c.ports.Class() != "" && class != c.ports.Class() {
		found.own = jobtree.StoredError(v.Tree.Config(), &job.FieldError{
			Field: "Class", Value: class, Reason: fmt.Sprintf("must be %q, which this process declares", c.ports.Class()),
		})
	}
	if err := c.judgeStrategy(v, cfg.ShardingStrategy); err != nil && c.ports.Traits().OwnRules {
		warnings = errors.Join(warnings, err) // another may know it, and lead
	} else if err != nil {
		found.own = errors.Join(found.own, err)
	}
	next = &Settings{OK: true, Config: cfg}
	if found.all() != nil {
		return next, found, warnings
	}
	schedule, _ := c.ports.Schedules().Of(*cfg) // CheckConfig found no fault with either
	next.Rules = policy.RulesOf(schedule, *cfg)
	next.Rules.Policy = next.Rules.After(c.inForce.Rules.Policy, v.Clock.Now())
	if cfg.ShardingItemParameters != "" {
		next.Parameters, _ = job.ParseItemParameters(cfg.ShardingItemParameters)
	}
	next.MaxRunning, _ = inforce.MaxRunning(*cfg) // what is not known is without a bound
	return next, found, warnings
}

// judgeStrategy tells whether this process has a strategy. One that it does not have would leave the job
// without anybody to lead it, or with a leader until that one goes.
func (c *Configuration) judgeStrategy(v room.View, name string) error {
	_, err := c.ports.Lookup(name)
	if err == nil {
		return nil
	}
	return jobtree.StoredError(v.Tree.Config(), &job.FieldError{
		Field: "ShardingStrategy", Value: name, Reason: "must be empty or the name of a strategy that this process has", Err: err,
	})
}

// tellPause says once why the job pauses, and once that it goes on. nil means that it runs. What the log knows of a pause, it
// does not say there.
func (c *Configuration) tellPause(why error, known bool) {
	text := ""
	if why != nil {
		text = why.Error()
	}
	if text == c.pausedFor {
		return
	}
	c.pausedFor = text
	log, life := c.ports.Log(), c.ports.Life()
	_, elsewhere := protect.As[*jobtree.ElsewhereError](why)
	switch { // what the code returned is not asked what it is
	case known:
	case why == nil:
		log.InfoContext(life, "job goes on: its configuration can be used again")
	case protect.Is(why, errDeleted):
		log.WarnContext(life, "job is gone from the registry and was not seen disabled first, it pauses")
	case elsewhere:
		log.WarnContext(life, "job pauses: its home is another registry", room.KeyError, why)
	case protect.Is(why, ErrNotStored) && c.ports.Class() == "":
		log.InfoContext(life, "job was removed from the registry") // a job that is data goes so: nobody here declares that it should be there
	case protect.Is(why, ErrNotStored):
		log.WarnContext(life, "job was removed from the registry, it pauses")
	case c.unreadable:
		log.ErrorContext(life, "job pauses: its configuration cannot be read", room.KeyError, why)
	default:
		log.ErrorContext(life, "job pauses: its configuration cannot be used", room.KeyError, why)
	}
	c.ports.Paused(why)
}

// tellDoubts warns once of what a configuration is used in spite of.
func (c *Configuration) tellDoubts(warnings error) {
	text := ""
	if warnings != nil {
		text = warnings.Error()
	}
	if text != "" && text != c.doubts {
		c.ports.Log().WarnContext(c.ports.Life(), "job runs, and its configuration should be looked at", room.KeyError, warnings)
	}
	c.doubts = text
}

// tellExecutor warns of an executor that is not known here.
func (c *Configuration) tellExecutor(cfg job.Config) {
	if _, err := inforce.MaxRunning(cfg); err != nil {
		c.ports.Log().WarnContext(c.ports.Life(), "the job's executor is not known here, its items run without limit", room.KeyError, err)
	}
}
