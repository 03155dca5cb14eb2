package zkcompat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// maxRequest is how large a request may be: ZooKeeper's jute.maxbuffer of 1 MiB by default, less some
// room for what stands around. The server drops the connection over a larger one, without a word.
const maxRequest = 1<<20 - 1<<12

// plan is a transaction as a multi: operations that ZooKeeper does all or none of, in their order.
type plan struct {
	s      *survey
	acl    []zk.ACL
	ops    []any
	size   int
	tells  int                           // which operation returns the revision; -1 if none does
	writes map[string]registry.WriteKind // of each znode that the transaction writes
	made   map[string]bool               // parents that are created for children
	proven map[string]bool               // znodes that are checked, or shown to be absent
}

func newPlan(s *survey) *plan {
	return &plan{
		s: s, acl: s.r.acl, tells: -1,
		writes: make(map[string]registry.WriteKind), made: make(map[string]bool), proven: make(map[string]bool),
	}
}

// plan makes the multi. Each operation names the version that was seen, or creates what was absent.
func (s *survey) plan() (*plan, error) {
	p := newPlan(s)
	for _, w := range s.txn.Then {
		p.writes[s.r.ns.znode(w.Path)] = w.Kind
	}
	if err := p.ancestors(); err != nil {
		return nil, err
	}
	for _, c := range s.txn.Guards() {
		p.prove(s.r.ns.znode(c.Path))
	}
	writes := slices.Clone(s.txn.Then)
	slices.SortStableFunc(writes, func(a, b registry.Write) int { return cmp.Compare(a.Path, b.Path) })
	for _, w := range slices.Backward(writes) { // children before their parents
		if err := p.remove(w); err != nil {
			return nil, err
		}
	}
	made := sortedKeys(p.made)
	for _, w := range writes { // parents before their children
		for len(made) > 0 && made[0] < p.s.r.ns.znode(w.Path) {
			p.create(made[0], 0)
			made = made[1:]
		}
		p.put(w)
	}
	if p.size > maxRequest {
		return nil, fmt.Errorf("%w: %d operations of %d bytes; a server takes %d bytes by default", registry.ErrTooLarge, len(p.ops), p.size, maxRequest)
	}
	return p, nil
}

// ancestors finds out which parents the writes need that are absent.
func (p *plan) ancestors() error {
	for path, kind := range p.writes {
		if !puts(kind) || p.s.found[path].there {
			continue
		}
		for parent := parentOf(path); ; parent = parentOf(parent) {
			if p.writes[parent] == registry.WritePutOwned {
				return errOwnedParent(p.s.r.ns.path(parent), p.s.r.ns.path(path))
			}
			there, fertile := p.s.parent(parent)
			if !fertile {
				return errOwnedParent(p.s.r.ns.path(parent), p.s.r.ns.path(path))
			}
			if there {
				break
			}
			if p.writes[parent] != registry.WritePut {
				p.made[parent] = true
			}
		}
	}
	return nil
}

func errOwnedParent(parent, child string) error {
	return fmt.Errorf("%w: %q belongs to a session and cannot have the child %q: ZooKeeper's ephemeral nodes have none",
		registry.ErrUnsupported, parent, child)
}

// prove adds what fails if the znode is not as it was seen, unless a write does that anyway.
func (p *plan) prove(path string) {
	if z := p.s.found[path]; z.there {
		p.check(path, z)
		return
	}
	if puts(p.writes[path]) {
		return // it will be created, and only created
	}
	p.proveAbsent(path)
}

// puts tells whether a write creates the node if it is absent.
func puts(kind registry.WriteKind) bool {
	return kind == registry.WritePut || kind == registry.WritePutOwned
}

// proveAbsent creates and deletes the topmost absent ancestor: a multi has no other way to demand that
// there is none. Nobody ever sees it.
func (p *plan) proveAbsent(path string) {
	top := p.s.topmost(path)
	if p.made[top] || p.proven[top] || puts(p.writes[top]) {
		return
	}
	if there, fertile := p.s.parent(parentOf(top)); there && !fertile {
		p.check(parentOf(top), p.s.found[parentOf(top)]) // it can have no child while it is the same
		return
	}
	p.proven[top] = true
	p.create(top, 0)
	p.delete(top, 0)
}

