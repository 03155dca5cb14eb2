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
		{name: "TreeOfEmptiedParents", run: treeOfEmptiedParents},
		{name: "TheStoreOutlivesASessionOfManyNodes", needs: []Ability{Restart}, run: theStoreOutlivesASessionOfManyNodes},
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

// treeOfEmptiedParents removes a tree that was emptied in parts, as it is too large to be removed at once. What a store keeps
// of parents whose children have gone must not be too large either.
func treeOfEmptiedParents(e *env) {
	p, other := e.open(), e.open()
	view := e.view(other, registry.Root)
	const parents = 5_000
	folder := "/large/" + strings.Repeat("p", 200)
	puts, deletes := make([]registry.Txn, parents/50), make([]registry.Txn, parents/50)
	for i := range parents {
		path := fmt.Sprintf("%s/%d/node", folder, i)
		puts[i/50].Then = append(puts[i/50].Then, registry.Put(path, ""))
		deletes[i/50].Then = append(deletes[i/50].Then, registry.Delete(path))
	}
	for _, txns := range [][]registry.Txn{puts, deletes} {
		for i := range txns {
			txns[i].Repeat = registry.RepeatHarmless
		}
		for _, o := range p.CommitAll(e.ctx, txns) {
			require.NoError(e, o.Err)
		}
	}
	e.commit(p, registry.Put("/large/last", ""))
	_, err := p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Absent("/large/last")},
		Then: []registry.Write{registry.DeleteTree("/large")},
	})
	require.ErrorIs(e, err, registry.ErrConflict)
	require.Equal(e, []string{"/large/last"}, paths(e.list(p, registry.Root)))

	revision, err := p.Commit(e.ctx, registry.Txn{
		If:   []registry.Condition{registry.Present("/large/last"), registry.Absent(folder + "/config")},
		Then: []registry.Write{registry.DeleteTree("/large")},
	})
	require.NoError(e, err)
	e.waitRevision(view, revision)
	require.Zero(e, view.Snapshot().Len())
	require.Empty(e, e.list(p, registry.Root))
}

// theStoreOutlivesASessionOfManyNodes has a session hold as many nodes as it may, up to more than twice of what a request may
// take, and then end. The store is there afterwards, with all else, and is so when it was started again.
func theStoreOutlivesASessionOfManyNodes(e *env) {
	other := e.openSteady()
	e.commit(other, registry.Put("/before", ""))
	p := e.openSteady()
	session := e.session(p)
	const jobs, bytes = 6_000, 400
	txns := make([]registry.Txn, jobs)
	for i := range txns {
		path := fmt.Sprintf("/%05d-%s", i, strings.Repeat("p", bytes-6))
		txns[i] = registry.Txn{Then: []registry.Write{registry.PutOwned(path+"/node", "", session)}, Repeat: registry.RepeatOwned}
	}
	held := 0
	for _, o := range p.CommitAll(e.ctx, txns) {
		if o.Err == nil {
			held++
			continue
		}
		require.ErrorIs(e, o.Err, registry.ErrNoSpace)
	}
	require.Positive(e, held)
	require.NoError(e, session.Err())
	require.Len(e, e.list(other, registry.Root), 1+held)
	require.NoError(e, p.Close(e.ctx))

	e.store.Restart(0)
	again := e.openSteady()
	require.Equal(e, []string{"/before"}, paths(e.list(again, registry.Root)))
	e.commit(again, registry.Put("/after", ""))
}
