package bench_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// What comes between a trigger and the code of its last item: from the moment at which the operator sends the
// transaction, and from that at which he has the answer. In between the processes see the trigger and begin,
// which is one transaction more.
func BenchmarkTrigger(b *testing.B) {
	for _, items := range []int{1, 100} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) { benchTrigger(b, items) })
	}
}

func benchTrigger(b *testing.B, items int) {
	const perOp, warmUp = 10, 3
	namespace := newNamespace()
	ran := make(chan time.Time, items)
	p := newProcess(b, openEtcd(b, namespace))
	p.add(yearly("orders", items), func(context.Context, job.ShardingContext) error {
		ran <- time.Now()
		return nil
	})
	p.start()
	desk := &clocked{Registry: openEtcd(b, namespace)}
	defer func() { require.NoError(b, desk.Close(context.Background())) }()
	op, err := operate.New(desk, operate.By("anna", "bench"))
	require.NoError(b, err)
	plain := newPlainStore(b, store.endpoints(b))
	trigger := func() (last time.Time) {
		_, err := op.Trigger(b.Context(), "orders", operate.Trigger{}, operate.Options{Wait: true}) // so that none is pending
		require.NoError(b, err)
		for range items {
			if at := receive(b, ran); at.After(last) {
				last = at
			}
		}
		return last
	}
	for range warmUp {
		trigger()
	}
	var sent, answered, txns sample
	for b.Loop() {
		for range perOp {
			last := trigger()
			sent.add(last.Sub(desk.sent))
			answered.add(last.Sub(desk.answered))
			txns.add(plain.txn())
		}
	}
	hideTime(b)
	reportMS(b, txns.median(), "plain-txn")
	reportMS(b, sent.median(), "sent-to-code")
	reportRatio(b, sent.median(), txns.median(), "sent-to-code")
	reportMS(b, answered.median(), "answered-to-code")
	reportRatio(b, answered.median(), txns.median(), "answered-to-code")
	p.stop()
}

// clocked is a registry that notes when the last commit was sent and answered.
type clocked struct {
	registry.Registry
	sent, answered time.Time
}

// Commit implements [registry.Committer].
func (c *clocked) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	c.sent = time.Now()
	revision, err := c.Registry.Commit(ctx, txn)
	c.answered = time.Now()
	return revision, err
}

// What it takes to list all jobs of a namespace: to read them over the network, in one request, and to make a row of
// each.
func BenchmarkListNamespace(b *testing.B) {
	jobs := 1_000
	if *large {
		jobs = 10_000
	}
	b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
		reg := openEtcd(b, newNamespace())
		defer func() { require.NoError(b, reg.Close(context.Background())) }()
		fill(b, reg, jobs)
		var read, all sample
		for b.Loop() {
			began := time.Now()
			nodes, revision, err := reg.List(b.Context(), registry.Root)
			require.NoError(b, err)
			read.add(time.Since(began))
			require.Len(b, operate.NewNamespace(nodes, revision, time.Now(), false).Jobs(), jobs)
			all.add(time.Since(began))
		}
		hideTime(b)
		reportMS(b, read.median(), "read")
		reportMS(b, all.median(), "read-to-rows")
	})
}

// fill stores jobs of two items each, which two instances share and have run.
func fill(b *testing.B, reg registry.Registry, jobs int) {
	b.Helper()
	session, err := reg.Session(b.Context())
	require.NoError(b, err)
	at := time.Now().Truncate(time.Minute)
	record, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: fullID("a"), Session: session.ID(), Source: job.Scheduled, Fire: at, Round: "r", Time: at})
	require.NoError(b, err)
	record, err = record.End(jobtree.End{Token: 41, Time: at.Add(time.Second), Outcome: jobtree.Success})
	require.NoError(b, err)
	txns := make([]registry.Txn, jobs)
	for i := range txns {
		cfg := job.Config{Name: fmt.Sprintf("job-%05d", i), Cron: "0 * * * * ?", ShardingTotalCount: 2, TimeZone: "Europe/Berlin", Failover: true}
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(b, err)
		tree := jobtree.For(cfg.Name)
		txns[i].Then = []registry.Write{
			registry.Put(tree.Config(), text),
			registry.PutOwned(tree.Instance(fullID("a")), "", session), registry.PutOwned(tree.Instance(fullID("b")), "", session),
			registry.PutOwned(tree.Leader(), fullID("a"), session),
			registry.Put(tree.ItemInstance(0), fullID("a")), registry.Put(tree.ItemInstance(1), fullID("b")),
			registry.Put(tree.ItemRecord(0), jobtree.EncodeRecord(record)), registry.Put(tree.ItemRecord(1), jobtree.EncodeRecord(record)),
		}
	}
	for _, o := range reg.CommitAll(b.Context(), txns) {
		require.NoError(b, o.Err)
	}
}
