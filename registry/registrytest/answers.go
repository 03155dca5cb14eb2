package registrytest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func answerCases() []testCase {
	return []testCase{
		{name: "LostAnswerIsFoundOut", needs: []Ability{LoseAnswer}, run: lostAnswerIsFoundOut},
		{name: "LostRefusalStaysARefusal", needs: []Ability{LoseAnswer}, run: lostRefusalStaysARefusal},
		{name: "WhatWasOverwrittenIsAmbiguous", needs: []Ability{LoseAnswer}, run: whatWasOverwrittenIsAmbiguous},
		{name: "BatchFindsOutEachByItself", needs: []Ability{LoseAnswer}, run: batchFindsOutEachByItself},
		{name: "EachIsDoneOnce", needs: []Ability{LoseAnswer}, run: eachIsDoneOnce},
		{name: "UndeclaredIsNotRepeated", needs: []Ability{LoseAnswer}, run: undeclaredIsNotRepeated},
		{name: "LateCopiesComeToNothing", needs: []Ability{HoldBack}, run: lateCopiesComeToNothing},
		{name: "UndeclaredIsDoneOnceHoweverLate", needs: []Ability{HoldBack}, run: undeclaredIsDoneOnceHoweverLate},
		{name: "ErrorsTellWhatWasTried", run: errorsTellWhatWasTried},
		{name: "CallsWaitForTheNetwork", needs: []Ability{Cut}, run: callsWaitForTheNetwork},
		{name: "CutReadsAreUnavailable", needs: []Ability{Cut}, run: cutReadsAreUnavailable},
		{name: "CutCommitsTellWhatTheyKnow", needs: []Ability{Cut}, run: cutCommitsTellWhatTheyKnow},
		{name: "WhoGivesUpIsToldWhatMayBeDone", needs: []Ability{BreakWatch}, run: whoGivesUpIsToldWhatMayBeDone},
	}
}

// errorsTellWhatWasTried has calls refused. What a closed handle says is tried where handles are closed.
func errorsTellWhatWasTried(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/there", ""))
	calls := callsOf(e.ctx, p)
	fails := func(op, path string, meaning error) {
		e.Helper()
		err := calls[op](path)
		require.ErrorIs(e, err, meaning, "%s %s", op, path)
		e.requireOpError(err, op, path)
	}
	fails("get", "/absent", registry.ErrNotFound)
	fails("commit", "/there", registry.ErrConflict)
	for _, op := range []string{"get", "list", "children", "commit", "view", "latch"} {
		fails(op, "no/path", registry.ErrInvalid)
	}
	outcomes := p.CommitAll(e.ctx, []registry.Txn{creation("/there"), creation("/new"), creation("no/path")})
	e.requireOpError(outcomes[0].Err, "commit", "/there")
	require.NoError(e, outcomes[1].Err)
	e.requireOpError(outcomes[2].Err, "commit", "no/path")
}

// requireOpError requires that an error tells what was tried on which path.
func (e *env) requireOpError(err error, op, path string) {
	e.Helper()
	var failed *registry.OpError
	require.ErrorAs(e, err, &failed)
	require.Same(e, failed, err, "it is no part of another error")
	require.Equal(e, [2]string{op, path}, [2]string{failed.Op, failed.Path})
}

// callsOf returns a call of each kind, by what its errors call it.
func callsOf(ctx context.Context, p *Participant) map[string]func(path string) error {
	return map[string]func(path string) error{
		"get":      func(path string) error { _, err := p.Get(ctx, path); return err },
		"list":     func(path string) error { _, _, err := p.List(ctx, path); return err },
		"children": func(path string) error { _, err := p.Children(ctx, path); return err },
		"commit":   func(path string) error { _, err := p.Commit(ctx, creation(path)); return err },
		"view":     func(path string) error { _, err := p.View(ctx, path); return err },
		"session":  func(string) error { _, err := p.Session(ctx); return err },
		"latch": func(path string) error {
			return p.Latch(ctx, path, func(context.Context) error { panic("what is refused holds a latch") })
		},
		"server time": func(string) error { _, err := p.ServerTime(ctx); return err },
	}
}

