package zkcompat

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// znode is what was read of one: the zero znode if it is absent.
type znode struct {
	there bool
	data  string
	stat  zk.Stat
	// parent tells that it had a child after stat was read.
	parent bool
}

// What is stored is the value, byte for byte, but for two cases that ZooKeeper has no form for, and
// that the tree of a job never has. Values that begin with the mark are written in the second form.
const (
	mark       = "\x00elasticron\x00"
	markAbsent = mark + "absent"   // a node that was deleted while it had children
	markPut    = mark + "created " // a transaction (0: the one that wrote this), a zero byte, the value
)

// owner returns the session of an ephemeral znode; 0 for all others, containers among them.
func (z znode) owner() registry.SessionID { return registry.SessionID(z.stat.EphemeralOwner) }

// node returns the node that the znode at path stands for; the zero Node if it is absent or is there
// for its children alone. Of an empty znode that nobody wrote to after its creation, the latter is
// taken to be so if it ever had a child.
func (z znode) node(path string) registry.Node {
	if !z.there || z.data == markAbsent {
		return registry.Node{}
	}
	if z.data == "" && z.stat.Version == 0 && z.owner() == 0 && (z.stat.Cversion > 0 || z.parent) {
		return registry.Node{}
	}
	n := registry.Node{
		Path: path, Value: z.data, Session: z.owner(),
		Created: registry.Revision(z.stat.Czxid), Revision: registry.Revision(z.stat.Mzxid),
	}
	if rest, ok := strings.CutPrefix(z.data, markPut); ok {
		created, value, _ := strings.Cut(rest, "\x00")
		if zxid, err := strconv.ParseInt(created, 10, 64); err == nil {
			n.Value, n.Created = value, registry.Revision(zxid)
			if zxid == 0 {
				n.Created = n.Revision
			}
		}
	}
	return n
}

// dataOf returns what to store for a value. was is the znode that is there, if there is one: where the
// node's creation is not the znode's, it is stored beside the value.
func dataOf(value string, was znode) string {
	created := "0"
	if before := was.node("/"); before.Exists() {
		created = before.Created.String()
		if before.Created == registry.Revision(was.stat.Czxid) && !strings.HasPrefix(value, mark) {
			return value
		}
	} else if !was.there && !strings.HasPrefix(value, mark) {
		return value
	}
	return markPut + created + "\x00" + value
}

// classOfJob tells whether a value may be the name of a Java class, and is put where a job's znode, directly below the
// namespace, has been made for what is below it and never been written to. ElasticJob 3.x keeps the name of the job's class
// there and reads it byte for byte, so it is stored as it is, and counts as created when the znode was: nobody asks since
// when a job has its class.
func classOfJob(path, value string, was znode) bool {
	bare := was.there && was.data == "" && was.stat.Version == 0 && was.owner() == 0
	return bare && strings.LastIndexByte(path, '/') == 0 && className.MatchString(value)
}

// className is the form of the names of classes. The words for types, as SCRIPT, have it as well.
var className = regexp.MustCompile(`^[\p{L}_$][\p{L}\p{N}_$.]*$`)
