package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/registry"
)

// rights are what whoever gives a command may do in a namespace. A server leaves out what they may not read, without a
// word, and so what it does not show need not be missing. Whoever reaches a registry itself sees all of it: nil.
type rights struct {
	namespace string
	grants    []access.Grant
}

// rightsAt asks a server for the rights.
func rightsAt(ctx context.Context, at place) (*rights, error) {
	server, is := at.(*client.Namespace)
	if !is {
		return nil, nil //nolint:nilnil // it may do everything
	}
	me, err := server.Me(ctx)
	if err != nil {
		return nil, err
	}
	r := &rights{namespace: server.Name()}
	for _, g := range me.Grants {
		r.grants = append(r.grants, access.Grant{Role: access.Role(g.Role), Namespace: g.Namespace, Jobs: g.Jobs})
	}
	return r, nil
}

func (r *rights) may(action access.Action, job string) bool {
	return r == nil || access.Identity{Grants: r.grants}.May(action, r.namespace, job)
}

// administers refuses jobs that may not be administered, in the words of the server.
func (r *rights) administers(jobs ...string) error {
	for _, job := range jobs {
		if !r.may(access.Administer, job) {
			return fmt.Errorf("%w: you may not administer job %s of namespace %s", registry.ErrDenied, job, r.namespace)
		}
	}
	return nil
}

// seesAll tells whether no job is left out of those whose names match a pattern; empty is all. The patterns of grants are
// compared as texts: of one that has nothing but stars, each star stands for a part of the pattern, whatever that is. Its other
// characters do not stand for a class of characters of the pattern.
func (r *rights) seesAll(match string) bool {
	if r.may(access.Read, "") {
		return true
	}
	return match != "" && slices.ContainsFunc(r.grants, func(g access.Grant) bool {
		one := rights{r.namespace, []access.Grant{{Role: g.Role, Namespace: g.Namespace}}}
		within, err := path.Match(g.Jobs, match)
		plain := strings.Trim(g.Jobs, "*") == "" || !strings.ContainsAny(match, `[\`)
		return one.may(access.Read, "") && (g.Jobs == match || err == nil && within && plain && !strings.ContainsAny(g.Jobs, `?[\`))
	})
}
