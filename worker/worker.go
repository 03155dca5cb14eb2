package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/worker/internal/jobfolder"
)

// ErrRan is the error of a second call of [Worker.Run].
var ErrRan = errors.New("Run was called before: a worker runs once")

// Worker runs script and HTTP jobs. Its methods are safe for concurrent use.
type Worker struct {
	registry registry.Registry
	log      *slog.Logger
	lines    *logqueue.Queue // of log: nothing waits for it
	notices  notices
	metrics  *prometheus.Collector
	serving  chan struct{} // closed when Run has opened everything, or has returned

	reloading sync.Mutex // held by Reload, and taken before mu

	mu       sync.Mutex
	file     File // as it counts
	ran      bool
	ready    bool // it has joined its jobs, which systemd was told
	draining bool
	parts    *parts // nil before Run has opened them
	address  string
}

// New makes a worker over a registry, which stays the caller's to close after Run has returned. It starts nothing. The
// error joins all faults of the file and the options.
func New(reg registry.Registry, file File, opts ...Option) (*Worker, error) {
	w := &Worker{registry: reg, log: slog.New(slog.DiscardHandler), serving: make(chan struct{})}
	w.notices.hear = func(string) {}
	var faults []error
	if reg == nil {
		faults = append(faults, fmt.Errorf("%w: the registry is nil", ErrInvalidOption))
	}
	faults = append(faults, option.Apply(w, opts)...)
	w.log, w.lines = logqueue.New(w.log)
	w.notices.log = w.log
	var err error
	w.file, err = file.Completed()
	faults = append(faults, err)
	w.metrics, err = prometheus.New()
	if err := errors.Join(append(faults, err)...); err != nil {
		return nil, err
	}
	return w, nil
}

// Run takes part in jobs until ctx ends. Then /ready says so, items are handed over at once, what runs has until the
// grace is over to end, and nothing that a script started is left when Run returns, some seconds after the grace at the
// latest.
//
// It returns at once, with an error, if the machine has not what the file asks for: a user, a cgroup for the limits, a
// key, a folder, a free port; without an error if ctx ends meanwhile. Other errors are those of [scheduler.Scheduler.Run],
// and what did not end.
//
// On Linux, orphans of scripts come to this process from now on, as to the first process of a container, and those that have
// ended are forgotten: also a child of its own that nobody has waited for when it has been over for a quarter of a second.
func (w *Worker) Run(ctx context.Context) (err error) {
	w.mu.Lock()
	file, ran := w.file, w.ran
	w.ran = true
	w.mu.Unlock()
	if ran {
		return ErrRan
	}
	defer w.lines.Flush(logqueue.LastLines)
	p, err := w.open(ctx, file)
	if err != nil {
		close(w.serving)
		if ctx.Err() != nil { // it was told to stop while it started
			return nil
		}
		return err
	}
	w.mu.Lock()
	w.parts = p
	w.mu.Unlock()
	close(w.serving)
	defer w.notices.end(lastNotice)
	return w.toTheEnd(ctx, p)
}

// toTheEnd runs what is open, and closes it in the order in which one part needs another: what makes jobs, then those,
// then what records them.
func (w *Worker) toTheEnd(ctx context.Context, p *parts) error {
	beside, endBeside := context.WithCancel(context.WithoutCancel(ctx))
	defer endBeside()
	var group sync.WaitGroup
	files, endFiles := context.WithCancel(beside)
	defer endFiles()
	if p.files != nil {
		group.Go(func() { p.files.Run(files) })
	}
	if p.scripts != nil {
		group.Go(func() { p.scripts.bury(beside) })
	}
	group.Go(func() { w.tellSystemd(beside, p.scheduler) })
	if p.history != nil {
		group.Go(func() { p.history.Retain(beside) })
	}
	stop, stopScheduler := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopScheduler(nil)
	group.Go(func() {
		select {
		case <-beside.Done():
			return
		case <-ctx.Done():
		case <-p.hurry.Done():
		}
		grace := w.drains() // before anything is handed over
		endFiles()
		stopScheduler(context.Cause(ctx))
		group.Go(func() { p.endWhatRuns(beside, grace) })
		w.log.Info("worker stops", "grace", grace.String())
	})
	err := p.scheduler.Run(stop)
	if p.scripts != nil {
		p.scripts.Kill() // what has not ended by now has been given up, and others may run it
		err = errors.Join(err, p.scripts.close(killPatience))
	}
	endBeside()
	group.Wait()
	return errors.Join(err, p.close()) //nolint:contextcheck // by now ctx has ended
}