// creation is a transaction that conflicts where there is a node.
func creation(path string) registry.Txn {
	return registry.Txn{If: []registry.Condition{registry.Absent(path)}, Then: []registry.Write{registry.Put(path, "")}}
}

// lostAnswerIsFoundOut loses the answers of transactions that succeed and cannot succeed twice.
func lostAnswerIsFoundOut(e *env) {
	p := e.open()
	read := e.commit(p, registry.Put("/there", "as read"), registry.Put("/record", "idle"), registry.Put("/mark", ""), registry.Put("/claim", ""))
	for name, txn := range map[string]registry.Txn{
		"create": {
			If:     []registry.Condition{registry.Absent("/created"), registry.CreatedAt("/record", read)},
			Then:   []registry.Write{registry.Put("/created", "mine")},
			Repeat: registry.RepeatCreation,
		},
		"own": {
			Then:   []registry.Write{registry.PutOwned("/owned", "mine", e.session(p))},
			Repeat: registry.RepeatOwned,
		},
		"replace": {
			If:   []registry.Condition{registry.Unchanged("/there", read)},
			Then: []registry.Write{registry.Update("/there", "changed")},
		},
		"end": {
			If:   []registry.Condition{registry.CreatedAt("/mark", read)},
			Then: []registry.Write{registry.DeleteTree("/mark"), registry.Put("/record", "ended")},
		},
		"overwrite": {
			If:   []registry.Condition{registry.CreatedAt("/claim", read)},
			Then: []registry.Write{registry.Delete("/claim"), registry.Overwrite("/note", "ended")},
		},
	} {
		p.LoseAnswer()
		revision, err := p.Commit(e.ctx, txn)
		require.NoError(e, err, name)
		put := txn.Then[len(txn.Then)-1]
		require.Equal(e, put.Value, e.get(p, put.Path).Value)
		require.Equal(e, e.get(p, put.Path).Revision, revision, name)
	}
	require.False(e, e.get(p, "/mark").Exists())
}

func lostRefusalStaysARefusal(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/there", "value"))
	before := e.list(p, registry.Root)
	for _, writes := range [][]registry.Write{
		{registry.Put("/there", "value"), registry.Put("/more", "")},
		{registry.Put("/there", "value")}, // looks as if it was done, but was there before
		{registry.Delete("/more")},        // likewise
	} {
		p.LoseAnswer()
		_, err := p.Commit(e.ctx, registry.Txn{
			If: []registry.Condition{registry.Absent("/there")}, Then: writes, Repeat: registry.RepeatHarmless,
		})
		require.Equal(e, registry.Absent("/there"), e.conflict(err).Condition)
		require.Equal(e, before, e.list(p, registry.Root))
	}
}

// whatWasOverwrittenIsAmbiguous has another process overwrite what was done before its answer, which
// was lost, could be found out. If the backend is too quick for that, it must have found out.
func whatWasOverwrittenIsAmbiguous(e *env) {
	p, other := e.open(), e.open()
	view := e.view(other, registry.Root)
	var revision registry.Revision
	var err error
	var committing sync.WaitGroup
	p.LoseAnswer()
	committing.Go(func() {
		revision, err = p.Commit(e.ctx, registry.Txn{
			If:     []registry.Condition{registry.Absent("/a")},
			Then:   []registry.Write{registry.Put("/a", "mine")},
			Repeat: registry.RepeatHarmless,
		})
	})
	done := e.waitFor(view, func(s registry.Snapshot) bool { return s.Get("/a").Exists() }).Get("/a").Created
	e.commit(other, registry.Put("/a", "another's"))
	committing.Wait()
	if err == nil {
		require.Equal(e, done, revision)
		return
	}
	require.True(e, e.conflict(err).Ambiguous)
	require.Equal(e, "another's", e.get(p, "/a").Value)
}

