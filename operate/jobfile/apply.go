package jobfile

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Operations are those of which applying a file is made. [*operate.Operator] has them but for CreateJob, which is
// [Create].
type Operations interface {
	CreateJob(ctx context.Context, job Job, opts operate.Options) (operate.Result, error)
	ChangeSettings(ctx context.Context, job string, s operate.Settings, opts operate.Options) (operate.Result, error)
	DisableServer(ctx context.Context, job, ip string, opts operate.Options) (operate.Result, error)
	EnableServer(ctx context.Context, job, ip string, opts operate.Options) (operate.Result, error)
	DisableItem(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error)
}

// Direct is an operator and the registry that it operates.
type Direct struct {
	*operate.Operator
	Store operate.Store
}

var _ Operations = Direct{}

// CreateJob is [Create].
func (d Direct) CreateJob(ctx context.Context, job Job, opts operate.Options) (operate.Result, error) {
	return Create(ctx, d.Store, d.Operator, job, opts)
}

// Apply makes one job as a file says: it creates it, or changes its settings, byte for byte as the file has them, and
// disables and enables its servers and items, each of which is an operation of its own. What the file does not mention
// stays as it is, and so does whether an existing job is disabled. stored is the configuration on which the caller has
// decided; the zero node if there was none. If nothing is to be done, the result says Repeated.
//
// The plan of a dry run names everything that would be changed. With it as Shown, the job is made so or, if that is something
// else by now, refused; what is said of servers and items is compared once, before the settings are stored. Asked for
// again with the same ID and the same plan, Apply goes on with what is left of it, and does nothing a second time, whatever
// others have changed back since.
//
// Errors are those of package operate.
func Apply(ctx context.Context, op Operations, stored registry.Node, job Job, opts operate.Options) (operate.Result, error) {
	if opts.Shown != nil {
		dry := opts
		dry.DryRun, dry.Shown, dry.Wait = true, nil, false
		first, more, err := settings(ctx, op, stored, job, dry)
		if err != nil {
			return first, err
		}
		whole := first
		if more {
			if whole, err = marks(ctx, op, job, dry, first); err != nil {
				return whole, err
			}
		}
		if whole.Repeated {
			return whole, nil
		}
		if err := operate.Agreed(*opts.Shown, whole.Plan); err != nil {
			switch done, begun := began(ctx, op, job, dry, *opts.Shown); {
			case done:
				whole.Changes, whole.Repeated = nil, true
				return whole, nil
			case !begun || !within(whole.Changes, opts.Shown.Changes):
				return whole, err
			}
		}
		if opts.DryRun {
			return whole, nil
		}
		opts.Shown = &first.Plan
	}
	result, more, err := settings(ctx, op, stored, job, opts)
	if err != nil || !more {
		return result, err
	}
	return marks(ctx, op, job, opts, result)
}

// began tells whether the operation of this id was begun before with what was shown, and was cut short perhaps; done, that
// nothing of it can be left. It is about settings that are stored, or a job that is created: of servers and items the plan
// says itself which are done. dry is a dry run.
func began(ctx context.Context, op Operations, job Job, dry operate.Options, shown operate.Plan) (done, begun bool) {
	if dry.ID == "" {
		return false, false
	}
	if shown.Verb == operate.VerbCreate { // which is the last that is written
		result, err := op.CreateJob(ctx, job, dry)
		return err == nil && result.Repeated, false
	}
	if job.Config != "" {
		result, err := op.ChangeSettings(ctx, job.Name, operate.Settings{Text: job.Config}, dry)
		begun = err == nil && result.Repeated
	}
	for i, mark := range job.operations(op) {
		result, err := mark(ctx, withID(dry, i))
		begun = begun || err == nil && result.Repeated
	}
	return false, begun
}

// within tells whether all changes were shown.
func within(changes, shown []operate.Change) bool {
	for _, c := range changes {
		if !slices.Contains(shown, c) {
			return false
		}
	}
	return true
}

// settings creates a job or changes its settings. more tells that what the file says of servers and items is still to be
// done.
func settings(ctx context.Context, op Operations, stored registry.Node, job Job, opts operate.Options) (result operate.Result, more bool, err error) {
	switch {
	case !stored.Exists():
		result, err = op.CreateJob(ctx, job, opts)
		return result, false, err
	case stored.Value == job.Config || job.Config == "":
		return operate.Result{ID: opts.ID, Plan: operate.Plan{Verb: operate.VerbSettings, Job: job.Name}, Repeated: true}, true, nil
	}
	s := operate.Settings{Text: job.Config, Shown: stored.Revision, ShownText: stored.Value}
	result, err = op.ChangeSettings(ctx, job.Name, s, opts)
	if cause, _ := operate.IsRefused(err); cause == operate.CauseAlready { // but for whether the job is disabled, perhaps
		result.Repeated, err = true, nil
		result.Warnings = append(result.Warnings, staysAsItIs(stored, job)...)
	}
	return result, true, err
}

