package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Verb names an operation. It is stored with the operation.
type Verb string

// The verbs.
const (
	VerbTrigger       Verb = jobtree.VerbTrigger
	VerbBackfill      Verb = jobtree.VerbBackfill
	VerbDisableJob    Verb = "disable job"
	VerbEnableJob     Verb = "enable job"
	VerbDisableItem   Verb = "disable item"
	VerbEnableItem    Verb = "enable item"
	VerbDisableServer Verb = "disable server"
	VerbEnableServer  Verb = "enable server"
	VerbShutDown      Verb = "shut down instance"
	VerbSettings      Verb = "change settings"
	VerbRollBack      Verb = "roll back settings"
	VerbCreate        Verb = "create"
	VerbRemove        Verb = "remove"
	VerbGiveUp        Verb = "give up item"
	VerbTidy          Verb = "tidy servers"
	VerbReshard       Verb = "reshard"
	VerbFiles         Verb = "take over from files"
	VerbNoFiles       Verb = "note that no file names" // the job any more
	VerbDeclare       Verb = jobtree.VerbDeclare       // a process replaced the settings by those in its code
	VerbUpdate        Verb = jobtree.VerbUpdate        // code changed the settings, by the handle of a scheduler
	VerbSeed          Verb = jobtree.VerbSeed          // package seed gave the job what a file says
	VerbMigrate       Verb = jobtree.VerbMigrate       // package migrate made the job as its source has it
)

// Plan says what an operation comes to, as it is decided on one state of a job.
type Plan struct {
	Verb   Verb   `json:"verb"`
	Job    string `json:"job"`
	Target string `json:"target,omitempty"` // what of the job; empty is the job itself
	// State is the number of the state on which the plan was made, for [Options.Since], and Config the revision of the job's
	// configuration in it, 0 if there was none. The number is the registry's revision; of a job that was moved between
	// registries it goes on above the numbers of the former ones, as fencing tokens do.
	State  registry.Revision `json:"state"`
	Config registry.Revision `json:"config"`
	// Changes are what is stored otherwise afterwards, without what may be secret.
	Changes []Change `json:"changes,omitempty"`
	// Moves are the items that get another owner, as far as it is known here.
	Moves []Move `json:"moves,omitempty"`
	// Next are the next fires afterwards, at most five and without their jitter, if the operation may change them.
	Next []time.Time `json:"next,omitempty"`
	// Warnings are what one should know before one agrees.
	Warnings []string `json:"warnings,omitempty"`
	// Notes are what goes on at the moment, such as which items run. It may be otherwise when the operation is done.
	Notes []string `json:"notes,omitempty"`
}

// take takes over what a decision comes to.
func (p *Plan) take(of Plan) {
	p.Changes, p.Moves, p.Next, p.Warnings, p.Notes = of.Changes, of.Moves, of.Next, of.Warnings, of.Notes
}

// Change is one thing that an operation changes, or in which two plans differ.
type Change struct {
	What   string `json:"what"`   // a member of the configuration, or what the target is
	Before string `json:"before"` // empty: it was not part of the plan
	After  string `json:"after"`  // empty: it is not part of the plan any more
}

// String returns `cron "0 0 * * * ?" -> "0 5 * * * ?"`, and of what is part of one plan alone "no longer move item 3:
// a -> b" and "now move item 3: a -> c".
func (c Change) String() string {
	switch {
	case c.Before == "":
		return fmt.Sprintf("now %s %s", c.What, c.After)
	case c.After == "":
		return fmt.Sprintf("no longer %s %s", c.What, c.Before)
	}
	return fmt.Sprintf("%s %s -> %s", c.What, c.Before, c.After)
}

