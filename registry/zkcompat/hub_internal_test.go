package zkcompat

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// The turn that learns that a copy could not be read may have nothing else to do. Somebody has to have the copy read
// again, or its views wait for ever.
func TestACopyThatCouldNotBeReadIsReadAgain(t *testing.T) {
	t.Parallel()
	h := newHub(nil)
	root := newRoot(newNamespace("shop"), "/shop/orders")
	root.state, root.number, root.ask = rootLoading, 1, true
	h.roots[root.path] = root
	h.done = []*loaded{{root: root, number: 1, err: zk.ErrConnectionClosed}}
	require.True(t, h.gather(nil, 0, false).empty())
	require.Equal(t, rootNew, root.state)
	select {
	case <-h.wake:
	default:
		t.Fatal("nobody wakes the hub")
	}
}

// What is still to be done about a copy whose views have ended is not done, and does not keep the copy.
func TestACopyThatNobodyFollowsIsForgotten(t *testing.T) {
	t.Parallel()
	for _, state := range []rootState{rootNew, rootLoading} {
		h, root := hubOf(t)
		root.state = state
		delete(h.roots, root.path)
		h.done = []*loaded{{root: root, number: root.number, err: zk.ErrConnectionClosed}}
		h.gather(h.link, 0, false)
		require.Empty(t, h.stirred)
	}
}

// hubOf returns a hub that keeps a copy of the subtree at /shop/orders.
func hubOf(t *testing.T) (*hub, *root) {
	t.Helper()
	r := newRegistry(Config{Namespace: "shop", Logger: slog.New(slog.DiscardHandler)})
	l := &link{changed: make(chan struct{}), epoch: 1, joined: true}
	l.quit, l.end = context.WithCancelCause(t.Context())
	r.keeper.link, r.keeper.proved = l, true
	h := r.hub
	h.link, h.epoch = l, 1
	root := newRoot(r.ns, "/shop/orders")
	root.state, root.link, root.epoch, root.nodes = rootLoaded, l, 1, make(map[string]znode)
	h.roots[root.path] = root
	h.stirred[root] = true
	return h, root
}

// setOf is a multi that sets a znode, and its answer.
func setOf(path, data string, zxid int64) (sent, answered *write) {
	ops := []any{&zk.SetDataRequest{Path: path, Data: []byte(data)}}
	sent, answered = newWrite(ops), newWrite(ops)
	answered.take(ops, []result{{stat: zk.Stat{Mzxid: zxid}}})
	return sent, answered
}

// What changed while a multi of this handle writes it is not known before the answer, which then tells.
func TestCommitsDoNotGoByWhatAnEventMadeOld(t *testing.T) {
	t.Parallel()
	h, root := hubOf(t)
	const path = "/shop/orders/a"
	root.nodes[path] = znode{there: true, data: "old"}
	z, known := h.copied(h.link, 1, path)
	require.True(t, known)
	require.Equal(t, "old", z.data)

	sent, answered := setOf(path, "new", 7)
	h.hearWrite(news{kind: writeSent, link: h.link, epoch: 1, write: sent})
	h.tell(news{kind: nodeChanged, link: h.link, path: path})
	h.learn(h.link)
	_, known = h.copied(h.link, 1, path)
	require.False(t, known, "it is this multi's event or another's")

	h.hearWrite(news{kind: writeAnswered, link: h.link, epoch: 1, write: answered})
	for range 2 { // in the queue, and learned
		z, known = h.copied(h.link, 1, path)
		require.True(t, known)
		require.Equal(t, "new", z.data)
		h.learn(h.link)
	}
}

// An answer that comes between a turn's look at what the server has shown and its look at the queue is of a newer revision than
// the first. Nobody would show it later.
func TestAnAnswerThatComesJustBeforeCopiesAreShown(t *testing.T) {
	t.Parallel()
	h, root := hubOf(t)
	const path = "/shop/orders/a"
	h.link.see(10)
	root.shown = 10
	sent, answered := setOf(path, "new", 11)
	h.hearWrite(news{kind: writeSent, link: h.link, epoch: 1, write: sent})
	h.tell(news{kind: nodeChanged, link: h.link, path: path})
	h.hearWrite(news{kind: writeAnswered, link: h.link, epoch: 1, at: 11, write: answered})
	require.True(t, h.publish(h.link, 10, false)) // at a moment in which the server had shown 10
	require.EqualValues(t, 11, root.shown)
	require.Empty(t, root.changed)
	require.Equal(t, "new", root.nodes[path].data)
	require.True(t, root.still())
}

