package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// registries is one namespace to commands that is spread over several registries. What concerns a job goes to its home; a
// list of everything is put together from all that answer. It is for one command: where it has found a job, it goes on
// looking. If the job moves meanwhile, its former home refuses what depends on it.
type registries struct {
	directory string
	names     []string
	homes     *home.Directory
	open      func(ctx context.Context, name string) (registry.Registry, error)

	opened map[string]*opened // for each name one

	mu    sync.Mutex
	where map[string]string // the registry of jobs that were looked for
	away  map[string]error  // registries that a list leaves out
	twice map[string]string // where each job is that the last list has found in several registries
}

// opened is a registry that is opened by whoever needs it first.
type opened struct {
	mu    sync.Mutex // held while it is opened
	tried bool
	reg   registry.Registry
	err   error // why it cannot be used
}

// newRegistries reaches the registries of a context when they are needed.
func (c *connection) newRegistries(chosen cluster) (*registries, error) {
	all, err := c.program.readContexts()
	if err != nil {
		return nil, err
	}
	for name, of := range chosen.Registries {
		if one, err := all.get(of); err == nil && one.Server != "" {
			return nil, misuse("registry %s is that of the context %q, which goes through a server: want a context with etcd or zookeeper", name, of)
		}
	}
	return registriesOf(chosen.Directory, slices.Sorted(maps.Keys(chosen.Registries)), func(ctx context.Context, name string) (registry.Registry, error) {
		one, err := all.get(chosen.Registries[name])
		if err != nil {
			return nil, err
		}
		own := newRegistryConnection(c.program, pflag.NewFlagSet("", pflag.ContinueOnError))
		own.namespace = cmp.Or(c.namespace, chosen.Namespace) // else that of each one's context
		return own.open(ctx, one)
	})
}

