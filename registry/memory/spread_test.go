package memory_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// What ten goroutines commit in one instant becomes ten revisions in an order that is the same every
// time, and views of other handles see them at times that are, too.
func TestSpreadMakesAnOrderThatRepeats(t *testing.T) {
	t.Parallel()
	var first []string
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t, memory.NewServer()}
			spread := memory.WithSpread(7)
			r, v := w.open(spread), w.view(w.open(spread))
			var seen []string
			start := time.Now()
			v.Subscribe(func(step registry.Step) {
				for _, c := range step.Changes {
					seen = append(seen, fmt.Sprint(c.Path(), time.Since(start)))
				}
			})
			var committing sync.WaitGroup
			for n := range 10 {
				committing.Go(func() { w.commit(r, registry.Put(fmt.Sprintf("/node%d", n), "")) })
			}
			committing.Wait()
			time.Sleep(time.Second)
			synctest.Wait()
			require.Len(w, seen, 10)
			if first == nil {
				first = seen
			}
			require.Equal(w, first, seen)
		})
	}
}

func TestLeasesThatEndTogetherEndInTheirOrder(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			w := &world{t, memory.NewServer()}
			v := w.view(w.open())
			var ended []string
			for n := range 5 {
				r := w.open()
				w.commit(r, registry.PutOwned(fmt.Sprintf("/of%d", n), "", w.session(r)))
				r.Vanish()
			}
			v.Subscribe(func(step registry.Step) {
				for _, c := range step.Changes {
					if !c.New.Exists() {
						ended = append(ended, c.Path())
					}
				}
			})
			w.server.Stop()
			w.server.Start() // gives all the same time again
			time.Sleep(2 * ttl)
			synctest.Wait()
			require.Equal(w, []string{"/of0", "/of1", "/of2", "/of3", "/of4"}, ended)
		})
	}
}
