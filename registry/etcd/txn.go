package etcd

import (
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticron/elasticron/registry"
)

// encoder makes one request of commits. It makes the message itself and not by the Ops of etcd's client: those copy
// each compare three times. What a message consists of it takes from a few slices, since a request of a hundred
// begins has some five thousand parts, which all go together.
type encoder struct {
	n        namespace
	text     slab[byte]
	txns     slab[pb.TxnRequest]
	compares slab[pb.Compare]
	listed   slab[*pb.Compare]
	creates  slab[pb.Compare_CreateRevision]
	mods     slab[pb.Compare_ModRevision]
	leases   slab[pb.Compare_Lease]
	ops      slab[pb.RequestOp]
	opsOf    slab[*pb.RequestOp]
	nested   slab[pb.RequestOp_RequestTxn]
	puts     slab[pb.PutRequest]
	putOps   slab[pb.RequestOp_RequestPut]
	ranges   slab[pb.DeleteRangeRequest]
	rangeOps slab[pb.RequestOp_RequestDeleteRange]
}

// encode makes the request of groups: of one commit its transaction as it is, of more the nested ones of a transaction
// without conditions.
func (n namespace) encode(groups []group) *pb.TxnRequest {
	e := &encoder{n: n}
	e.reserve(groups)
	return e.request(groups)
}

func (e *encoder) request(groups []group) *pb.TxnRequest {
	if len(groups) == 1 && len(groups[0].commits) == 1 {
		return e.commit(groups[0].commits[0], nil)
	}
	all := e.txns.one()
	all.Success = e.opsOf.take(len(groups))
	for i, g := range groups {
		all.Success[i] = e.nest(e.group(g))
	}
	return all
}

// reserve makes room for the most frequent parts of a request: exactly as much as they take, unless the request names
// something twice or deletes trees. These parts are so much of what a process allocates that spare room cost noticeably.
func (e *encoder) reserve(groups []group) {
	var text, txns, compares, ops, puts, deletes int
	if len(groups) > 1 || len(groups[0].commits) > 1 { // the whole, and a part for each group
		txns, ops = 1, len(groups)
	}
	for _, g := range groups {
		if len(g.commits) > 1 {
			txns, ops = txns+1, ops+len(g.commits)
		}
		txns += len(g.commits)
		compares += len(g.shared)
		for _, s := range g.shared {
			text += len(e.n) + len(s.Path)
		}
		for _, c := range g.commits {
			compares += c.compares - len(g.shared)
			ops += c.writes
			for _, s := range c.guards {
				text += len(e.n) + len(s.Path)
			}
			for _, s := range g.shared {
				text -= len(e.n) + len(s.Path)
			}
			for _, w := range c.txn.Then {
				text += len(e.n) + len(w.Path) + len(w.Value)
				if w.Kind != registry.WriteDelete && w.Kind != registry.WriteDeleteTree {
					puts++
				} else {
					deletes++
				}
			}
		}
	}
	e.text.reserve(text)
	e.txns.reserve(txns)
	e.compares.reserve(compares)
	e.listed.reserve(compares)
	e.ops.reserve(ops)
	e.opsOf.reserve(ops)
	e.puts.reserve(puts)
	e.putOps.reserve(puts)
	e.ranges.reserve(deletes)
	e.rangeOps.reserve(deletes)
}

func (e *encoder) group(g group) *pb.TxnRequest {
	if len(g.commits) == 1 {
		return e.commit(g.commits[0], nil)
	}
	txn := e.txns.one()
	txn.Compare = e.listed.take(len(g.shared))
	for i, s := range g.shared {
		txn.Compare[i] = e.compare(s)
	}
	txn.Success = e.opsOf.take(len(g.commits))
	for i, c := range g.commits {
		txn.Success[i] = e.nest(e.commit(c, g.shared))
	}
	return txn
}

