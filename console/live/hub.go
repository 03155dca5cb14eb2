package live

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	minutes   map[int64]*Minute
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
	outside  []operate.OutsideChange
	upcoming upcoming
	at       time.Time // when it looks other by the clock alone

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
		jobs: make(map[string]*jobLive), minutes: make(map[int64]*Minute),
		topics: make(map[topicKey]*topic), clients: make(map[*client]struct{}), fills: make(chan struct{}, 2),
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

// Run tells readers what is new until ctx ends, which is no error, or until the registry cannot be followed any more.
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
	checks.Go(func() { h.keepChecking(running) })
	told, pause := h.feed.told, time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-h.closed:
			return nil
		case <-h.view.Done():
			if err := h.view.Err(); !errors.Is(err, registry.ErrClosed) {
				return fmt.Errorf("follow namespace %q: %w", h.cfg.Namespace, err)
			}
			return nil
		case <-told: // frames are not more frequent than frameEvery, but the first one after a silence does not wait
		case <-pause.C:
			if told == nil {
				told = h.feed.told
				pause.Reset(frameEvery)
				continue
			}
		}
		h.tick(time.Now())
		told = nil
		pause.Reset(frameEvery)
	}
}

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
		h.look(name, shown, news)
	}
	h.show(now, shown)
	return touched
}

// late returns the jobs that look other by the clock alone. While the registry is away, nothing does: what it would
// say is not known.
func (h *Hub) late(now time.Time) (names []string) {
	for h.connected && len(h.due) > 0 && !h.due[0].at.After(now) {
		d := heap.Pop(&h.due).(due)
		if j := h.jobs[d.job]; j != nil && j.at.Equal(d.at) {
			names = append(names, d.job)
		}
	}
	return names
}

// fold takes what changed over into the timelines.
func (h *Hub) fold(now time.Time, news news, before, after *operate.Namespace, first bool) {
	folds := make(map[string]*fold, len(news.changed))
	for name := range news.changed {
		state, exists := after.State(name)
		j := h.jobs[name]
		if !exists {
			if j != nil {
				h.size -= j.line.size
				delete(h.jobs, name)
			}
			continue
		}
		if j == nil {
			j = &jobLive{line: &timeline{}}
			h.jobs[name] = j
		}
		f := &fold{line: j.line, now: now, number: h.number, first: first, began: h.countRun, ended: h.countFailure}
		folds[name] = f
		h.size -= j.line.size
		if old, had := before.State(name); had {
			f.compare(old, state)
		}
		if first || news.skipped {
			f.all(news.snapshot, state)
		}
	}
	for _, c := range news.changes {
		if f := folds[c.name.Job]; f != nil {
			f.change(c.name, c.change)
		}
	}
	for name, f := range folds {
		state, _ := after.State(name)
		f.settle(state)
		f.line.forget(now)
		h.size += f.line.size
	}
	h.keepWithin()
}

// all takes over what a state says of all items, when the changes that led to it are not known.
func (f *fold) all(s registry.Snapshot, state *jobtree.State) {
	known := f.first
	f.first = true // so that nothing old is noted as new
	for item := range state.Items() {
		if n := s.Get(state.Tree().ItemRecord(item)); n.Exists() {
			f.record(item, registry.Change{New: n})
			if !known {
				f.loseOthers(item, state.Item(item).Record.Value.Current)
			}
		}
	}
	if n := s.Get(state.Tree().Operated()); n.Exists() && known {
		f.operated(registry.Change{New: n})
	}
	f.first = known
}

// look makes the row of a job.
func (h *Hub) look(name string, shown *operate.Namespace, news news) {
	j := h.jobs[name]
	row, exists := shown.Job(name)
	if !exists || j == nil {
		return
	}
	text, err := json.Marshal(row)
	if err != nil { // not with times that came from JSON
		text = json.RawMessage("{}")
	}
	failures := 0
	if row.Last != nil && row.Last.Outcome != string(jobtree.Success) {
		failures = j.line.failures()
	}
	state, _ := shown.State(name)
	j.instances = state.Instances
	if j.row == nil || string(j.row.JSON) != string(text) {
		j.row = &Row{JobRow: row, JSON: text, changed: h.number, live: j, shown: row.Shown()}
	}
	if need := needOf(&row, failures, state.JobDisabled()); need != nil || j.row.need != nil {
		again := *j.row // rows that others have do not change
		again.need = need
		j.row = &again
	}
	if news.changed[name] {
		j.outside = outsideOf(name, news.snapshot)
	}
	if at := shown.ChangesAt(name); !at.Equal(j.at) {
		j.at = at
		if !at.IsZero() {
			heap.Push(&h.due, due{at, name})
		}
	}
}

