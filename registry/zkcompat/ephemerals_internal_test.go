package zkcompat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
)

// size returns what the path of an ephemeral znode takes.
func size(paths ...string) (n int) {
	for _, path := range paths {
		n += sizeOfText + len(path)
	}
	return n
}

func claimed(t *testing.T, e *ephemerals, creates, deletes []string) *ephemeralClaim {
	t.Helper()
	c, err := e.claim(creates, deletes, 0)
	require.NoError(t, err)
	return c
}

func TestWhatASessionHoldsIsCounted(t *testing.T) {
	t.Parallel()
	const a, b = "/shop/orders/instances/i", "/shop/orders/leader/election/instance"
	e := newEphemerals("/shop")
	made := claimed(t, e, []string{a, b}, nil)
	require.Equal(t, size(a, b), e.size, "from before it is sent")
	require.Equal(t, size(a), e.begun)
	made.settle(fateDone)
	require.Equal(t, size(a, b), e.size)
	claimed(t, e, []string{a}, nil).settle(fateUndone)
	require.Equal(t, size(a, b), e.size, "another one was there before")

	refused := claimed(t, e, nil, []string{b})
	refused.settle(fateUnknown)
	require.Equal(t, size(a, b), e.size, "it may be there")
	claimed(t, e, nil, []string{b, "/shop/elsewhere"}).settle(fateDone)
	require.Equal(t, size(a), e.size)
	claimed(t, e, []string{b}, nil).settle(fateUndone)
	require.Equal(t, size(a), e.size)
	claimed(t, e, []string{b}, nil).settle(fateUnknown)
	require.Equal(t, size(a, b), e.size)

	gone := claimed(t, e, nil, []string{a})
	again := claimed(t, e, []string{a}, nil)
	again.settle(fateDone)
	gone.settle(fateDone) // the first of the two, told last
	require.Equal(t, size(a, b), e.size)

	claimed(t, e, nil, []string{a, b}).settle(fateDone)
	require.Zero(t, e.size)
	require.Zero(t, e.begun)
	require.Empty(t, e.znodes)
	require.Empty(t, e.jobs)
}

// The server's word counts for what was settled before it was asked.
func TestTheServerTellsWhatASessionHolds(t *testing.T) {
	t.Parallel()
	e := newEphemerals("/shop")
	paths := []string{"/shop/a/lost", "/shop/b/kept", "/shop/c/underway", "/shop/d/later"}
	claimed(t, e, paths[:1], nil).settle(fateUnknown)
	claimed(t, e, paths[1:2], nil).settle(fateDone)
	latch := "/shop/b/latch-"
	line, err := e.claim([]string{latch}, nil, sequenceDigits)
	require.NoError(t, err)
	line.settle(fateDone)
	underWay := claimed(t, e, paths[2:3], nil)
	upTo, ok := e.mayAsk()
	require.True(t, ok)
	_, soon := e.mayAsk()
	require.False(t, soon)
	claimed(t, e, paths[3:], nil).settle(fateDone)
	underWay.settle(fateDone)
	e.keep([]string{paths[1], latch + "0000000042"}, upTo)
	require.Equal(t, size(paths[1:]...)+size(latch)+sequenceDigits, e.size)
	e.drop(latch)
	require.Equal(t, size(paths[1:]...), e.size)
}

func TestASessionIsFull(t *testing.T) {
	t.Parallel()
	e := newEphemerals("/shop")
	pad := strings.Repeat("p", 1000)
	fill := func(form string) (n int) {
		for ; ; n++ {
			c, err := e.claimOf([]any{&zk.CreateRequest{Path: fmt.Sprintf(form, n), Flags: zk.FlagEphemeral}})
			if err != nil {
				require.ErrorIs(t, err, registry.ErrNoSpace)
				require.ErrorContains(t, err, "more processes share them")
				return n
			}
			c.settle(fateDone)
		}
	}
	jobs := fill("/shop/job%d/" + pad)
	require.Positive(t, jobs)
	require.InDelta(t, mostBegun, e.size, 2000, "joined jobs leave room")
	require.ErrorIs(t, e.room([]string{"/shop/other/n"}), nil, "if it is small enough")
	require.Error(t, e.room([]string{"/shop/other/" + pad}))
	require.NoError(t, e.room([]string{"/shop/job0/other" + pad}), "what they need comes after")
	require.Positive(t, fill("/shop/job0/%d"+pad))
	require.InDelta(t, mostEphemeral, e.size, 2000)
	require.LessOrEqual(t, e.size, mostEphemeral)
	require.NoError(t, e.room([]string{"/shop/job0/0" + pad}), "it is there")
	persistent, err := e.claimOf([]any{&zk.CreateRequest{Path: "/shop/x/" + pad}})
	require.NoError(t, err)
	persistent.settle(fateUndone)
	claimed(t, e, nil, []string{"/shop/job0/0" + pad}).settle(fateDone)
	require.NoError(t, e.room([]string{"/shop/job0/again" + pad}))
}

// Whatever becomes of requests, in whatever order that is told, what is there counts.
func TestNothingThatIsHeldIsLeftOut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		type request struct {
			claim *ephemeralClaim
			fate  requestFate
		}
		e := newEphemerals("/n")
		held := make(map[string]bool) // at the server
		var told []request            // answers that are not yet taken in
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			path := fmt.Sprintf("/n/%d/%d", rapid.IntRange(0, 1).Draw(rt, "job"), rapid.IntRange(0, 1).Draw(rt, "node"))
			switch rapid.IntRange(0, 3).Draw(rt, "what") {
			case 0, 1:
				creates, deletes := []string{path}, []string(nil)
				if rapid.Bool().Draw(rt, "delete") {
					creates, deletes = deletes, creates
				}
				claim, err := e.claim(creates, deletes, 0)
				require.NoError(rt, err)
				fate := fateUndone
				if held[path] == (creates == nil) {
					held[path] = creates != nil
					fate = rapid.SampledFrom([]requestFate{fateDone, fateUnknown}).Draw(rt, "answer")
				}
				told = append(told, request{claim, fate})
			case 2:
				if len(told) > 0 {
					i := rapid.IntRange(0, len(told)-1).Draw(rt, "answered")
					told[i].claim.settle(told[i].fate)
					told = append(told[:i], told[i+1:]...)
				}
			case 3:
				held[path] = false // by another client
			}
			total := 0
			for path, there := range held {
				if there {
					total += size(path)
				}
			}
			require.GreaterOrEqual(rt, e.size, total)
		}
		for _, r := range told {
			r.claim.settle(r.fate)
		}
		e.asked = e.asked.Add(-2 * countAgain)
		var all []string
		for path, there := range held {
			if there {
				all = append(all, path)
			}
		}
		e.keep(all, e.clock)
		require.Equal(rt, size(all...), e.size)
	})
}
