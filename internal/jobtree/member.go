package jobtree

import (
	"slices"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// Instance is a live instance of the job. The zero Instance is one that is not there.
type Instance struct {
	ID        string
	Session   registry.SessionID
	Created   registry.Revision // when it joined; a process that joined anew has a new one
	Revision  registry.Revision
	Triggered bool // it is asked to run its items now; Revision then identifies the request
}

// Server is an operator's intent for a server. The zero Server is one that is not there, and enabled.
type Server struct {
	IP       string
	Disabled bool
	Revision registry.Revision
}

// Leader is the leading instance. The zero Leader is none.
type Leader struct {
	Instance string
	Session  registry.SessionID
	Created  registry.Revision // the leader's term
	Revision registry.Revision
}

func instanceOf(id string, n registry.Node) Instance {
	return Instance{
		ID: id, Session: n.Session, Created: n.Created, Revision: n.Revision,
		Triggered: n.Value == InstanceTriggered,
	}
}

func serverOf(ip string, n registry.Node) Server {
	return Server{IP: ip, Disabled: n.Value == serverDisabled, Revision: n.Revision}
}

func leaderOf(n registry.Node) Leader {
	return Leader{Instance: n.Value, Session: n.Session, Created: n.Created, Revision: n.Revision}
}

func compareInstance(i Instance, id string) int { return strings.Compare(i.ID, id) }

func compareServer(s Server, ip string) int { return strings.Compare(s.IP, ip) }

// find returns what a list in the order of compare has for key; the zero T if nothing.
func find[T any](list []T, key string, compare func(T, string) int) (found T) {
	if i, ok := slices.BinarySearchFunc(list, key, compare); ok {
		found = list[i]
	}
	return found
}

// replace returns the list with value in the place of key, or without that place if !exists. Lists
// rather than maps, as most have few elements and there are very many lists.
func replace[T any](list []T, key string, compare func(T, string) int, value T, exists bool) []T {
	i, found := slices.BinarySearchFunc(list, key, compare)
	switch {
	case found && exists:
		list[i] = value
	case exists:
		list = slices.Insert(withRoom(list), i, value)
	case found:
		list = slices.Delete(list, i, i+1)
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// withRoom returns the list with room for one more, growing tightly: a list of three has to stay one.
func withRoom[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]T, 0, len(list)+1+len(list)/4), list...)
}
