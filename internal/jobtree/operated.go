package jobtree

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// What the node of a job's operations holds at most.
const (
	MaxOperations   = 16       // of which each counts with all its parts
	MaxOperatedText = 16 << 10 // bytes
)

// Who has a job removed, as it stands in [Operated].Removing.
const (
	RemovingByOperator = "yes"
	RemovingByFiles    = "files" // which did not name the job any more
)

// Operated is what operators did to a job. Every operation compares the node and writes it, so that operators
// come one after the other, and what was done is written down with the deed. Schedulers do not decide by it.
type Operated struct {
	// Operations are the last ones, the oldest first.
	Operations []Operation
	// Removing says that the job is being removed, which any operation may go on with, and who wants that: files call off their
	// own removal alone. It is one of the Removing constants; empty if it is not.
	Removing string
	// DisabledServers are the servers that were disabled one by one when the job was disabled beside Java
	// instances, and stay so when it is enabled. nil: the job was not disabled so.
	DisabledServers []string
	// Moving says that the job is stopped to be moved to another registry; nil if it is not.
	Moving *Moving
	// Files says whose files name the job; nil if none do.
	Files *Files
	// Unknown are members that this version does not know, as they stood. They are kept.
	Unknown string
}

// Files is the mark of a job that files of workers name.
type Files struct {
	Owner   string // whose files
	Version int64  // of the files that were heard last
	Digest  string // of the settings as these files have them
	Gone    bool   // these files name the job no more
	// Heard is when the files that were heard last first said so, and Past are the digests of what was heard before, the
	// oldest first.
	Heard time.Time
	Past  []string
	// Disabled tells that the job was disabled because of that, and by nobody else since.
	Disabled bool
	// Unknown are members that this version does not know, as they stood. They are kept.
	Unknown string
}

// Operation is one deed of an operator.
type Operation struct {
	ID      string
	Verb    string
	Target  string // what of the job it was done to; empty is the job itself
	Who     string
	How     string // by which program
	When    time.Time
	Reason  string
	Changed string // what it changed, in words
	// Before is the configuration's text before a change of it. Cut tells that it was too long to be kept.
	Before string
	Cut    bool
	// After is the revision of the node that the operation was written over, or at which the job was made if there was none: all
	// earlier operations are not later than that. 0 if that is not known.
	After registry.Revision
	// First is the first fire of a backfill, and Items are those that it was asked for, in words; empty are all.
	First, Items string
	// Asked is a digest of what a trigger was asked for beside its items, or of the settings that an operation was to store as
	// a whole; empty if that is not known. It is made of a parameter, too.
	Asked string
	// Begun tells of a request by hand that the job has come from another registry since, and that nothing was left of it
	// then: all items that it asked for had run, and well.
	Begun bool
	// Unknown are members that this version does not know, as they stood. They are kept.
	Unknown string
}

// Find returns the operation with an id.
func (o Operated) Find(id string) (Operation, bool) {
	i := slices.IndexFunc(o.Operations, func(op Operation) bool { return op.ID == id })
	if i < 0 {
		return Operation{}, false
	}
	return o.Operations[i], true
}

// The verbs of operations that ask for runs, and change nothing else.
const (
	VerbTrigger  = "trigger"
	VerbBackfill = "backfill"
)

// The verbs of what others than package operate do.
const (
	VerbDeclare = "declare" // a process replaced the settings by those in its code
	VerbUpdate  = "update"  // code changed the settings, by the handle of a scheduler
	VerbSeed    = "seed"    // package seed gave the job what a file says
	VerbMigrate = "migrate" // package migrate made the job as its source has it
	VerbMove    = "move"    // the job moved to another registry
)

// declaredLast is how many of declarations that follow each other are kept beside the first of them, which tells what the
// settings were before.
const declaredLast = 3

// OnlyAsked tells whether all that was done since an earlier list of the same job, whose node was at a revision, was to ask
// for runs. What the list has dropped since, or does not tell apart from what was there before, may have been anything.
// An operation that goes on under its id, such as a backfill with its next fire, stands behind what others did meanwhile.
func (o Operated) OnlyAsked(since Operated, at registry.Revision) bool {
	complete, more := false, false
	for _, op := range o.Operations {
		known := slices.ContainsFunc(since.Operations, op.equal)
		if !known && op.Verb != VerbTrigger && op.Verb != VerbBackfill {
			return false
		}
		complete = complete || known || op.After == at
		more = more || !known
	}
	return complete && more
}

