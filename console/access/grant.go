package access

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Action is what somebody wants to do.
type Action string

// The actions. Each includes the ones before it.
const (
	Read       Action = "read"
	Operate    Action = "operate"
	Administer Action = "administer"
)

// Role is what somebody may do.
type Role string

// The roles. Each may do what the ones before it may.
const (
	Viewer   Role = "viewer"
	Operator Role = "operator"
	Admin    Role = "admin"
)

// allowed are the actions of each role.
var allowed = map[Role][]Action{
	Viewer:   {Read},
	Operator: {Read, Operate},
	Admin:    {Read, Operate, Administer},
}

// Roles returns all roles, the one that may do least first.
func Roles() []Role { return []Role{Viewer, Operator, Admin} }

// all is the pattern of everything.
const all = "*"

// Grant gives a role in a part of what there is. The zero Grant gives nothing.
type Grant struct {
	Role Role `json:"role" yaml:"role"`
	// Namespace is the name of one, or "*" for all.
	Namespace string `json:"namespace" yaml:"namespace"`
	// Jobs is a pattern of names as in [path.Match], such as "orders-*". Empty and "*" are all jobs.
	Jobs string `json:"jobs,omitempty" yaml:"jobs,omitempty"`
}

// ErrInvalid is the error of a grant, a file or a setting that is not allowed.
var ErrInvalid = errors.New("invalid")

func (g Grant) check() error {
	if _, known := allowed[g.Role]; !known {
		return fmt.Errorf("%w role %q: it must be one of viewer, operator and admin", ErrInvalid, g.Role)
	}
	if g.Namespace == "" {
		return fmt.Errorf(`%w namespace "": name one, or "*" for all`, ErrInvalid)
	}
	if _, err := path.Match(g.Jobs, ""); err != nil {
		return fmt.Errorf(`%w jobs %q: it must be a pattern of names such as "orders-*"`, ErrInvalid, g.Jobs)
	}
	return nil
}

// within tells whether the grant is about an action and a namespace.
func (g Grant) within(action Action, namespace string) bool {
	return slices.Contains(allowed[g.Role], action) && (g.Namespace == all || namespace != "" && g.Namespace == namespace)
}

func (g Grant) ofAllJobs() bool { return g.Jobs == "" || g.Jobs == all }

// covers tells whether the grant is about a job; "" is all of them.
func (g Grant) covers(job string) bool {
	if g.ofAllJobs() {
		return true
	}
	matches, err := path.Match(g.Jobs, job)
	return job != "" && err == nil && matches
}

// May tells whether somebody may do something to a job, or to a namespace as a whole if job is "". Nothing else in
// the console decides this. What is not granted is forbidden.
func (id Identity) May(action Action, namespace, job string) bool {
	return slices.ContainsFunc(id.Grants, func(g Grant) bool { return g.within(action, namespace) && g.covers(job) })
}

// MaySome tells whether somebody may do something to any job of a namespace, whichever that is.
func (id Identity) MaySome(action Action, namespace string) bool {
	return slices.ContainsFunc(id.Grants, func(g Grant) bool { return g.within(action, namespace) })
}

// Sees tells whether somebody may read anything of a namespace.
func (id Identity) Sees(namespace string) bool { return id.MaySome(Read, namespace) }

// Scope names the jobs of a namespace that somebody may read: whoever has the same scope sees the same. It is "*" for
// all jobs and "" for none.
func (id Identity) Scope(namespace string) string {
	var patterns []string
	for _, g := range id.Grants {
		switch {
		case !g.within(Read, namespace):
		case g.ofAllJobs():
			return all
		default:
			patterns = append(patterns, g.Jobs)
		}
	}
	slices.Sort(patterns)
	return strings.Join(slices.Compact(patterns), "\x00")
}

// Roles returns what somebody is anywhere, the one that may do least first.
func (id Identity) Roles() []Role {
	return slices.DeleteFunc(Roles(), func(r Role) bool {
		return !slices.ContainsFunc(id.Grants, func(g Grant) bool { return g.Role == r })
	})
}
