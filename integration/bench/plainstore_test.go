package bench_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

// plainStore is the server as etcd's own client sees it: what can be had at most.
type plainStore struct {
	b      *testing.B
	client *clientv3.Client
	prefix string
	value  string
}

func newPlainStore(b *testing.B, endpoints []string) *plainStore {
	b.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, client.Close()) })
	return &plainStore{b: b, client: client, prefix: newNamespace(), value: fmt.Sprintf("%0100d", 0)}
}

// twoPuts is a transaction with one condition and two puts.
func (s *plainStore) twoPuts(number int) (clientv3.Cmp, []clientv3.Op) {
	key := fmt.Sprintf("%s/%d", s.prefix, number)
	return clientv3.Compare(clientv3.Version(key+"/disabled"), "=", 0),
		[]clientv3.Op{clientv3.OpPut(key+"/a", s.value), clientv3.OpPut(key+"/b", s.value)}
}

// txn takes the time of one transaction.
func (s *plainStore) txn() time.Duration {
	s.b.Helper()
	condition, puts := s.twoPuts(0)
	began := time.Now()
	_, err := s.client.Txn(s.b.Context()).If(condition).Then(puts...).Commit()
	took := time.Since(began)
	require.NoError(s.b, err)
	return took
}

// burst takes the time of many transactions, 60 in each request, and four requests at a time.
func (s *plainStore) burst(txns int) time.Duration {
	s.b.Helper()
	const together, flying = 60, 4
	var next atomic.Int64
	var senders errgroup.Group
	began := time.Now()
	for range flying {
		senders.Go(func() error {
			for {
				to := int(next.Add(together))
				nested := make([]clientv3.Op, 0, together)
				for n := to - together; n < min(to, txns); n++ {
					condition, puts := s.twoPuts(n)
					nested = append(nested, clientv3.OpTxn([]clientv3.Cmp{condition}, puts, nil))
				}
				if len(nested) == 0 {
					return nil
				}
				if _, err := s.client.Txn(s.b.Context()).Then(nested...).Commit(); err != nil {
					return err
				}
			}
		})
	}
	require.NoError(s.b, senders.Wait())
	return time.Since(began)
}
