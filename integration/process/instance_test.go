//go:build linux

package process_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// instanceSettings are what a process that runs jobs is told.
type instanceSettings struct {
	Instance string
	Journal  string
	Registry registryConfig
	Grace    time.Duration
	Jobs     []job.Config
	Fence    string // where the fenced store is; empty = there is none
}

// instance is what such a process does beside scheduling: it writes down what it sees.
type instance struct {
	journal *journal
	fence   *fenceClient
}

// runInstance is the main function of a process that runs jobs, until SIGTERM.
func runInstance(set instanceSettings) error {
	others := goleak.IgnoreCurrent()
	journal, err := openJournal(set.Journal, set.Instance)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { journal.note(event{Kind: kindTold}) })
	in := &instance{journal: journal, fence: &fenceClient{address: set.Fence}}
	stopDetector := startStallDetector(in.journal)
	err = schedule(ctx, set, in)
	stopDetector()
	if err != nil {
		return err
	}
	stop()
	in.fence.http.CloseIdleConnections()
	if err := goleak.Find(others); err != nil {
		return err
	}
	journal.note(event{Kind: kindDown})
	return nil
}

func schedule(ctx context.Context, set instanceSettings, in *instance) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	reg, err := set.Registry.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() {
		closeErr := reg.Close(context.WithoutCancel(ctx)) // it ends by itself
		if errors.Is(closeErr, registry.ErrUnavailable) {
			closeErr = fmt.Errorf("%w: %w", errNotClosed, closeErr)
		}
		err = errors.Join(err, closeErr)
	}()
	s, err := scheduler.New(reg, scheduler.WithInstanceID(set.Instance), scheduler.WithStopTimeout(set.Grace),
		scheduler.WithObserver(in), scheduler.WithLogger(log))
	if err != nil {
		return err
	}
	for _, cfg := range set.Jobs {
		if _, err := s.Add(ctx, cfg, job.HandlerFunc(in.execute)); err != nil {
			return err
		}
	}
	var reported sync.WaitGroup
	defer reported.Wait()
	reported.Go(func() {
		select {
		case <-s.Ready():
			fmt.Println(saysReady)
		case <-ctx.Done():
		}
	})
	return s.Run(ctx)
}

// execute is the code of every item of every job.
func (in *instance) execute(ctx context.Context, sc job.ShardingContext) error {
	in.journal.note(eventOf(kindBegan, sc, nil))
	cancelled := sync.OnceFunc(func() { in.journal.note(eventOf(kindCancelled, sc, context.Cause(ctx))) })
	stop := context.AfterFunc(ctx, cancelled)
	err := in.work(ctx, sc)
	if !stop() || ctx.Err() != nil { // nothing is said of a run any more that has ended
		cancelled()
	}
	in.journal.note(eventOf(kindEnded, sc, err))
	return err
}

// Observe implements [scheduler.Observer].
func (in *instance) Observe(happened scheduler.Event) {
	switch e := happened.(type) {
	case scheduler.ItemEvent:
		if e.Over() {
			in.itemEnded(e)
		}
	case scheduler.LeadershipEvent:
		if e.Leading {
			in.journal.note(event{Kind: kindElected, Job: e.Job})
		}
	}
}

func (in *instance) itemEnded(e scheduler.ItemEvent) {
	kind := kindRecorded
	if e.Refused != nil {
		kind = kindRefused
	}
	in.journal.note(eventOf(kind, e.Context, e.Refused))
}

// work does what the job's parameter says, and tells the fenced store of it.
func (in *instance) work(ctx context.Context, sc job.ShardingContext) error {
	w, err := workOf(sc)
	if err != nil {
		return err
	}
	req, err := fenceRequestOf(sc, w.steps > 0)
	if err != nil {
		return err
	}
	if err := in.fence.send(ctx, "/begin", req); err != nil {
		return err
	}
	for range w.steps {
		if err := pause(ctx, w.lasts/time.Duration(w.steps)); err != nil {
			return err
		}
		req.Offset++
		if err := job.SaveOffset(ctx, strconv.Itoa(req.Offset)); err != nil {
			return err // whether or not it was written: nothing was confirmed
		}
		if err := in.fence.send(ctx, "/save", req); err != nil {
			return err
		}
	}
	if w.steps == 0 {
		if err := pause(ctx, w.lasts); err != nil {
			return err
		}
	}
	if err := in.fence.send(ctx, "/write", req); err != nil {
		return err
	}
	return w.err
}

// spend takes as long as the job's parameter says, and fails now and then.
func spend(ctx context.Context, sc job.ShardingContext) error {
	return (&instance{fence: new(fenceClient)}).work(ctx, sc)
}

// work is what an execution has to do.
type work struct {
	lasts time.Duration
	steps int   // that it saves a checkpoint after
	err   error // with which it fails in the end
}

// workOf reads the job's parameter, "<least> <most>" and perhaps a number of steps, and draws between
// the first two: the same for a rerun of the same fire.
func workOf(sc job.ShardingContext) (work, error) {
	var w work
	var least, most string
	words, err := fmt.Sscan(sc.JobParameter, &least, &most, &w.steps)
	if words < 2 {
		return w, fmt.Errorf("job parameter %q: %w", sc.JobParameter, err)
	}
	from, err := time.ParseDuration(least)
	until, err2 := time.ParseDuration(most)
	if err := errors.Join(err, err2); err != nil {
		return w, err
	}
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []int64{int64(sc.Item), sc.Fire.UnixNano()})
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	w.lasts = from + time.Duration(r.Int64N(int64(until-from)+1))
	if r.IntN(20) == 0 {
		w.err = errors.New("it went wrong")
	}
	return w, nil
}

// pause lets time pass, unless the execution is cancelled.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
