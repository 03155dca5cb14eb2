package home

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

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
}

// Directory finds the homes of jobs. Its methods may be called concurrently.
type Directory struct {
	name  string
	names []string // ascending
	reach func(ctx context.Context, name string) (Store, error)
}

// New returns what finds jobs in registries of these names. directory is one of them, and must be the same for all
// processes. reach returns a registry, or why it cannot be reached at present.
//
// A name has 1 to 63 lower-case letters, digits and "-"; it is stored. The error is an [ErrInvalidOption].
func New(directory string, names []string, reach func(ctx context.Context, name string) (Store, error)) (*Directory, error) {
	d := &Directory{name: directory, names: slices.Sorted(slices.Values(names)), reach: reach}
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
}

// Find tells where a job is. Errors: [ErrAway] if that cannot be told without a registry that does not answer, or the home
// is the one that does not answer and the directory names it, with the place; [ErrTwice], [ErrLost] and those of the
// registries.
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
	p.told = true
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
		case e.Leaving() && !e.Arrived(next):
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
		if err != nil || again.Revision == n.Revision {
			return Place{Registry: name}, err
		}
		n = again
	}
	return Place{}, &circleError{last: name}
}

// circleError is the [ErrLost] of registries that name each other.
type circleError struct{ last string }

func (e *circleError) Error() string {
	return fmt.Sprintf("%s: the registries name each other in a circle, the last one is %s", ErrLost.Error(), e.last)
}

func (*circleError) Is(target error) bool { return target == ErrLost }

// findMending is [Directory.find] for who may write: a circle is broken.
//
// There are circles. Whoever tells the directory where a job is wants its node to be absent, or as it was. If he sleeps
// before, the job can be moved to the directory meanwhile and be removed there; then the node is absent again, and what he
// says leads back to it. Nothing can run by the words of a circle, so it means that there is no job.
func (d *Directory) findMending(ctx context.Context, job string) (Place, error) {
	for {
		p, err := d.find(ctx, job)
		var circle *circleError
		if !errors.As(err, &circle) {
			return p, err
		}
		if err := d.breakCircle(ctx, job, circle.last); err != nil {
			return p, err
		}
	}
}

// breakCircle deletes one word of a circle: that of the registry whose name comes first, whoever does it. So of several who break it
// only one does, and one who has slept meanwhile finds that word gone; if each deleted another one, a job that is created
// after the first could be lost with the second. It does nothing if there is no circle any more.
func (d *Directory) breakCircle(ctx context.Context, job, name string) error {
	var before map[string]registry.Node
	for {
		now, err := d.circleOf(ctx, job, name)
		if err != nil || now == nil {
			return err
		}
		first := slices.Min(slices.Collect(maps.Keys(now)))
		switch e, _ := jobtree.DecodeElsewhere(now[first]); {
		case before == nil || !maps.EqualFunc(before, now, sameRevision):
			before = now
		case e.Leaving(): // its mover died when it had arrived
			store, err := d.store(ctx, first)
			if err != nil {
				return err
			}
			m := &mover{d: d, r: &Moved{Job: job}, tree: jobtree.For(job), id: e.Move}
			return m.clean(ctx, first, store)
		default: // what is read twice and has not changed in between has stood there all at once
			return d.deleteWord(ctx, first, now[first])
		}
	}
}

// circleOf returns the words of a circle by registry; nil if name is on none.
func (d *Directory) circleOf(ctx context.Context, job, name string) (map[string]registry.Node, error) {
	words := make(map[string]registry.Node)
	var before jobtree.Elsewhere
	for at := name; ; {
		n, again := words[at]
		if !again {
			var err error
			if n, err = d.get(ctx, at, job); err != nil {
				return nil, err
			}
		}
		e, is := jobtree.DecodeElsewhere(n)
		switch {
		case !is, e.Arriving, before.Leaving() && !before.Arrived(n), !before.Leaving() && before.Kept != 0 && before.Kept == n.Revision:
			return nil, nil
		case again && at == name:
			return words, nil
		case again:
			return nil, nil
		}
		words[at], at, before = n, e.Home, e
	}
}

// search looks for a job of which the directory says nothing, or which is away. Registries are read at one time or another,
// so a job that moves meanwhile may be seen in two of them, or in none. What contradicts itself is looked at again, until it
// stays as it is.
func (d *Directory) search(ctx context.Context, job string, directory error) (Place, error) {
	var before []registry.Node
	for {
		nodes, errs := d.look(ctx, job, directory)
		p, err := d.conclude(ctx, job, nodes, errs)
		if !errors.Is(err, ErrTwice) && !errors.Is(err, ErrLost) || before != nil && slices.EqualFunc(before, nodes, sameRevision) {
			return p, err
		}
		before = nodes
	}
}

func sameRevision(a, b registry.Node) bool { return a.Revision == b.Revision }

// look reads what all registries say of a job, but for the directory, of which is known what it says.
func (d *Directory) look(ctx context.Context, job string, directory error) (nodes []registry.Node, errs []error) {
	nodes, errs = make([]registry.Node, len(d.names)), make([]error, len(d.names))
	var all sync.WaitGroup
	for i, name := range d.names {
		if name == d.name {
			errs[i] = directory
			continue
		}
		all.Go(func() { nodes[i], errs[i] = d.get(ctx, name, job) })
	}
	all.Wait()
	return nodes, errs
}

