package etcd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticron/elasticron/registry"
)

// encoded is a transaction in etcd's terms: if all compares hold, do what Success says, otherwise read what they
// looked at, so that a refusal is explained by the same answer. It is a message and not an Op of etcd's client:
// making one of the other copies each compare three times, which took a tenth of a busy process's time.
type encoded struct {
	*pb.TxnRequest
	lookedAt   []string // paths that Failure reads; as a rule they are few
	keyedBytes int      // of keys and values, about
}

// encode translates a transaction. One that is repeated after a try without an answer also reads
// what it would have deleted, so that its outcome can be settled.
func (n namespace) encode(txn registry.Txn, repeated bool) *encoded {
	e := &encoded{TxnRequest: new(pb.TxnRequest)}
	for _, c := range txn.Guards() {
		e.Compare = append(e.Compare, n.compare(c))
		e.look(n, c.Path)
	}
	for _, w := range txn.Then {
		e.write(n, w)
		if repeated {
			e.lookAtDeleted(n, w)
		}
	}
	e.readLookedAt(n)
	return e
}

func (n namespace) compare(c registry.Condition) *pb.Compare {
	key := n.key(c.Path)
	switch c.Kind {
	case registry.CondPresent:
		return compareCreation(key, pb.Compare_GREATER, 0)
	case registry.CondUnchanged:
		return &pb.Compare{
			Key: []byte(key), Target: pb.Compare_MOD, Result: pb.Compare_EQUAL,
			TargetUnion: &pb.Compare_ModRevision{ModRevision: int64(c.Revision)},
		}
	case registry.CondCreatedAt:
		return compareCreation(key, pb.Compare_EQUAL, int64(c.Revision))
	case registry.CondNotOwnedBy: // etcd compares an absent key as one without a lease
		return compareLease(key, pb.Compare_NOT_EQUAL, int64(c.Session))
	default: // registry.CondAbsent; Txn.Check let no other pass
		return compareCreation(key, pb.Compare_EQUAL, 0)
	}
}

func compareCreation(key string, result pb.Compare_CompareResult, revision int64) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_CREATE, Result: result,
		TargetUnion: &pb.Compare_CreateRevision{CreateRevision: revision},
	}
}

func compareLease(key string, result pb.Compare_CompareResult, lease int64) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_LEASE, Result: result, TargetUnion: &pb.Compare_Lease{Lease: lease},
	}
}

func (e *encoded) write(n namespace, w registry.Write) {
	key := n.key(w.Path)
	e.keyedBytes += len(key) + len(w.Value)
	switch w.Kind {
	case registry.WritePut:
		// A put without a lease would detach the key from its session and outlive it.
		e.Compare = append(e.Compare, compareLease(key, pb.Compare_EQUAL, 0))
		e.look(n, w.Path)
		e.put(&pb.PutRequest{Key: []byte(key), Value: []byte(w.Value)})
	case registry.WritePutOwned:
		e.put(&pb.PutRequest{Key: []byte(key), Value: []byte(w.Value), Lease: int64(w.Session.ID())})
	case registry.WriteUpdate:
		e.put(&pb.PutRequest{Key: []byte(key), Value: []byte(w.Value), IgnoreLease: true})
	case registry.WriteDelete:
		e.remove(&pb.DeleteRangeRequest{Key: []byte(key)})
	case registry.WriteDeleteTree:
		start, end := n.below(w.Path)
		e.remove(&pb.DeleteRangeRequest{Key: []byte(key)})
		e.remove(&pb.DeleteRangeRequest{Key: []byte(start), RangeEnd: []byte(end)})
	}
}

func (e *encoded) put(r *pb.PutRequest) {
	e.Success = append(e.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: r}})
}

func (e *encoded) remove(r *pb.DeleteRangeRequest) {
	e.Success = append(e.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}})
}

func (e *encoded) lookAtDeleted(n namespace, w registry.Write) {
	switch w.Kind {
	case registry.WriteDelete:
		e.look(n, w.Path)
	case registry.WriteDeleteTree:
		e.look(n, w.Path)
		start, end := n.below(w.Path)
		e.read(&pb.RangeRequest{Key: []byte(start), RangeEnd: []byte(end), Limit: 1, KeysOnly: true})
	}
}

func (e *encoded) look(n namespace, path string) {
	e.keyedBytes += len(n) + len(path)
	if !slices.Contains(e.lookedAt, path) {
		e.lookedAt = append(e.lookedAt, path)
	}
}

// siblingsFrom is how deep nodes lie between which there is little, such as those of an item: /job/sharding/0/record.
const siblingsFrom = 3

// readLookedAt has the nodes read that were looked at. Siblings, such as those of one item, are one range, with
// whatever lies between them: each operation of a request costs each member of the store, and only a refusal
// carries these out. Higher up a whole subtree may lie between two nodes, so those are read one by one.
func (e *encoded) readLookedAt(n namespace) {
	slices.SortFunc(e.lookedAt, func(a, b string) int { return cmp.Or(strings.Compare(parent(a), parent(b)), strings.Compare(a, b)) })
	for rest := e.lookedAt; len(rest) > 0; {
		siblings := rest
		if end := slices.IndexFunc(rest, func(p string) bool { return parent(p) != parent(rest[0]) }); end > 0 {
			siblings = rest[:end]
		}
		rest = rest[len(siblings):]
		first, last := siblings[0], siblings[len(siblings)-1]
		if first != last && strings.Count(parent(first), "/") >= siblingsFrom {
			e.read(&pb.RangeRequest{Key: []byte(n.key(first)), RangeEnd: []byte(n.key(last) + "\x00")})
			continue
		}
		for _, path := range siblings {
			e.read(&pb.RangeRequest{Key: []byte(n.key(path))})
		}
	}
}

// parent returns the path above one; empty for one right below the root.
func parent(path string) string { return path[:strings.LastIndexByte(path, '/')] }

func (e *encoded) read(r *pb.RangeRequest) {
	e.Failure = append(e.Failure, &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: r}})
}

// size is what etcd counts against its limit of operations: the longest of the three lists.
func (e *encoded) size() int { return max(len(e.Compare), len(e.Success), len(e.Failure)) }

// weight is about how much the store has to do.
func (e *encoded) weight() int { return len(e.Compare) + len(e.Success) }

// conflict explains why the transaction was refused at revision: by the first condition that did not
// hold, or else by a plain put on a node that a session owns. found are the nodes that the refusal
// showed.
func (n namespace) conflict(txn registry.Txn, resp *pb.TxnResponse, revision registry.Revision) (found []registry.Node, refusal error) {
	at := make(map[string]registry.Node)
	for _, part := range resp.Responses {
		for _, node := range n.nodes(part.GetResponseRange().GetKvs()) {
			found = append(found, node)
			at[node.Path] = node
		}
	}
	for _, c := range txn.Guards() {
		if !c.Holds(at[c.Path]) {
			return found, &registry.ConflictError{Condition: c, Found: at[c.Path], Revision: revision}
		}
	}
	for _, w := range txn.Then {
		if node := at[w.Path]; w.Kind == registry.WritePut && node.Ephemeral() {
			return found, fmt.Errorf("%w: put of %s", registry.ErrOwned, node)
		}
	}
	return found, fmt.Errorf("etcd refused at revision %d what the nodes that it showed allow: %v", revision, found)
}
