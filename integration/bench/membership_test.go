package bench_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// From the moment at which a reader sees a second instance join to that at which the same reader
// sees items assigned to it. Part of it is that the leader gathers events for 20 ms before it
// reshards, so that a deployment causes one resharding and not a hundred.
func BenchmarkResharding(b *testing.B) {
	for _, items := range []int{10, 1_000, 10_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			m := newMembership(b, items)
			resident := m.join("a")
			var joins sample
			for b.Loop() {
				m.reader.awaitTidy()
				joined, assigned := m.reader.expect(lives("b")), m.reader.expect(spreadOver("a", "b"))
				newcomer := m.join("b")
				joins.add(receive(b, assigned).Sub(receive(b, joined)))
				newcomer.stop()
				m.reader.await(spreadOver("a"))
			}
			hideTime(b)
			reportMS(b, joins.median(), "join-to-assigned")
			resident.stop()
		})
	}
}

// From the stop of an instance that has half of the items to the moment at which a reader sees all of
// them with the other. A leader that goes gives them away itself, in the transaction in which it goes; if another
// instance goes, the leader does so as soon as it sees that. It is measured when the job is at
// rest: right after another resharding the leader finishes that first.
func BenchmarkHandover(b *testing.B) {
	for _, stopped := range []string{"member", "leader"} {
		for _, items := range []int{10, 1_000} {
			b.Run(fmt.Sprintf("stopped=%s/items=%d", stopped, items), func(b *testing.B) {
				benchHandover(b, items, stopped == "leader")
			})
		}
	}
}

func benchHandover(b *testing.B, items int, leaderStops bool) {
	m := newMembership(b, items)
	stays, goes := "a", "b"
	resident := m.join(stays)
	var stops sample
	for b.Loop() {
		leaver := m.join(goes)
		m.reader.await(spreadOver(stays, goes))
		m.reader.awaitTidy()
		if leaderStops { // the one that stayed so far
			resident, leaver, stays, goes = leaver, resident, goes, stays
		}
		took := m.reader.expect(spreadOver(stays))
		began := time.Now()
		leaver.cancel()
		stops.add(receive(b, took).Sub(began))
		leaver.finish()
	}
	hideTime(b)
	reportMS(b, stops.median(), "stop-to-new-owner")
	resident.stop()
}

// membership is a job whose members come and go, and somebody who looks at it.
type membership struct {
	b         *testing.B
	namespace string
	items     int
	reader    *reader
}

func newMembership(b *testing.B, items int) *membership {
	b.Helper()
	m := &membership{b: b, namespace: newNamespace(), items: items}
	reg := openEtcd(b, m.namespace)
	b.Cleanup(func() { require.NoError(b, reg.Close(context.Background())) })
	m.reader = newReader(b, reg, "orders")
	return m
}

// join starts an instance of the job and returns when it has joined.
func (m *membership) join(name string) *process {
	m.b.Helper()
	p := newProcess(m.b, openEtcd(m.b, m.namespace), named(name))
	p.add(yearly("orders", m.items), idle)
	p.start()
	return p
}