func batchFindsOutEachByItself(e *env) {
	p := e.open()
	there := e.commit(p, registry.Put("/there", ""))
	p.LoseAnswer()
	outcomes := p.CommitAll(e.ctx, []registry.Txn{
		{
			If:     []registry.Condition{registry.Absent("/1"), registry.CreatedAt("/there", there)},
			Then:   []registry.Write{registry.Put("/1", "")},
			Repeat: registry.RepeatCreation,
		},
		{
			If:     []registry.Condition{registry.Absent("/there")},
			Then:   []registry.Write{registry.Put("/2", "")},
			Repeat: registry.RepeatHarmless,
		},
		{Then: []registry.Write{registry.PutOwned("/3", "", e.session(p))}, Repeat: registry.RepeatOwned},
		{If: []registry.Condition{registry.Absent("/4")}, Then: []registry.Write{registry.Put("/4", "")}},
	})
	if _, single := e.backend.Lacks[OneRequest]; single && outcomes[3].Err == nil { // another's answer was lost
		require.Equal(e, e.get(p, "/4").Revision, outcomes[3].Revision)
	} else {
		require.ErrorIs(e, outcomes[3].Err, registry.ErrUnknownOutcome, "nobody says that it may be repeated")
	}
	require.NoError(e, outcomes[0].Err)
	require.Equal(e, e.get(p, "/1").Revision, outcomes[0].Revision)
	require.Equal(e, registry.Absent("/there"), e.conflict(outcomes[1].Err).Condition)
	require.NoError(e, outcomes[2].Err)
	require.Equal(e, e.get(p, "/3").Revision, outcomes[2].Revision)
	require.Equal(e, []string{"/1", "/3", "/4", "/there"}, paths(e.list(p, registry.Root)))
}

// undeclaredIsNotRepeated loses the answers of transactions that could be done again later.
func undeclaredIsNotRepeated(e *env) {
	p, other := e.open(), e.open()
	e.commit(p, registry.Put("/there", ""))
	for name, txn := range map[string]registry.Txn{
		"unguarded":    {Then: []registry.Write{registry.Put("/unguarded", "")}},
		"creation":     {If: []registry.Condition{registry.Absent("/creation")}, Then: []registry.Write{registry.Put("/creation", "")}},
		"other guards": {If: []registry.Condition{registry.Present("/there")}, Then: []registry.Write{registry.Put("/other guards", "")}},
		"owned":        {Then: []registry.Write{registry.PutOwned("/owned", "", e.session(p))}},
	} {
		p.LoseAnswer()
		_, err := p.Commit(e.ctx, txn)
		require.ErrorIs(e, err, registry.ErrUnknownOutcome, name)
		require.NoError(e, e.ctx.Err(), name)
		n := e.get(other, "/"+name)
		require.True(e, n.Exists(), "%s: it was done", name)
		require.Equal(e, n.Created, n.Revision, "%s: it was done once", name)
	}
}

