package registrytest

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func sizeCases() []testCase {
	return []testCase{
		{name: "SubtreeOfTenThousandNodes", run: subtreeOfTenThousandNodes},
		{name: "HundredsOfViews", run: hundredsOfViews},
		{name: "LongPaths", run: longPaths},
	}
}

const many = 10_000

// fill puts many nodes, "/big/00/0000" to "/big/99/9999", in transactions of 50.
func fill(e *env, p *Participant) {
	e.Helper()
	txns := make([]registry.Txn, many/50)
	for i := range many {
		txn := &txns[i/50]
		txn.Repeat = registry.RepeatHarmless
		txn.Then = append(txn.Then, registry.Put(fmt.Sprintf("/big/%02d/%04d", i%100, i), fmt.Sprintf("value of %d", i)))
	}
	for _, o := range p.CommitAll(e.ctx, txns) {
		require.NoError(e, o.Err)
	}
}

func subtreeOfTenThousandNodes(e *env) {
	p, other := e.open(), e.open()
	early := newReplay(e.view(other, "/big"))
	fill(e, p)
	late := newReplay(e.view(other, "/big"))
	require.Equal(e, many, late.view.Snapshot().Len())
	require.Len(e, e.list(p, "/big"), many)
	require.Len(e, e.list(p, "/big/07"), many/100)

	e.commit(p, registry.Put("/big/07/0007", "changed"), registry.Delete("/big/99/0099"), registry.Put("/big", "root"))
	e.waitFor(early.view, func(s registry.Snapshot) bool { return s.Len() == many && s.Get("/big").Exists() })
	revision := e.commit(p, registry.DeleteTree("/big"), registry.Put("/bigger", "stays"))
	e.waitRevision(late.view, revision)
	require.Zero(e, late.view.Snapshot().Len())
	early.requireAgrees(e, p)
	late.requireAgrees(e, p)
	require.Equal(e, []string{"/bigger"}, paths(e.list(p, registry.Root)))
}

// hundredsOfViews follows one job in each, as a process with many jobs does.
func hundredsOfViews(e *env) {
	p, other := e.open(), e.open()
	const jobs = 300
	replays := make([]*replay, jobs)
	txns := make([]registry.Txn, jobs)
	for i := range replays {
		path := fmt.Sprintf("/jobs/%d", i)
		replays[i] = newReplay(e.view(p, path))
		txns[i].Then = []registry.Write{registry.Put(path+"/config", "first"), registry.Put(path+"/leader", "me")}
	}
	for _, o := range other.CommitAll(e.ctx, txns) {
		require.NoError(e, o.Err)
	}
	last := e.commit(other, registry.Delete("/jobs/1/leader"), registry.Put("/jobs/10/config", "second"))
	for i, r := range replays {
		e.waitRevision(r.view, last)
		r.unsubscribe()
		require.Empty(e, r.faults)
		want := []string{fmt.Sprintf("/jobs/%d/config", i), fmt.Sprintf("/jobs/%d/leader", i)}
		if i == 1 {
			want = want[:1]
		}
		require.Equal(e, want, paths(r.list()))
	}
	require.Equal(e, "second", replays[10].view.Snapshot().Get("/jobs/10/config").Value)
	require.Equal(e, "first", replays[100].view.Snapshot().Get("/jobs/100/config").Value)
}

// longPaths has paths that together take more than a request may.
func longPaths(e *env) {
	p, other := e.open(), e.open()
	early := newReplay(e.view(other, registry.Root))
	txns := make([]registry.Txn, 150)
	for i := range txns {
		path := fmt.Sprintf("/long/%d-%s", i, strings.Repeat("p", 9<<10))
		txns[i] = registry.Txn{Then: []registry.Write{registry.Put(path, "")}, Repeat: registry.RepeatHarmless}
	}
	var last registry.Revision
	for _, o := range p.CommitAll(e.ctx, txns) {
		require.NoError(e, o.Err)
		last = max(last, o.Revision)
	}
	late := newReplay(e.view(other, "/long"))
	require.Equal(e, len(txns), late.view.Snapshot().Len())
	require.Len(e, e.list(p, "/long"), len(txns))
	e.waitRevision(early.view, last)
	early.requireAgrees(e, p)
}
