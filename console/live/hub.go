package live

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// The times of a hub.
const (
	frameEvery = 250 * time.Millisecond // between two frames of a topic, at least
	jobsEvery  = time.Second            // of the topic jobs
	aliveEvery = 5 * time.Second
	idleFor    = time.Minute // how long a topic without readers is kept, for those who come back
	mostIdle   = 256         // such topics are kept at most, those that were read last
)

// Hub follows a namespace and tells readers what is new. All methods are safe for concurrent use.
type Hub struct {
	cfg     Config
	java    bool
	epoch   string // of the ids of frames; another hub has another
	began   time.Time
	view    *registry.View
	feed    *feed
	picture atomic.Pointer[Picture]
	looked  atomic.Pointer[time.Time]
	slow    atomic.Int64 // readers that were cut off
	untold  atomic.Int64 // reads of the history that failed
	closed  <-chan struct{}
	ended   context.Context
	end     context.CancelFunc
	close   sync.Once

	mu        sync.Mutex
	following *operate.Following
	state     registry.Snapshot
	asOf      time.Time
	connected bool
	jobs      map[string]*jobLive
	due       dueJobs
	size      int       // of all timelines
	since     time.Time // what all timelines dropped to stay within their limit
	gaps      []Gap     // of all jobs
	minutes   perMinute
	number    uint64 // of the last change
	lastLook  time.Time
	lastAlive time.Time
	lastSweep time.Time
	topics    map[topicKey]*topic
	clients   map[*client]struct{}
	sent      retained
	fills     chan struct{} // how many histories may be read at once
	filling   sync.WaitGroup
}

// jobLive is what a hub keeps of a job besides its row.
type jobLive struct {
	row      *Row
	line     *timeline
	recent   recent
	upcoming upcoming
	at       time.Time // when it looks other by the clock alone
	headless time.Time // since when nobody is seen to lead it; zero: somebody does, or need not

	instances []jobtree.Instance // that live
}

// Open starts to follow a namespace, and returns when its first state is there. Until then ctx bounds the call, and
// afterwards nothing. The error is [ErrInvalidOption], or the registry's. Call Run then, and Close at the end.
func Open(ctx context.Context, cfg Config) (*Hub, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	epoch := make([]byte, 4)
	_, _ = rand.Read(epoch)
	h := &Hub{
		cfg: cfg, java: operate.MayHoldJava(cfg.Registry), epoch: hex.EncodeToString(epoch), feed: newFeed(),
		jobs: make(map[string]*jobLive), topics: make(map[topicKey]*topic), clients: make(map[*client]struct{}), fills: make(chan struct{}, 2),
	}
	h.ended, h.end = context.WithCancel(context.Background())
	h.closed = h.ended.Done()
	h.following = operate.NewFollowing(h.java)
	if h.view, err = follow(ctx, cfg.Registry); err != nil {
		h.end()
		return nil, fmt.Errorf("follow namespace %q: %w", cfg.Namespace, err)
	}
	h.began = time.Now()
	h.asOf, h.connected = h.began, true
	h.looked.Store(&h.began)
	h.minutes = newPerMinute(h.began)
	h.view.Subscribe(h.feed.take)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.takeOver(h.began, true)
	return h, nil
}

// follow opens the view of everything, which lives on when ctx has ended.
func follow(ctx context.Context, from Registry) (*registry.View, error) {
	viewing, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	view, err := from.View(viewing, registry.Root)
	if err == nil && stop() {
		view.AfterEnd(func(error) { cancel(nil) })
		return view, nil
	}
	cancel(nil)
	if err == nil {
		view.Close()
		err = context.Cause(ctx)
	}
	return nil, err
}

// Run tells readers what is new until ctx ends, which is no error, or until the registry cannot be followed any more, also as
// it has gone back to an earlier state.
func (h *Hub) Run(ctx context.Context) error {
	running, cancel := context.WithCancel(ctx)
	var checks sync.WaitGroup
	defer func() { // nobody follows any more
		cancel()
		checks.Wait()
		h.mu.Lock()
		defer h.mu.Unlock()
		h.lose()
	}()
	wentBack := make(chan error, 1)
	checks.Go(func() {
		if err := h.keepChecking(running); err != nil {
			wentBack <- err
		}
	})
	told, pause := h.feed.told, time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.closed:
			return nil
		case <-h.view.Done():
			if ctx.Err() != nil || h.ended.Err() != nil {
				return nil
			}
			return fmt.Errorf("follow namespace %q: %w", h.cfg.Namespace, h.view.Err())
		case err := <-wentBack:
			return fmt.Errorf("follow namespace %q: %w", h.cfg.Namespace, err)
		case <-told: // frames are not more frequent than frameEvery, but the first one after a silence does not wait
		case <-pause.C:
			if told == nil {
				told = h.feed.told
				pause.Reset(frameEvery)
				continue
			}
		}
		h.tick(time.Now())
		now := time.Now()
		h.looked.Store(&now)
		told = nil
		pause.Reset(frameEvery)
	}
}

// Closed returns a channel that is closed when the hub is: then there are no newer pictures.
func (h *Hub) Closed() <-chan struct{} { return h.closed }

// Close ends all streams and lets go of the registry's view. It may be called more than once.
func (h *Hub) Close() {
	h.close.Do(func() {
		h.end()
		h.view.Close()
		h.mu.Lock()
		for c := range h.clients {
			c.cut()
		}
		h.mu.Unlock()
	})
	h.filling.Wait()
}

// Picture returns what is known now.
func (h *Hub) Picture() *Picture { return h.picture.Load() }

// Looked returns when the hub last came to an end of looking for what is new, which it does twice a second while it
// runs, also while the registry does not answer. It waits for nobody, so that it tells of a hub that stands still.
func (h *Hub) Looked() time.Time { return *h.looked.Load() }

// Faults tells how many readers were cut off because they were too slow, and how many reads of the history failed.
func (h *Hub) Faults() (slow, untold int64) { return h.slow.Load(), h.untold.Load() }

// tick takes over what is new and tells the readers.
func (h *Hub) tick(now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	changed := h.takeOver(now, false)
	h.tell(now, changed)
	if now.Sub(h.lastSweep) >= time.Minute {
		h.lastSweep = now
		h.sweep(now)
	}
}

// takeOver decides again about what changed, and returns the jobs.
func (h *Hub) takeOver(now time.Time, first bool) (touched map[string]bool) {
	news := h.feed.look()
	h.state = news.snapshot
	late := h.late(now)
	looked := h.lastLook
	h.lastLook = now
	if len(news.changed) == 0 && len(late) == 0 {
		h.show(now, nil)
		return nil
	}
	h.number++
	before := h.following.Shown()
	shown := h.following.Show(news.snapshot, slices.Collect(maps.Keys(news.changed)), late, now)
	if news.skipped {
		h.addGap(Gap{From: looked, To: now})
	}
	h.fold(now, news, before, shown, first)
	touched = make(map[string]bool, len(news.changed)+len(late))
	for name := range news.changed {
		touched[name] = true
	}
	for _, name := range late {
		touched[name] = true
	}
	for name := range touched {
		h.look(name, shown, news, now)
	}
	h.show(now, shown)
	return touched
}