// remove adds the deletions of a write.
func (p *plan) remove(w registry.Write) error {
	path := p.s.r.ns.znode(w.Path)
	z := p.s.found[path]
	switch w.Kind {
	case registry.WriteDelete:
		switch {
		case !z.there:
			p.proveAbsent(path)
		case !z.node(w.Path).Exists():
			p.check(path, z)
		case z.stat.NumChildren > 0 || p.putsBelow(path):
			p.set(path, markAbsent, z.stat.Version)
		default:
			p.delete(path, z.stat.Version)
		}
	case registry.WriteDeleteTree:
		tree := p.s.trees[path]
		if len(tree) == 0 {
			p.proveAbsent(path)
			return nil
		}
		below := sortedKeys(tree)
		for _, path := range slices.Backward(below) {
			p.delete(path, -1)
		}
	case registry.WritePutOwned:
		if !z.there {
			return nil
		}
		if z.stat.NumChildren > 0 {
			return fmt.Errorf("%w: %q has children and cannot belong to a session: ZooKeeper's ephemeral nodes have none", registry.ErrUnsupported, w.Path)
		}
		p.delete(path, z.stat.Version) // it is there for children that have gone
	}
	return nil
}

// putsBelow tells whether something is put below a znode.
func (p *plan) putsBelow(path string) bool {
	for below, kind := range p.writes {
		if puts(kind) && strings.HasPrefix(below, path+"/") {
			return true
		}
	}
	return false
}

// put adds the puts of a write. What is created is created empty and then set: the answer to that tells
// the revision, and the version, 1, tells it from what a Java peer creates.
func (p *plan) put(w registry.Write) {
	path := p.s.r.ns.znode(w.Path)
	z := p.s.found[path]
	switch w.Kind {
	case registry.WritePut, registry.WriteUpdate:
		data := dataOf(w.Value, z)
		if classOfJob(w.Path, w.Value, z) {
			data = dataOf(w.Value, znode{})
		}
		if !z.there {
			p.create(path, 0)
		}
		p.set(path, data, z.stat.Version)
	case registry.WritePutOwned:
		data := dataOf(w.Value, znode{})
		p.create(path, zk.FlagEphemeral)
		p.set(path, data, 0)
	}
}

// What operations take in a request, besides their texts.
const (
	sizeOfOp     = 9 + 4 + 4
	sizeOfCreate = 9 + 4 + 4 + 4 + 4
)

// check adds that a znode is of the version that was seen, unless a write of it says so itself.
func (p *plan) check(path string, z znode) {
	switch kind := p.writes[path]; {
	case p.proven[path], puts(kind), kind == registry.WriteUpdate:
		return
	case kind == registry.WriteDelete && z.node("/").Exists():
		return
	}
	p.proven[path] = true
	p.ops = append(p.ops, &zk.CheckVersionRequest{Path: path, Version: z.stat.Version})
	p.size += sizeOfOp + len(path)
}

func (p *plan) create(path string, flags int32) {
	p.ops = append(p.ops, &zk.CreateRequest{Path: path, Data: []byte{}, Acl: p.acl, Flags: flags})
	p.size += sizeOfCreate + len(path)
	for _, a := range p.acl {
		p.size += 12 + len(a.Scheme) + len(a.ID)
	}
}

func (p *plan) delete(path string, version int32) {
	p.ops = append(p.ops, &zk.DeleteRequest{Path: path, Version: version})
	p.size += sizeOfOp + len(path)
}

func (p *plan) set(path, data string, version int32) {
	p.tells = len(p.ops)
	p.ops = append(p.ops, &zk.SetDataRequest{Path: path, Data: []byte(data), Version: version})
	p.size += sizeOfOp + 4 + len(path) + len(data)
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