// A view shows all that its caller has seen before he wanted it. A question that was sent earlier does not tell that.
func TestAViewBeginsWithAnAnswerToAQuestionAfterIt(t *testing.T) {
	t.Parallel()
	h, root := hubOf(t)
	join := func() *follower {
		f, err := h.join("/orders", nil)
		require.NoError(t, err)
		return f
	}
	answer := func(zxid int64) (shown int) {
		h.link.see(zxid)
		h.note(work{asked: true}, h.link.seen())
		return len(root.show(h.link.seen()))
	}
	first := join()
	require.True(t, root.takeAsk(h.link.seen()))
	second := join()
	answer(7)
	require.NotNil(t, first.view)
	require.Nil(t, second.view, "it may have been wanted by somebody who knows of 8")

	require.True(t, root.takeAsk(h.link.seen()))
	third := join()
	root.asked = 9 // the answer, which the copy does not yet show
	require.False(t, root.takeAsk(h.link.seen()), "who comes meanwhile does not have the others wait for one more answer")
	require.Equal(t, 1, answer(9), "the first view moves on")
	require.NotNil(t, second.view)
	require.Nil(t, third.view)
	require.True(t, root.takeAsk(h.link.seen()))
	answer(9)
	require.NotNil(t, third.view)
	require.True(t, root.still())
}

// The handle may be closed, or the view be refused, while the hub is about to show it its first state.
func TestAViewWhoseWaitHasEndedDoesNotBegin(t *testing.T) {
	t.Parallel()
	h, root := hubOf(t)
	f, err := h.join("/orders", nil)
	require.NoError(t, err)
	require.True(t, root.takeAsk(h.link.seen()))
	f.failed = registry.ErrClosed // as end leaves it, before the view has left
	close(f.ready)
	h.link.see(7)
	h.note(work{asked: true}, h.link.seen())
	require.Empty(t, root.show(h.link.seen()))
	_, err = h.bind(t.Context(), f)
	require.ErrorIs(t, err, registry.ErrClosed)
	h.leave(f)
	require.Empty(t, h.roots)
}

// sparing is the connection to a server that answers nothing. It keeps what was sent.
type sparing struct {
	net.Conn
	sent []string // kind and path
}

func (c *sparing) Write(request []byte) (int, error) {
	r := reader{rest: request[8:]}
	c.sent = append(c.sent, fmt.Sprint(r.int(), " ", r.text()))
	return len(request), nil
}

func (c *sparing) Close() error { return nil }

// The one goroutine that feeds all views does not wait until the server has forgotten what nobody follows any more. A new
// view of the same path is watched after that.
func TestViewsThatEndHoldUpNoOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := hubOf(t)
		server := new(sparing)
		wire := newWire(h.link, server, time.Now().Add(time.Minute))
		h.link.wire = wire
		var want []string
		for i := range 100 {
			f, err := h.join(fmt.Sprint("/gone/", i), nil)
			require.NoError(t, err)
			h.leave(f)
			want = append(want, fmt.Sprint(opRemoveWatches, " /shop/gone/", i))
		}
		h.dismiss(h.link)
		require.Equal(t, want, server.sent)

		_, err := h.join("/gone/7", nil)
		require.NoError(t, err)
		h.gather(h.link, 0, false)
		synctest.Wait()
		require.Equal(t, append(want, fmt.Sprint(opAddWatch, " /shop/gone/7")), server.sent)
		h.r.endLife(registry.ErrClosed)
		require.NoError(t, wire.Close())
		h.wg.Wait()
	})
}

// A request of many paths is never too large for the server, whatever path comes last. What a path alone takes, it took
// when its node was created, too.
func TestRequestsOfLongPaths(t *testing.T) {
	t.Parallel()
	short, long := strings.Repeat("s", 1000), strings.Repeat("l", maxRequest-100)
	var all []string
	for i := range 300 {
		if i%100 == 99 {
			all = append(all, long)
		}
		all = append(all, short)
	}
	var found []string
	for part := range requests(all) {
		require.LessOrEqual(t, len(readRequest(opGetData, part)), maxRequest)
		found = append(found, part...)
	}
	require.Equal(t, all, found)
}
