package registrytest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func viewCases() []testCase {
	return []testCase{
		{name: "FirstStateIsThere", run: firstStateIsThere},
		{name: "AddedUpdatedAndRemovedAreToldApart", run: kindsAreToldApart},
		{name: "TellsWhatWentTogether", run: tellsWhatWentTogether},
		{name: "FollowsAfterIdleness", run: followsAfterIdleness},
		{name: "NeighboursStayOut", run: neighboursStayOut},
		{name: "LeavesOutWhatIsExcepted", run: leavesOutWhatIsExcepted},
		{name: "NarrowedShowsItsPartsAlone", run: narrowedShowsItsPartsAlone},
		{name: "NarrowedShowsATransactionAsOneStep", run: narrowedShowsATransactionAsOneStep},
		{name: "NarrowedReachesRevisionsElsewhere", run: narrowedReachesRevisionsElsewhere},
		{name: "NarrowedShowsOwnWrites", run: narrowedShowsOwnWrites},
		{name: "NarrowedOutlivesManyOthers", run: narrowedOutlivesManyOthers},
		{name: "BeginsWhileOthersWait", run: beginsWhileOthersWait},
		{name: "NarrowedBeginsWhileOthersWait", run: narrowedBeginsWhileOthersWait},
		{name: "NarrowedBySomethingElseIsRefused", run: narrowedBySomethingElse},
		{name: "ShowsOwnWrites", run: showsOwnWrites},
		{name: "ReachesRevisionsThatChangedOthers", run: reachesRevisionsThatChangedOthers},
		{name: "ManyViewsOfOneHandleAgree", run: manyViewsOfOneHandleAgree},
		{name: "OneOpensWhileAnotherCloses", run: oneViewOpensWhileAnotherCloses},
		{name: "WaitingEndsWithItsContext", run: waitingEndsWithItsContext},
		{name: "EndsWhenClosed", run: viewEndsWhenClosed},
		{name: "EndsWithItsContext", run: viewEndsWithItsContext},
		{name: "DeniedOneEndsAndSaysWhy", needs: []Ability{Deny}, run: deniedViewEnds},
	}
}

func firstStateIsThere(e *env) {
	p := e.open()
	empty := e.view(p, "/job")
	require.Zero(e, empty.Snapshot().Len())
	revision := e.commit(p, registry.Put("/job", "root"), registry.Put("/job/a", "1"))
	v := e.view(p, "/job")
	require.Equal(e, "/job", v.Path())
	require.GreaterOrEqual(e, v.Snapshot().Revision(), revision)
	require.Equal(e, e.list(p, "/job"), collect(v.Snapshot()))
	require.NoError(e, v.Err())
	e.waitValue(empty, "/job/a", "1")
}

func collect(s registry.Snapshot) []registry.Node {
	var nodes []registry.Node
	for n := range s.All() {
		nodes = append(nodes, n)
	}
	return nodes
}

func kindsAreToldApart(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/before", ""))
	v := e.view(p, registry.Root)
	type change struct {
		kind       registry.ChangeKind
		path       string
		before, to string
	}
	var seen []change
	unsubscribe := v.Subscribe(func(s registry.Step) {
		for _, c := range s.Changes {
			seen = append(seen, change{c.Kind(), c.Path(), c.Old.Value, c.New.Value})
		}
	})
	for _, w := range []registry.Write{
		registry.Put("/a", "1"), registry.Put("/a", "2"), registry.Put("/a", "2"), registry.Delete("/a"), registry.Put("/a", "3"),
	} {
		e.waitRevision(v, e.commit(p, w))
	}
	unsubscribe()
	require.Equal(e, []change{
		{registry.Added, "/before", "", ""},
		{registry.Added, "/a", "", "1"},
		{registry.Updated, "/a", "1", "2"},
		{registry.Updated, "/a", "2", "2"},
		{registry.Removed, "/a", "2", ""},
		{registry.Added, "/a", "", "3"},
	}, seen)
}

// What a client takes away, and what goes with its session then, did not go together, whatever steps show it.
func tellsWhatWentTogether(e *env) {
	p, leaves := e.open(), e.open()
	session := e.session(leaves)
	e.commit(leaves, registry.PutOwned("/of/a", "", session), registry.PutOwned("/of/b", "", session), registry.PutOwned("/of/another/c", "", session))
	v := e.view(p, "/of")
	removed := make(map[string]registry.Revision)
	unsubscribe := v.Subscribe(func(s registry.Step) {
		for _, c := range s.Changes {
			if c.Kind() == registry.Removed {
				removed[c.Path()] = c.Removed
			}
		}
	})
	deleted := e.commit(leaves, registry.Delete("/of/a"))
	require.NoError(e, leaves.Close(e.ctx))
	e.waitFor(v, func(s registry.Snapshot) bool { return s.Len() == 0 })
	unsubscribe()
	require.Len(e, removed, 3)
	require.LessOrEqual(e, removed["/of/a"], deleted)
	require.Equal(e, removed["/of/b"], removed["/of/another/c"])
	if removed["/of/a"] != 0 {
		require.NotEqual(e, removed["/of/a"], removed["/of/b"])
	}
}

