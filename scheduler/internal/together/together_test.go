package together

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
)

// sentTogether is a registry that notes which transactions came in one request. The revision of each outcome is the
// number of its transaction.
type sentTogether struct {
	mu       sync.Mutex
	requests [][]int
	sizes    []int // conditions and writes of each request, without those of its last transaction
}

func (s *sentTogether) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	outcome := s.CommitAll(ctx, []registry.Txn{txn})[0]
	return outcome.Revision, outcome.Err
}

func (s *sentTogether) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	outcomes, numbers, size := make([]registry.Outcome, len(txns)), make([]int, len(txns)), 0
	for i, txn := range txns {
		numbers[i], _ = strconv.Atoi(txn.Then[0].Value)
		outcomes[i] = registry.Outcome{Revision: registry.Revision(numbers[i]), Err: context.Cause(ctx)}
		if i < len(txns)-1 {
			size += len(txn.If) + len(txn.Then)
		}
	}
	s.requests, s.sizes = append(s.requests, numbers), append(s.sizes, size)
	return outcomes
}

// numbered is a transaction with a number and so many writes.
func numbered(n, writes int) registry.Txn {
	txn := registry.Txn{Then: make([]registry.Write, writes)}
	txn.Then[0] = registry.Put("/n", strconv.Itoa(n))
	return txn
}

// Whatever comes when, each transaction is sent once, its outcome is its own, and it waits no longer than it may. What
// travels together is bounded, and is of one context.
func TestWhatTravelsTogetherIsSentOnce(t *testing.T) {
	t.Parallel()
	type arrival struct{ job, pause, size, under int }
	rapid.Check(t, func(rt *rapid.T) {
		arrivals := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) arrival {
			return arrival{
				job:   rapid.IntRange(0, 3).Draw(rt, "job"),
				pause: rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 4, 5, 20}).Draw(rt, "pause"),
				size:  rapid.SampledFrom([]int{1, 2, 3, 300, 1200}).Draw(rt, "size"),
				under: rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 1}).Draw(rt, "under"),
			}
		}), 1, 3*mostTogether).Draw(rt, "arrivals")
		synctest.Test(t, func(t *testing.T) {
			var sent sentTogether
			together := Together{Registry: &sent}
			var contexts [2]context.Context
			for i := range contexts {
				var cancel context.CancelFunc
				contexts[i], cancel = context.WithCancel(t.Context())
				defer cancel()
			}
			var all sync.WaitGroup
			for n, a := range arrivals {
				time.Sleep(time.Duration(a.pause) * time.Millisecond)
				all.Go(func() {
					began := time.Now()
					revision, err := together.Commit(contexts[a.under], fmt.Sprint(a.job), numbered(n, a.size))
					assert.NoError(rt, err)
					assert.Equal(rt, registry.Revision(n), revision)
					assert.LessOrEqual(rt, time.Since(began), within)
				})
			}
			all.Wait()
			seen := make(map[int]bool)
			for i, request := range sent.requests {
				assert.LessOrEqual(rt, len(request), mostTogether)
				assert.Less(rt, sent.sizes[i], mostParts, "full before the last one came")
				for _, n := range request {
					assert.False(rt, seen[n], "sent twice")
					seen[n] = true
					assert.Equal(rt, arrivals[request[0]].under, arrivals[n].under)
				}
			}
			assert.Len(rt, seen, len(arrivals))
		})
	})
}

// What comes alone, or again of one job, is sent at once; what comes just after another job's waits for more; a
// request that is full, or whose context ends, waits no longer.
func TestWhenSomethingWaitsForOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		jobs     string // that come in this order, without a pause
		size     int
		cancel   bool
		requests int
		took     time.Duration
	}{
		"one":                         {jobs: "a", size: 1, requests: 1},
		"one job, again and again":    {jobs: "aaaa", size: 1, requests: 4},
		"two jobs":                    {jobs: "ab", size: 1, requests: 2, took: within},
		"many jobs":                   {jobs: "abcdefgh", size: 1, requests: 2, took: within},
		"large transactions":          {jobs: "abc", size: mostParts / 2, requests: 2},
		"very large transactions":     {jobs: "abc", size: mostParts, requests: 3},
		"the session ends meanwhile":  {jobs: "abc", size: 1, cancel: true, requests: 2},
		"one of another job, then on": {jobs: "abb", size: 1, requests: 2, took: within},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var sent sentTogether
				together := Together{Registry: &sent}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				began := time.Now()
				var all sync.WaitGroup
				for n, job := range c.jobs {
					all.Go(func() {
						_, err := together.Commit(ctx, string(job), numbered(n, c.size))
						if c.cancel && n > 0 {
							assert.ErrorIs(t, err, context.Canceled)
						} else {
							assert.NoError(t, err)
						}
					})
					synctest.Wait()
				}
				if c.cancel {
					cancel()
				}
				all.Wait()
				require.Len(t, sent.requests, c.requests)
				require.Equal(t, c.took, time.Since(began))
			})
		})
	}
}