// Move is an item that gets another owner. An empty id is nobody.
type Move struct {
	Item int    `json:"item"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// String returns "item 3: 10.0.0.1@-@7 -> 10.0.0.2@-@9".
func (m Move) String() string {
	from, to := m.From, m.To
	if from == "" {
		from = "nobody"
	}
	if to == "" {
		to = "nobody"
	}
	return fmt.Sprintf("item %d: %s -> %s", m.Item, from, to)
}

// Same tells whether two plans agree in substance: in what they change, move and warn of. The states on which they
// were made, their notes, and the fires that have passed meanwhile, do not matter.
func (p Plan) Same(other Plan) bool {
	return p.Verb == other.Verb && p.Job == other.Job && p.Target == other.Target &&
		slices.Equal(p.Changes, other.Changes) && slices.Equal(p.Moves, other.Moves) && slices.Equal(p.Warnings, other.Warnings)
}

// Compared returns what of the plan is compared when an operation is done as it was shown: see [Plan.Same] and
// [Settings.Shown]. It is what whoever has shown a plan needs to send back.
func (p Plan) Compared() Plan {
	p.State, p.Next, p.Notes = 0, nil, nil
	return p
}

// differenceTo returns what another plan says otherwise.
func (p Plan) differenceTo(now Plan) []Change {
	var all []Change
	add := func(what string, before, after []string) {
		for _, line := range before {
			if !slices.Contains(after, line) {
				all = append(all, Change{What: what, Before: line})
			}
		}
		for _, line := range after {
			if !slices.Contains(before, line) {
				all = append(all, Change{What: what, After: line})
			}
		}
	}
	add("change", lines(p.Changes), lines(now.Changes))
	add("move", lines(p.Moves), lines(now.Moves))
	add("warning", p.Warnings, now.Warnings)
	target, is := p.String(), now.String()
	if p.Verb == "" { // nothing was to be done
		target = ""
	}
	if target != is {
		all = append(all, Change{What: "operation", Before: target, After: is})
	}
	return all
}

// Agreed refuses, as [CauseStale], an operation of which another plan was shown than it is now; see [Plan.Same].
func Agreed(shown, now Plan) error {
	if shown.Same(now) {
		return nil
	}
	return deed{verb: now.Verb, job: now.Job, target: now.Target}.completed(stale(shown.differenceTo(now)))
}

func lines[T fmt.Stringer](list []T) []string {
	all := make([]string, len(list))
	for i, each := range list {
		all[i] = each.String()
	}
	return all
}

// String names the operation: `disable item 3 of job "orders"`.
func (p Plan) String() string { return name(p.Verb, p.Job, p.Target) }

func name(verb Verb, job, target string) string {
	text := string(verb)
	last := text[strings.LastIndexByte(text, ' ')+1:]
	if number, is := strings.CutPrefix(target, "items "); is && !strings.ContainsAny(number, ",- ") { // as a trigger of one is written down
		target = "item " + number
	}
	switch {
	case strings.HasPrefix(target, last+" "): // "disable item" and "item 3"
		text = strings.TrimSuffix(text, last) + target
	case target != "":
		text += " " + target
	case job != "" && last != "settings" && last != "servers" && last != "operations":
		return fmt.Sprintf("%s %q", text, job)
	}
	if job == "" { // it is about all jobs
		return text
	}
	return fmt.Sprintf("%s of %q", text, job)
}

// Result is what an operation did.
type Result struct {
	Plan
	// ID is the operation's, under which it is written down.
	ID string `json:"id"`
	// When is the operator's time at which it was decided.
	When time.Time `json:"when"`
	// Revision is the commit that did it; 0 if nothing was written, or if it was done before this call and is not
	// known any more.
	Revision registry.Revision `json:"revision,omitempty"`
	// Repeated tells that an operation of this id was done before, and nothing was written now.
	Repeated bool `json:"repeated,omitempty"`
	// Was is what is written down of the operation of this id that was done before; nil if there is none.
	Was *Operation `json:"-"`
	// Came is, of a backfill under an id that was used before this call, the newest fire that it had come to. Fires up to
	// this one were asked for.
	Came time.Time `json:"came,omitzero"`
	// Before is the text of the configuration before it was changed or removed. It may hold secrets.
	Before string `json:"-"`
	// Progress is how far the job had followed when the operation returned, if that was waited for.
	Progress Progress `json:"progress,omitzero"`

	replaced bool // it is the last that was done under its id, and another trigger has taken its place since
}

// Progress is how far a job has followed an operation.
type Progress struct {
	Done  bool   `json:"done"`
	Ready int    `json:"ready"` // of Of: items, mostly
	Of    int    `json:"of"`
	Text  string `json:"text"` // what is waited for or, at the end, the result
	// Overtaken tells that it will not come about any more, as somebody did something else.
	Overtaken bool `json:"overtaken,omitempty"`
	// Items are the items of a trigger.
	Items []ItemProgress `json:"items,omitempty"`

	again time.Time // when to look again though nothing has changed; zero: never
}

// reached is progress by a count.
func reached(ready, of int, text string) Progress {
	return Progress{Done: ready >= of, Ready: ready, Of: of, Text: text}
}

// done is progress that has come to its end.
func done(text string) Progress { return Progress{Done: true, Text: text} }
