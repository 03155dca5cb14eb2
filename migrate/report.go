package migrate

import "strconv"

// Action is what Run did with a job, or would do. The words are part of the report's format.
type Action string

// The actions.
const (
	Created   Action = "created"   // the target did not have the job
	Updated   Action = "updated"   // the target had the job, and it was changed
	Unchanged Action = "unchanged" // the target has the job as it should be
	Differs   Action = "differs"   // the target has another job of that name, and it was left alone
	Refused   Action = "refused"   // the source's job must not or cannot be copied
	Failed    Action = "failed"    // the target could not be written
)

// Done tells whether the target has the job as the source does, or would have.
func (a Action) Done() bool { return a == Created || a == Updated || a == Unchanged }

// Format is the generation of the tree that a job was read from.
type Format string

// The formats.
const (
	Format2 Format = "2.1" // Elastic-Job-Lite 2.1, and Elasticron
	Format3 Format = "3.x" // ElasticJob 3.x
)

// Report says what Run did with each job, or would do.
type Report struct {
	// Applied is [Options.Apply]. If it is false, the actions are what Run would do.
	Applied bool `json:"applied"`
	// Jobs are in the order of their names.
	Jobs []Job `json:"jobs"`
}

// Complete tells whether no job was left behind: none differs, was refused or failed.
func (r Report) Complete() bool {
	for _, j := range r.Jobs {
		if !j.Action.Done() {
			return false
		}
	}
	return true
}

// Job is the report on one job.
type Job struct {
	Name   string `json:"name"`
	Format Format `json:"format,omitempty"` // empty if it is not known
	Action Action `json:"action"`
	// Reason says why the job was refused or failed.
	Reason string `json:"reason,omitempty"`
	// Changes are the nodes that Run wrote or would write or, if the job differs, would have to write.
	Changes []Change `json:"changes,omitempty"`
	// Notes are for the person who moves the job.
	Notes []string `json:"notes,omitempty"`
}

// Change is one difference between source and target.
type Change struct {
	// Node is the path below the job; a member of the config is "config.cron".
	Node string `json:"node"`
	// From is what the target has, and To what it gets. Nil means that there is no such node.
	From *string `json:"from,omitempty"`
	To   *string `json:"to,omitempty"`
}

// String returns a text such as `config.cron: "0 0 * * * ?" -> "0 5 * * * ?"`.
func (c Change) String() string {
	switch {
	case c.From == nil && c.To == nil:
		return c.Node
	case c.From == nil:
		return c.Node + ": + " + shown(*c.To)
	case c.To == nil:
		return c.Node + ": - " + shown(*c.From)
	default:
		return c.Node + ": " + shown(*c.From) + " -> " + shown(*c.To)
	}
}

func shown(value string) string {
	if value == "" {
		return `""`
	}
	return value
}

func quote(value string) string { return strconv.Quote(value) }