func followsAfterIdleness(e *env) {
	p, other := e.open(), e.open()
	v := e.view(p, registry.Root)
	e.waitRevision(v, e.commit(other, registry.Put("/a", "early")))
	time.Sleep(e.idle())
	e.commit(other, registry.Put("/a", "late"))
	e.waitValue(v, "/a", "late")
}

func neighboursStayOut(e *env) {
	p := e.open()
	v := e.view(p, "/a/1")
	r := newReplay(v)
	e.commit(p,
		registry.Put("/a", ""), registry.Put("/a/1", "mine"), registry.Put("/a/1/below", ""), registry.Put("/a/10", ""),
		registry.Put("/a/10/below", ""), registry.Put("/a/1-", ""), registry.Put("/b/a/1", ""))
	e.commit(p, registry.DeleteTree("/a/10"), registry.Update("/a/1", "still mine"))
	r.requireAgrees(e, p)
	require.Equal(e, []string{"/a/1", "/a/1/below"}, paths(r.list()))
}

// leavesOutWhatIsExcepted has views of one subtree that leave out different nodes, from the first state on and when
// these are changed, also where the views share what the handle follows.
func leavesOutWhatIsExcepted(e *env) {
	p, other := e.open(), e.open()
	e.commit(other, registry.Put("/a/big", "1"), registry.Put("/a/x", "1"), registry.Put("/a/y", "1"))
	is := func(node string) func(string) bool { return func(path string) bool { return path == node } }
	whole := e.view(p, "/a")
	small, err := p.View(e.ctx, "/a", is("/a/big"))
	require.NoError(e, err)
	smaller, err := p.View(e.ctx, "/a", is("/a/big"), is("/a/x"))
	require.NoError(e, err)
	told := map[string]int{}
	small.Subscribe(func(s registry.Step) {
		for _, c := range s.Changes {
			told[c.Path()]++
		}
	})
	e.commit(other, registry.Put("/a/big", "2"), registry.Put("/a/x", "2"))
	e.commit(other, registry.Put("/a/big", "3"))
	revision := e.commit(other, registry.Delete("/a/big"))
	for _, v := range []*registry.View{whole, small, smaller} {
		e.waitRevision(v, revision)
	}
	e.commit(other, registry.Put("/a/big", "4"), registry.Put("/a/y", "2"))
	for _, v := range []*registry.View{whole, small, smaller} {
		e.waitValue(v, "/a/y", "2")
	}
	require.Equal(e, []string{"/a/big", "/a/x", "/a/y"}, paths(collect(whole.Snapshot())))
	require.Equal(e, []string{"/a/x", "/a/y"}, paths(collect(small.Snapshot())))
	require.Equal(e, []string{"/a/y"}, paths(collect(smaller.Snapshot())))
	small.Close() // nobody is told any more
	require.Equal(e, map[string]int{"/a/x": 2, "/a/y": 2}, told)
	_, err = p.Commit(e.ctx, registry.Txn{
		If: []registry.Condition{registry.Absent("/a/big")}, Then: []registry.Write{registry.Put("/a/z", "")},
	})
	require.ErrorIs(e, err, registry.ErrConflict, "a transaction goes by the store")
}

// narrowedShowsItsPartsAlone changes what lies in the parts of a view, beside them and between them.
func narrowedShowsItsPartsAlone(e *env) {
	p, other := e.open(), e.open()
	for _, n := range []string{"1", "10", "11", "2", "3"} {
		e.commit(other, registry.Put("/job/items/"+n+"/state", "0"))
	}
	e.commit(other, registry.Put("/job/items", "folder"), registry.Put("/job/head", "0"), registry.Put("/job-1", "neighbour"))
	r := newNarrowReplay(e, p, "/job", registry.Part{Folder: "/job/items", Only: []string{"2", "11", "12", "3"}}, registry.Part{Folder: "/job/notes"})
	seen := func() []string { return paths(collect(r.view.Snapshot())) }
	require.Equal(e, []string{"/job/head", "/job/items", "/job/items/11/state", "/job/items/2/state", "/job/items/3/state"}, seen())
	for i := range 3 {
		for _, n := range []string{"1", "10", "11", "110", "12", "2", "20", "3"} {
			e.commit(other, registry.Put("/job/items/"+n+"/state", fmt.Sprint(i)))
		}
		e.commit(other, registry.Put("/job/notes/a", fmt.Sprint(i)), registry.Put("/job/head", fmt.Sprint(i)), registry.Put("/job/z", fmt.Sprint(i)))
	}
	e.commit(other, registry.DeleteTree("/job/items/3"), registry.Delete("/job/items/10/state"))
	r.requireAgrees(e, other)
	require.Equal(e, []string{"/job/head", "/job/items", "/job/items/11/state", "/job/items/12/state", "/job/items/2/state", "/job/z"}, seen())
	for path := range r.changes {
		require.False(e, r.hides(path), path)
	}
}

