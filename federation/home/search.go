package home

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// search looks for a job of which the directory says nothing, or what leads in a circle, or which is away. Registries are read
// at one time or another, so a job that moves meanwhile may be seen in two of them, or in none. What contradicts itself is looked
// at again, until it stays as it is.
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

// beside looks for a job, which is not where the directory's word leads, in the other registries. If one has it, two had, and
// whoever removed it where it was at home left it there to go on; or an older copy, which has come back with a backup, went on
// there while a registry keeps another one that it has left, which is what the error of the way says. A registry that does
// not answer is left out: it has the job only if somebody has stored it there beside its home. If the job has left one of them and is
// on its way, it is where it goes, be that where the word leads or not. misled is the word, if that leads to where the job was removed.
func (d *Directory) beside(ctx context.Context, job string, misled registry.Node, p Place, way error) (Place, error) {
	here, nodes, err := d.holders(ctx, job)
	switch {
	case err != nil:
		return p, err
	case slices.Contains(here, p.Registry): // it was stored by now
		p.Exists = true
		return p, nil
	case len(here) > 1:
		return Place{}, twice(here)
	case len(here) == 1:
		return Place{Registry: here[0], Exists: true, told: true, misled: misled}, nil
	}
	if on, err := d.underWay(ctx, job, nodes, p); err != nil || on.From != "" {
		return on, err
	}
	return p, way
}

// underWay returns where a job is on its way that no registry has; p if no registry says that it has left. If one does, and nothing
// proves that it has arrived, the error says that.
func (d *Directory) underWay(ctx context.Context, job string, nodes []registry.Node, p Place) (Place, error) {
	var unproved *unprovedError
	for i, n := range nodes {
		if e, _ := jobtree.DecodeElsewhere(n); !e.Leaving() {
			continue
		}
		on, err := d.follow(ctx, job, d.names[i], n)
		switch {
		case err == nil && on.From != "", errors.Is(err, ErrAway):
			on.told = true
			return on, err
		case errors.As(err, &unproved):
		}
	}
	if unproved != nil {
		return p, unproved
	}
	return p, ctx.Err()
}

// holders returns the registries that have a job's configuration, as they all had at one time, and what all of them said last.
// Those that do not answer are left out.
func (d *Directory) holders(ctx context.Context, job string) (here []string, nodes []registry.Node, err error) {
	var before []registry.Node
	for {
		var errs []error
		nodes, errs = d.read(ctx, job, d.names)
		here = nil
		for i, name := range d.names {
			switch {
			case errs[i] != nil && (ctx.Err() != nil || !errors.Is(errs[i], ErrAway)):
				return nil, nil, errs[i]
			case isConfig(nodes[i]):
				here = append(here, name)
			}
		}
		if len(here) > 1 {
			if err := d.seenAsOne(nodes); err != nil {
				return nil, nil, err
			}
		}
		if len(here) < 2 || before != nil && slices.EqualFunc(before, nodes, sameRevision) {
			return here, nodes, nil
		}
		before = nodes // a job that moves meanwhile may be seen in both
	}
}

// seenAsOne is the error of two registries that answer with one configuration, as they lead to one store.
func (d *Directory) seenAsOne(nodes []registry.Node) error {
	for i, n := range nodes {
		for k := range i {
			if isConfig(n) && sameNode(nodes[k], n) {
				return oneStore(d.names[k], d.names[i])
			}
		}
	}
	return nil
}

func twice(here []string) error {
	return fmt.Errorf("%w: %s; remove it from all but one", ErrTwice, strings.Join(here, ", "))
}

func sameRevision(a, b registry.Node) bool { return a.Revision == b.Revision }

// look reads what all registries say of a job, but for the directory, of which is known that it has none.
func (d *Directory) look(ctx context.Context, job string, directory error) (nodes []registry.Node, errs []error) {
	nodes, errs = d.read(ctx, job, slices.DeleteFunc(slices.Clone(d.names), func(name string) bool { return name == d.name }))
	errs[slices.Index(d.names, d.name)] = directory
	return nodes, errs
}

// read reads what some registries say of a job. The nodes and the errors have the places of all names.
func (d *Directory) read(ctx context.Context, job string, some []string) (nodes []registry.Node, errs []error) {
	nodes, errs = make([]registry.Node, len(d.names)), make([]error, len(d.names))
	var all sync.WaitGroup
	for i, name := range d.names {
		if slices.Contains(some, name) {
			all.Go(func() { nodes[i], errs[i] = d.get(ctx, name, job) })
		}
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
		return Place{}, cmp.Or(d.seenAsOne(nodes), twice(here))
	case len(here) == 1:
		return Place{Registry: here[0], Exists: true}, nil
	case silent != nil:
		return Place{}, &AwayError{Registries: silent, Err: first}
	}
	return d.agreed(ctx, job, nodes)
}

// agreed returns where the registries say that a job is that none of them has. Words that name each other in a circle say
// nothing of a job that one of the others says to be on its way.
func (d *Directory) agreed(ctx context.Context, job string, nodes []registry.Node) (Place, error) {
	var found Place
	var circle *circleError
	for i, n := range nodes {
		if !n.Exists() {
			continue
		}
		p, err := d.follow(ctx, job, d.names[i], n)
		if errors.As(err, &circle) {
			continue
		}
		if err != nil {
			return Place{}, err
		}
		switch {
		case found.Registry == "" || p == found:
			found = p
		case p.Registry == found.Registry && !p.Exists && !found.Exists && (p.From == "" || found.From == ""):
			if p.From != "" { // it is on its way there, which the other one has not heard of
				found = p
			}
		default:
			return Place{}, fmt.Errorf("%w: one registry says that it is in %s, another that it is in %s", ErrLost, found.Registry, p.Registry)
		}
	}
	if circle != nil && !found.Exists && found.From == "" {
		return Place{}, circle
	}
	return found, nil
}