func (op Operation) equal(other Operation) bool {
	same := op.When.Equal(other.When)
	other.When = op.When
	return same && op == other
}

// TellsSince tells whether the operations are all that were done after a revision, so that one which is not among them was
// not done since. The node is at a revision of its own.
func (o Operated) TellsSince(since, node registry.Revision) bool {
	return node <= since || slices.ContainsFunc(o.Operations, func(op Operation) bool { return op.After != 0 && op.After <= since })
}

// Moved returns what goes on in another registry, whose revisions count from elsewhere. begun is the id of the
// operation whose request is left behind, as all of its items have begun; empty if there is none.
func (o Operated) Moved(begun string) Operated {
	o.Operations = slices.Clone(o.Operations)
	for i := range o.Operations {
		op := &o.Operations[i]
		op.After = 0
		op.Begun = op.Begun || begun != "" && op.ID == begun
	}
	o.Files = o.Files.moved()
	return o
}

// moved is what is left of the mark in another registry. Nobody there knows the files that named the job where it was, and who
// has others of the same owner would take the job for one that has lost its file. Files that name it there only have to know
// that it is disabled for want of one.
func (f *Files) moved() *Files {
	if f == nil || !f.Disabled {
		return nil
	}
	return &Files{Gone: true, Disabled: true}
}

// With returns what is to be written after one more operation. It drops the oldest ones that are too many or too long. A text
// before that has no room even without them is not kept, and costs none of them its place. Parts of one operation that follow
// each other count as one, and of declarations the first and the last few are kept: else a file with many disabled items pushes
// out the change of settings with which it began, and so what it may be rolled back to.
func (o Operated) With(op Operation) Operated {
	alone := o
	alone.Operations = []Operation{op}
	if op.Before != "" && len(EncodeOperated(alone)) > MaxOperatedText {
		op.Before, op.Cut = "", true
	}
	o.Operations = append(slices.Clone(o.Operations), op)
	o.Operations = fewDeclared(o.Operations)
	wholes := 0
	for i := len(o.Operations) - 1; i >= 0; i-- {
		if i+1 == len(o.Operations) || wholeOf(o.Operations[i].ID) != wholeOf(o.Operations[i+1].ID) {
			wholes++
		}
		if wholes > MaxOperations {
			o.Operations = o.Operations[i+1:]
			break
		}
	}
	for len(o.Operations) > 1 && len(EncodeOperated(o)) > MaxOperatedText {
		o.Operations = o.Operations[1:]
	}
	return o // what is unknown is kept, however long
}

// fewDeclared drops those in the middle where the last operations are many declarations: those of two versions of a program,
// restarted by turns, would push out what people did.
func fewDeclared(ops []Operation) []Operation {
	first := len(ops)
	for first > 0 && ops[first-1].Verb == VerbDeclare {
		first--
	}
	if len(ops)-first <= 1+declaredLast {
		return ops
	}
	return slices.Delete(ops, first+1, len(ops)-declaredLast)
}

// PartID is the id of a part of an operation that is made of several: the whole's with a number.
func PartID(whole string, number int) string { return fmt.Sprintf("%s-%d", whole, number) }

// wholeOf returns the id of the operation of which an operation may be a part, or its own. Ids that people number themselves
// look the same; then more is kept than has to be.
func wholeOf(id string) string {
	if i := strings.LastIndexByte(id, '-'); i > 0 && i+1 < len(id) && strings.Trim(id[i+1:], "0123456789") == "" {
		return id[:i]
	}
	return id
}

// MaskOperated returns the operations as they may be shown: in the configurations that were, what [Mask] hides, and without
// digests, by which a parameter could be guessed.
func MaskOperated(o Operated) Operated {
	o.Operations = slices.Clone(o.Operations)
	for i, op := range o.Operations {
		o.Operations[i].Before, o.Operations[i].Asked = Mask(For("job").Config(), op.Before), ""
	}
	return o
}
