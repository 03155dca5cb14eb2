package registrytest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func transactionCases() []testCase {
	return []testCase{
		{name: "RevisionsGrow", run: revisionsGrow},
		{name: "MalformedOnesAreInvalid", run: malformedTransactionsAreInvalid},
		{name: "AsManyAsPromisedAreTaken", run: asManyAsPromisedAreTaken},
		{name: "TooManyWritesAreTooLarge", run: tooManyWritesAreTooLarge},
		{name: "TooLongValueIsTooLarge", run: tooLongValueIsTooLarge},
		{name: "ReadersSeeAllOrNothing", needs: []Ability{ConsistentList}, run: readersSeeAllOrNothing},
		{name: "OneOfManyWinsAGuard", run: oneOfManyWinsAGuard},
		{name: "ManyAtOnceKeepTheirOwnOutcomes", run: manyAtOnceKeepTheirOwnOutcomes},
		{name: "EndedContextChangesNothing", run: endedContextChangesNothing},
	}
}

func revisionsGrow(e *env) {
	one, two := e.open(), e.openIn(e.namespace+"-other")
	var last registry.Revision
	for i := range 20 {
		p := one
		if i%2 == 1 {
			p = two
		}
		revision := e.commit(p, registry.Put("/same", "same value"))
		require.Greater(e, revision, last)
		require.Equal(e, revision, e.get(p, "/same").Revision)
		last = revision
	}
}

func malformedTransactionsAreInvalid(e *env) {
	p := e.open()
	put := registry.Put("/a", "")
	for name, txn := range map[string]registry.Txn{
		"nothing":              {},
		"only conditions":      {If: []registry.Condition{registry.Absent("/a")}},
		"written twice":        {Then: []registry.Write{put, registry.Delete("/a")}},
		"below a deleted tree": {Then: []registry.Write{registry.Put("/t/a", ""), registry.DeleteTree("/t")}},
		"the root":             {Then: []registry.Write{registry.DeleteTree(registry.Root)}},
		"no session":           {Then: []registry.Write{registry.PutOwned("/a", "", nil)}},
		"not UTF-8":            {Then: []registry.Write{registry.Put("/a", "\xff")}},
		"malformed condition":  {If: []registry.Condition{registry.Absent("a")}, Then: []registry.Write{put}},
	} {
		_, err := p.Commit(e.ctx, txn)
		require.ErrorIs(e, err, registry.ErrInvalid, name)
	}
	require.Empty(e, e.list(p, registry.Root))
}

// asManyAsPromisedAreTaken fills transactions, as who writes much in parts does.
func asManyAsPromisedAreTaken(e *env) {
	p := e.open()
	var create, remove registry.Txn
	for i := range registry.MaxOps {
		path := fmt.Sprintf("/many/%d", i)
		if i < registry.MaxOps/2 { // each makes two conditions
			create.If = append(create.If, registry.Absent(path))
			create.Then = append(create.Then, registry.Put(path, ""))
			remove.If = append(remove.If, registry.Present(path))
		}
		remove.Then = append(remove.Then, registry.Delete(path))
	}
	_, err := p.Commit(e.ctx, create)
	require.NoError(e, err)
	require.Len(e, e.list(p, "/many"), registry.MaxOps/2)
	_, err = p.Commit(e.ctx, remove)
	require.NoError(e, err)
	require.Empty(e, e.list(p, "/many"))
}

// tooMany returns a transaction beyond the backend's limit.
func tooMany(e *env) registry.Txn {
	var txn registry.Txn
	for i := range 2*e.backend.MaxOps + 1 {
		txn.Then = append(txn.Then, registry.Put(fmt.Sprintf("/many/%d", i), ""))
	}
	return txn
}

func tooManyWritesAreTooLarge(e *env) {
	if e.backend.MaxOps == 0 {
		e.Skip("the backend has no limit")
	}
	p := e.open()
	_, err := p.Commit(e.ctx, tooMany(e))
	require.ErrorIs(e, err, registry.ErrTooLarge)
	conditions := registry.Txn{Then: []registry.Write{registry.Put("/many", "")}}
	for i := range 2*e.backend.MaxOps + 1 {
		conditions.If = append(conditions.If, registry.Absent(fmt.Sprintf("/absent/%d", i)))
	}
	_, err = p.Commit(e.ctx, conditions)
	require.ErrorIs(e, err, registry.ErrTooLarge)
	require.Empty(e, e.list(p, registry.Root))
	e.commit(p, registry.Put("/afterwards", "all is well"))
}

func tooLongValueIsTooLarge(e *env) {
	if e.backend.MaxBytes == 0 {
		e.Skip("the backend has no limit")
	}
	p := e.open()
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{
		registry.Put("/short", ""), registry.Put("/long", strings.Repeat("x", 2*e.backend.MaxBytes)),
	}})
	require.ErrorIs(e, err, registry.ErrTooLarge)
	require.Empty(e, e.list(p, registry.Root))
	e.commit(p, registry.Put("/afterwards", "all is well"))
}

