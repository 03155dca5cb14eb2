package jobfolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// How often the folder is looked at, and compared with the registry; for how long a job must be missing until it
// counts as gone; and how long files may go on changing until that is told.
const (
	lookEvery    = time.Second
	compareEvery = 30 * time.Second
	goneAfter    = 30 * time.Second
	movingAfter  = 30 * time.Second
)

// Source is a folder, and what its jobs are.
type Source struct {
	Directory string
	Owner     string
	Version   int64 // 0: the time of the last change
	Gone      operate.Gone
}

// Follower makes the registry as a folder has it.
type Follower struct {
	registry registry.Reader
	operator *operate.Operator
	log      *slog.Logger
	wake     chan struct{}

	mu     sync.Mutex
	source Source
	state  State // without what moving adds to it
	moving bool  // files have changed for so long that it is told

	// The rest is for the goroutine of Run.
	reader   Reader
	compared Source
	// made are the jobs that were there as the files of this folder have them. One that is not there any more was removed
	// since, and comes back with other files, or with the next start.
	made map[string]string
	// missing says since when files name a job no more.
	missing map[string]time.Time
	// left says of jobs that this process has let go of by which operation. Files that come back where they were, as on a mount
	// that was away, are not older than that.
	left map[string]string
	// unanswered are the last operations that were to make a job as the files have it and got no answer. The registry may carry
	// one out later, also when the job was removed since: then it is by these files that the job is there.
	unanswered map[string][]unanswered
	// lacks is the version of what the files did not say when they were first read. What happens to the folder later is
	// no sign that a job has left it which this process has never seen there.
	lacks int64
	// texts are what the files of a mounted folder said of each job in the last comparison; nil before the first one.
	texts map[string]seenText
}

// seenText is what files say of a job, and the version as of which this process has seen them say so anew: all files of a mount
// are written anew when one of them changes. Of what it has only found there, nobody knows how old it is.
type seenText struct {
	text    string
	changed int64 // 0: it was found there
}

// unanswered is an operation of which nobody knows whether it was carried out, or will be.
type unanswered struct{ id, text string }

// mostUnanswered is how many of them are remembered of a job.
const mostUnanswered = 8

// State is how far the registry is as the files have it.
type State struct {
	Read   bool     // the folder was read once without faults
	Faults []string // why files do not count
	Notes  []string // what else is not as these files have it, as others decide, or files go on changing
}

// New returns a follower. It starts nothing.
func New(reg registry.Reader, operator *operate.Operator, source Source, log *slog.Logger) *Follower {
	return &Follower{
		registry: reg, operator: operator, log: log, wake: make(chan struct{}, 1), source: source,
		made: make(map[string]string), missing: make(map[string]time.Time), left: make(map[string]string),
		unanswered: make(map[string][]unanswered),
	}
}

// State tells how far it is.
func (f *Follower) State() State {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.state
	if f.moving {
		s.Notes = append(slices.Clip(s.Notes), noteMoving)
	}
	return s
}

// Follow follows another folder from now on, or the same one in another way, and reads it as soon as it looks the same
// twice.
func (f *Follower) Follow(source Source) {
	f.mu.Lock()
	f.source = source
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default: // it is about to look
	}
}

// Run follows the folder until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	looks := time.NewTicker(lookEvery)
	defer looks.Stop()
	seen, due := f.look(), true
	var counted Look
	var compared time.Time
	moving := 0 // looks in a row from which no comparison came, as files were changed
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
			seen, due = f.look(), true
			looks.Reset(lookEvery)
			continue
		case <-looks.C:
		}
		look := f.look()
		settled := look.same(seen)
		seen = look
		switch {
		case settled && !due && look.same(counted) && time.Since(compared) < compareEvery:
			moving = 0
		case settled && f.compare(ctx):
			counted, compared, due, moving = look, time.Now(), false, 0
		default:
			moving++
		}
		f.tellMoving(ctx, moving >= int(movingAfter/lookEvery))
	}
}

// noteMoving says why nothing is read. It stands as long as that is so, and is no outcome of a comparison.
const noteMoving = "the files of the folder change again and again: none is read until all have stayed the same for a second"

// look looks at the folder; what is wrong with that is a look, too.
func (f *Follower) look() Look {
	look, err := LookAt(f.now().Directory)
	if err != nil {
		return Look{signature: err.Error()}
	}
	return look
}

