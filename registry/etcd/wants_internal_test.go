package etcd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// partly is a view of two parts at revision 10, and the watches that bring them, of which none runs.
type partly struct {
	*follower
	hub        *hub
	one, other *watch
}

func newPartly(tb testing.TB) *partly {
	tb.Helper()
	p := &partly{follower: newFollower("/job", nil), hub: newHub(&Registry{life: context.Background()})}
	p.ranges, p.joint = make([]keyRange, 2), newJoint()
	for _, w := range []**watch{&p.one, &p.other} {
		*w = newWatch(p.hub, "/job", keyRange{}, 10)
		(*w).part = true
		(*w).add(p.follower)
		p.joint.reached[*w] = 10
	}
	p.start(registry.NewSnapshot(10, nil), p.hub)
	return p
}

// bring has one watch bring an event.
func (p *partly) bring(revision registry.Revision) {
	u := update{revision: revision, events: []backend.Event{{Path: "/job/1"}}, at: []registry.Revision{revision}}
	if awaits := p.deliver(p.one, u); len(awaits) > 0 {
		p.hub.awaitParts(p.follower, awaits)
	}
}

// confirm has both watches say how far they are.
func (p *partly) confirm(revision registry.Revision) {
	for _, w := range []*watch{p.one, p.other} {
		p.deliver(w, update{revision: revision})
	}
}

// asksIn returns after what time the store is asked; negative if it is not.
func (p *partly) asksIn() time.Duration {
	now := time.Now()
	ask, _, next := p.hub.lagging(now)
	switch {
	case ask:
		return 0
	case next.IsZero():
		return -1
	default:
		return next.Sub(now)
	}
}

// A view of parts asks at once for what somebody waits for and for what others did, and later for what its own process
// did, which knows of it.
func TestWhenAViewOfPartsAsks(t *testing.T) {
	t.Parallel()
	const soon, later, now, never = firstProgressPause, ownProgressPause, time.Duration(0), time.Duration(-1)
	for name, test := range map[string]struct {
		happens func(p *partly)
		want    time.Duration
	}{
		"nothing":                  {func(*partly) {}, never},
		"others did something":     {func(p *partly) { p.bring(11) }, soon},
		"this process did it":      {func(p *partly) { p.hub.answered(p.hub.sending(), 11); p.bring(11) }, later},
		"it did, and others after": {func(p *partly) { p.hub.answered(p.hub.sending(), 11); p.bring(11); p.bring(12) }, soon},
		"others did, and it after": {func(p *partly) { p.bring(11); p.hub.answered(p.hub.sending(), 12); p.bring(12) }, soon},
		"it may have done it":      {func(p *partly) { p.hub.sending(); p.bring(11) }, later},
		"it may, and has": {func(p *partly) {
			n := p.hub.sending()
			p.bring(11)
			p.hub.answered(n, 11)
		}, later},
		"it may, and has not": {func(p *partly) {
			n := p.hub.sending()
			p.bring(11)
			p.hub.answered(n, 12)
		}, now},
		"it may, and got no answer": {func(p *partly) {
			n := p.hub.sending()
			p.bring(11)
			p.hub.answered(n, 0)
		}, now},
		"what it sent later did not do it": {func(p *partly) {
			n := p.hub.sending()
			p.bring(11)
			p.hub.sending()
			p.hub.answered(n, 0)
		}, now},
		"one of two requests may still": {func(p *partly) {
			n := p.hub.sending()
			p.hub.sending()
			p.bring(11)
			p.hub.answered(n, 12)
		}, later},
		"it did, and somebody waits": {func(p *partly) {
			p.hub.answered(p.hub.sending(), 11)
			p.bring(11)
			p.hub.awaitRevision(p.follower, 11)
		}, now},
		"somebody waits for what has not come": {func(p *partly) { p.hub.awaitRevision(p.follower, 11) }, soon},
		"somebody waited": {func(p *partly) {
			p.hub.awaitRevision(p.follower, 11)
			p.confirm(11)
		}, never},
		"others did something, all of which came": {func(p *partly) { p.bring(11); p.confirm(12) }, never},
		"it did more after the view caught up": {func(p *partly) {
			p.bring(11)
			p.confirm(11)
			p.hub.answered(p.hub.sending(), 12)
			p.bring(12)
		}, later},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPartly(t)
				test.happens(p)
				require.Equal(t, test.want, p.asksIn())
			})
		})
	}
}

// Who is not answered asks again, ever less often, and not before an answer may have come.
func TestHowOftenTheStoreIsAsked(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answers time.Duration // what answers take; 0 = nobody knows
		want    []time.Duration
	}{
		"a store that is quick": {want: []time.Duration{1, 2, 4, 8, 16, 32, 64, 100, 100}},
		"a store that is busy":  {answers: 15 * time.Millisecond, want: []time.Duration{1, 30, 30, 30, 30, 32, 64, 100, 100}},
		"one that is stuck":     {answers: time.Second, want: []time.Duration{1, 100, 100, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := newPartly(t)
				if test.answers > 0 {
					p.hub.progress.ask(time.Now().Add(-test.answers))
					p.hub.noteActivity(true)
				}
				p.bring(11)
				var pauses []time.Duration
				for range test.want {
					pause := p.asksIn()
					pauses = append(pauses, pause/time.Millisecond)
					time.Sleep(pause)
					require.Zero(t, p.asksIn())
				}
				require.Equal(t, test.want, pauses)
			})
		})
	}
}

// A question that is sent is one for all who want something by then.
func TestOneQuestionServesAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, late := newPartly(t), newPartly(t)
		p.hub.awaitRevision(p.follower, 11)
		time.Sleep(firstProgressPause / 2)
		p.hub.awaitRevision(late.follower, 11)
		time.Sleep(firstProgressPause / 2)
		require.Zero(t, p.asksIn())
		require.Equal(t, 2*firstProgressPause, p.asksIn(), "and not when the other wanted it")
	})
}

// The revisions of a handle's commits are known while watches may bring them.
func TestOwnCommits(t *testing.T) {
	t.Parallel()
	var o ownCommits
	for revision := range registry.Revision(3 * ownKept) {
		o.over(o.begin(), revision+1)
	}
	for revision := range registry.Revision(3 * ownKept) {
		want := others
		if revision >= 2*ownKept {
			want = ours
		}
		require.Equal(t, want, o.made(revision+1), "%d", revision+1)
	}
	require.Empty(t, o.underWay)
}
