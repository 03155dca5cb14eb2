package migrate

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Side is one of the registries between which jobs are moved.
type Side interface {
	registry.Reader
	registry.Committer
	registry.Viewer
	registry.Latcher
}

// MoveOptions say what [Move], [Return] and [Confirm] do.
type MoveOptions struct {
	// Options are those of [Run]. Without Apply, they only plan. EvenIfRunning has no meaning and is refused: a job
	// is moved while it runs.
	Options
	// Settle is how long nothing of a job must run in a source that Java instances share, before the target starts
	// it. Java does not say that it has seen that its servers are disabled: an execution may still begin which was
	// decided upon before. The default, 0, is 10 s. It begins anew after lost executions were taken over. Where no Java
	// instance lives, or lived when the job was disabled, there is nothing to wait for, unless the job does not record
	// its executions: of these nobody can tell whether one runs, so this must be longer than they take, on the way back,
	// too.
	Settle time.Duration
	// Wait is how long one job's executions are waited for, without Settle. A job that is not drained by then is reported,
	// and its source stays disabled. The default, 0, is as long as the context lasts.
	Wait time.Duration
}

const defaultSettle = 10 * time.Second

func (o MoveOptions) check() error {
	for name, d := range map[string]time.Duration{"Settle": o.Settle, "Wait": o.Wait} {
		if d < 0 {
			return &OptionError{Option: name, Value: d.String(), Reason: "must not be negative"}
		}
	}
	if o.EvenIfRunning {
		return &OptionError{Option: "EvenIfRunning", Value: "true", Reason: "must be false for a move, which stops what runs"}
	}
	return o.Options.check()
}

// Move moves jobs from a source whose instances live to a target, one after the other. In each step only one side may
// run the job:
//
//  1. The target gets the job, disabled. Its instances may start, and wait.
//  2. The source's job is disabled, and its servers. What runs there ends by itself, and is waited for.
//  3. The target's job is enabled. Its fencing tokens are above all that the source has granted, and executions that
//     the source has lost are run again here, not there.
//
// Whoever moves may die at any time: the same call, by anybody, goes on from where the job stands. Several may move the same
// job at once. Until [Confirm], [Return] takes the job back. Without Apply the report says what would be done.
//
// What no condition guards is what Java decides. Java instances begin executions without looking at the registry again:
// see [MoveOptions.Settle]. A Java process that starts anew and declares the job with overwrite enables it again, which
// a repeated Move notices and mends. Of a job without monitorExecution Java does not tell what runs.
//
// The errors are those of [Run]; a job of which something was done is in the report then.
func Move(ctx context.Context, source, target Side, opts MoveOptions) (MoveReport, error) {
	return eachJob(ctx, source, target, opts, (*mover).forth)
}

// Return takes jobs back that [Move] has moved or begun to move: the target's job is disabled, what runs there is waited
// for, and the source's job gets back the settings and servers that it had. Tokens of the source are then above those of
// the target, for those who read them, and its records say which fires the target has run. The target keeps the job,
// disabled, and it can be moved again.
func Return(ctx context.Context, source, target Side, opts MoveOptions) (MoveReport, error) {
	return eachJob(ctx, source, target, opts, (*mover).back)
}

// Confirm ends the moves of jobs: from then on there is no way back. The source keeps its job, disabled, until somebody
// removes it.
func Confirm(ctx context.Context, source, target Side, opts MoveOptions) (MoveReport, error) {
	return eachJob(ctx, source, target, opts, (*mover).confirm)
}

// ReturnWithoutTarget takes jobs back whose target is gone for good, with all that it knew: the source's job gets back the
// settings and servers that it had, and its records and checkpoints are those of when it was disabled. Its tokens are above all
// that the target can have granted, unless that has counted more than 2^48 revisions. Executions that the source had given up
// to the target are run again, whether the target has run them or not. A move that was confirmed is taken back, too. Jobs must name
// what is taken back, and what it does not name is refused: the source does not say to which target a job went, and one that went
// to another target than the lost one would run there, too.
//
// Nobody asks the target. If it runs the job none the less, both do. Should it come back, [Return] disables the job there,
// unless the move was confirmed; [Move] and [Confirm] refuse it until then.
func ReturnWithoutTarget(ctx context.Context, source Side, opts MoveOptions) (MoveReport, error) {
	return eachJob(ctx, source, nil, opts, (*mover).backAlone)
}