func (f *Follower) now() Source {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.source
}

// compare reads the folder and makes the registry so. It tells whether the files stood still meanwhile.
func (f *Follower) compare(ctx context.Context) bool {
	source := f.now()
	if source != f.compared { // what was missing in another folder, or as another owner's, is not in this
		if source.Directory != f.compared.Directory || source.Owner != f.compared.Owner {
			clear(f.made) // of these files, nobody has seen what they said before
			clear(f.unanswered)
			f.texts = nil
		}
		f.compared, f.lacks = source, 0
		clear(f.missing)
		clear(f.left)
	}
	set, err := f.reader.Read(ctx, source.Directory, source.Version, time.Now())
	if errors.Is(err, ErrMoving) || ctx.Err() != nil {
		return false
	}
	if err != nil {
		f.tell(ctx, func(s *State) { s.Faults = strings.Split(err.Error(), "\n") })
		return true
	}
	if f.lacks == 0 || !set.ByTime {
		f.lacks = set.Version
	}
	f.compareTexts(ctx, set)
	nodes, revision, err := f.registry.List(ctx, registry.Root)
	if err != nil { // of which the session tells, and the next comparison does it
		f.failed(ctx, err)
		return true
	}
	o, seen := outcome{}, registry.NewSnapshot(revision, nodes)
	if !f.takeFiles(ctx, source, set, seen, &o) || !f.leaveFiles(ctx, source, set, seen, &o) {
		return f.stands(source, set) // of the jobs behind, nobody knows
	}
	f.tell(ctx, func(s *State) { *s = State{Read: true, Faults: o.faults, Notes: o.notes} })
	return true
}

// compareTexts notes which jobs of a mounted folder have changed since the worker follows it.
func (f *Follower) compareTexts(ctx context.Context, set Set) {
	if !set.Mounted {
		return
	}
	first, texts := f.texts == nil, make(map[string]seenText)
	for job, entry := range set.Jobs {
		before, known := f.texts[job]
		switch {
		case known && before.text == entry.Text:
			texts[job] = before
		case !first && set.ByTime:
			texts[job] = seenText{entry.Text, entry.Version}
		default: // or changed as of a version that somebody gave, which is no time
			texts[job] = seenText{text: entry.Text}
		}
	}
	f.texts = texts
	if first && set.ByTime {
		f.log.InfoContext(ctx, "times of the files of jobs do not count until they change, as they are those of a mount")
	}
}

// dated is the version of what files say of a job. In a mounted folder, their time is only when it was mounted, unless this
// process has seen the job change.
func (f *Follower) dated(job string, set Set) (version int64, undated bool) {
	version = set.Jobs[job].Version
	switch changed := f.texts[job].changed; {
	case !set.ByTime || !set.Mounted:
		return version, false
	case changed == 0:
		return version, true
	default:
		return changed, false
	}
}

// stands tells whether a set is still what the folder has, and the settings ask for. Many operations take their time.
func (f *Follower) stands(source Source, set Set) bool {
	if f.now() != source {
		return false
	}
	look, err := LookAt(source.Directory)
	return err == nil && look.same(set.look)
}

// tell sets the state, and logs faults that are new.
func (f *Follower) tell(ctx context.Context, set func(*State)) {
	f.mu.Lock()
	before := f.state
	set(&f.state)
	after := f.state
	f.mu.Unlock()
	switch {
	case slices.Equal(before.Faults, after.Faults):
	case len(after.Faults) > 0:
		f.log.ErrorContext(ctx, "files of jobs do not count", "error", strings.Join(after.Faults, "; "))
	default:
		f.log.InfoContext(ctx, "files of jobs count again")
	}
	if !slices.Equal(before.Notes, after.Notes) && len(after.Notes) > 0 {
		f.log.WarnContext(ctx, notAsFiles, "notes", strings.Join(after.Notes, "; "))
	}
}

// tellMoving sets whether files go on changing, and logs that they do.
func (f *Follower) tellMoving(ctx context.Context, moving bool) {
	f.mu.Lock()
	begins := moving && !f.moving
	f.moving = moving
	f.mu.Unlock()
	if begins {
		f.log.WarnContext(ctx, notAsFiles, "notes", noteMoving)
	}
}

