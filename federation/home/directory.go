package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Errors of this package. Those of the registries are passed on, with the name of the registry.
var (
	// ErrInvalidOption is the error of a name, a directory or an option that is not allowed.
	ErrInvalidOption = option.ErrInvalid
	// ErrAway: a registry that must be asked does not answer; see [AwayError].
	ErrAway = errors.New("registry is away")
	// ErrTwice: several registries hold a job of this name.
	ErrTwice = errors.New("several registries hold the job")
	// ErrLost: what the registries say of where a job is leads nowhere.
	ErrLost = errors.New("the job's home cannot be found")
)

// AwayError names the registries that did not answer. errors.Is(err, ErrAway) is true for it.
type AwayError struct {
	Registries []string // ascending
	Err        error    // of the first one
}

// Error names the registries and why the first one did not answer.
func (e *AwayError) Error() string {
	return fmt.Sprintf("registry %s is away: %v", strings.Join(e.Registries, ", "), e.Err)
}

// Is makes errors.Is(err, ErrAway) true.
func (e *AwayError) Is(target error) bool { return target == ErrAway }

// Unwrap returns why.
func (e *AwayError) Unwrap() error { return e.Err }

// Store is what is needed of a registry. Every [registry.Registry] has it.
type Store interface {
	registry.Reader
	registry.Committer
	registry.Viewer
	registry.Clock
}

// Directory finds the homes of jobs. Its methods may be called concurrently.
type Directory struct {
	name  string
	names []string // ascending
	reach func(ctx context.Context, name string) (Store, error)
	clock clock
}

// New returns what finds jobs in registries of these names. directory is one of them, and must be the same for all
// processes. reach returns a registry, or why it cannot be reached at present.
//
// A name has 1 to 63 lower-case letters, digits and "-"; it is stored. The error is an [ErrInvalidOption].
func New(directory string, names []string, reach func(ctx context.Context, name string) (Store, error)) (*Directory, error) {
	d := &Directory{name: directory, names: slices.Sorted(slices.Values(names)), reach: reach, clock: newClock()}
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrInvalidOption}, args...)...))
	}
	for i, name := range d.names {
		if !validName(name) {
			fault("the name of a registry is %q, must have 1 to 63 lower-case letters, digits and \"-\"", name)
		}
		if i > 0 && name == d.names[i-1] {
			fault("two registries are named %q", name)
		}
	}
	if !slices.Contains(d.names, directory) {
		fault("the directory is %q, must be one of the registries %s", directory, strings.Join(d.names, ", "))
	}
	return d, errors.Join(faults...)
}

func validName(name string) bool {
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return name != "" && len(name) <= 63
}

// Place is where a job is.
type Place struct {
	// Registry is the job's home or, while it moves, where it goes. It is empty if no registry knows the job.
	Registry string
	// Exists tells that the home has the job's configuration. If not, the job was removed there, or is declared and not
	// stored yet.
	Exists bool
	// From is the registry that the job has left and not arrived from yet; empty if it is not moving. While it is, it runs
	// nowhere.
	From string

	told bool              // the directory says so, or leads there
	over registry.Revision // of what Registry still says of a job that went on, and came back without one; see rename
	// misled is the directory's node, which leads to where the job was removed, though Registry has it; see beside.
	misled registry.Node
	// stale is the registry that keeps a place for the job, which never left Registry as far as that knows; empty if none does.
	stale string
}

// Find tells where a job is. Errors: [ErrAway] if that cannot be told without a registry that does not answer, or the home
// is the one that does not answer and the directory names it, with the place; [ErrTwice], [ErrLost], [ErrInvalidOption] if
// two of the names are seen to lead to one store, and those of the registries.
func (d *Directory) Find(ctx context.Context, job string) (Place, error) {
	p, err := d.find(ctx, job)
	if err != nil {
		return p, fmt.Errorf("find job %q: %w", job, err)
	}
	return p, nil
}

func (d *Directory) find(ctx context.Context, job string) (Place, error) {
	word, err := d.get(ctx, d.name, job)
	if err != nil && !errors.Is(err, ErrAway) {
		return Place{}, err
	}
	if err != nil || !word.Exists() {
		return d.search(ctx, job, err)
	}
	p, err := d.follow(ctx, job, d.name, word)
	if circle := (*circleError)(nil); errors.As(err, &circle) { // which says nothing of where the job is
		return d.search(ctx, job, nil)
	}
	p.told = true
	unproved := (*unprovedError)(nil)
	switch {
	case errors.As(err, &unproved):
		return d.beside(ctx, job, registry.Node{}, p, err)
	case err == nil && !p.Exists && p.From == "":
		return d.beside(ctx, job, word, p, nil)
	}
	return p, err
}