// outsideOf returns what of a job was changed from outside.
func outsideOf(job string, s registry.Snapshot) []operate.OutsideChange {
	tree := jobtree.For(job)
	if !s.Get(tree.Operated()).Exists() {
		return nil
	}
	return operate.Outside(registry.NewSnapshot(s.Revision(), slices.Collect(s.Below(tree.Root()))))
}

// show makes the picture of now. shown is nil if nothing in it has changed but the time.
func (h *Hub) show(now time.Time, shown *operate.Namespace) {
	last := h.picture.Load()
	newer := make(chan struct{})
	p := &Picture{AsOf: h.asOf, Connected: h.connected, State: h.state, Newer: newer, newer: newer}
	defer func() {
		if h.picture.Load() == p && last != nil {
			close(last.newer)
		}
	}()
	if shown == nil && last != nil {
		if last.AsOf.Equal(p.AsOf) && last.Connected == p.Connected && last.State.Revision() == p.State.Revision() {
			return
		}
		p.Revision, p.Namespace, p.Rows = last.Revision, last.Namespace, last.Rows
		h.picture.Store(p)
		return
	}
	if shown == nil {
		shown = h.following.Show(registry.Snapshot{}, nil, nil, now)
	}
	p.Revision, p.Namespace = shown.Revision(), shown
	names := shown.Names()
	p.Rows = make([]*Row, 0, len(names))
	for _, name := range names {
		if j := h.jobs[name]; j != nil && j.row != nil {
			p.Rows = append(p.Rows, j.row)
		}
	}
	h.picture.Store(p)
}

func (h *Hub) countRun(begin int64, bad bool) {
	if begin < h.began.UnixMilli() {
		return
	}
	minute := begin / time.Minute.Milliseconds()
	m := h.minutes[minute]
	if m == nil {
		m = &Minute{Minute: time.UnixMilli(minute * time.Minute.Milliseconds()).UTC()}
		h.minutes[minute] = m
	}
	m.Runs++
	if bad {
		m.Failed++
	}
}

func (h *Hub) countFailure(begin int64) {
	if m := h.minutes[begin/time.Minute.Milliseconds()]; m != nil {
		m.Failed++
	}
}

// sweep forgets what is older than an hour, and topics that nobody reads.
func (h *Hub) sweep(now time.Time) {
	for _, j := range h.jobs {
		h.size -= j.line.forget(now)
	}
	for minute := range h.minutes {
		if minute < now.Add(-keptFor).UnixMilli()/time.Minute.Milliseconds() {
			delete(h.minutes, minute)
		}
	}
	h.gaps = slices.DeleteFunc(h.gaps, func(g Gap) bool { return g.To.Before(now.Add(-keptFor)) })
	h.tidyDue()
	for key, t := range h.topics {
		if len(t.clients) == 0 && now.Sub(t.idle) >= idleFor {
			delete(h.topics, key)
		}
	}
}

// tidyDue drops what was due at times that are others by now.
func (h *Hub) tidyDue() {
	if len(h.due) <= 2*len(h.jobs)+64 {
		return
	}
	h.due = h.due[:0]
	for name, j := range h.jobs {
		if !j.at.IsZero() {
			h.due = append(h.due, due{j.at, name})
		}
	}
	heap.Init(&h.due)
}

// mostSpans bounds what all timelines take together, in bytes.
const mostSpans = 64 << 20

// keepWithin drops the oldest spans of all jobs, an eighth and more, if they take too much. Those that run stay.
func (h *Hub) keepWithin() {
	for shrunk := 1; h.size > mostSpans && shrunk > 0; h.size -= shrunk {
		shrunk = 0
		var begins []int64
		for _, j := range h.jobs {
			for _, s := range j.line.spans {
				if !s.running() {
					begins = append(begins, s.begin)
				}
			}
		}
		if len(begins) == 0 {
			return
		}
		slices.Sort(begins)
		until := begins[len(begins)/8] + 1
		for _, j := range h.jobs {
			shrunk += j.line.dropTo(until)
		}
		h.since = moment(until)
	}
}

func (h *Hub) addGap(g Gap) {
	h.gaps = append(h.gaps, g)
	if extra := len(h.gaps) - entriesOfJob; extra > 0 {
		h.gaps = slices.Delete(h.gaps, 0, extra)
	}
}

// due is when a job looks other by the clock alone.
type due struct {
	at  time.Time
	job string
}

// dueJobs is a heap of them, the earliest first.
type dueJobs []due

func (d dueJobs) Len() int           { return len(d) }
func (d dueJobs) Less(i, j int) bool { return d[i].at.Before(d[j].at) }
func (d dueJobs) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *dueJobs) Push(x any)        { *d = append(*d, x.(due)) }
func (d *dueJobs) Pop() any {
	last := len(*d) - 1
	x := (*d)[last]
	*d = (*d)[:last]
	return x
}

func search(rows []*Row, job string) (int, bool) {
	return slices.BinarySearchFunc(rows, job, func(r *Row, name string) int { return strings.Compare(r.Job, name) })
}