// readersSeeAllOrNothing moves two nodes in step and has a list and a view look for a state in which
// they differ.
func readersSeeAllOrNothing(e *env) {
	writer, reader := e.open(), e.open()
	e.commit(writer, registry.Put("/x", "0"), registry.Put("/deep/y", "0"))
	view := e.view(reader, registry.Root)
	var torn []string
	unsubscribe := view.Subscribe(func(step registry.Step) {
		if x, y := step.Snapshot.Get("/x").Value, step.Snapshot.Get("/deep/y").Value; x != y {
			torn = append(torn, x+" and "+y)
		}
	})
	const rounds = 100
	var writing sync.WaitGroup
	errs := make([]error, rounds)
	writing.Go(func() {
		for i := range rounds {
			value := fmt.Sprint(i + 1)
			_, errs[i] = writer.Commit(e.ctx, registry.Txn{
				Then: []registry.Write{registry.Put("/x", value), registry.Put("/deep/y", value)},
			})
		}
	})
	for range rounds {
		nodes := e.list(reader, registry.Root)
		require.Len(e, nodes, 2)
		require.Equal(e, nodes[0].Value, nodes[1].Value)
	}
	writing.Wait()
	for _, err := range errs {
		require.NoError(e, err)
	}
	e.waitValue(view, "/x", fmt.Sprint(rounds))
	unsubscribe()
	require.Empty(e, torn)
}

func oneOfManyWinsAGuard(e *env) {
	participants := []*Participant{e.open(), e.open()}
	guard := registry.Absent("/leader")
	for round := range 10 {
		const contenders = 12
		errs := make([]error, contenders)
		var racing sync.WaitGroup
		for i := range contenders {
			racing.Go(func() {
				_, errs[i] = participants[i%2].Commit(e.ctx, registry.Txn{
					If:   []registry.Condition{guard},
					Then: []registry.Write{registry.Put("/leader", fmt.Sprintf("%d of round %d", i, round))},
				})
			})
		}
		racing.Wait()
		leader := e.get(participants[0], "/leader")
		for i, err := range errs {
			if leader.Value == fmt.Sprintf("%d of round %d", i, round) {
				require.NoError(e, err)
			} else {
				require.Equal(e, guard, e.conflict(err).Condition)
			}
		}
		guard = registry.Unchanged("/leader", leader.Revision)
	}
}

// manyAtOnceKeepTheirOwnOutcomes commits in the same instant what a backend may merge into requests:
// transactions that hold, that do not, and that write to the same path.
func manyAtOnceKeepTheirOwnOutcomes(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/there", ""))
	const n = 120
	revisions, errs := make([]registry.Revision, n), make([]error, n)
	var racing sync.WaitGroup
	for i := range n {
		racing.Go(func() {
			guard := registry.Present("/there")
			if i%3 == 1 {
				guard = registry.Absent("/there")
			}
			path := fmt.Sprintf("/nodes/%d", i)
			if i%3 == 2 {
				path = "/nodes/shared"
			}
			revisions[i], errs[i] = p.Commit(e.ctx, registry.Txn{
				If:   []registry.Condition{guard},
				Then: []registry.Write{registry.Put(path, fmt.Sprint(i))},
			})
		})
	}
	racing.Wait()
	shared := make(map[registry.Revision]bool)
	for i := range n {
		switch i % 3 {
		case 0:
			require.NoError(e, errs[i])
			require.Equal(e, revisions[i], e.get(p, fmt.Sprintf("/nodes/%d", i)).Revision)
		case 1:
			require.Equal(e, registry.Absent("/there"), e.conflict(errs[i]).Condition)
		case 2:
			require.NoError(e, errs[i])
			require.False(e, shared[revisions[i]], "two writes to one path at one revision")
			shared[revisions[i]] = true
		}
	}
	require.Len(e, e.list(p, "/nodes"), n/3+1)
}

func endedContextChangesNothing(e *env) {
	p := e.open()
	ended, cancel := context.WithCancel(e.ctx)
	cancel()
	for range 100 { // or it is a matter of luck who looks first
		_, err := p.Commit(ended, registry.Txn{Then: []registry.Write{registry.Put("/a", "")}})
		require.ErrorIs(e, err, registry.ErrUnavailable)
		require.ErrorIs(e, err, context.Canceled)
	}
	_, err := p.Get(ended, "/a")
	require.ErrorIs(e, err, registry.ErrUnavailable)
	require.ErrorIs(e, err, context.Canceled)
	require.Empty(e, e.list(p, registry.Root))
}