// notAsFiles is the log line of notes.
const notAsFiles = "jobs are not as these files have them"

func (f *Follower) failed(ctx context.Context, err error) {
	if ctx.Err() == nil {
		f.log.WarnContext(ctx, "files of jobs are not compared with the registry, trying again", "error", err)
	}
}

// outcome gathers what came of a comparison.
type outcome struct{ faults, notes []string }

// hear takes up what came of an operation. It tells whether the registry failed, so that the rest is for later.
func (o *outcome) hear(err error) (broken bool) {
	cause, refused := operate.IsRefused(err)
	switch {
	case err == nil, cause == operate.CauseAlready:
	case cause == operate.CauseFiles, cause == operate.CausePending:
		o.notes = append(o.notes, told(err))
	case refused:
		o.faults = append(o.faults, told(err))
	default:
		return true
	}
	return false
}

// told is a refusal in short, with all of what to do instead.
func told(err error) string {
	var refused *operate.Refusal
	if !errors.As(err, &refused) || refused.Do == "" {
		return texts.Shorten(err.Error())
	}
	why := *refused
	why.Do = ""
	if refused.Forcible {
		return texts.Shorten(why.Error()) + "; " + refused.Do + ", which a folder of jobs cannot"
	}
	return texts.Shorten(why.Error()) + "; " + refused.Do
}

// patience bounds one operation.
const patience = 30 * time.Second

// takeFiles and leaveFiles carry out the operations that lead from a state of the registry to the set. Each is guarded by
// itself, so whatever happens meanwhile, and wherever this ends, the next comparison goes on from there. They answer false
// if they ended before they had looked at all of their jobs: the registry failed, or the set is not what is wanted any more.

// takeFiles makes the jobs of the set as it has them.
func (f *Follower) takeFiles(ctx context.Context, source Source, set Set, seen registry.Snapshot, o *outcome) (whole bool) {
	for job := range set.Jobs { // also if this ends before it has come to them
		delete(f.missing, job)
	}
	looked := time.Now()
	for _, job := range slices.Sorted(maps.Keys(set.Jobs)) {
		if f.now() != source || time.Since(looked) >= lookEvery {
			if looked = time.Now(); !f.stands(source, set) {
				return false
			}
		}
		text := set.Jobs[job].Text
		if operate.AsFilesHaveIt(seen, job, text, source.Owner) {
			f.made[job] = text
			delete(f.left, job)
			continue
		}
		if !seen.Get(jobtree.For(job).Config()).Exists() && f.made[job] == text {
			o.notes = append(o.notes, fmt.Sprintf("job %q was removed, by somebody or because other files of this owner do not name it, "+
				"and comes back when a file says something else of it, or the worker starts", job))
			continue
		}
		lacked := operate.LackHeard(seen.Get(jobtree.For(job).Operated()), source.Owner, f.left[job])
		version, undated := f.dated(job, set)
		files := operate.Files{
			Owner: source.Owner, Version: version, ByTime: set.ByTime, Undated: undated, Before: f.made[job], Lacked: lacked,
		}
		err := f.take(ctx, job, text, files, source)
		if o.hear(err) {
			f.failed(ctx, err)
			return false
		}
		if err == nil {
			f.made[job] = text
			delete(f.left, job)
			f.log.InfoContext(ctx, "job is as files have it", "job", job)
		}
		if cause, _ := operate.IsRefused(err); cause == operate.CauseFiles {
			f.disown(job) // what others have decided since was not made of that
		}
	}
	return true
}

