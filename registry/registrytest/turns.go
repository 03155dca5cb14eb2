package registrytest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func turnCases() []testCase {
	return []testCase{
		{name: "OneThatIsOverIsNotSent", run: oneThatIsOverIsNotSent},
		{name: "OthersOfItsBatchAreNotConcerned", run: othersOfItsBatchAreNotConcerned},
		{name: "EveryRankAndShareIsServed", run: everyRankAndShareIsServed},
		{name: "WhatACutHeldUpIsSentInTimeOrNever", needs: []Ability{Cut}, run: whatACutHeldUpIsSentInTimeOrNever},
		{name: "WhatOthersSendBackHasAnOutcome", needs: []Ability{Cut}, run: whatOthersSendBackHasAnOutcome},
	}
}

func turn(rank registry.Rank, share string, until time.Time) registry.Turn {
	return registry.Turn{Rank: rank, Share: share, Until: until}
}

func oneThatIsOverIsNotSent(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/before", ""))
	txn := registry.Txn{Then: []registry.Write{registry.Put("/late", "")}, Turn: turn(registry.RankWork, "a", time.Now())}
	_, err := p.Commit(e.ctx, txn)
	require.ErrorIs(e, err, registry.ErrNotSent)
	require.NotErrorIs(e, err, registry.ErrUnknownOutcome)
	require.False(e, e.get(p, "/late").Exists())
	txn.Turn.Until = time.Now().Add(time.Hour)
	_, err = p.Commit(e.ctx, txn)
	require.NoError(e, err)
	require.True(e, e.get(p, "/late").Exists())
}

func othersOfItsBatchAreNotConcerned(e *env) {
	p := e.open()
	txns := make([]registry.Txn, 30)
	for i := range txns {
		txns[i].Then = []registry.Write{registry.Put(fmt.Sprintf("/item/%d", i), "")}
		if txns[i].Turn.Rank = registry.Rank(i % registry.Ranks); i%5 == 2 {
			txns[i].Turn.Until = time.Now().Add(-time.Minute)
		}
	}
	for i, o := range p.CommitAll(e.ctx, txns) {
		if i%5 == 2 {
			require.ErrorIs(e, o.Err, registry.ErrNotSent, "transaction %d", i)
		} else {
			require.NoError(e, o.Err, "transaction %d", i)
		}
		require.Equal(e, i%5 != 2, e.get(p, fmt.Sprintf("/item/%d", i)).Exists())
	}
}

func everyRankAndShareIsServed(e *env) {
	p := e.open()
	var all sync.WaitGroup
	errs := make([]error, 200)
	for i := range errs {
		all.Go(func() {
			_, errs[i] = p.Commit(e.ctx, registry.Txn{
				Then: []registry.Write{registry.Put(fmt.Sprintf("/item/%d", i), "")},
				Turn: turn(registry.Rank(i%(registry.Ranks+1)), fmt.Sprint("job ", i%7), time.Now().Add(time.Hour)),
			})
		})
	}
	all.Wait()
	for i, err := range errs {
		require.NoError(e, err, "transaction %d", i)
	}
	require.Len(e, e.list(p, "/item"), len(errs))
}

// What was sent before the cut, or into it, is settled when the network is back; nothing else is sent
// then whose turn is over.
func whatACutHeldUpIsSentInTimeOrNever(e *env) {
	p := e.open()
	e.session(p)
	p.Cut()
	var all sync.WaitGroup
	errs := make([]error, 60)
	began := time.Now()
	for i := range errs {
		all.Go(func() {
			_, errs[i] = p.Commit(e.ctx, registry.Txn{
				Then: []registry.Write{registry.Put(fmt.Sprintf("/item/%d", i), "")},
				Turn: turn(registry.RankWork, "a", began.Add(e.ttls(0.2))), Repeat: registry.RepeatHarmless,
			})
		})
	}
	time.Sleep(e.ttls(0.4))
	p.Heal()
	all.Wait()
	for i, err := range errs {
		if err != nil {
			require.ErrorIs(e, err, registry.ErrNotSent, "transaction %d", i)
		}
		require.Equal(e, err == nil, e.get(p, fmt.Sprintf("/item/%d", i)).Exists(), "transaction %d", i)
	}
}

// A store that takes many transactions in one request may refuse the request for what one of them asks. The others
// have to be sent again then, and by that time their turn may be over.
func whatOthersSendBackHasAnOutcome(e *env) {
	p, other := e.open(), e.open()
	txns := make([]registry.Txn, 20)
	for i := range txns {
		e.commit(p, registry.Put(fmt.Sprintf("/item/%d", i), "old"))
	}
	last := e.commit(p, registry.Put("/item/end", ""))
	view := e.view(p, "/item")
	require.NoError(e, view.WaitRevision(e.ctx, last))
	p.Cut()
	conflict := e.commit(other, registry.Put("/item/7", "another's"))
	over := time.Now().Add(e.ttls(0.1))
	for i := range txns {
		path := fmt.Sprintf("/item/%d", i)
		txns[i] = registry.Txn{
			If:   []registry.Condition{registry.Unchanged(path, view.Snapshot().Get(path).Revision)},
			Then: []registry.Write{registry.Put(path, "new")},
			Turn: turn(registry.RankWork, "a", over),
		}
	}
	done := make(chan []registry.Outcome, 1)
	go func() { done <- p.CommitAll(e.ctx, txns) }()
	time.Sleep(e.ttls(0.2))
	p.Heal()
	for i, o := range <-done {
		switch {
		case errors.Is(o.Err, registry.ErrNotSent):
		case i == 7:
			require.ErrorIs(e, o.Err, registry.ErrConflict)
		default:
			require.NoError(e, o.Err, "transaction %d", i)
		}
		require.Equal(e, o.Err == nil, e.get(other, fmt.Sprintf("/item/%d", i)).Value == "new", "transaction %d", i)
	}
	require.Equal(e, conflict, e.get(other, "/item/7").Revision)
}