// lastNotice is for how long Run leaves who is told to hear that the worker stops.
const lastNotice = 500 * time.Millisecond

// killPatience is how long scripts may take to be gone that were killed. With lastPatience and what the registry may take to be let
// go of, it is within the fifteen seconds after the grace that the documentation has whoever starts the worker wait.
const killPatience = 5 * time.Second

// drains notes that the worker stops, and says so. It returns the grace as it is now.
func (w *Worker) drains() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.draining = true
	w.notices.tell("STOPPING=1")
	return time.Duration(w.file.Grace)
}

// errGrace is why scripts are ended that run when the worker stops.
var errGrace = errors.New("the worker stops, and its grace is over")

// endWhatRuns ends scripts when as much of the grace is left as they may take to end, and calls when it is over. The
// scheduler cancels items only when no script runs: it gives up what does not return at once then, and another worker
// would begin the item while the script goes on.
func (p *parts) endWhatRuns(ctx context.Context, grace time.Duration) {
	over := time.NewTimer(grace)
	defer over.Stop()
	if p.scripts != nil {
		defer context.AfterFunc(p.hurry, p.scripts.Kill)() //nolint:contextcheck // a second signal counts whatever ctx is
		// What began before a reload may have more time to end than the grace has now, and than its item is held.
		kill := time.AfterFunc(grace, p.scripts.Kill)
		defer kill.Stop()
		last := time.NewTimer(grace - p.scripts.LongestStop())
		defer last.Stop()
		select {
		case <-last.C:
			p.scripts.Stop(errGrace)
		case <-p.hurry.Done():
		case <-ctx.Done():
		}
	}
	if p.calls != nil {
		select {
		case <-over.C:
		case <-p.hurry.Done():
		case <-ctx.Done():
		}
	}
	if p.scripts != nil {
		select {
		case <-p.scripts.Idle():
		case <-ctx.Done():
		}
	}
	p.scheduler.StopNow()
}

// lastPatience is how long after the grace scripts may take to be gone before their items are given up.
const lastPatience = 5 * time.Second

// StopNow cuts the grace short: what runs is ended at once, without SIGTERM. It does not wait for Run to return, and
// does nothing before Run.
func (w *Worker) StopNow() {
	w.mu.Lock()
	p := w.parts
	w.mu.Unlock()
	if p == nil {
		return
	}
	p.cutShort()
}

// newOperator returns who carries out what files say.
func (w *Worker) newOperator() (*operate.Operator, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return operate.New(w.registry, operate.By(host, "worker"), operate.WithLogger(w.log))
}

// sourceOf is the folder of jobs as a file has it.
func sourceOf(j Jobs) jobfolder.Source {
	owner := j.Owner
	if owner == "" {
		owner = j.Directory
	}
	return jobfolder.Source{Directory: j.Directory, Owner: owner, Version: j.Version, Gone: operate.Gone(j.Missing)}
}

// schedulerOptions are what a file says of the scheduler.
func schedulerOptions(file File, p *parts, log *slog.Logger) ([]scheduler.Option, error) {
	handlers, err := handlersOf(file, p.calls)
	if err != nil {
		return nil, err
	}
	p.take.Store(&file.Take)
	takes := func(cfg job.Config) bool { return p.take.Load().Takes(cfg) }
	opts := []scheduler.Option{scheduler.WithLogger(log), scheduler.WithJobFilter(takes), scheduler.WithErrorHandlers(handlers)}
	if p.scripts != nil {
		opts = append(opts, scheduler.WithHandler(job.ScriptClass, alerting{p.scripts, handlers}))
	}
	if p.calls != nil {
		code := httpjob.Job{Guard: p.calls, Sign: p.calls.sign, Output: p.calls.output(p.heard())}
		opts = append(opts, scheduler.WithHandler(httpjob.Class, alerting{callCode{code, file.HTTP.Secrets}, handlers}))
	}
	if file.HeadStart != nil {
		opts = append(opts, scheduler.WithHeadStart(time.Duration(*file.HeadStart)))
	}
	return append(opts, scheduler.WithStopTimeout(stopTimeoutOf(file))), nil
}

func stopTimeoutOf(file File) time.Duration { return time.Duration(file.Grace) + lastPatience }
