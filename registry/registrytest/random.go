package registrytest

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func randomCases() []testCase {
	return []testCase{
		{name: "OperationsAgreeWithAMap", run: func(e *env) { operationsAgreeWithAMap(e, undisturbed) }},
		{name: "OperationsAgreeWithAMapWhenAnswersGetLost", needs: []Ability{LoseAnswer}, run: func(e *env) {
			operationsAgreeWithAMap(e, losingAnswers)
		}},
		{name: "OperationsAgreeWithAMapWhenWatchesBreak", needs: []Ability{BreakWatch}, run: func(e *env) {
			operationsAgreeWithAMap(e, breakingWatches)
		}},
		{name: "OperationsAgreeWithAMapWhenSessionsEnd", needs: []Ability{Expire}, run: sessionsEndAtRandom},
	}
}

// A disturbance breaks something before a transaction, which it may change.
type disturbance func(w *walk, p *Participant, txn registry.Txn) registry.Txn

func undisturbed(_ *walk, _ *Participant, txn registry.Txn) registry.Txn { return txn }

func breakingWatches(w *walk, p *Participant, txn registry.Txn) registry.Txn {
	if w.IntN(6) == 0 {
		p.BreakWatch()
		w.narrow.BreakWatch()
	}
	return txn
}

// losingAnswers guards every transaction by a node that it also writes. Without such a guard it could
// be done again when its answer was lost, which is allowed.
func losingAnswers(w *walk, p *Participant, txn registry.Txn) registry.Txn {
	if w.IntN(4) == 0 {
		p.LoseAnswer()
	}
	txn.If = append(txn.If, registry.Unchanged("/once", w.model["/once"].Revision))
	txn.Then = append(txn.Then, registry.Put("/once", fmt.Sprint(w.last)))
	return txn
}

// walk is a random sequence of transactions by two processes on few paths, so that most meet.
type walk struct {
	*rand.Rand
	e            *env
	participants []*Participant
	narrow       *Participant // whose views are narrowed
	model        model
	replays      []*replay
	last         registry.Revision
}

var walkPaths = []string{"/a", "/a/1", "/a/10", "/a/1/x", "/ab", "/b/c"}

func newWalk(e *env, seed uint64) *walk {
	w := &walk{
		Rand: rand.New(rand.NewPCG(seed, 1)), e: e, model: make(model),
		participants: []*Participant{e.open(), e.open()}, narrow: e.open(),
	}
	for _, parts := range [][]registry.Part{
		{{Folder: "/a", Only: []string{"1"}}}, {{Folder: "/a"}, {Folder: "/b", Only: []string{"c", "d"}}},
	} {
		w.replays = append(w.replays, newNarrowReplay(e, w.narrow, registry.Root, parts...))
	}
	for _, path := range []string{registry.Root, "/a", "/a/1"} {
		w.replays = append(w.replays, newReplay(e.view(w.participants[0], path)))
	}
	return w
}

func (w *walk) path() string { return walkPaths[w.IntN(len(walkPaths))] }

func (w *walk) txn(p *Participant) registry.Txn {
	for {
		txn := registry.Txn{Repeat: registry.RepeatHarmless}
		for range w.IntN(3) {
			txn.If = append(txn.If, w.condition(p))
		}
		for range 1 + w.IntN(3) {
			txn.Then = append(txn.Then, w.write(p))
		}
		if txn.Check() == nil {
			return txn
		}
	}
}

func (w *walk) condition(p *Participant) registry.Condition {
	path := w.path()
	revision := max(w.model[path].Revision, w.model[path].Created+registry.Revision(w.IntN(2)))
	switch w.IntN(5) {
	case 0:
		return registry.Absent(path)
	case 1:
		return registry.Present(path)
	case 2:
		return registry.Unchanged(path, revision)
	case 3:
		return registry.CreatedAt(path, max(1, w.model[path].Created))
	default:
		return registry.NotOwnedBy(path, w.e.session(p).ID())
	}
}

func (w *walk) write(p *Participant) registry.Write {
	path, value := w.path(), fmt.Sprint(w.IntN(1000))
	switch w.IntN(6) {
	case 0, 1:
		return registry.Put(path, value)
	case 2:
		return registry.PutOwned(w.ownable(path), value, w.e.session(p))
	case 3:
		return registry.Update(path, value)
	case 4:
		return registry.Delete(path)
	default:
		return registry.DeleteTree(path)
	}
}

// ownable returns a path that a session may own: one without descendants, where the store wants that.
func (w *walk) ownable(path string) string {
	_, lacking := w.e.backend.Lacks[OwnedParents]
	for lacking && slices.ContainsFunc(walkPaths, func(p string) bool { return p != path && registry.Within(p, path) }) {
		path = w.path()
	}
	return path
}

// step has one process commit a random transaction and compares the outcome with the model's.
func (w *walk) step(p *Participant, disturb disturbance) {
	w.e.Helper()
	require.NoError(w.e, w.try(p, disturb))
}

// try is step, and returns how the outcome differs.
func (w *walk) try(p *Participant, disturb disturbance) error {
	txn := disturb(w, p, w.txn(p))
	want := w.model.refusal(txn)
	revision, err := p.Commit(w.e.ctx, txn)
	switch {
	case want != nil && agrees(want, err):
		return nil
	case want != nil || err != nil:
		return fmt.Errorf("%v\nwant %s\n got %w", txn, fmt.Sprint(want), err)
	case revision < w.last || revision == w.last && w.model.changes(txn):
		return fmt.Errorf("%v\nat revision %d, after one at %d", txn, revision, w.last)
	}
	w.last = revision
	w.model.do(txn, revision)
	return nil
}

// finish compares what is there in the end, and what listeners made of it, with the model.
func (w *walk) finish() {
	w.e.Helper()
	found := w.e.list(w.participants[1], registry.Root)
	require.Equal(w.e, w.model.list(), append([]registry.Node{}, found...))
	for _, r := range w.replays {
		r.requireAgrees(w.e, w.participants[1])
	}
}

func operationsAgreeWithAMap(e *env, disturb disturbance) {
	w := newWalk(e, 2)
	for range 120 {
		w.step(w.participants[w.IntN(2)], disturb)
	}
	w.finish()
}

// On a busy machine a session may also end by itself, at a moment that the model does not know. Then the walk
// begins again.
func sessionsEndAtRandom(e *env) {
	for range 10 {
		if sessionsEnd(e) {
			return
		}
		e.Log("a session ended by itself")
		e.commit(e.open(), registry.DeleteTree("/a"), registry.DeleteTree("/ab"), registry.DeleteTree("/b"))
	}
	require.Fail(e, "sessions ended by themselves in every walk")
}

// sessionsEnd is false if a session ended that nobody ended.
func sessionsEnd(e *env) bool {
	w := newWalk(e, 3)
	var known [2]*registry.Session
	ownEnd := func() bool {
		return slices.ContainsFunc(known[:], func(s *registry.Session) bool { return s.State() == registry.SessionLost })
	}
	for range 4 {
		for i, p := range w.participants {
			known[i] = e.session(p)
		}
		for range 15 {
			if err := w.try(w.participants[w.IntN(2)], undisturbed); err != nil && ownEnd() {
				return false
			} else if err != nil {
				require.NoError(e, err)
			}
		}
		if ownEnd() {
			return false
		}
		ends := w.IntN(2)
		w.participants[ends].Expire()
		w.model.drop(known[ends].ID())
		e.waitLost(known[ends])
		if known[1-ends].State() == registry.SessionLost {
			return false
		}
	}
	w.finish()
	return true
}
