//go:build linux

package process_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// fence is what a user's own store does with fencing tokens: it takes what the newest execution of an
// item brings and refuses what an older one does. All processes reach it, whatever is done to their
// network, so it sees everything in one order. It shares nothing with the checker of the other tests,
// and judges three promises by itself: a fire runs once, tokens grow, and confirmed progress stays.
type fence struct {
	mu     sync.Mutex
	items  map[fencedItem]*fenced
	counts fenceCounts
	faults []string
}

type fencedItem struct {
	Job  string
	Item int
}

// fenced is what the fence knows of an item.
type fenced struct {
	token  int64              // the newest
	begun  map[int64]bool     // by token
	fires  map[time.Time]bool // that an execution by schedule began for, be it a missed one
	starts map[int64]int      // by token: the checkpoint that the execution began with
	saved  map[int64]int      // by token: the newest checkpoint that was confirmed to it
}

type fenceCounts struct{ begun, stale, written, refused, saved int }

// errand is what a process tells the fence.
type errand struct {
	fencedItem
	Token  int64
	Fire   time.Time
	Source job.Source
	Offset int
	Saves  bool // the job has checkpoints
}

func newFence() *fence { return &fence{items: make(map[fencedItem]*fenced)} }

func (f *fence) of(e errand) *fenced {
	it := f.items[e.fencedItem]
	if it == nil {
		it = &fenced{
			begun: make(map[int64]bool), fires: make(map[time.Time]bool),
			starts: make(map[int64]int), saved: make(map[int64]int),
		}
		f.items[e.fencedItem] = it
	}
	return it
}

func (f *fence) fault(e errand, format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf("job %s, item %d, token %d, fire %s (%s): ", e.Job, e.Item, e.Token,
		e.Fire.Format(time.TimeOnly), e.Source)+fmt.Sprintf(format, args...))
}

// begin notes that the code of an item was called.
func (f *fence) begin(e errand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	it := f.of(e)
	f.counts.begun++
	if it.begun[e.Token] {
		f.fault(e, "two executions have this token")
	}
	it.begun[e.Token] = true
	if e.Source == job.Scheduled || e.Source == job.Misfire {
		if it.fires[e.Fire] {
			f.fault(e, "the fire ran before")
		}
		it.fires[e.Fire] = true
	}
	if e.Saves {
		it.starts[e.Token] = e.Offset
		for _, token := range slices.Sorted(maps.Keys(it.saved)) {
			if token < e.Token && it.saved[token] > e.Offset {
				f.fault(e, "began with checkpoint %d, though %d was confirmed to token %d", e.Offset, it.saved[token], token)
			}
		}
	}
	if e.Token < it.token {
		f.counts.stale++
		return
	}
	it.token = e.Token
}

// write notes that an execution brings its result, which the fence refuses if a newer one began.
func (f *fence) write(e errand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Token < f.of(e).token {
		f.counts.refused++
		return
	}
	f.counts.written++
}

// save notes that a checkpoint was confirmed to an execution.
func (f *fence) save(e errand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	it := f.of(e)
	f.counts.saved++
	it.saved[e.Token] = max(it.saved[e.Token], e.Offset)
	for _, token := range slices.Sorted(maps.Keys(it.starts)) {
		if token > e.Token && it.starts[token] < e.Offset {
			f.fault(e, "checkpoint %d was confirmed, and token %d began with %d", e.Offset, token, it.starts[token])
		}
	}
}

// serve has processes reach the fence until the test ends, and returns where.
func (f *fence) serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, do := range map[string]func(errand){"/begin": f.begin, "/write": f.write, "/save": f.save} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var e errand
			if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			do(e)
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: patience}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(listener) })
	t.Cleanup(func() { _ = server.Close(); served.Wait() })
	return listener.Addr().String()
}

// judge fails the test for every promise that the fence saw broken, and returns what it counted.
func (f *fence) judge(t *testing.T) fenceCounts {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, fault := range f.faults {
		t.Error("the fenced store: " + fault)
	}
	return f.counts
}

// fenceClient is how a process reaches the fence; an empty address is none.
type fenceClient struct {
	address string
	http    http.Client
}

// tell runs an errand. That the fence cannot be reached is no fault of the scheduler's, and must not
// go unseen.
func (c *fenceClient) tell(ctx context.Context, what string, e errand) error {
	if c.address == "" {
		return nil
	}
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	// A run that is cancelled still says what it did.
	request, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost, "http://"+c.address+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing is read
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the fenced store answered %s", resp.Status)
	}
	return nil
}

// errandOf returns what a process has to say of an execution. A checkpoint is the decimal number of
// the steps that were done.
func errandOf(sc job.ShardingContext, saves bool) (errand, error) {
	e := errand{fencedItem: fencedItem{sc.JobName, sc.Item}, Token: sc.Token, Fire: sc.Fire, Source: sc.Source, Saves: saves}
	if sc.Offset == "" {
		return e, nil
	}
	var err error
	e.Offset, err = strconv.Atoi(sc.Offset)
	return e, err
}

func TestTheFenceJudges(t *testing.T) {
	t.Parallel()
	at := func(token int64, second int, source job.Source, offset int) errand {
		return errand{
			fencedItem: fencedItem{"orders", 1}, Token: token, Fire: origin.Add(time.Duration(second) * time.Second),
			Source: source, Offset: offset, Saves: true,
		}
	}
	for _, c := range []struct {
		name   string
		happen func(*fence)
		faults int
		counts fenceCounts
	}{
		{"all is well", func(f *fence) {
			f.begin(at(5, 1, job.Scheduled, 0))
			f.save(at(5, 1, job.Scheduled, 1))
			f.write(at(5, 1, job.Scheduled, 0))
			f.begin(at(7, 2, job.Scheduled, 1))
			f.begin(at(9, 2, job.Failover, 1))
			f.begin(at(11, 1, job.Manual, 1))
		}, 0, fenceCounts{begun: 4, saved: 1, written: 1}},
		{"a zombie comes late", func(f *fence) {
			f.begin(at(7, 2, job.Failover, 0))
			f.begin(at(5, 2, job.Scheduled, 0))
			f.write(at(5, 2, job.Scheduled, 0))
		}, 0, fenceCounts{begun: 2, stale: 1, refused: 1}},
		{"a fire runs twice", func(f *fence) {
			f.begin(at(5, 1, job.Scheduled, 0))
			f.begin(at(7, 1, job.Misfire, 0))
		}, 1, fenceCounts{begun: 2}},
		{"a token comes twice", func(f *fence) {
			f.begin(at(5, 1, job.Scheduled, 0))
			f.begin(at(5, 2, job.Scheduled, 0))
		}, 1, fenceCounts{begun: 2}},
		{"a checkpoint goes back", func(f *fence) {
			f.save(at(5, 1, job.Scheduled, 3))
			f.begin(at(7, 2, job.Scheduled, 2))
		}, 1, fenceCounts{begun: 1, saved: 1}},
		{"a checkpoint went back before its saver could tell", func(f *fence) {
			f.begin(at(7, 2, job.Scheduled, 2))
			f.save(at(5, 1, job.Scheduled, 3))
		}, 1, fenceCounts{begun: 1, saved: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFence()
			c.happen(f)
			require.Len(t, f.faults, c.faults, "%v", f.faults)
			require.Equal(t, c.counts, f.counts)
		})
	}
}