// registriesOf puts registries together that open opens.
func registriesOf(directory string, names []string, open func(ctx context.Context, name string) (registry.Registry, error)) (*registries, error) {
	s := &registries{
		directory: directory, names: names, open: open,
		opened: make(map[string]*opened), where: make(map[string]string), away: make(map[string]error),
	}
	for _, name := range names {
		s.opened[name] = new(opened)
	}
	var err error
	s.homes, err = home.New(s.directory, s.names, func(ctx context.Context, name string) (home.Store, error) { return s.registry(ctx, name) })
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// registry returns a registry of the context. One that could not be opened is tried again by again alone. Several are opened
// side by side: one that does not answer takes its time.
func (s *registries) registry(ctx context.Context, name string) (registry.Registry, error) {
	o := s.opened[name]
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.tried {
		o.tried = true
		o.reg, o.err = s.open(ctx, name)
		switch {
		case o.err != nil:
			o.err = &home.AwayError{Registries: []string{name}, Err: o.err}
		case operate.MayHoldJava(o.reg):
			o.err = fmt.Errorf("registry %s: %w: Java instances may take part in its jobs, so it cannot be one of several", name, registry.ErrUnsupported)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return o.reg, nil
}

// again is registry, which also tries again one that did not answer.
func (s *registries) again(ctx context.Context, name string) (registry.Registry, error) {
	o := s.opened[name]
	o.mu.Lock()
	if errors.Is(o.err, home.ErrAway) {
		o.tried = false
	}
	o.mu.Unlock()
	return s.registry(ctx, name)
}

// of returns the registry of the job to which a path belongs. A job that no registry knows belongs to the directory: there it
// is decided who creates it.
func (s *registries) of(ctx context.Context, path string) (registry.Registry, error) {
	job := operate.JobOf(path)
	s.mu.Lock()
	at := s.where[job]
	s.mu.Unlock()
	if at == "" {
		p, err := s.homes.Find(ctx, job)
		if err != nil {
			return nil, err
		}
		switch {
		case p.From != "":
			at = p.From
		case p.Registry != "":
			at = p.Registry
		default:
			at = s.directory
		}
		s.mu.Lock()
		s.where[job] = at
		s.mu.Unlock()
	}
	return s.registry(ctx, at)
}

// Get reads from the home of a job.
func (s *registries) Get(ctx context.Context, path string) (registry.Node, error) {
	reg, err := s.of(ctx, path)
	if err != nil {
		return registry.Node{}, err
	}
	return reg.Get(ctx, path)
}

// List reads from the home of a job, or everything from all registries. Revisions are those of each node's registry.
func (s *registries) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if path == registry.Root {
		return s.listAll(ctx)
	}
	reg, err := s.of(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	return reg.List(ctx, path)
}

// listAll lists all registries, each at its own time. A job that moves meanwhile may be seen in none of them: in its new home
// before it has arrived, in the former one when it has left. So where some say only that a job is elsewhere, they are listed
// again, until that stays as it is; and so are they where it is seen in both.
func (s *registries) listAll(ctx context.Context) (all []registry.Node, newest registry.Revision, err error) {
	for {
		lists, revisions := make([][]registry.Node, len(s.names)), make([]registry.Revision, len(s.names))
		errs := s.each(ctx, func(i int, reg registry.Registry) (err error) {
			lists[i], revisions[i], err = reg.List(ctx, registry.Root)
			return err
		})
		if err := s.leaveOut(errs); err != nil {
			return nil, 0, err
		}
		unclear := unclear(lists)
		changed, err := s.changed(ctx, unclear, errs)
		if err != nil {
			return nil, 0, err
		}
		if !changed {
			s.noteTwice(unclear)
			return s.merged(lists), slices.Max(revisions), nil
		}
	}
}

// sighting is what lists of registries say of a job.
type sighting struct {
	said   []registry.Revision // of its config nodes
	here   []placed            // in the registries that have it
	leaves bool                // one of them, and has not arrived elsewhere
}

// placed is a job's config node in the registry of that number.
type placed struct {
	registry int
	config   registry.Node
}

// unclear are the jobs of which lists of registries say only that they are elsewhere, and those that several have.
func unclear(lists [][]registry.Node) map[string]*sighting {
	all := make(map[string]*sighting)
	for i, list := range lists {
		for _, n := range list {
			what, ok := jobtree.Parse(n.Path)
			if !ok || what.Kind != jobtree.KindConfig {
				continue
			}
			seen := all[what.Job]
			if seen == nil {
				seen = &sighting{said: make([]registry.Revision, len(lists))}
				all[what.Job] = seen
			}
			seen.said[i] = n.Revision
			if e, elsewhere := jobtree.DecodeElsewhere(n); !elsewhere {
				seen.here = append(seen.here, placed{i, n})
			} else if e.Leaving() {
				seen.leaves = true
			}
		}
	}
	maps.DeleteFunc(all, func(_ string, seen *sighting) bool {
		return len(seen.here) == 1 || len(seen.here) == 0 && seen.leaves
	})
	return all
}

// changed tells whether registries say by now something else of a job than they did when they were listed. left are the errors
// of those that were not.
func (s *registries) changed(ctx context.Context, listed map[string]*sighting, left []error) (bool, error) {
	changed := make([]bool, len(s.names))
	errs := s.each(ctx, func(i int, reg registry.Registry) error {
		for job, seen := range listed {
			if left[i] != nil || changed[i] {
				break
			}
			n, err := reg.Get(ctx, jobtree.For(job).Config())
			if err != nil && !errors.Is(err, registry.ErrNotFound) {
				return err
			}
			changed[i] = n.Revision != seen.said[i]
		}
		return nil
	})
	return slices.Contains(changed, true), s.leaveOut(errs)
}

// each does something with each registry, side by side, and returns the errors in the order of the names.
func (s *registries) each(ctx context.Context, do func(i int, reg registry.Registry) error) []error {
	errs := make([]error, len(s.names))
	var asked sync.WaitGroup
	for i, name := range s.names {
		asked.Go(func() {
			var reg registry.Registry
			if reg, errs[i] = s.registry(ctx, name); errs[i] == nil {
				errs[i] = do(i, reg)
			}
		})
	}
	asked.Wait()
	return errs
}

// leaveOut notes the registries that have failed. If all have, that is an error.
func (s *registries) leaveOut(errs []error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range s.names {
		if errs[i] != nil {
			s.away[name] = errs[i]
		}
	}
	if len(s.away) == len(s.names) {
		return errors.Join(errs...)
	}
	return nil
}

// merged puts the nodes of all registries together: those of a job come from its home.
func (s *registries) merged(lists [][]registry.Node) (all []registry.Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := make(map[string]string) // the home of each job, or what it has left and not arrived from
	words := make(map[string]bool)  // names of which the directory says only where a job of the name is, or is to be created
	for _, leaving := range []bool{false, true} {
		for i, name := range s.names {
			for _, n := range lists[i] {
				what, ok := jobtree.Parse(n.Path)
				if !ok || what.Kind != jobtree.KindConfig {
					continue
				}
				e, elsewhere := jobtree.DecodeElsewhere(n)
				if elsewhere && name == s.directory {
					words[what.Job] = true
				}
				if e.Leaving() == leaving && elsewhere == leaving && from[what.Job] == "" {
					from[what.Job] = name
				}
			}
		}
	}
	for i, name := range s.names {
		for _, n := range lists[i] {
			job := operate.JobOf(n.Path)
			if at, known := from[job]; known && at == name || !known && name == s.directory && !words[job] {
				s.where[job] = name
				all = append(all, n)
			}
		}
	}
	slices.SortFunc(all, func(a, b registry.Node) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// noteTwice notes the jobs that several registries have, and where each is disabled. All had them at the same time, as nothing
// has changed from when the first one was listed until all were.
func (s *registries) noteTwice(listed map[string]*sighting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.twice = make(map[string]string)
	for job, seen := range listed {
		if one := s.oneStore(seen.here); one != "" {
			s.twice[job] = one
			continue
		}
		var at []string
		runs := ", and runs in each"
		for _, n := range seen.here {
			if s.away[s.names[n.registry]] != nil { // of one that has gone away since, nobody knows
				continue
			}
			name := s.names[n.registry]
			if cfg, err := jobtree.DecodeConfig(n.config); err == nil && cfg.Disabled {
				name, runs = name+" (disabled)", ""
			}
			at = append(at, name)
		}
		if len(at) > 1 {
			s.twice[job] = "is in the registries " + strings.Join(at, ", ") + runs + ": remove it from all but one, each by its own context"
		}
	}
}

// oneStore says that two registries answer with one node, so that they lead to one store, and what is removed from one is gone; empty
// if no two do.
func (s *registries) oneStore(here []placed) string {
	for i, n := range here {
		for _, m := range here[:i] {
			if a, b := m.config, n.config; a.Created == b.Created && a.Revision == b.Revision && a.Value == b.Value {
				return fmt.Sprintf("is the same in the registries %s and %s, which are one store: remove it from neither, and correct the contexts",
					s.names[m.registry], s.names[n.registry])
			}
		}
	}
	return ""
}

// Children lists the nodes below a path.
func (s *registries) Children(ctx context.Context, path string) ([]string, error) {
	if path != registry.Root {
		reg, err := s.of(ctx, path)
		if err != nil {
			return nil, err
		}
		return reg.Children(ctx, path)
	}
	nodes, _, err := s.listAll(ctx)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool)
	for _, n := range nodes {
		names[operate.JobOf(n.Path)] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// Commit writes to the home of the job that a transaction is about.
func (s *registries) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if len(txn.Then) == 0 {
		return 0, registry.ErrInvalid
	}
	reg, err := s.of(ctx, txn.Then[0].Path)
	if err != nil {
		return 0, err
	}
	return reg.Commit(ctx, txn)
}

// CommitAll commits one by one, each to the home of its job.
func (s *registries) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	all := make([]registry.Outcome, len(txns))
	for i, txn := range txns {
		all[i].Revision, all[i].Err = s.Commit(ctx, txn)
	}
	return all
}

// View follows a job in its home. Everything of several registries is no one view; see follow.
func (s *registries) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	if path == registry.Root {
		return nil, fmt.Errorf("%w: several registries have no view in common", registry.ErrUnsupported)
	}
	reg, err := s.of(ctx, path)
	if err != nil {
		return nil, err
	}
	return reg.View(ctx, path, except...)
}

// Close closes what was opened.
func (s *registries) Close(ctx context.Context) error {
	var errs []error
	for _, o := range s.opened {
		o.mu.Lock()
		if !o.tried {
			o.tried, o.err = true, registry.ErrClosed
		}
		if o.reg != nil {
			errs = append(errs, o.reg.Close(ctx))
		}
		o.mu.Unlock()
	}
	return errors.Join(errs...)
}

// registryOf returns where a job was found; a dash if nowhere.
func (s *registries) registryOf(job string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return orDash(s.where[job])
}

// lacking is the error of a command that has shown what it could, and left out registries that are away. err is what else
// became of it: those that it is about are not named twice.
func (s *registries) lacking(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(s.away)) {
		if err != nil && errors.Is(err, s.away[name]) {
			continue
		}
		errs = append(errs, fmt.Errorf("the jobs of registry %s are left out: %w", name, s.away[name]))
	}
	return errors.Join(errs...)
}

// doubled is the error of a command that has found jobs in several registries, each of which runs them unless they are disabled
// there.
func (s *registries) doubled() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, job := range slices.Sorted(maps.Keys(s.twice)) {
		errs = append(errs, fmt.Errorf("job %q %s", job, s.twice[job]))
	}
	return errors.Join(errs...)
}

var (
	_ place         = (*registries)(nil)
	_ operate.Store = (*registries)(nil)
)
