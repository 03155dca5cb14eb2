package overload_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sync/errgroup"
)

// plainTransactions is etcd alone under a cluster's load: items with as many nodes, of about the same lengths, and for each
// execution one transaction that begins it and one that ends it.
type plainTransactions struct {
	tb     testing.TB
	client *clientv3.Client
	items  int // that there are
}

// rest are the nodes of an item that executions only look at, or leave alone.
var rest = []string{"", "/instance", "/itemParameter", "/offset"}

func (p *plainTransactions) path(item int, node string) string {
	return fmt.Sprintf("/plain/job-%d/sharding/%d%s", item/itemsPerJob, item%itemsPerJob, node)
}

// grow adds items until there are so many.
func (p *plainTransactions) grow(items int) {
	p.tb.Helper()
	added := items - p.items
	p.together(func(n int) (int, bool) { return p.items + n, n < added }, func(item int) clientv3.Op {
		puts := []clientv3.Op{clientv3.OpPut(p.path(item, "/record"), strings.Repeat("r", 650))}
		for _, node := range rest {
			puts = append(puts, clientv3.OpPut(p.path(item, node), "10.0.0.1@-@overload"))
		}
		return clientv3.OpTxn(nil, puts, nil)
	})
	p.items = items
}

// run begins and ends executions of all items in turn, for so long, and returns how many.
func (p *plainTransactions) run(span time.Duration) int {
	p.tb.Helper()
	until := time.Now().Add(span)
	return p.together(func(n int) (int, bool) { return n % p.items, time.Now().Before(until) },
		func(item int) clientv3.Op {
			mine := clientv3.Compare(clientv3.CreateRevision(p.path(item, "/instance")), ">", 0)
			free := clientv3.Compare(clientv3.CreateRevision(p.path(item, "/running")), "=", 0)
			return clientv3.OpTxn([]clientv3.Cmp{mine, free}, []clientv3.Op{
				clientv3.OpPut(p.path(item, "/running"), "10.0.0.1@-@overload"),
				clientv3.OpPut(p.path(item, "/record"), strings.Repeat("b", 650)),
			}, nil)
		},
		func(item int) clientv3.Op {
			running := clientv3.Compare(clientv3.CreateRevision(p.path(item, "/running")), ">", 0)
			return clientv3.OpTxn([]clientv3.Cmp{running}, []clientv3.Op{
				clientv3.OpDelete(p.path(item, "/running")),
				clientv3.OpPut(p.path(item, "/record"), strings.Repeat("e", 650)),
			}, nil)
		},
	)
}

// together has each step done for the items that next names, of many items in one request, four requests at a time as a
// scheduler sends them, and returns for how many. The steps of one item follow each other.
func (p *plainTransactions) together(next func(n int) (item int, more bool), steps ...func(item int) clientv3.Op) int {
	p.tb.Helper()
	const perRequest, flying = 60, 4
	var taken, done atomic.Int64
	senders, ctx := errgroup.WithContext(context.WithoutCancel(p.tb.Context()))
	for range flying {
		senders.Go(func() error {
			for {
				var items []int
				to := int(taken.Add(perRequest))
				for n := to - perRequest; n < to; n++ {
					if item, more := next(n); more {
						items = append(items, item)
					}
				}
				if len(items) == 0 {
					return nil
				}
				for _, step := range steps {
					ops := make([]clientv3.Op, len(items))
					for i, item := range items {
						ops[i] = step(item)
					}
					answer, err := p.client.Txn(ctx).Then(ops...).Commit()
					if err != nil {
						return err
					}
					for i, each := range answer.Responses {
						if !each.GetResponseTxn().Succeeded {
							return fmt.Errorf("a condition of item %d is false", items[i])
						}
					}
				}
				done.Add(int64(len(items)))
			}
		})
	}
	require.NoError(p.tb, senders.Wait())
	return int(done.Load())
}

// What etcd alone takes of the processors for one execution when its tree grows as in [BenchmarkOverload] on a machine that
// runs 16,000 a second: what of that benchmark's loss no scheduler could save. It takes a minute, so -short leaves it out.
func BenchmarkPlainStore(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes a minute")
	}
	const capacity = 16_000
	costs := make([]time.Duration, len(multiples))
	for b.Loop() {
		c := &cluster{tb: b}
		client, err := clientv3.New(clientv3.Config{Endpoints: c.startStore(shape{members: 1})})
		require.NoError(b, err)
		p := &plainTransactions{tb: b, client: client}
		for i, multiple := range multiples {
			p.grow(int(multiple * capacity))
			before := c.storeCPU()
			ran := p.run(*span)
			costs[i] = (c.storeCPU() - before) / time.Duration(ran)
			b.Logf("%d items: an execution took %s of the store", p.items, costs[i].Round(time.Microsecond/10))
		}
		require.NoError(b, client.Close())
		c.end()
	}
	b.ReportMetric(0, "ns/op")
	for i, multiple := range multiples {
		b.ReportMetric(float64(costs[i].Nanoseconds())/1e3, fmt.Sprintf("at-%gx-us", multiple))
	}
	b.ReportMetric(float64(costs[len(costs)-1])/float64(costs[1]), "at-10x-to-1x")
}