// lateCopiesComeToNothing has the store carry out first tries after their repetitions were answered, and
// after others have changed what the transactions wrote.
func lateCopiesComeToNothing(e *env) {
	p, other := e.open(), e.open()
	session := e.session(p)
	job := e.commit(other, registry.Put("/job", ""), registry.Put("/mark", ""), registry.Put("/value", "0"))
	late := e.ttls(0.4)
	commit := func(name string, txn registry.Txn) registry.Revision {
		p.HoldBack(late)
		revision, err := p.Commit(e.ctx, txn)
		require.NoError(e, err, name)
		return revision
	}
	started := time.Now()
	value := commit("replace", registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/value", job)},
		Then: []registry.Write{registry.Put("/value", "1")},
	})
	commit("end", registry.Txn{
		If:   []registry.Condition{registry.CreatedAt("/mark", job)},
		Then: []registry.Write{registry.Delete("/mark"), registry.Put("/ended", "1")},
	})
	commit("create", registry.Txn{
		If:     []registry.Condition{registry.Absent("/record"), registry.CreatedAt("/job", job)},
		Then:   []registry.Write{registry.Put("/record", "1")},
		Repeat: registry.RepeatCreation,
	})
	commit("own", registry.Txn{
		If:     []registry.Condition{registry.CreatedAt("/job", job)},
		Then:   []registry.Write{registry.PutOwned("/running", "1", session)},
		Repeat: registry.RepeatOwned,
	})
	commit("replace again", registry.Txn{
		If:   []registry.Condition{registry.Unchanged("/value", value)},
		Then: []registry.Write{registry.Put("/value", "2")},
	})
	// All that they wrote and wanted to be absent goes, and is there again in another form.
	e.commit(other, registry.DeleteTree("/job"), registry.Delete("/record"), registry.Delete("/running"), registry.Delete("/ended"))
	last := e.commit(other, registry.Put("/job", ""), registry.Put("/mark", ""))
	time.Sleep(late - time.Since(started) + e.ttls(0.4))
	nodes, _, err := other.List(e.ctx, registry.Root)
	require.NoError(e, err)
	require.Equal(e, []string{"/job", "/mark", "/value"}, paths(nodes))
	require.Equal(e, "2", e.get(other, "/value").Value)
	require.Equal(e, last, e.get(other, "/mark").Revision)
}

// undeclaredIsDoneOnceHoweverLate counts how often a transaction is done that has nothing to refuse a
// copy of it.
func undeclaredIsDoneOnceHoweverLate(e *env) { e.despiteStalls(e.undeclaredIsDoneOnceHoweverLate) }

func (e *env) undeclaredIsDoneOnceHoweverLate() error {
	e.Helper()
	p, other := e.open(), e.open()
	late := e.ttls(0.6)
	p.HoldBack(late)
	_, err := p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "late")}})
	require.ErrorIs(e, err, registry.ErrUnknownOutcome)
	if e.get(other, "/a").Exists() {
		return errors.New("it was done already; a read that shows nothing was to prove nothing")
	}
	view := e.view(other, registry.Root)
	first := e.waitFor(view, func(s registry.Snapshot) bool { return s.Get("/a").Exists() }).Get("/a")
	require.Equal(e, "late", first.Value)
	time.Sleep(2 * late)
	require.Equal(e, first, e.get(other, "/a"))
	return nil
}

// eachIsDoneOnce counts in a node. An answer taken for its opposite shows as a wrong sum.
func eachIsDoneOnce(e *env) {
	p := e.open()
	at := e.commit(p, registry.Put("/counter", "0"))
	const n = 20
	for i := range n {
		if i%4 == 1 {
			p.LoseAnswer()
		}
		revision, err := p.Commit(e.ctx, registry.Txn{
			If:   []registry.Condition{registry.Unchanged("/counter", at)},
			Then: []registry.Write{registry.Put("/counter", fmt.Sprint(i+1))},
		})
		require.NoError(e, err)
		at = revision
	}
	require.Equal(e, fmt.Sprint(n), e.get(p, "/counter").Value)
}

func callsWaitForTheNetwork(e *env) {
	p, other := e.open(), e.open()
	e.session(p)
	p.Cut()
	var committing sync.WaitGroup
	var revision registry.Revision
	var err error
	committing.Go(func() {
		revision, err = p.Commit(e.ctx, registry.Txn{
			If:     []registry.Condition{registry.Absent("/a")},
			Then:   []registry.Write{registry.Put("/a", "in the end")},
			Repeat: registry.RepeatHarmless,
		})
	})
	time.Sleep(e.ttls(0.3))
	require.False(e, e.get(other, "/a").Exists())
	p.Heal()
	committing.Wait()
	require.NoError(e, err)
	require.Equal(e, e.get(other, "/a").Revision, revision)
}