// ConfirmWithoutSource ends the moves of jobs whose source is gone for good: the target forgets them, and keeps its jobs as
// they are. One that it does not run, because the move had not come so far or was being taken back, stays disabled until somebody
// enables it; if it has never run there, the target has neither records nor checkpoints of it, and its tokens may be below
// those that the source has granted. Of such a job the report says that it is not moved. Executions that the target had given up to
// the source are run again. Jobs must name what is ended, and what it does not name is refused: the target does not say from which
// source a job came, and another one than the lost one could not take it back any more.
//
// Nobody asks the source. If it runs the job none the less, both do. Should it come back, remove the job there.
func ConfirmWithoutSource(ctx context.Context, target Side, opts MoveOptions) (MoveReport, error) {
	return eachJob(ctx, nil, target, opts, (*mover).confirmAlone)
}

// eachJob brings each job to the end of a direction. One of the sides may be nil: it is gone for good.
func eachJob(ctx context.Context, source, target Side, opts MoveOptions, next func(*mover, *scene) (deed, error)) (MoveReport, error) {
	report := MoveReport{Applied: opts.Apply}
	if err := opts.check(); err != nil {
		return report, err
	}
	from := source
	if source == nil {
		from = target
	}
	names, err := jobNames(ctx, from, opts.Jobs)
	if err != nil {
		return report, err
	}
	for i, name := range names {
		m := mover{
			source: source, target: target, opts: opts, next: next, job: MovedJob{Name: name, State: NotMoved},
			toSource: guarded.NewWriter(source), toTarget: guarded.NewWriter(target),
		}
		err := m.carryOut(ctx)
		if err != nil {
			if len(m.job.Steps) > 0 { // whoever reads the report needs to know of them
				m.job.Reason = err.Error()
				report.Jobs = append(report.Jobs, m.job)
			}
			return report, fmt.Errorf("job %s: %w", name, err)
		}
		report.Jobs = append(report.Jobs, m.job)
		if opts.Progress != nil {
			opts.Progress(i+1, len(names))
		}
	}
	return report, nil
}

// mover brings one job from one registry to another.
type mover struct {
	source, target     Side // nil is one that is gone for good
	toSource, toTarget *guarded.Writer
	opts               MoveOptions
	next               func(*mover, *scene) (deed, error) // the direction
	job                MovedJob
	// settledAt is the revision of the pledge, of the side that was drained, under which that was quiet for long enough. A
	// pledge that was written since is of another drain, or of executions that were taken over, and what was seen before
	// says nothing.
	settledAt registry.Revision
	arrived   bool // the target had come to run the job when its move was ended without the source
}

// scene is a job on both sides. The source was read first; see pledge.
type scene struct {
	name           string
	source, target *original
	here, there    pledge // the source's and the target's
}

// side is the source's job, or else the target's.
func (s *scene) side(source bool) *original {
	if source {
		return s.source
	}
	return s.target
}

// pledged is the revision of a side's pledge; 0 = it has none.
func (s *scene) pledged(source bool) registry.Revision {
	side := s.side(source)
	return side.nodes[side.state.Tree().Move()].Revision
}

// deed is the next thing to be done.
type deed struct {
	text        string                // for people
	toSource    bool                  // else to the target
	first, last []guarded.Step        // what is written, as guarded.Writer takes it
	latch       string                // of the source, in which it is written; empty is none
	wait        func(*original) error // what is waited for; nil is nothing
	again       func(*original) bool  // what on that side is reason enough to look anew
	settle      time.Duration         // how long that must hold
	done        bool                  // there is nothing to be done
	rest        []string              // what a plan says of the time after
}

// maxTries bounds how often one job is looked at anew, as others change it.
const maxTries = 1000

// carryOut does one thing after the other until the job is where it was to be brought, or only says what these are. An
// error is one that the next job would meet, too.
func (m *mover) carryOut(ctx context.Context) error {
	for range maxTries {
		s, err := m.look(ctx)
		var d deed
		if err == nil {
			m.tell(s)
			d, err = m.next(m, s)
		}
		var refused refusal
		switch {
		case errors.As(err, &refused):
			m.job.Reason = refused.Error()
			return nil
		case err != nil:
			return err
		case d.done:
			m.job.Done = true
			return nil
		case !m.opts.Apply:
			m.job.Steps, m.job.Done = append([]string{d.text}, d.rest...), true
			return nil
		}
		if err := m.do(ctx, s, d); err != nil || m.job.Reason != "" {
			return err
		}
	}
	m.job.Reason = "others keep changing the job; run it again"
	return nil
}

// tell keeps for the report what a look has shown.
func (m *mover) tell(s *scene) {
	m.job.Format, m.job.State = cmp.Or(s.source.format, s.target.format), cmp.Or(s.there.State, NotMoved)
	switch {
	case m.target == nil:
		m.job.State = cmp.Or(s.here.State, NotMoved)
	case s.there.State == "" && s.here.State == Confirmed, m.source == nil && s.there.State == "" && len(m.job.Steps) > 0 && m.arrived:
		m.job.State = Confirmed
	}
}

