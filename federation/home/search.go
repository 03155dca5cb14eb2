package home

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

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
