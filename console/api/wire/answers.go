package wire

import (
	"encoding/json"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Me is who asks, and what they may do.
type Me struct {
	Name       string   `json:"name"`
	How        string   `json:"how"`
	Roles      []string `json:"roles"`
	Namespaces []string `json:"namespaces"`
	Grants     []Grant  `json:"grants,omitempty"`
}

// Grant is a role for some jobs of a namespace.
type Grant struct {
	Role      string `json:"role"`
	Namespace string `json:"namespace"`
	Jobs      string `json:"jobs"`
}

// Shown says of which state an answer is.
type Shown struct {
	Revision registry.Revision `json:"revision"`
	// AsOf is a time at which it was so, and Connected whether the registry still answers since.
	AsOf      time.Time `json:"as_of"`
	Connected bool      `json:"connected"`
}

// JobPage is a part of a list of jobs.
type JobPage struct {
	Jobs   []json.RawMessage `json:"jobs"`  // of live.ListedJob
	Total  int               `json:"total"` // that match
	Offset int               `json:"offset"`
	Shown
}

// JobDetail is everything about a job.
type JobDetail struct {
	Job        operate.JobRow      `json:"job"`
	Words      string              `json:"words,omitempty"` // the cron expression
	Settings   map[string]any      `json:"settings,omitempty"`
	Items      []operate.ItemRow   `json:"items"`
	Instances  []JobInstance       `json:"instances"`
	Servers    []JobServer         `json:"servers"`
	NextFires  []time.Time         `json:"next_fires"`
	Operations []operate.Operation `json:"operations,omitempty"` // the newest first
	Shown
}

// JobInstance is an instance as one job knows it.
type JobInstance struct {
	Instance string `json:"instance"`
	Server   string `json:"server"`
	Enabled  bool   `json:"enabled"`
	Leader   bool   `json:"leader"`
	Leaving  bool   `json:"leaving"`
	Java     bool   `json:"java"`
	Items    []int  `json:"items"`
}

// JobServer is a server as one job knows it.
type JobServer struct {
	Server    string   `json:"server"`
	Disabled  bool     `json:"disabled"`
	Instances []string `json:"instances"` // that live there
}

// ServerList is all servers of a namespace. The server keeps its rows as text, as it does those of an [InstanceList], and
// makes neither value; both say here what is sent, and its tests read it by them.
type ServerList struct {
	Servers []operate.ServerRow `json:"servers"`
	Shown
}

// InstanceList is all instances of a namespace.
type InstanceList struct {
	Instances []operate.InstanceRow `json:"instances"`
	Shown
}

// Config is a stored configuration.
type Config struct {
	Job      string            `json:"job"`
	Text     string            `json:"text"`
	Config   json.RawMessage   `json:"config,omitempty"` // the same, if it is an object
	Revision registry.Revision `json:"revision"`
	Hidden   bool              `json:"hidden,omitempty"` // secrets are not shown
	Files    string            `json:"files,omitempty"`  // the owner of the files that own these settings, and put them back
	Words    string            `json:"words,omitempty"`
}

// Outcome is what became of an operation on a job or, of a dry run, what would.
type Outcome struct {
	ID   string       `json:"id"`
	When time.Time    `json:"when"`
	Plan operate.Plan `json:"plan"`
	// Operation is what is written down, of one that was done before by whoever asked then; nil of a dry run, and if nothing was.
	Operation *operate.Operation `json:"operation,omitempty"`
	Words     string             `json:"words,omitempty"` // the new cron expression
	Revision  registry.Revision  `json:"revision,omitempty"`
	Repeated  bool               `json:"repeated,omitempty"`
	Came      time.Time          `json:"came,omitzero"` // of a backfill: the newest fire that was asked for under its id before
	Progress  *operate.Progress  `json:"progress,omitempty"`
	// Unconfirmed is why the job was not seen to have followed, where that was waited for.
	Unconfirmed string `json:"unconfirmed,omitempty"`
}

// OutcomeOf makes an outcome of a result.
func OutcomeOf(r operate.Result) Outcome {
	o := Outcome{ID: r.ID, When: r.When, Plan: r.Plan, Revision: r.Revision, Repeated: r.Repeated, Came: r.Came}
	if r.Progress.Text != "" || r.Progress.Done || r.Progress.Of > 0 || r.Progress.Overtaken {
		o.Progress = &r.Progress
	}
	return o
}

// Result makes the result of an outcome.
func (o Outcome) Result() operate.Result {
	r := operate.Result{Plan: o.Plan, ID: o.ID, When: o.When, Revision: o.Revision, Repeated: o.Repeated, Came: o.Came}
	if o.Progress != nil {
		r.Progress = *o.Progress
	}
	return r
}

// JobOutcome is what became of an operation on one of several jobs: an outcome, a problem, or both.
type JobOutcome struct {
	Job     string   `json:"job"`
	Outcome *Outcome `json:"outcome,omitempty"`
	Problem *Problem `json:"problem,omitempty"`
}

// Outcomes is what became of an operation on several jobs.
type Outcomes struct {
	ID   string       `json:"id"`
	Jobs []JobOutcome `json:"jobs"`
}

// Backfill is how far a backfill came.
type Backfill struct {
	ID   string      `json:"id"`
	Done []Outcome   `json:"done"`
	Left []time.Time `json:"left"`
	// MayHaveRun says how many of the fires that were asked for may have run already: what has run is run again. It is sent back
	// in a [BackfillRequest] by who agrees to that.
	MayHaveRun operate.MayHaveRun `json:"may_have_run"`
	// Warnings are those of a dry run.
	Warnings []string `json:"warnings,omitempty"`
	// Unconfirmed is why it was not gone on with, and UnderWay the fire that it came to. Ask again for what is left.
	Unconfirmed string   `json:"unconfirmed,omitempty"`
	UnderWay    *Outcome `json:"under_way,omitempty"`
	// Failed is what went wrong in a fire, and FailedItems the items of it; nothing more is done then.
	Failed      string                 `json:"failed,omitempty"`
	FailedItems []operate.ItemProgress `json:"failed_items,omitempty"`
}

// FireList is fires of a schedule.
type FireList struct {
	Fires []time.Time `json:"fires"`
	Zone  string      `json:"zone"` // of the job
}

// Cron is what a cron expression means.
type Cron struct {
	Cron      string        `json:"cron"`
	Words     string        `json:"words"`
	Zone      string        `json:"zone,omitempty"`
	NextFires []time.Time   `json:"next_fires"`
	Changes   []ClockChange `json:"changes"`
}

// ClockChange is a change of a zone's clock. Before and After are seconds east of UTC.
type ClockChange struct {
	At     time.Time `json:"at"`
	Before int       `json:"before"`
	After  int       `json:"after"`
}

// OperationList is what operators did, the newest first, and what others did since.
type OperationList struct {
	Operations []operate.Operation     `json:"operations"`
	Outside    []operate.OutsideChange `json:"outside"`
	Unreadable []string                `json:"unreadable,omitempty"` // jobs of which nobody can tell
	Shown
}

// ExecutionPage is a part of a history.
type ExecutionPage struct {
	Executions []Execution `json:"executions"`
	Total      int         `json:"total"`
	Recorded   string      `json:"recorded"` // FromStore or FromRegistry
	*Shown                 // nil of a store
}

// Where executions come from.
const (
	FromStore    = "store"    // a history store
	FromRegistry = "registry" // the last two of each item, which is what the registry keeps
)

// Execution is one run of an item.
type Execution struct {
	ID       string    `json:"id,omitempty"`
	Round    string    `json:"round,omitempty"`
	Job      string    `json:"job"`
	Task     string    `json:"task,omitempty"`
	Hostname string    `json:"hostname,omitempty"`
	IP       string    `json:"ip,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Source   string    `json:"source"`
	Item     int       `json:"item"`
	Fire     time.Time `json:"fire,omitzero"`
	Token    int64     `json:"token,omitempty"`
	Start    time.Time `json:"start"`
	Complete time.Time `json:"complete,omitzero"`
	Success  bool      `json:"success"`
	Running  bool      `json:"running"`
	// EndUnknown tells that a history has no end of it and that the registry does not show that it runs: its process was killed,
	// or, if the job's executions are not recorded, may run it still.
	EndUnknown bool   `json:"end_unknown,omitempty"`
	Error      string `json:"error,omitempty"`
	Output     int64  `json:"output,omitempty"` // how many bytes it wrote, if its output is kept
}

// OutputList is outputs of a job, the newest first, without their texts.
type OutputList struct {
	Outputs []Output `json:"outputs"`
}

// Output is what an execution wrote, or what is kept of it.
type Output struct {
	ID    string    `json:"id"` // of the execution
	Job   string    `json:"job"`
	Item  int       `json:"item"`
	Token int64     `json:"token,omitempty"`
	Start time.Time `json:"start"`
	Bytes int64     `json:"bytes"`          // that were written
	Text  string    `json:"text,omitempty"` // its beginning and its end, with a line that says what is left out
}

// OutputOf makes an output of one of a history.
func OutputOf(o history.Output) Output {
	return Output{ID: o.ID, Job: o.Job, Item: o.Item, Token: o.Token, Start: o.Start.UTC(), Bytes: o.Bytes, Text: o.Text}
}

// Output makes an output of a history.
func (o Output) Output() history.Output {
	return history.Output{ID: o.ID, Job: o.Job, Item: o.Item, Token: o.Token, Start: o.Start, Bytes: o.Bytes, Text: o.Text}
}

// RoundPage is a part of the steps of rounds.
type RoundPage struct {
	Rounds []Round `json:"rounds"`
	Total  int     `json:"total"`
}

// Round is a step of a round.
type Round struct {
	ID      string        `json:"id"`
	Round   string        `json:"round,omitempty"`
	Job     string        `json:"job"`
	Task    string        `json:"task,omitempty"`
	IP      string        `json:"ip,omitempty"`
	Items   string        `json:"items,omitempty"`
	State   history.State `json:"state"`
	Message string        `json:"message,omitempty"`
	Time    time.Time     `json:"time"`
}

// Import is what became of the jobs of a file.
type Import struct {
	Differences []string     `json:"differences,omitempty"`
	Jobs        []JobOutcome `json:"jobs"`
}

// NodeList is a page of a part of a namespace as it is stored, in ascending order of paths.
type NodeList struct {
	Nodes    []Node            `json:"nodes"`
	Revision registry.Revision `json:"revision"`
	// Next is behind which path the next page of the same revision begins; empty: this is the last.
	Next string `json:"next,omitempty"`
	Java bool   `json:"java"` // Java instances may take part in the jobs
}

// Node is one node.
type Node struct {
	Path     string             `json:"path"`
	Value    string             `json:"value,omitempty"`
	Revision registry.Revision  `json:"revision"`
	Created  registry.Revision  `json:"created,omitempty"`
	Owner    registry.SessionID `json:"owner,omitempty"`
}

// NodeOf makes a node of one of the registry.
func NodeOf(n registry.Node) Node {
	return Node{Path: n.Path, Value: n.Value, Revision: n.Revision, Created: n.Created, Owner: n.Session}
}

// Node makes a node of the registry.
func (n Node) Node() registry.Node {
	return registry.Node{Path: n.Path, Value: n.Value, Revision: n.Revision, Created: n.Created, Session: n.Owner}
}
