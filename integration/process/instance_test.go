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
	Place    place
	Grace    time.Duration
	Jobs     []job.Config
}

// instance is what such a process does beside scheduling: it writes down what it sees.
type instance struct {
	scheduler.NopObserver
	journal *journal
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
	if err := schedule(ctx, set, &instance{journal: journal}); err != nil {
		return err
	}
	stop()
	if err := goleak.Find(others); err != nil {
		return err
	}
	journal.note(event{Kind: kindDown})
	return nil
}

func schedule(ctx context.Context, set instanceSettings, in *instance) (err error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	reg, err := set.Place.open(ctx, log)
	if err != nil {
		return err
	}
	defer func() {
		unsaid := reg.Close(context.WithoutCancel(ctx)) // it ends by itself
		if errors.Is(unsaid, registry.ErrUnavailable) {
			unsaid = fmt.Errorf("%w: %w", errUnheard, unsaid)
		}
		err = errors.Join(err, unsaid)
	}()
	s, err := scheduler.New(reg, scheduler.WithInstanceID(set.Instance), scheduler.WithStopTimeout(set.Grace),
		scheduler.WithObserver(in), scheduler.WithLogger(log))
	if err != nil {
		return err
	}
	for _, cfg := range set.Jobs {
		if err := s.Add(ctx, cfg, job.SimpleFunc(in.execute)); err != nil {
			return err
		}
	}
	var told sync.WaitGroup
	defer told.Wait()
	told.Go(func() {
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
	err := spend(ctx, sc)
	if !stop() || ctx.Err() != nil { // nothing is said of a run any more that has ended
		cancelled()
	}
	in.journal.note(eventOf(kindEnded, sc, err))
	return err
}

// ItemEnded implements [scheduler.Observer].
func (in *instance) ItemEnded(e scheduler.ItemEvent) {
	kind := kindRecorded
	if e.Refused != nil {
		kind = kindRefused
	}
	in.journal.note(eventOf(kind, e.Context, e.Refused))
}

// Elected implements [scheduler.Observer].
func (in *instance) Elected(name string) { in.journal.note(event{Kind: kindElected, Job: name}) }

// spend takes as long as the job's parameter says, "<least> <most>", and fails now and then: the same
// for a rerun of the same fire.
func spend(ctx context.Context, sc job.ShardingContext) error {
	var least, most string
	if _, err := fmt.Sscan(sc.JobParameter, &least, &most); err != nil {
		return fmt.Errorf("job parameter %q: %w", sc.JobParameter, err)
	}
	from, err := time.ParseDuration(least)
	until, err2 := time.ParseDuration(most)
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []int64{int64(sc.Item), sc.Fire.UnixNano()})
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	timer := time.NewTimer(from + time.Duration(r.Int64N(int64(until-from)+1)))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if r.IntN(20) == 0 {
		return errors.New("it went wrong")
	}
	return nil
}
