package job

import "cmp"

// MisfirePolicy says what happens to the fires of an item that could not begin on time, for example because the
// item was still running. Package scheduler tells when a fire is missed. The zero value is [MisfireOnce].
type MisfirePolicy string

// The values of [Config.Misfire].
const (
	MisfireOnce MisfirePolicy = ""     // once: one run for all of them, with the time of the newest
	MisfireSkip MisfirePolicy = "skip" // none: a fire that cannot begin on time does not run
	MisfireAll  MisfirePolicy = "all"  // one run for each, in order, up to [Config.MisfireMax]
)

// String returns the word of the policy, also for the zero one.
func (p MisfirePolicy) String() string { return cmp.Or(string(p), "once") }

// FailoverScope says which items [Config.Failover] runs again after their instance is gone. The zero value
// is [FailoverRunning].
type FailoverScope string

// The values of [Config.FailoverScope].
const (
	FailoverRunning  FailoverScope = ""         // running: those whose execution was cut short
	FailoverAssigned FailoverScope = "assigned" // after a crash all that were assigned to it, as Elastic-Job 2.x does
)

// String returns the word of the scope, also for the zero one.
func (s FailoverScope) String() string { return cmp.Or(string(s), "running") }

// ClockPolicy says what happens to a fire on an instance whose clock is further off than
// [Config.MaxTimeDiff]. The zero value is [ClockWarn].
type ClockPolicy string

// The values of [Config.ClockPolicy].
const (
	ClockWarn   ClockPolicy = ""       // warn: it runs, and the clock is reported, as long as it is 30 s off at most
	ClockRefuse ClockPolicy = "refuse" // it is missed here; the instance leaves the job to others until its clock is right again
)

// String returns the word of the policy, also for the zero one.
func (p ClockPolicy) String() string { return cmp.Or(string(p), "warn") }

// DaylightSaving says what happens to fires that fall into a change of the clock. The zero value is
// [DaylightSavingNatural].
type DaylightSaving string

// The values of [Config.DaylightSaving].
const (
	DaylightSavingNatural DaylightSaving = ""       // natural: a job at fixed hours runs once that day, one that ticks through the hours without a pause
	DaylightSavingQuartz  DaylightSaving = "quartz" // what Quartz does exactly, for jobs that Java instances share
)

// String returns the word of the rule, also for the zero one.
func (d DaylightSaving) String() string { return cmp.Or(string(d), "natural") }

// Type says what kind of code a job runs. The zero Type is [TypeSimple]. Its words are stored, and shared
// with Java peers.
type Type string

// The types of jobs.
const (
	TypeSimple   Type = ""         // SIMPLE: one call for each item of a fire
	TypeDataflow Type = "DATAFLOW" // fetch, then process, once or until nothing is left
	TypeScript   Type = "SCRIPT"   // a command line
)

// types are all, in the order in which faults name them.
var types = []Type{TypeSimple, TypeDataflow, TypeScript}

// String returns the word of the type, also for the zero one.
func (t Type) String() string { return cmp.Or(string(t), "SIMPLE") }