// do does one thing. What others did in between is no error: the next look shows it.
func (m *mover) do(ctx context.Context, s *scene, d deed) error {
	if d.wait != nil {
		return m.wait(ctx, s, d)
	}
	writer := m.toSource
	if !d.toSource {
		writer = m.toTarget
	}
	note, err := m.noteOf(s, d)
	if err != nil {
		m.job.Reason = "in the target: " + err.Error()
		return nil
	}
	again, err := m.commit(ctx, writer, note, d)
	if m.job.Reason != "" {
		return nil
	}
	switch {
	case err == nil:
		m.job.Steps = append(m.job.Steps, d.text)
		return nil
	case again || errors.Is(err, registry.ErrConflict):
		return nil
	case errors.Is(err, registry.ErrDenied), errors.Is(err, registry.ErrTooLarge), errors.Is(err, registry.ErrUnknownOutcome) && ctx.Err() == nil:
		m.job.Reason = err.Error()
		return nil
	default:
		return err
	}
}

// noteOf is what is to be written down of a deed. A source that has no list of operations gets none, as there nobody would take
// the change for one from outside; one that cannot be read there stays as it is.
func (m *mover) noteOf(s *scene, d deed) (*guarded.Note, error) {
	side := s.side(d.toSource)
	if d.toSource {
		operated := side.nodes[side.state.Tree().Operated()]
		if _, err := jobtree.DecodeOperated(operated); err != nil || !operated.Exists() {
			return nil, nil //nolint:nilerr // there is nothing to write it into
		}
	}
	return guarded.NoteOf(s.name, side.get, slices.Concat(d.first, d.last), jobtree.VerbMigrate, m.opts.author())
}

// commit writes what a deed says, in its latch if it has one.
func (m *mover) commit(ctx context.Context, writer *guarded.Writer, note *guarded.Note, d deed) (again bool, err error) {
	if d.latch == "" {
		return writer.Commit(ctx, note, d.first, d.last)
	}
	bounded, cancel := bounded(ctx, m.opts.Wait)
	defer cancel()
	held := false
	err = m.source.Latch(bounded, d.latch, func(ctx context.Context) (err error) {
		held = true
		again, err = writer.Commit(ctx, note, d.first, d.last)
		return err
	})
	switch {
	case held:
	case errors.Is(err, registry.ErrSessionLost):
		again = true
	case ctx.Err() == nil && bounded.Err() != nil:
		m.job.Reason = fmt.Sprintf("after %v: an instance of the source is still claiming executions; run it again to go on, or take it back", m.opts.Wait)
	}
	return again, err
}

// bounded is the context of what is waited for; without patience, for as long as ctx lasts.
func bounded(ctx context.Context, patience time.Duration) (context.Context, context.CancelFunc) {
	if patience > 0 {
		return context.WithTimeout(ctx, patience)
	}
	return context.WithCancel(ctx)
}

// wait waits until nothing of the job runs on a side, or there is reason to look anew.
func (m *mover) wait(ctx context.Context, s *scene, d deed) error {
	side := m.target
	if d.toSource {
		side = m.source
	}
	watched, overtaken, stop := ctx, func() bool { return false }, func() error { return nil }
	if d.toSource {
		watched, overtaken, stop = m.watchTarget(ctx)
	}
	var busy error
	check := func(s registry.Snapshot) (over, again bool) {
		o, err := m.readSnapshot(s)
		if busy = nil; err != nil {
			return true, true // the next look tells
		}
		busy = d.wait(&o)
		return busy == nil, d.again(&o)
	}
	again, err := quiet(watched, side, jobtree.For(m.job.Name).Root(), check, d.settle, m.opts.Wait)
	if failed := stop(); overtaken() {
		return nil
	} else if failed != nil && ctx.Err() == nil {
		err = failed
	}
	if err == nil && !again {
		m.settledAt = s.pledged(d.toSource)
	}
	switch {
	case errors.Is(err, errStillBusy):
		m.job.Reason = fmt.Sprintf("after %v: %v; run it again to go on, or take it back", m.opts.Wait, cmp.Or(busy, err))
		return nil
	case errors.Is(err, registry.ErrDenied):
		m.job.Reason = err.Error()
		return nil
	}
	return err
}

func (m *mover) readSnapshot(s registry.Snapshot) (original, error) {
	return readOriginal(m.job.Name, slices.Collect(s.All()), s.Revision())
}

