package zkcompat_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

const opSync = 9

// tally counts the requests of a handle by kind, but for what keeps its session.
type tally struct {
	mu   sync.Mutex
	sent map[uint32]int
}

// dial is what a Config takes.
func (c *tally) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	return &tallied{Conn: conn, tally: c}, err
}

// take returns what was counted since the last time.
func (c *tally) take() map[uint32]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	sent := c.sent
	c.sent = make(map[uint32]int)
	delete(sent, opSync)
	return sent
}

type tallied struct {
	net.Conn
	tally  *tally
	hailed bool
}

func (c *tallied) Write(frame []byte) (int, error) {
	c.tally.mu.Lock()
	if kind := binary.BigEndian.Uint32(frame[8:]); c.hailed && kind != 11 && !isBallot(frame) { // no ping
		c.tally.sent[kind]++
	}
	c.hailed = true
	c.tally.mu.Unlock()
	return c.Conn.Write(frame)
}

// counters puts so many nodes and returns a handle whose view shows them.
func counters(t *testing.T, n int, adjust ...func(*zkcompat.Config)) (*zkcompat.Registry, *registry.View) {
	t.Helper()
	r := open(t, append(adjust, steadily)...)
	view, err := r.View(t.Context(), registry.Root)
	require.NoError(t, err)
	for i := range n {
		put(t, r, registry.Put(fmt.Sprintf("/n/%d/record", i), "0"))
	}
	require.NoError(t, view.WaitRevision(t.Context(), put(t, r, registry.Put("/config", "0"))))
	return r, view
}

// steadily has a session outlast any standstill of a busy machine.
func steadily(c *zkcompat.Config) { c.SessionTimeout = steadyTTL }

// increments returns a transaction for each node, as a view shows them.
func increments(s registry.Snapshot, n int) []registry.Txn {
	txns := make([]registry.Txn, n)
	for i := range txns {
		path := fmt.Sprintf("/n/%d/record", i)
		value, _ := strconv.Atoi(s.Get(path).Value)
		txns[i] = registry.Txn{
			If: []registry.Condition{
				registry.Unchanged("/config", s.Get("/config").Revision), registry.Absent(fmt.Sprintf("/n/%d/disabled", i)),
				registry.Unchanged(path, s.Get(path).Revision),
			},
			Then: []registry.Write{registry.Put(path, strconv.Itoa(value+1))},
		}
	}
	return txns
}

// What views show is not read, and neither is what the handle wrote itself.
func TestTransactionsUnderAViewAreOneMultiAndNoRead(t *testing.T) {
	t.Parallel()
	count := &tally{sent: make(map[uint32]int)}
	const n = 50
	r, view := counters(t, n, func(c *zkcompat.Config) { c.Dial = count.dial })
	const unsettled = 100 * time.Millisecond // for so long a view waits for an answer before it reads
	rounds, swift := 0, 0
	for ; swift < 5 && rounds < 100; rounds++ {
		count.take()
		began := time.Now()
		var last registry.Revision
		for _, o := range r.CommitAll(t.Context(), increments(view.Snapshot(), n)) {
			require.NoError(t, o.Err)
			last = o.Revision
		}
		require.NoError(t, view.WaitRevision(t.Context(), last))
		sent := count.take()
		require.Equal(t, 1, sent[opMulti])
		if time.Since(began) < unsettled { // else the view may have waited long enough for the answer, and have read
			require.Equal(t, map[uint32]int{opMulti: 1}, sent)
			swift++
		}
	}
	require.NotZero(t, swift, "a server that answers in time")
	require.Equal(t, strconv.Itoa(rounds), view.Snapshot().Get("/n/7/record").Value)
}

