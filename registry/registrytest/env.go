package registrytest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry"
)

// runs tells namespaces of repeated runs of a test apart, on a store that outlives them.
var runs atomic.Int64

// env is what a case works with.
type env struct {
	testing.TB
	ctx       context.Context // ends when the case has taken far too long
	backend   Backend
	store     *Store
	needs     []Ability
	namespace string
}

func newEnv(tb testing.TB, backend Backend, needs []Ability) *env {
	tb.Helper()
	store := backend.Start(tb, needs)
	if store.Slack == 0 {
		store.Slack = store.TTL
	}
	e := &env{
		TB: tb, backend: backend, store: store, needs: needs,
		namespace: freshNamespace(tb),
	}
	e.ctx = e.patience()
	e.requireAbility(Restart, store.Restart != nil)
	e.requireAbility(Compact, store.Compact != nil)
	e.requireAbility(Full, store.Fill != nil && store.Free != nil)
	return e
}

func freshNamespace(tb testing.TB) string {
	return namespaceOf(tb) + "-" + registry.Revision(runs.Add(1)).String()
}

// longPatience bounds what a long TTL adds to it.
const longPatience = 30 * time.Second

// patience bounds a case, so that it fails rather than hangs. A benchmark runs for as long as it was
// told to.
func (e *env) patience() context.Context {
	if _, bench := e.TB.(*testing.B); bench {
		return e.Context()
	}
	ctx, cancel := context.WithTimeout(e.Context(), 2*time.Minute+4*min(e.store.TTL, longPatience)+4*e.idle())
	e.Cleanup(cancel)
	return ctx
}

// requireAbility fails the case if it needs what the backend neither has nor declares as lacking.
func (e *env) requireAbility(ability Ability, there bool) {
	e.Helper()
	if slices.Contains(e.needs, ability) && !there {
		e.Fatalf("the backend has no function for %q and does not declare that it lacks it", ability)
	}
}

// open returns a new participant of the case's namespace.
func (e *env) open() *Participant {
	e.Helper()
	return e.openIn(e.namespace)
}

// openSteady is open for a bystander: its session lasts, whatever ends those of others.
func (e *env) openSteady() *Participant {
	e.Helper()
	if e.store.OpenSteady == nil {
		return e.open()
	}
	return e.opened(e.store.OpenSteady(e, e.namespace))
}

func (e *env) openIn(namespace string) *Participant {
	e.Helper()
	return e.opened(e.store.Open(e, namespace))
}

// opened closes a participant when the case is over.
func (e *env) opened(p *Participant) *Participant {
	e.Helper()
	e.requireAbility(Cut, p.Cut != nil && p.Heal != nil)
	e.requireAbility(Expire, p.Expire != nil)
	e.requireAbility(LoseAnswer, p.LoseAnswer != nil)
	e.requireAbility(HoldBack, p.HoldBack != nil)
	e.requireAbility(Vanish, p.Vanish != nil)
	e.requireAbility(BreakWatch, p.BreakWatch != nil)
	e.requireAbility(Deny, p.Deny != nil && p.Allow != nil)
	e.Cleanup(func() { e.close(p) })
	return p
}

// close ends a participant, whatever the case did with it.
func (e *env) close(p *Participant) {
	if p.Heal != nil {
		p.Heal()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.ctx), 10*time.Second)
	defer cancel()
	_ = p.Close(ctx) // cases that close themselves have judged the result
}

// session returns the participant's session in force.
func (e *env) session(p *Participant) *registry.Session {
	e.Helper()
	s, err := p.Session(e.ctx)
	require.NoError(e, err)
	return s
}

// commit has one unguarded transaction done. That it may be done twice is no harm here.
func (e *env) commit(p registry.Committer, writes ...registry.Write) registry.Revision {
	e.Helper()
	revision, err := p.Commit(e.ctx, registry.Txn{Then: writes, Repeat: registry.RepeatHarmless})
	require.NoError(e, err)
	return revision
}

// get returns the node at path; the zero Node if it is absent.
func (e *env) get(p registry.Reader, path string) registry.Node {
	e.Helper()
	n, err := p.Get(e.ctx, path)
	if err != nil {
		require.ErrorIs(e, err, registry.ErrNotFound)
	}
	return n
}

// list returns the nodes at and below path.
func (e *env) list(p registry.Reader, path string) []registry.Node {
	e.Helper()
	nodes, _, err := p.List(e.ctx, path)
	require.NoError(e, err)
	return nodes
}

// paths returns the paths of nodes.
func paths(nodes []registry.Node) []string {
	found := make([]string, len(nodes))
	for i, n := range nodes {
		found[i] = n.Path
	}
	return found
}

// view follows the subtree at path until the case ends.
func (e *env) view(p registry.Viewer, path string) *registry.View {
	e.Helper()
	v, err := p.View(e.ctx, path)
	require.NoError(e, err)
	return v
}

// narrowView opens a view that parts narrow.
func (e *env) narrowView(p *Participant, path string, parts ...registry.Part) *registry.View {
	e.Helper()
	v, err := registry.ViewParts(e.ctx, p.Registry, path, parts)
	require.NoError(e, err)
	return v
}

// waitFor returns the first state of the view that satisfies the predicate.
func (e *env) waitFor(v *registry.View, predicate func(registry.Snapshot) bool) registry.Snapshot {
	e.Helper()
	s, err := v.WaitFor(e.ctx, predicate)
	require.NoError(e, err, "the view at revision %d shows %d nodes", s.Revision(), s.Len())
	return s
}

// waitValue waits until the view shows a value at path.
func (e *env) waitValue(v *registry.View, path, value string) {
	e.Helper()
	e.waitFor(v, func(s registry.Snapshot) bool { return s.Get(path).Exists() && s.Get(path).Value == value })
}

// waitAbsent waits until the view shows no node at path.
func (e *env) waitAbsent(v *registry.View, path string) registry.Snapshot {
	e.Helper()
	return e.waitFor(v, func(s registry.Snapshot) bool { return !s.Get(path).Exists() })
}

// waitRevision waits until the view has reached a revision.
func (e *env) waitRevision(v *registry.View, revision registry.Revision) {
	e.Helper()
	require.NoError(e, v.WaitRevision(e.ctx, revision))
}

// within returns a context that ends after a number of TTLs.
func (e *env) within(ttls float64) context.Context {
	ctx, cancel := context.WithTimeout(e.ctx, e.ttls(ttls))
	e.Cleanup(cancel)
	return ctx
}

// ttls returns a multiple of the TTL.
func (e *env) ttls(n float64) time.Duration { return time.Duration(n * float64(e.store.TTL)) }

// despiteStalls tells a story of a session that its store keeps, for a while or as long as the process lives. It is
// told again, in another namespace, if it failed and the process stood still for a good part of what a store goes by.
func (e *env) despiteStalls(story func() error) {
	e.Helper()
	standstill.Retry(e, e.ttls(1.0/6), func() error {
		e.namespace = freshNamespace(e)
		return story()
	})
}

// idle is for how long cases about idleness do nothing.
func (e *env) idle() time.Duration {
	if e.backend.Idle > 0 {
		return e.backend.Idle
	}
	return e.ttls(4)
}

// conflict requires that err is a conflict and returns it.
func (e *env) conflict(err error) *registry.ConflictError {
	e.Helper()
	var conflict *registry.ConflictError
	require.ErrorAs(e, err, &conflict)
	require.ErrorIs(e, err, registry.ErrConflict)
	return conflict
}