// watchTarget returns a context that ends when somebody enables the target's job, or it cannot be followed. stop ends the
// watch and returns why it failed; then overtaken tells whether somebody has enabled the job.
func (m *mover) watchTarget(parent context.Context) (watched context.Context, overtaken func() bool, stop func() error) {
	watched, cancel := context.WithCancel(parent)
	ended, seen := make(chan error, 1), false
	go func() {
		_, err := quiet(watched, m.target, jobtree.For(m.job.Name).Root(), func(s registry.Snapshot) (over, again bool) {
			o, err := m.readSnapshot(s)
			seen = err == nil && o.enabled()
			return seen, seen
		}, 0, 0)
		if watched.Err() != nil {
			err = nil // it was stopped
		}
		cancel()
		ended <- err
	}()
	stop = func() error {
		cancel()
		return <-ended
	}
	return watched, func() bool { return seen }, stop
}

var errStillBusy = errors.New("nobody knows yet whether anything runs")

// quiet waits until it has been over for as long as settle, or again tells that there is no point in waiting. If that it is
// over is not seen within patience, it returns errStillBusy; 0 is as long as ctx lasts.
func quiet(ctx context.Context, side Side, root string, check func(registry.Snapshot) (over, again bool), settle, patience time.Duration) (again bool, err error) {
	bounded, cancel := bounded(ctx, patience)
	defer cancel()
	viewing, end := context.WithCancel(ctx) // for as long as the view is looked at
	defer end()
	inTime := context.AfterFunc(bounded, end)
	v, err := side.View(viewing, root)
	if !inTime() && ctx.Err() == nil {
		return false, errStillBusy
	}
	if err != nil {
		return false, err
	}
	defer v.Close()
	for {
		var over bool
		_, err := v.WaitFor(bounded, func(s registry.Snapshot) bool {
			over, again = check(s)
			return over || again
		})
		if err != nil && ctx.Err() == nil && bounded.Err() != nil {
			err = errStillBusy
		}
		if err != nil || again || settle == 0 {
			return again, err
		}
		pause, cancel := context.WithTimeout(ctx, settle)
		_, err = v.WaitFor(pause, func(s registry.Snapshot) bool {
			over, again = check(s)
			return !over || again
		})
		passed := pause.Err() != nil && ctx.Err() == nil
		cancel()
		if passed || again || err != nil && ctx.Err() != nil {
			return again, ctx.Err()
		}
		if err != nil {
			return false, err
		}
	}
}

// look reads both sides, the source first.
func (m *mover) look(ctx context.Context) (*scene, error) {
	s := &scene{name: m.job.Name}
	root := jobtree.For(s.name).Root()
	if err := registry.CheckPath(root); err != nil {
		return nil, refusal{err}
	}
	var err error
	if s.source, err = m.read(ctx, m.source, true); err != nil {
		return nil, within("in the source", err)
	}
	if s.target, err = m.read(ctx, m.target, m.source == nil); err != nil {
		return nil, within("in the target", err)
	}
	move := s.source.state.Tree().Move()
	if n := s.source.nodes[move]; n.Exists() && n == s.target.nodes[move] { // its id is made up anew for each move
		return nil, refusal{errors.New("source and target are one namespace: enable the job there again, and delete its leader/move")}
	}
	if s.here, err = pledgeOf(s.source.jobNodes); err == nil {
		s.there, err = pledgeOf(s.target.jobNodes)
	}
	if err != nil {
		return nil, refusal{err}
	}
	return s, nil
}

// within says where an error was met.
func within(where string, err error) error {
	var refused refusal
	if errors.As(err, &refused) {
		return refusal{fmt.Errorf("%s: %w", where, refused.error)}
	}
	return fmt.Errorf("%s: %w", where, err)
}

// read reads a job, which must be there or may be missing. Where a side is gone, it is.
func (m *mover) read(ctx context.Context, side Side, must bool) (*original, error) {
	if side == nil {
		return &original{jobNodes: nodesOf(m.job.Name, nil, 0)}, nil
	}
	nodes, revision, err := stateOf(ctx, side, jobtree.For(m.job.Name).Root())
	switch {
	case errors.Is(err, registry.ErrDenied):
		return nil, refusal{err}
	case err != nil:
		return nil, err
	case len(nodes) == 0 && must:
		return nil, refusal{errors.New("there is no such job")}
	}
	o, err := readOriginal(m.job.Name, nodes, revision)
	if err != nil && (must || o.nodes[o.state.Tree().Config()].Exists()) {
		return nil, refusal{err}
	}
	return &o, nil
}

// pledge returns a node's new value, and the write of it.
func (m *mover) pledge(t jobNodes, p pledge) guarded.Step {
	p.Who, p.When = m.opts.author().Who, time.Now().UTC().Truncate(time.Millisecond)
	step, _ := t.put(t.state.Tree().Move(), p.text())
	return step
}

func newMoveID() string { return rand.Text()[:16] }