// narrowedShowsATransactionAsOneStep commits transactions that change several parts of a view and what lies beside them,
// while other transactions change one part.
func narrowedShowsATransactionAsOneStep(e *env) {
	p, other := e.open(), e.open()
	together := []string{"/job/items/1/state", "/job/items/3/state", "/job/a", "/job/z"}
	r := newNarrowReplay(e, p, "/job", registry.Part{Folder: "/job/items", Only: []string{"1", "3"}})
	r.view.Subscribe(func(s registry.Step) {
		for _, path := range together[1:] {
			if one, another := s.Snapshot.Get(together[0]), s.Snapshot.Get(path); one.Revision != another.Revision {
				r.fault("of one transaction, %s is at %d and %s at %d", together[0], one.Revision, path, another.Revision)
			}
		}
	})
	for i := range 60 {
		writes := []registry.Write{registry.Put("/job/items/2/state", fmt.Sprint(i))}
		for _, path := range together {
			writes = append(writes, registry.Put(path, fmt.Sprint(i)))
		}
		revision := e.commit(other, writes...)
		e.commit(other, registry.Put("/job/items/3/other", fmt.Sprint(i)))
		if i%7 == 0 {
			e.waitRevision(r.view, revision)
		}
	}
	r.requireAgrees(e, other)
}

// narrowedReachesRevisionsElsewhere waits for revisions that changed nothing that a view shows.
func narrowedReachesRevisionsElsewhere(e *env) {
	p, other := e.open(), e.open()
	r := newNarrowReplay(e, p, "/job", registry.Part{Folder: "/job/items", Only: []string{"1", "3"}})
	for i := range 5 {
		revision := e.commit(other, registry.Put("/job/items/2", fmt.Sprint(i)))
		e.waitRevision(r.view, revision)
		require.GreaterOrEqual(e, r.view.Snapshot().Revision(), revision)
	}
	revision := e.commit(other, registry.Put("/job/items/1", ""))
	e.waitFor(r.view, func(s registry.Snapshot) bool { return s.Get("/job/items/1").Revision == revision })
	require.Equal(e, 2, r.steps, "subscribers are not told of nothing")
	r.requireAgrees(e, other)
}

// narrowedShowsOwnWrites has a handle write what its own view shows of parts, in turns with another one: whoever waits for a
// revision sees what was written by then, and what nobody waits for is shown soon, in order.
func narrowedShowsOwnWrites(e *env) {
	p, other := e.open(), e.open()
	r := newNarrowReplay(e, p, "/job", registry.Part{Folder: "/job/items", Only: []string{"1", "3"}})
	for i := range 20 {
		path := fmt.Sprintf("/job/items/%d/state", 1+2*(i%2))
		revision := e.commit(p, registry.Put(path, fmt.Sprint(i)), registry.Put("/job/items/2/state", fmt.Sprint(i)))
		switch i % 4 {
		case 0:
			e.waitRevision(r.view, revision)
			require.Equal(e, revision, r.view.Snapshot().Get(path).Revision)
		case 1:
			e.waitFor(r.view, func(s registry.Snapshot) bool { return s.Get(path).Revision == revision })
		case 2:
			head := e.commit(other, registry.Put("/job/head", fmt.Sprint(i)))
			now := e.waitFor(r.view, func(s registry.Snapshot) bool { return s.Get("/job/head").Revision == head })
			require.Equal(e, revision, now.Get(path).Revision, "what was written before is there, too")
		default:
		}
	}
	r.requireAgrees(e, other)
	require.Equal(e, 10, r.changes["/job/items/1/state"])
}