// leaveFiles lets go of the jobs that files named, and do not name any more.
func (f *Follower) leaveFiles(ctx context.Context, source Source, set Set, seen registry.Snapshot, o *outcome) (whole bool) {
	theirs := operate.FilesOf(seen, source.Owner)
	f.forget(theirs)
	// It was just made, or what it is to show is not mounted yet. What the worker knows it has made is no job of that folder.
	unfilled, stay := len(set.Jobs) == 0 && len(f.made) == 0, 0
	for _, job := range theirs {
		if _, named := set.Jobs[job]; named {
			continue
		}
		was, said := f.said(job, seen)
		if unfilled && !said {
			stay++
			continue
		}
		since, known := f.missing[job]
		if !known {
			f.missing[job] = time.Now()
			continue
		}
		if time.Since(since) < goneAfter {
			continue
		}
		files := operate.Files{Owner: source.Owner, Version: f.lacks, ByTime: set.ByTime, Undated: set.ByTime && set.Mounted}
		if said { // and so this process has seen it leave
			files.Version, files.Before, files.Undated = set.Version, was, false
		}
		if !f.stands(source, set) { // what is removed does not come back with its file
			return false
		}
		err := f.leave(ctx, job, files, source)
		if unconfirmed := (*operate.UnconfirmedError)(nil); errors.As(err, &unconfirmed) {
			o.notes = append(o.notes, notRemoved(job, unconfirmed))
			continue
		}
		if o.hear(err) {
			f.failed(ctx, err)
			return false
		}
		if cause, _ := operate.IsRefused(err); cause == operate.CauseFiles {
			f.disown(job)
		} else if err == nil {
			delete(f.made, job)
		}
		if err == nil {
			f.log.InfoContext(ctx, "files name a job no more", "job", job, "missing", string(source.Gone))
		}
	}
	if stay > 0 {
		o.notes = append(o.notes, fmt.Sprintf("the folder has no job since the worker follows it, so the %d jobs of %q in the registry stay", stay, source.Owner))
	}
	return true
}

// said returns what the files said of a job when this process made it so, if it did: also by an operation that it has no answer
// of, and that was carried out when the job was removed already.
func (f *Follower) said(job string, seen registry.Snapshot) (text string, did bool) {
	if text, did = f.made[job]; did || len(f.unanswered[job]) == 0 {
		return text, did
	}
	all, err := jobtree.DecodeOperated(seen.Get(jobtree.For(job).Operated()))
	if err != nil {
		return "", false
	}
	for _, u := range f.unanswered[job] {
		if _, did := all.Find(u.id); did {
			return u.text, true
		}
	}
	return "", false
}

// disown drops what this process made of a job: others have decided since.
func (f *Follower) disown(job string) {
	delete(f.made, job)
	delete(f.unanswered, job)
}

// forget drops what this process knows of jobs that its files do not name, and that another one has let go of meanwhile. One
// that comes back is missing from its folder anew, and what another folder says of it then is nothing that the files here
// have been. A job that an operator has removed was in nobody's hands when its files went: it stays removed.
func (f *Follower) forget(theirs []string) {
	maps.DeleteFunc(f.missing, func(job string, _ time.Time) bool {
		gone := !slices.Contains(theirs, job)
		if gone {
			delete(f.made, job)
		}
		return gone
	})
}

func (f *Follower) take(ctx context.Context, job, text string, files operate.Files, source Source) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := f.operator.TakeFiles(ctx, job, text, files, operate.Options{Reason: "files in " + source.Directory})
	if errors.Is(err, registry.ErrUnknownOutcome) {
		all := append(f.unanswered[job], unanswered{r.ID, text})
		f.unanswered[job] = all[max(0, len(all)-mostUnanswered):]
	}
	return err
}

// leave does not wait for what runs, be it for hours: a removal only begins, which disables the job, and is gone on with by the
// next comparisons, from what the folder and the settings say then.
func (f *Follower) leave(ctx context.Context, job string, files operate.Files, source Source) error {
	leaving, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := f.operator.LeaveFiles(leaving, job, files, source.Gone, operate.Options{
		Reason: "no file in " + source.Directory + " names it",
		Progress: func(p operate.Progress) {
			if !p.Done {
				cancel()
			}
		},
	})
	unconfirmed := (*operate.UnconfirmedError)(nil)
	begun := err == nil || errors.As(err, &unconfirmed)
	if begun && r.Revision != 0 || !begun && errors.Is(err, registry.ErrUnknownOutcome) { // else this one has written nothing
		f.left[job] = r.ID
	}
	return err
}

// notRemoved says why a removal has not come to its end, each time in the same words: what is new is logged.
func notRemoved(job string, unconfirmed *operate.UnconfirmedError) string {
	why := unconfirmed.Result.Progress.Text
	if why == "" || unconfirmed.Result.Progress.Done { // it was not the job that was waited for
		why = unconfirmed.Err.Error()
	}
	return texts.Shorten(fmt.Sprintf("job %q is not removed yet: %s", job, why))
}
