package etcd

import (
	"context"
	"errors"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// insistentKV is what an election writes through. Its transactions, all of which may be done twice,
// are repeated until the store answers, also when the one who waits for the latch has left: otherwise
// nobody would know whether a candidate stands in the line.
type insistentKV struct {
	clientv3.KV
	r     *Registry
	doubt func(key string) // is told of a put that may be done once more, whenever it was answered
}

// Get is repeated until it is answered or its context ends.
func (kv insistentKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	resp, err := kv.r.do(ctx, clientv3.OpGet(key, opts...))
	if err != nil {
		return nil, err
	}
	return resp.Get(), nil
}

// Txn begins a transaction that goes on whatever becomes of ctx.
func (kv insistentKV) Txn(context.Context) clientv3.Txn { return &insistentTxn{kv: kv} }

type insistentTxn struct {
	kv        insistentKV
	compares  []clientv3.Cmp
	then, els []clientv3.Op
}

// If adds conditions.
func (t *insistentTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	t.compares = append(t.compares, cs...)
	return t
}

// Then adds what is done if all conditions hold.
func (t *insistentTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}

// Else adds what is done otherwise.
func (t *insistentTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.els = append(t.els, ops...)
	return t
}

// Commit repeats the transaction until it is answered or the handle ends.
func (t *insistentTxn) Commit() (*clientv3.TxnResponse, error) {
	var sent sentMark
	resp, err := t.kv.r.tryToDo(sent.attach(context.Background()), clientv3.OpTxn(t.compares, t.then, t.els), func() {
		if sent.maybe(t.kv.r) {
			t.noteDoubt()
		}
	})
	if err != nil {
		return nil, err
	}
	return resp.Txn(), nil
}

// noteDoubt tells what may be put once more later. What the transaction deletes, it deletes at a revision.
func (t *insistentTxn) noteDoubt() {
	for _, op := range t.then {
		if op.IsPut() {
			t.kv.doubt(string(op.KeyBytes()))
		}
	}
}

// keptLease stands in for etcd's keep-alive of a lease that the keeper keeps alive: one keep-alive
// is enough, and nobody but the keeper may revoke it.
type keptLease struct{ clientv3.Lease }

// KeepAlive returns a channel that brings nothing and is closed when ctx ends.
func (keptLease) KeepAlive(ctx context.Context, _ clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	silent := make(chan *clientv3.LeaseKeepAliveResponse)
	context.AfterFunc(ctx, func() { close(silent) })
	return silent, nil
}

var errNotOurs = errors.New("the lease belongs to the registry's session")

// Revoke refuses.
func (keptLease) Revoke(context.Context, clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return nil, errNotOurs
}

var _ clientv3.KV = insistentKV{}

var _ registry.Latcher = (*Registry)(nil)