// conclude tells where a job is that registries say this of.
func (d *Directory) conclude(ctx context.Context, job string, nodes []registry.Node, errs []error) (Place, error) {
	var here, silent []string
	var first error
	for i, name := range d.names {
		_, elsewhere := jobtree.DecodeElsewhere(nodes[i])
		switch {
		case errs[i] != nil:
			if !errors.Is(errs[i], ErrAway) {
				return Place{}, errs[i]
			}
			silent = append(silent, name)
			if first == nil {
				first = errors.Unwrap(errs[i])
			}
		case nodes[i].Exists() && !elsewhere:
			here = append(here, name)
		}
	}
	switch {
	case len(here) > 1:
		return Place{}, fmt.Errorf("%w: %s; remove it from all but one", ErrTwice, strings.Join(here, ", "))
	case len(here) == 1:
		return Place{Registry: here[0], Exists: true}, nil
	case silent != nil:
		return Place{}, &AwayError{Registries: silent, Err: first}
	}
	return d.agreed(ctx, job, nodes)
}

// agreed returns where the registries say that a job is that none of them has.
func (d *Directory) agreed(ctx context.Context, job string, nodes []registry.Node) (Place, error) {
	var found Place
	for i, n := range nodes {
		if !n.Exists() {
			continue
		}
		p, err := d.follow(ctx, job, d.names[i], n)
		if err != nil {
			return Place{}, err
		}
		if found.Registry != "" && p != found {
			return Place{}, fmt.Errorf("%w: one registry says that it is in %s, another that it is in %s", ErrLost, found.Registry, p.Registry)
		}
		found = p
	}
	return found, nil
}

// Claim is [Directory.Find], and gives a job that no registry knows a home: that which rule names, unless another
// process is faster. Where the directory says nothing of a job that a registry has, it is told. rule is asked at most once.
//
// After an error nothing is decided, or another call finds what was.
func (d *Directory) Claim(ctx context.Context, job string, rule func(job string) string) (Place, error) {
	p, err := d.claim(ctx, job, rule)
	if err != nil {
		return p, fmt.Errorf("find a home for job %q: %w", job, err)
	}
	return p, nil
}

func (d *Directory) claim(ctx context.Context, job string, rule func(job string) string) (Place, error) {
	wanted := ""
	for {
		p, err := d.findMending(ctx, job)
		if err != nil || p.From != "" {
			return p, err
		}
		if p.Registry != "" {
			// A directory that is away, or whose word was deleted, is told when somebody asks again.
			if !p.told && p.Registry != d.name {
				_ = d.tell(ctx, job, p.Registry)
			}
			return p, d.freePlace(ctx, job, p)
		}
		if wanted == "" {
			if wanted = rule(job); !slices.Contains(d.names, wanted) {
				return p, fmt.Errorf("%w: the rule names registry %q, must be one of %s", ErrInvalidOption, wanted, strings.Join(d.names, ", "))
			}
		}
		if wanted == d.name {
			return Place{Registry: wanted}, nil // whoever stores the configuration decides
		}
		if err := d.tell(ctx, job, wanted); err != nil {
			return Place{}, err
		}
	}
}

// tell creates the directory's word of a job, unless there is one.
func (d *Directory) tell(ctx context.Context, job, name string) error {
	store, err := d.store(ctx, d.name)
	if err != nil {
		return err
	}
	path := jobtree.For(job).Config()
	_, err = store.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.Absent(path)},
		Then: []registry.Write{registry.Put(path, jobtree.EncodeElsewhere(jobtree.Elsewhere{Home: name}))},
	})
	if registry.LookAgain(ctx, err) {
		// Somebody has said it, or perhaps this call has. A late copy finds a word, or leads in a circle; see findMending.
		return nil
	}
	return away(ctx, d.name, err)
}

// freePlace deletes what keeps the place of a job for a move that was over, or what is overruled there, so that the job can be
// stored there.
func (d *Directory) freePlace(ctx context.Context, job string, p Place) error {
	if p.Exists {
		return nil
	}
	n, err := d.get(ctx, p.Registry, job)
	if err != nil || !n.Exists() {
		return err
	}
	e, is := jobtree.DecodeElsewhere(n)
	switch {
	case is && n.Revision == p.over:
		return d.deleteWord(ctx, p.Registry, n)
	case !is || !e.Arriving:
		return nil
	}
	// The node may be another one than that by which the place was found: that of a move which has begun since.
	from, err := d.get(ctx, e.Home, job)
	if err != nil {
		return err
	}
	if left, _ := jobtree.DecodeElsewhere(from); left.Leaving() && left.KeptBy(n) {
		return nil
	}
	return d.deleteWord(ctx, p.Registry, n)
}

// deleteWord deletes what says that a job is not in a registry, if it is as it was found, so that the job can be stored there.
func (d *Directory) deleteWord(ctx context.Context, name string, n registry.Node) error {
	store, err := d.store(ctx, name)
	if err != nil {
		return err
	}
	_, err = store.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.CreatedAt(n.Path, n.Created), registry.Unchanged(n.Path, n.Revision)},
		Then: []registry.Write{registry.Delete(n.Path)},
	})
	if errors.Is(err, registry.ErrConflict) {
		return nil
	}
	return away(ctx, name, err)
}
