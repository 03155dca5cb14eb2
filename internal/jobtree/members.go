package jobtree

import (
	"fmt"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
)

// Instance is a live instance of the job. The zero Instance is one that is not there.
type Instance struct {
	ID        string
	Session   registry.SessionID
	Created   registry.Revision // when it joined; a process that joined anew has a new one
	Revision  registry.Revision
	Triggered bool              // it is asked to run its items now
	Request   registry.Revision // identifies the request to run its items; 0 = there is none
	Shutdown  bool              // it is asked to leave the job, or leaves it anyway
	Layout    Layout            // in which its node is written
}

// Server is an operator's intent for a server. The zero Server is one that is not there, and enabled.
type Server struct {
	IP       string
	Disabled bool
	Unset    bool // the node is there and says nothing, where that means something else than enabled
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
	i := Instance{
		ID: id, Session: n.Session, Created: n.Created, Revision: n.Revision,
		Triggered: n.Value == InstanceTriggered, Shutdown: n.Value == InstanceShutdown,
	}
	if i.Triggered {
		i.Request = n.Revision
	}
	return i
}

func serverOf(ip string, n registry.Node) Server {
	return Server{IP: ip, Disabled: n.Value == serverDisabled, Revision: n.Revision}
}

func leaderOf(n registry.Node) Leader {
	return Leader{Instance: n.Value, Session: n.Session, Created: n.Created, Revision: n.Revision}
}

func compareInstance(i Instance, id string) int { return strings.Compare(i.ID, id) }

func compareServer(s Server, ip string) int { return strings.Compare(s.IP, ip) }

// serverDisabled is the value of a server node that excludes the server's instances from the job.
// Like Java, we take every other value, and a node that is not there, for enabled.
const serverDisabled = "DISABLED"

// EncodeServer returns the text of a server node.
func EncodeServer(disabled bool) string {
	if disabled {
		return serverDisabled
	}
	return ""
}

// DecodeServer reads a server node strictly: its value is empty or DISABLED. [State] reads it as
// Java does, where every other value means enabled.
func DecodeServer(n registry.Node) (disabled bool, err error) {
	switch n.Value {
	case "":
		return false, nil
	case serverDisabled:
		return true, nil
	default:
		return false, &ValueError{Path: n.Path, Value: n.Value, Reason: `must be empty or "DISABLED"`}
	}
}

// InstanceID identifies an instance: a process that takes part in a job. As text it is
// "<ip>@-@<process>", and it is compared as a whole: "10.0.0.1" is no beginning of "10.0.0.12@-@7".
type InstanceID struct {
	IP      string // of the server; by it an operator disables all instances of a host
	Process string // anything that sets the processes of a server apart
}

const instanceSeparator = "@-@"

// String returns "<ip>@-@<process>".
func (id InstanceID) String() string { return id.IP + instanceSeparator + id.Process }

// ParseInstanceID reads an instance id and checks it: one "@-@" with text on both sides, valid UTF-8,
// without "/" and control characters. The error says which rule was broken.
func ParseInstanceID(text string) (InstanceID, error) {
	ip, process, found := strings.Cut(text, instanceSeparator)
	switch {
	case !found || ip == "" || process == "":
		return InstanceID{}, instanceError(text, "must be of the form <ip>@-@<process>")
	case strings.LastIndex(text, instanceSeparator) != len(ip):
		return InstanceID{}, instanceError(text, `must contain "@-@" only once`)
	case !utf8.ValidString(text):
		return InstanceID{}, instanceError(text, "must be valid UTF-8")
	case strings.Contains(text, "/") || strings.ContainsFunc(text, unicode.IsControl):
		return InstanceID{}, instanceError(text, `must contain neither "/" nor control characters`)
	}
	return InstanceID{IP: ip, Process: process}, nil
}

// JavaInstance tells whether an instance id is one that Java instances of Elastic-Job-Lite give themselves:
// an IPv4 address, or "null" where the host has none, and the number of the process. Instances of this
// library that share a job with Java have ids of another form, which tells the two apart.
func JavaInstance(id string) bool {
	ip, process, found := strings.Cut(id, instanceSeparator)
	if !found || process == "" || strings.ContainsFunc(process, func(c rune) bool { return c < '0' || c > '9' }) {
		return false
	}
	address, err := netip.ParseAddr(ip)
	return ip == "null" || err == nil && address.Is4()
}

func instanceError(text, rule string) error {
	return fmt.Errorf("instance id %q %s", texts.Shorten(text), rule)
}

// ServerOf returns the IP part of an instance id, which is all of it if there is no "@-@".
func ServerOf(instance string) string {
	ip, _, _ := strings.Cut(instance, instanceSeparator)
	return ip
}

// The values of an instance node. Java knows the first two.
const (
	InstanceIdle      = ""         // nothing is asked of the instance
	InstanceTriggered = "TRIGGER"  // it is to run its items now, and to set the value back
	InstanceShutdown  = "SHUTDOWN" // it is to end what it runs, to leave the job and to delete its node
)