// A session's own nodes are known by the answer too: they come and go without a read.
func TestOwnNodesUnderAViewAreNotRead(t *testing.T) {
	t.Parallel()
	count := &tally{sent: make(map[uint32]int)}
	r, view := counters(t, 1, func(c *zkcompat.Config) { c.Dial = count.dial })
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	count.take()
	for range 3 {
		token := put(t, r, registry.PutOwned("/n/0/running", "me", session))
		require.NoError(t, view.WaitRevision(t.Context(), token))
		running := view.Snapshot().Get("/n/0/running")
		require.Equal(t, registry.Node{Path: "/n/0/running", Value: "me", Session: session.ID(), Created: token, Revision: token}, running)
		ended, err := r.Commit(t.Context(), registry.Txn{
			If:   []registry.Condition{registry.CreatedAt("/n/0/running", token)},
			Then: []registry.Write{registry.Delete("/n/0/running"), registry.Put("/n/0/record", "done")},
		})
		require.NoError(t, err)
		require.NoError(t, view.WaitRevision(t.Context(), ended))
		require.False(t, view.Snapshot().Get("/n/0/running").Exists())
	}
	require.Equal(t, map[uint32]int{opMulti: 6}, count.take())
}

// A multi fails as a whole. The transaction whose condition does not hold is refused, and the others are done.
func TestAConflictHarmsNobodyElseInTheMulti(t *testing.T) {
	t.Parallel()
	var answers sync.RWMutex
	count := &tally{sent: make(map[uint32]int)}
	const n = 20
	r, view := counters(t, n, func(c *zkcompat.Config) {
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := count.dial(ctx, network, address)
			return held{conn, &answers}, err
		}
	})
	other := open(t, steadily)
	txns := increments(view.Snapshot(), n)
	count.take()
	answers.Lock() // the view cannot know what the other one does
	put(t, other, registry.Put("/n/7/record", "another's"))
	put(t, other, registry.Put("/n/12/disabled", ""))
	done := make(chan []registry.Outcome, 1)
	go func() { done <- r.CommitAll(t.Context(), txns) }()
	require.Eventually(t, func() bool {
		count.mu.Lock()
		defer count.mu.Unlock()
		return count.sent[opMulti] > 0
	}, time.Minute, time.Millisecond)
	answers.Unlock()
	for i, o := range <-done {
		if i == 7 || i == 12 {
			require.ErrorIs(t, o.Err, registry.ErrConflict, "%d", i)
		} else {
			require.NoError(t, o.Err, "%d", i)
		}
	}
	require.LessOrEqual(t, count.take()[opMulti], 3, "one less each time")
	for i := range n {
		got, err := other.Get(t.Context(), fmt.Sprintf("/n/%d/record", i))
		require.NoError(t, err)
		require.Equal(t, map[int]string{7: "another's", 12: "0"}[i] == "", got.Value == "1", "%d is %s", i, got.Value)
	}
	require.NoError(t, view.WaitRevision(t.Context(), put(t, r, registry.Put("/end", ""))))
	require.Equal(t, "another's", view.Snapshot().Get("/n/7/record").Value, "the view was told while the multi was under way")
	require.True(t, view.Snapshot().Get("/n/12/disabled").Exists())
}

// The condition that all of them share is false for each of them.
func TestASharedConditionRefusesAll(t *testing.T) {
	t.Parallel()
	const n = 20
	r, view := counters(t, n)
	txns := increments(view.Snapshot(), n)
	put(t, open(t, steadily), registry.Put("/config", "another's"))
	for _, o := range r.CommitAll(t.Context(), txns) {
		var conflict *registry.ConflictError
		require.ErrorAs(t, o.Err, &conflict)
		require.Equal(t, "/config", conflict.Condition.Path)
	}
}