// narrowedOutlivesManyOthers opens so many views beside a narrowed one that a backend may follow all in another way.
func narrowedOutlivesManyOthers(e *env) {
	p, other := e.open(), e.open()
	e.commit(other, registry.Put("/job/items/1", ""), registry.Put("/job/items/2", ""))
	narrow := registry.Part{Folder: "/job/items", Only: []string{"1"}}
	replays := []*replay{newNarrowReplay(e, p, "/job", narrow)}
	for i := range 20 {
		e.commit(other, registry.Put("/job/items/1", fmt.Sprint(i)), registry.Put("/job/a", fmt.Sprint(i)), registry.Put("/job/items/2", fmt.Sprint(i)))
		e.view(p, fmt.Sprintf("/others/%d", i))
		replays = append(replays, newNarrowReplay(e, p, "/job", narrow))
	}
	for _, r := range replays[1:10] {
		r.unsubscribe()
		r.view.Close()
	}
	e.commit(other, registry.Put("/job/items/1", "last"), registry.Put("/job/z", ""))
	for _, r := range append(replays[:1], replays[10:]...) {
		r.requireAgrees(e, other)
	}
}

func beginsWhileOthersWait(e *env) {
	openWhileOthersWait(e, func(p *Participant, job string) *replay { return newReplay(e.view(p, job)) })
}

func narrowedBeginsWhileOthersWait(e *env) {
	openWhileOthersWait(e, func(p *Participant, job string) *replay {
		return newNarrowReplay(e, p, job, registry.Part{Folder: job + "/items", Only: []string{"1", "3"}})
	})
}