// get reads the config node of a job; the zero Node if there is none. What does not answer is away.
func (d *Directory) get(ctx context.Context, name, job string) (registry.Node, error) {
	if !slices.Contains(d.names, name) {
		return registry.Node{}, fmt.Errorf("%w: registry %q is named, and is none of %s", ErrLost, name, strings.Join(d.names, ", "))
	}
	store, err := d.store(ctx, name)
	if err != nil {
		return registry.Node{}, err
	}
	n, err := store.Get(ctx, jobtree.For(job).Config())
	if errors.Is(err, registry.ErrNotFound) {
		return registry.Node{}, nil
	}
	return n, away(ctx, name, err)
}

// store returns a registry that can be reached.
func (d *Directory) store(ctx context.Context, name string) (Store, error) {
	store, err := d.reach(ctx, name)
	switch {
	case err == nil:
	case errors.Is(err, ErrAway), errors.Is(err, ErrInvalidOption):
		return nil, err
	case ctx.Err() != nil:
		return nil, fmt.Errorf("registry %s: %w", name, err)
	default:
		return nil, &AwayError{Registries: []string{name}, Err: err}
	}
	if operate.MayHoldJava(store) {
		return nil, fmt.Errorf("registry %s: %w: Java instances may take part in its jobs, and know nothing of other registries", name, registry.ErrUnsupported)
	}
	return store, nil
}

// away completes an error of a registry with its name. When ctx has ended, the registry has not failed, and nobody can tell
// whether it is away.
func away(ctx context.Context, name string, err error) error {
	switch {
	case err == nil, errors.Is(err, ErrAway):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("registry %s: %w", name, err)
	case errors.Is(err, registry.ErrUnavailable), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &AwayError{Registries: []string{name}, Err: err}
	default:
		return fmt.Errorf("registry %s: %w", name, err)
	}
}

// sameNode tells whether two registries answer with one node: what it says leads back to it.
func sameNode(a, b registry.Node) bool {
	return b.Exists() && a.Created == b.Created && a.Revision == b.Revision && a.Value == b.Value
}

// isConfig tells whether a config node has a configuration, or what is meant to be one.
func isConfig(n registry.Node) bool {
	_, elsewhere := jobtree.DecodeElsewhere(n)
	return n.Exists() && !elsewhere
}

// oneStore is the error of two registries that lead to the same nodes, as when the configuration of one was copied. Nothing
// that is written there can be right for both of them, so nothing is.
func oneStore(name, other string) error {
	return fmt.Errorf("%w: registries %s and %s are one store: their nodes are the same", ErrInvalidOption, name, other)
}

// follow goes from a config node to where the job is. Each node on the way says that the job is not there.
func (d *Directory) follow(ctx context.Context, job, name string, n registry.Node) (Place, error) {
	for range 2*len(d.names) + 2 {
		e, is := jobtree.DecodeElsewhere(n)
		switch {
		case !n.Exists():
			return Place{Registry: name}, nil
		case !is:
			return Place{Registry: name, Exists: true}, nil
		}
		next, err := d.get(ctx, e.Home, job)
		left, _ := jobtree.DecodeElsewhere(next)
		switch {
		case err != nil:
			return Place{Registry: e.Home}, err
		case sameNode(n, next):
			return Place{}, oneStore(name, e.Home)
		case e.Leaving() && e.Unproved(next) && !isConfig(next):
			again, err := d.get(ctx, name, job)
			if err != nil || again.Revision == n.Revision {
				return Place{}, cmp.Or[error](err, &unprovedError{from: name, to: e.Home})
			}
			n = again
			continue
		case e.Leaving() && !e.Arrived(next) && !e.Unproved(next):
			return Place{Registry: e.Home, From: name}, nil
		case !e.Leaving() && e.Kept != 0 && e.Kept == next.Revision:
			return Place{Registry: e.Home, over: e.Kept}, nil
		case !e.Arriving:
			name, n = e.Home, next
			continue
		case left.Leaving() && left.KeptBy(n):
			return Place{Registry: name, From: e.Home}, nil
		}
		// It has arrived or been removed meanwhile, or somebody kept the place for a move that was over.
		again, err := d.get(ctx, name, job)
		switch {
		case err != nil:
			return Place{Registry: name}, err
		case again.Revision == n.Revision && isConfig(next): // it was restored from a backup of before the job left
			return Place{Registry: e.Home, Exists: true, stale: name}, nil
		case again.Revision == n.Revision:
			return Place{Registry: name}, nil
		}
		n = again
	}
	return Place{}, &circleError{last: name}
}