// When the answer to a multi of several transactions is lost, each finds out by itself.
func TestALostAnswerOfManyIsSettledForEach(t *testing.T) {
	t.Parallel()
	listener := new(tap)
	const n = 4
	r, view := counters(t, n, func(c *zkcompat.Config) { c.Dial = listener.dial })
	session, err := r.Session(t.Context())
	require.NoError(t, err)
	txns := append(increments(view.Snapshot(), n),
		registry.Txn{Then: []registry.Write{registry.PutOwned("/owned", "", session)}, Repeat: registry.RepeatOwned},
		registry.Txn{Then: []registry.Write{registry.Put("/undeclared", "")}})
	listener.loseAnswer()
	outcomes := r.CommitAll(t.Context(), txns)
	for i, o := range outcomes[:n+1] {
		require.NoError(t, o.Err, "%d", i)
		require.Equal(t, outcomes[0].Revision, o.Revision, "they were one multi")
	}
	require.ErrorIs(t, outcomes[n+1].Err, registry.ErrUnknownOutcome, "nobody says that it may be repeated")
	undeclared, err := r.Get(t.Context(), "/undeclared")
	require.NoError(t, err)
	require.Equal(t, outcomes[0].Revision, undeclared.Created, "it was done once")
	require.NoError(t, view.WaitRevision(t.Context(), undeclared.Revision))
	require.Equal(t, "1", view.Snapshot().Get("/n/3/record").Value)
}

// Two handles change the same nodes at the same time, each by what its view shows. No increment is lost or done twice,
// and no view shows a part of a transaction or goes back. A twin names its writer: on a busy machine a connection may break,
// and two who write the same cannot be told apart after that.
func TestTwoWritersUnderTheirViews(t *testing.T) {
	t.Parallel()
	const n, rounds = 6, 60
	first, view := counters(t, n)
	second := open(t, steadily)
	secondView, err := second.View(t.Context(), registry.Root)
	require.NoError(t, err)
	var done, unsure [n]atomic.Int64
	var writing sync.WaitGroup
	for i := range n {
		put(t, first, registry.Put(fmt.Sprintf("/n/%d/twin", i), "0"))
	}
	for r, v := range map[*zkcompat.Registry]*registry.View{first: view, second: secondView} {
		last := make(map[string]registry.Revision)
		v.Subscribe(func(step registry.Step) {
			for _, c := range step.Changes {
				if revision := c.New.Revision; revision != 0 {
					assert.Greater(t, revision, last[c.Path()])
					last[c.Path()] = revision
				}
			}
		})
		writing.Go(func() {
			for range rounds {
				now := v.Snapshot()
				txns := increments(now, n)
				for i := range txns {
					twin := fmt.Sprintf("%s by %p", txns[i].Then[0].Value, r)
					txns[i].Then = append(txns[i].Then, registry.Put(fmt.Sprintf("/n/%d/twin", i), twin))
				}
				at := now.Revision()
				for i, o := range r.CommitAll(t.Context(), txns) {
					var conflict *registry.ConflictError
					switch {
					case o.Err == nil:
						done[i].Add(1)
					case !assert.ErrorAs(t, o.Err, &conflict):
					case conflict.Ambiguous:
						unsure[i].Add(1)
					}
					at = max(at, o.Revision)
				}
				assert.NoError(t, v.WaitRevision(t.Context(), at))
			}
		})
	}
	writing.Wait()
	end := put(t, first, registry.Put("/end", ""))
	for _, v := range []*registry.View{view, secondView} {
		require.NoError(t, v.WaitRevision(t.Context(), end))
		nodes, _, err := first.List(t.Context(), registry.Root)
		require.NoError(t, err)
		require.Len(t, nodes, v.Snapshot().Len())
		for _, node := range nodes {
			require.Equal(t, node, v.Snapshot().Get(node.Path))
		}
		for i := range n {
			record := v.Snapshot().Get(fmt.Sprintf("/n/%d/record", i)).Value
			count, err := strconv.ParseInt(record, 10, 64)
			require.NoError(t, err)
			require.GreaterOrEqual(t, count, done[i].Load())
			require.LessOrEqual(t, count, done[i].Load()+unsure[i].Load())
			twin, _, _ := strings.Cut(v.Snapshot().Get(fmt.Sprintf("/n/%d/twin", i)).Value, " by ")
			require.Equal(t, record, twin)
		}
	}
}