// openWhileOthersWait opens views of what another handle writes to at about that moment, while somebody asks again and again
// for a revision that another view cannot reach. What a backend is told of how far that one is says nothing of those that have
// just begun.
func openWhileOthersWait(e *env, open func(p *Participant, job string) *replay) {
	const step = 500 * time.Microsecond
	p, other := e.open(), e.open()
	patient := e.view(p, "/patient")
	wait, stop := context.WithCancel(e.ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer stop()
	waiting.Go(func() {
		for wait.Err() == nil {
			once, cancel := context.WithTimeout(wait, step)
			_ = patient.WaitRevision(once, 1<<40)
			cancel()
		}
	})
	for i := range 24 {
		job := fmt.Sprintf("/jobs/%d", i)
		written := make(chan error, 1)
		go func() {
			time.Sleep(time.Duration(i%12) * step)
			_, err := other.Commit(e.ctx, registry.Txn{
				Then:   []registry.Write{registry.Put(job+"/items/1/state", ""), registry.Put(job+"/items/3/state", "")},
				Repeat: registry.RepeatHarmless,
			})
			written <- err
		}()
		r := open(p, job)
		require.NoError(e, <-written)
		r.requireAgrees(e, other)
		r.view.Close()
	}
}

func narrowedBySomethingElse(e *env) {
	p := e.open()
	for _, parts := range [][]registry.Part{
		{{Folder: "items"}},
		{{Folder: "/other/items"}},
		{{Folder: "/job/items", Only: []string{"1/state"}}},
		{{Folder: "/job/items", Only: []string{""}}},
		{{Folder: "/job/items"}, {Folder: "/job/items/1"}},
	} {
		_, err := registry.ViewParts(e.ctx, p.Registry, "/job", parts)
		require.ErrorIs(e, err, registry.ErrInvalid, "%v", parts)
	}
}

func showsOwnWrites(e *env) {
	p := e.open()
	v := e.view(p, "/job")
	told := make(map[registry.Revision]bool)
	unsubscribe := v.Subscribe(func(s registry.Step) { told[s.Snapshot.Get("/job/a").Revision] = true })
	var revisions []registry.Revision
	for range 20 {
		revision := e.commit(p, registry.Put("/job/a", "same"))
		e.waitRevision(v, revision)
		require.Equal(e, revision, v.Snapshot().Get("/job/a").Revision)
		revisions = append(revisions, revision)
	}
	unsubscribe()
	for _, revision := range revisions {
		require.True(e, told[revision], "subscribers hear of %d before it is waited for", revision)
	}
}

func reachesRevisionsThatChangedOthers(e *env) {
	p, other := e.open(), e.openIn(e.namespace+"-other")
	v := e.view(p, "/quiet")
	r := newReplay(v)
	e.waitRevision(v, e.commit(p, registry.Put("/loud/a", "")))
	revision := e.commit(other, registry.Put("/quiet", "of another namespace"))
	e.waitRevision(v, revision)
	require.GreaterOrEqual(e, v.Snapshot().Revision(), revision)
	r.requireAgrees(e, p)
	require.Equal(e, 1, r.steps, "subscribers are not told of nothing")
}

// What changes below a view that is closed at that moment keeps no other view waiting.
func oneViewOpensWhileAnotherCloses(e *env) {
	p, other := e.open(), e.open()
	for n := range 40 {
		closing := e.view(p, "/goes")
		path := fmt.Sprintf("/stays/%d", n)
		e.commit(other, registry.Put(path, ""))
		opened := make(chan error, 1)
		var v *registry.View
		go func() {
			var err error
			v, err = p.View(e.ctx, path)
			opened <- err
		}()
		for i := range 4 {
			e.commit(other, registry.Put("/goes/x", fmt.Sprint(n, i)))
			if i == 1 {
				closing.Close()
			}
		}
		require.NoError(e, <-opened)
		require.True(e, v.Snapshot().Get(path).Exists())
		v.Close()
	}
}

func manyViewsOfOneHandleAgree(e *env) {
	p, other := e.open(), e.open()
	var replays []*replay
	for i, path := range []string{registry.Root, "/a", "/a/b", "/a/b/c", registry.Root, "/x"} {
		replays = append(replays, newReplay(e.view(p, path)))
		e.commit(other, registry.Put("/a/b/c", path), registry.Put("/x", path), registry.Put("/n"+registry.Revision(i).String(), ""))
	}
	e.commit(other, registry.DeleteTree("/a"))
	e.commit(other, registry.Put("/a/b/c/d", ""))
	for _, r := range replays {
		r.requireAgrees(e, other)
	}
}

func waitingEndsWithItsContext(e *env) {
	v := e.view(e.open(), registry.Root)
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(e.ctx)
	cancel(reason)
	_, err := v.WaitFor(ctx, func(registry.Snapshot) bool { return false })
	require.ErrorIs(e, err, reason)
	require.ErrorIs(e, v.WaitRevision(ctx, 1<<60), reason)
	_, err = v.WaitFor(ctx, func(registry.Snapshot) bool { return true })
	require.NoError(e, err, "what is already there needs no waiting")
}

func viewEndsWhenClosed(e *env) {
	p := e.open()
	v, other := e.view(p, registry.Root), e.view(p, registry.Root)
	told := 0
	v.Subscribe(func(registry.Step) { told++ })
	v.Close()
	v.Close()
	<-v.Done()
	require.ErrorIs(e, v.Err(), registry.ErrClosed)
	e.waitRevision(other, e.commit(p, registry.Put("/a", "")))
	require.Equal(e, 1, told, "a closed view tells nobody anything")
	require.ErrorIs(e, v.WaitRevision(e.ctx, 1<<60), registry.ErrClosed)
	require.NoError(e, other.Err())
}

func viewEndsWithItsContext(e *env) {
	p := e.open()
	reason := errors.New("no longer of interest")
	ctx, cancel := context.WithCancelCause(e.ctx)
	v, err := p.View(ctx, registry.Root)
	require.NoError(e, err)
	cancel(reason)
	<-v.Done()
	require.ErrorIs(e, v.Err(), reason)
	e.commit(p, registry.Put("/a", "the handle goes on"))
}

// deniedViewEnds takes from a process the permission for one subtree. Its view ends and says why, others
// go on, and with the permission back the subtree can be followed again.
func deniedViewEnds(e *env) {
	p, other := e.open(), e.open()
	e.commit(other, registry.Put("/closed/a", "1"), registry.Put("/open/a", "1"))
	closed, open := e.view(p, "/closed"), e.view(p, "/open")
	told := make(chan error, 2)
	closed.AfterEnd(func(reason error) { told <- reason })
	p.Deny("/closed")
	e.commit(other, registry.Put("/closed/a", "2"))
	select {
	case reason := <-told:
		require.ErrorIs(e, reason, registry.ErrDenied)
	case <-e.ctx.Done():
		require.FailNow(e, "the view goes on")
	}
	<-closed.Done()
	require.ErrorIs(e, closed.Err(), registry.ErrDenied)
	closed.AfterEnd(func(reason error) { told <- reason })
	require.ErrorIs(e, <-told, registry.ErrDenied, "also who asks afterwards is told")
	_, err := p.View(e.ctx, "/closed")
	require.ErrorIs(e, err, registry.ErrDenied)
	_, err = p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put("/closed/a", "3")}})
	require.ErrorIs(e, err, registry.ErrDenied)
	e.commit(other, registry.Put("/open/a", "2"))
	e.waitValue(open, "/open/a", "2")

	p.Allow()
	again := e.view(p, "/closed")
	changes := again.Snapshot().Since(closed.Snapshot())
	require.Len(e, changes, 1)
	require.Equal(e, registry.Updated, changes[0].Kind())
	require.Equal(e, "2", changes[0].New.Value)
}