func cutReadsAreUnavailable(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/a", ""))
	p.Cut()
	_, err := p.Get(e.within(0.2), "/a")
	require.ErrorIs(e, err, registry.ErrUnavailable)
	require.ErrorIs(e, err, context.DeadlineExceeded)
	_, _, err = p.List(e.within(0.2), "/a")
	require.ErrorIs(e, err, registry.ErrUnavailable)
	_, err = p.Children(e.within(0.2), "/a")
	require.ErrorIs(e, err, registry.ErrUnavailable)
	p.Heal()
	require.True(e, e.get(p, "/a").Exists())
}

// cutCommitsTellWhatTheyKnow gives up while nothing gets through. A commit that says that nothing
// was written must be right about it for ever.
func cutCommitsTellWhatTheyKnow(e *env) {
	p, other := e.open(), e.open()
	e.session(p)
	p.Cut()
	_, err := p.Commit(e.within(0.3), registry.Txn{Then: []registry.Write{registry.Put("/a", "late")}})
	require.ErrorIs(e, err, context.DeadlineExceeded)
	unknown := errors.Is(err, registry.ErrUnknownOutcome)
	require.True(e, unknown || errors.Is(err, registry.ErrUnavailable), err)
	p.Heal()
	e.commit(p, registry.Put("/b", "after it"))
	time.Sleep(e.ttls(0.5))
	if !unknown {
		require.Equal(e, []string{"/b"}, paths(e.list(other, registry.Root)))
	}
}

// whoGivesUpIsToldWhatMayBeDone has contexts and turns end at any moment of a commit. Towards the end the connection breaks.
func whoGivesUpIsToldWhatMayBeDone(e *env) {
	p, other := e.open(), e.open()
	began := time.Now()
	created := e.commit(p, registry.Put("/there", ""))
	for range 4 {
		e.commit(p, registry.Put("/there", ""))
	}
	longest := max(time.Since(began)/2, 20*time.Microsecond) // more than most commits take
	var giving sync.WaitGroup
	var mu sync.Mutex
	outcomes := make(map[string]error)
	for g := range 8 {
		giving.Go(func() {
			for i := range 40 {
				if g == 0 && i == 35 {
					p.BreakWatch()
				}
				path := fmt.Sprintf("/given-up/%d-%d", g, i)
				err := e.commitForAWhile(p, path, i, created, longest)
				mu.Lock()
				outcomes[path] = err
				mu.Unlock()
			}
		})
	}
	giving.Wait()
	e.commit(p, registry.Put("/last", ""))
	time.Sleep(300 * time.Millisecond) // for what is under way
	there := make(map[string]bool)
	for _, n := range e.list(other, "/given-up") {
		there[n.Path] = true
	}
	for path, err := range outcomes {
		switch {
		case err == nil:
			require.True(e, there[path], "%s was done", path)
		case !errors.Is(err, registry.ErrUnknownOutcome):
			require.True(e, errors.Is(err, registry.ErrUnavailable) || errors.Is(err, registry.ErrNotSent), "%s: %v", path, err)
			require.False(e, there[path], "%s: %v", path, err)
		}
	}
}

// commitForAWhile creates a node in one of several ways, and gives that up at a random moment.
func (e *env) commitForAWhile(p *Participant, path string, way int, created registry.Revision, longest time.Duration) error {
	ctx, cancel := context.WithTimeout(e.ctx, rand.N(longest))
	defer cancel()
	txn := creation(path)
	switch way % 4 {
	case 1:
		txn.If, txn.Repeat = nil, registry.RepeatHarmless
	case 2:
		txn.If = append(txn.If, registry.CreatedAt("/there", created))
		txn.Repeat = registry.RepeatCreation
	case 3:
		txn.Turn.Until = time.Now().Add(rand.N(longest))
	}
	_, err := p.Commit(ctx, txn)
	return err
}
