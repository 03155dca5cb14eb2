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

// fenceRequest is what a process tells the fence.
type fenceRequest struct {
	fencedItem
	Token  int64
	Fire   time.Time
	Source job.Source
	Offset int
	Saves  bool // the job has checkpoints
}

func newFence() *fence { return &fence{items: make(map[fencedItem]*fenced)} }

func (f *fence) of(req fenceRequest) *fenced {
	it := f.items[req.fencedItem]
	if it == nil {
		it = &fenced{
			begun: make(map[int64]bool), fires: make(map[time.Time]bool),
			starts: make(map[int64]int), saved: make(map[int64]int),
		}
		f.items[req.fencedItem] = it
	}
	return it
}

func (f *fence) fault(req fenceRequest, format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf("job %s, item %d, token %d, fire %s (%s): ", req.Job, req.Item, req.Token,
		req.Fire.Format(time.TimeOnly), req.Source)+fmt.Sprintf(format, args...))
}

// begin notes that the code of an item was called.
func (f *fence) begin(req fenceRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	it := f.of(req)
	f.counts.begun++
	if it.begun[req.Token] {
		f.fault(req, "two executions have this token")
	}
	it.begun[req.Token] = true
	if req.Source == job.Scheduled || req.Source == job.Misfire {
		if it.fires[req.Fire] {
			f.fault(req, "the fire ran before")
		}
		it.fires[req.Fire] = true
	}
	if req.Saves {
		it.starts[req.Token] = req.Offset
		for _, token := range slices.Sorted(maps.Keys(it.saved)) {
			if token < req.Token && it.saved[token] > req.Offset {
				f.fault(req, "began with checkpoint %d, though %d was confirmed to token %d", req.Offset, it.saved[token], token)
			}
		}
	}
	if req.Token < it.token {
		f.counts.stale++
		return
	}
	it.token = req.Token
}

// write notes that an execution brings its result, which the fence refuses if a newer one began.
func (f *fence) write(req fenceRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if req.Token < f.of(req).token {
		f.counts.refused++
		return
	}
	f.counts.written++
}

// save notes that a checkpoint was confirmed to an execution.
func (f *fence) save(req fenceRequest) {
	f.mu.Lock()
	defer f.mu.Unlock()
	it := f.of(req)
	f.counts.saved++
	it.saved[req.Token] = max(it.saved[req.Token], req.Offset)
	for _, token := range slices.Sorted(maps.Keys(it.starts)) {
		if token > req.Token && it.starts[token] < req.Offset {
			f.fault(req, "checkpoint %d was confirmed, and token %d began with %d", req.Offset, token, it.starts[token])
		}
	}
}

// serve has processes reach the fence until the test ends, and returns where.
func (f *fence) serve(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	for path, handle := range map[string]func(fenceRequest){"/begin": f.begin, "/write": f.write, "/save": f.save} {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var req fenceRequest
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			handle(req)
		})
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: waitTimeout}
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

// send sends a request. That the fence cannot be reached is no fault of the scheduler's, and must not
// go unseen.
func (c *fenceClient) send(ctx context.Context, what string, req fenceRequest) error {
	if c.address == "" {
		return nil
	}
	body, err := json.Marshal(req)
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

// fenceRequestOf returns what a process has to say of an execution. A checkpoint is the decimal number of
// the steps that were done.
func fenceRequestOf(sc job.ShardingContext, saves bool) (fenceRequest, error) {
	req := fenceRequest{fencedItem: fencedItem{sc.JobName, sc.Item}, Token: sc.Token, Fire: sc.Fire, Source: sc.Source, Saves: saves}
	if sc.Offset == "" {
		return req, nil
	}
	var err error
	req.Offset, err = strconv.Atoi(sc.Offset)
	return req, err
}

func TestTheFenceJudges(t *testing.T) {
	t.Parallel()
	at := func(token int64, second int, source job.Source, offset int) fenceRequest {
		return fenceRequest{
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
		{"a stale execution comes late", func(f *fence) {
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