// commit translates a transaction, less the conditions that are judged elsewhere: if all compares hold, do what
// Success says, otherwise what Failure says, which is nothing unless the commit explains itself.
func (e *encoder) commit(c *commit, elsewhere []registry.Condition) *pb.TxnRequest {
	txn := e.txns.one()
	txn.Compare = e.listed.take(c.compares - len(elsewhere))[:0]
	for _, g := range c.guards {
		if !slices.Contains(elsewhere, g) {
			txn.Compare = append(txn.Compare, e.compare(g))
		}
	}
	txn.Success = e.opsOf.take(c.writes)[:0]
	for _, w := range c.txn.Then {
		e.write(txn, w)
	}
	if c.explains {
		txn.Failure = e.n.reads(c.lookedAt(), 0)
		for _, w := range c.txn.Then {
			if c.mayBeDone && w.Kind == registry.WriteDeleteTree {
				txn.Failure = append(txn.Failure, e.n.readAnyBelow(w.Path))
			}
		}
	}
	return txn
}

func (e *encoder) compare(c registry.Condition) *pb.Compare {
	key := e.key(c.Path)
	switch c.Kind {
	case registry.CondPresent:
		return e.compareCreation(key, pb.Compare_GREATER, 0)
	case registry.CondUnchanged:
		compared, mod := e.compares.one(), e.mods.one()
		mod.ModRevision = int64(c.Revision)
		compared.Key, compared.Target, compared.Result, compared.TargetUnion = key, pb.Compare_MOD, pb.Compare_EQUAL, mod
		return compared
	case registry.CondCreatedAt:
		return e.compareCreation(key, pb.Compare_EQUAL, int64(c.Revision))
	case registry.CondNotOwnedBy: // etcd compares an absent key as one without a lease
		return e.compareLease(key, pb.Compare_NOT_EQUAL, int64(c.Session))
	default: // registry.CondAbsent; Txn.Check let no other pass
		return e.compareCreation(key, pb.Compare_EQUAL, 0)
	}
}

func (e *encoder) compareCreation(key []byte, result pb.Compare_CompareResult, revision int64) *pb.Compare {
	compared, creation := e.compares.one(), e.creates.one()
	creation.CreateRevision = revision
	compared.Key, compared.Target, compared.Result, compared.TargetUnion = key, pb.Compare_CREATE, result, creation
	return compared
}

func (e *encoder) compareLease(key []byte, result pb.Compare_CompareResult, id int64) *pb.Compare {
	compared, lease := e.compares.one(), e.leases.one()
	lease.Lease = id
	compared.Key, compared.Target, compared.Result, compared.TargetUnion = key, pb.Compare_LEASE, result, lease
	return compared
}

func (e *encoder) write(txn *pb.TxnRequest, w registry.Write) {
	key := e.key(w.Path)
	switch w.Kind {
	case registry.WritePut:
		if !w.Unasked { // a put without a lease would detach the key from its session and outlive it
			txn.Compare = append(txn.Compare, e.compareLease(key, pb.Compare_EQUAL, 0))
		}
		e.put(txn, key, w)
	case registry.WritePutOwned:
		e.put(txn, key, w).Lease = int64(w.Session.ID())
	case registry.WriteUpdate:
		e.put(txn, key, w).IgnoreLease = true
	case registry.WriteDelete:
		e.remove(txn, key, nil)
	case registry.WriteDeleteTree:
		start, end := e.n.below(w.Path)
		e.remove(txn, key, nil)
		e.remove(txn, []byte(start), []byte(end))
	}
}

func (e *encoder) put(txn *pb.TxnRequest, key []byte, w registry.Write) *pb.PutRequest {
	put, is, op := e.puts.one(), e.putOps.one(), e.ops.one()
	put.Key, put.Value = key, e.bytes(w.Value)
	is.RequestPut, op.Request = put, is
	txn.Success = append(txn.Success, op)
	return put
}

func (e *encoder) remove(txn *pb.TxnRequest, key, end []byte) {
	removed, is, op := e.ranges.one(), e.rangeOps.one(), e.ops.one()
	removed.Key, removed.RangeEnd = key, end
	is.RequestDeleteRange, op.Request = removed, is
	txn.Success = append(txn.Success, op)
}

func (e *encoder) nest(txn *pb.TxnRequest) *pb.RequestOp {
	op, is := e.ops.one(), e.nested.one()
	is.RequestTxn, op.Request = txn, is
	return op
}

func (e *encoder) key(path string) []byte {
	key := e.text.take(len(e.n) + len(path))
	copy(key[copy(key, e.n):], path)
	return key
}

func (e *encoder) bytes(s string) []byte {
	b := e.text.take(len(s))
	copy(b, s)
	return b
}