// staysAsItIs warns that a job is disabled or enabled otherwise than its file says.
func staysAsItIs(stored registry.Node, job Job) []string {
	was, err := jobtree.DecodeConfig(stored)
	if err != nil {
		return nil
	}
	declared, err := jobtree.DecodeConfig(registry.Node{Path: stored.Path, Value: job.Config})
	switch {
	case err != nil || was.Disabled == declared.Disabled:
		return nil
	case was.Disabled:
		return []string{"the job stays disabled: settings do not change that"}
	default:
		return []string{"the job stays enabled: settings do not change that"}
	}
}

// ErrNoConfig is the error of a job that is to be created and of which the file has no configuration.
var ErrNoConfig = errors.New("the file has no config for it, and there is no such job")

// Create stores a job, together with what disables its servers and items: nobody else's job of this name can be hit by
// that. What has no room in the transaction that creates it comes before: without a configuration it means nothing to
// anybody, and so no item begins that must not. If the job is refused then, because somebody else was faster, it is taken back.
// Errors are those of [operate.Operator.CreateText], and [ErrNoConfig].
func Create(ctx context.Context, store operate.Store, op *operate.Operator, job Job, opts operate.Options) (operate.Result, error) {
	if job.Config == "" {
		return operate.Result{}, ErrNoConfig
	}
	marks := operate.Marks{Servers: job.Servers, Items: job.Items}
	writes := marks.Writes(job.Name)
	for _, w := range writes {
		if err := registry.CheckPath(w.Path); err != nil {
			return operate.Result{}, fmt.Errorf("%w: %w", operate.ErrInvalidOption, err)
		}
	}
	for ip := range job.Servers {
		if name, _ := jobtree.Parse(jobtree.For(job.Name).Server(ip)); name.Kind != jobtree.KindServer {
			return operate.Result{}, fmt.Errorf("%w: %q is no address of a server", operate.ErrInvalidOption, ip)
		}
	}
	if len(writes) < guarded.MaxSteps { // and the configuration
		return op.CreateMarked(ctx, job.Name, job.Config, marks, opts)
	}
	marks.Stored = true
	dry := opts
	dry.DryRun = true
	before := &ahead{Store: store, at: make(map[string]registry.Revision), found: make(map[string]registry.Node)}
	for {
		result, err := op.CreateMarked(ctx, job.Name, job.Config, marks, dry)
		if err != nil {
			return result, errors.Join(err, before.takeBack(ctx))
		}
		opts.ID, dry.ID = result.ID, result.ID // under which whoever hears no answer asks again
		if opts.DryRun || result.Repeated && !opts.Wait {
			return result, nil
		}
		if opts.Again = result.Repeated; !opts.Again { // who asks again creates nothing
			if err = before.put(ctx, job.Name, writes); errors.Is(err, registry.ErrConflict) {
				continue // and see who was faster
			} else if err != nil {
				return result, errors.Join(err, before.takeBack(ctx))
			}
		}
		result, err = op.CreateMarked(ctx, job.Name, job.Config, marks, opts)
		if _, refused := operate.IsRefused(err); refused {
			err = errors.Join(err, before.takeBack(ctx))
		}
		return result, err
	}
}

// marks disables and enables what a file says of an existing job. Each is an operation of its own with an id of its own,
// which follows from the whole's: so a repeat knows which are done.
func marks(ctx context.Context, op Operations, job Job, opts operate.Options, done operate.Result) (operate.Result, error) {
	opts.Shown = nil
	for i, mark := range job.operations(op) {
		result, err := mark(ctx, withID(opts, i))
		cause, refused := operate.IsRefused(err)
		switch {
		case refused && cause == operate.CauseAlready, err == nil && result.Repeated:
		case err != nil:
			return done, err
		default:
			done.Changes = append(done.Changes, result.Changes...)
			done.Revision = max(done.Revision, result.Revision)
			done.Repeated = false
		}
	}
	return done, nil
}

// operations are those that disable and enable what belongs to the job, always in the same order.
func (j Job) operations(op Operations) (all []func(context.Context, operate.Options) (operate.Result, error)) {
	for _, ip := range slices.Sorted(maps.Keys(j.Servers)) {
		do := op.EnableServer
		if j.Servers[ip] {
			do = op.DisableServer
		}
		all = append(all, func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			result, err := do(ctx, j.Name, ip, opts)
			if cause, _ := operate.IsRefused(err); cause == operate.CauseUnknownTarget {
				opts.Force = true // the file may know a server that nobody has seen yet
				return do(ctx, j.Name, ip, opts)
			}
			return result, err
		})
	}
	for _, item := range j.Items {
		all = append(all, func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			result, err := op.DisableItem(ctx, j.Name, item, opts)
			if cause, _ := operate.IsRefused(err); cause == operate.CauseUnknownTarget {
				opts.Force = true // the file may be of a time at which the job had the item, or say that it is to have it
				return op.DisableItem(ctx, j.Name, item, opts)
			}
			return result, err
		})
	}
	return all
}

// withID gives one of the operations of which an operation is made an id: that of the whole and its number or, if that is
// too long, a digest of both.
func withID(opts operate.Options, number int) operate.Options {
	if opts.ID == "" {
		return opts
	}
	const longest = 64
	id := jobtree.PartID(opts.ID, number)
	if len(id) > longest {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:longest/2])
	}
	opts.ID = id
	return opts
}
