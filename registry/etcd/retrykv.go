package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// retryingKV is what an election writes through. Its transactions, all of which may be done twice,
// are repeated until the store answers, also when the one who waits for the latch has left: otherwise
// nobody would know whether a candidate stands in the line.
type retryingKV struct {
	clientv3.KV
	r         *Registry
	uncertain func(key string) // is called for a put that may be done once more, whenever it was answered
}

// Get is repeated until it is answered or its context ends.
func (kv retryingKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	resp, err := kv.r.do(ctx, clientv3.OpGet(key, opts...))
	if err != nil {
		return nil, err
	}
	return resp.Get(), nil
}

// Txn begins a transaction that goes on even when ctx ends.
func (kv retryingKV) Txn(context.Context) clientv3.Txn { return &retryingTxn{kv: kv} }

type retryingTxn struct {
	kv        retryingKV
	compares  []clientv3.Cmp
	then, els []clientv3.Op
}

// If adds conditions.
func (t *retryingTxn) If(cs ...clientv3.Cmp) clientv3.Txn {
	t.compares = append(t.compares, cs...)
	return t
}

// Then adds what is done if all conditions hold.
func (t *retryingTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.then = append(t.then, ops...)
	return t
}

// Else adds what is done otherwise.
func (t *retryingTxn) Else(ops ...clientv3.Op) clientv3.Txn {
	t.els = append(t.els, ops...)
	return t
}

// Commit repeats the transaction until it is answered or the handle ends.
func (t *retryingTxn) Commit() (*clientv3.TxnResponse, error) {
	var sent sentMarker
	resp, err := t.kv.r.doNoting(sent.attach(context.Background()), clientv3.OpTxn(t.compares, t.then, t.els), func() {
		if sent.mayHaveBeenSent(t.kv.r) {
			t.noteUncertain()
		}
	})
	if err != nil {
		return nil, err
	}
	return resp.Txn(), nil
}

// noteUncertain tells what may be put once more later. What the transaction deletes, it deletes at a revision.
func (t *retryingTxn) noteUncertain() {
	for _, op := range t.then {
		if op.IsPut() {
			t.kv.uncertain(string(op.KeyBytes()))
		}
	}
}

var _ clientv3.KV = retryingKV{}
