package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/worker/internal/jobfolder"
)

// parts are what a worker that runs consists of.
type parts struct {
	take      atomic.Pointer[Take]
	scripts   *scripts // nil without a section script
	calls     *calls   // nil without a section http
	files     *jobfolder.Follower
	history   *keeping
	scheduler *scheduler.Scheduler
	server    *http.Server
	served    chan struct{} // closed when the server has ended
	repeats   *repeats.Log

	hurry    context.Context // ends when the grace is cut short
	cutShort context.CancelFunc
}

// ofRuns are lines that may come with every run: of one cause, the first is logged, and then a count.
var ofRuns = []string{notKept, "the output of a script is not kept in a file"}

// open opens everything that a file names, or nothing.
func (w *Worker) open(ctx context.Context, file File) (_ *parts, err error) {
	p := &parts{repeats: repeats.New(w.log, repeats.Every)}
	log := slog.New(repeats.Handler(w.log.Handler(), p.repeats, ofRuns, []string{"error"}))
	p.hurry, p.cutShort = context.WithCancel(context.WithoutCancel(ctx))
	defer func() { //nolint:contextcheck // what is open is closed, whatever has ended
		if err == nil {
			return
		}
		if p.scripts != nil { // none runs yet
			err = errors.Join(err, p.scripts.close(killPatience))
		}
		err = errors.Join(err, p.close())
	}()
	if file.History.File != "" {
		if p.history, err = openHistory(ctx, file.History, writePatience, log); err != nil {
			return nil, err
		}
	}
	if file.Script != nil {
		if p.scripts, err = openScripts(*file.Script, log, p.heard()); err != nil {
			return nil, err
		}
	}
	if file.HTTP != nil {
		rules, err := rulesOf(*file.HTTP)
		if err != nil {
			return nil, err
		}
		p.calls = new(calls)
		p.calls.now.Store(rules)
	}
	opts, err := schedulerOptions(file, p, w.log)
	if err != nil {
		return nil, err
	}
	opts = append(opts, scheduler.WithObserver(w.metrics))
	if p.history != nil {
		opts = append(opts, scheduler.WithObserver(p.history))
	}
	if p.scheduler, err = scheduler.New(w.registry, opts...); err != nil {
		return nil, err
	}
	if file.Jobs.Directory != "" {
		operator, err := w.newOperator()
		if err != nil {
			return nil, err
		}
		p.files = jobfolder.New(w.registry, operator, sourceOf(file.Jobs), w.log)
	}
	if file.Listen != "" {
		return p, w.serve(ctx, p, file.Listen)
	}
	return p, nil
}

// heard is who is told of outputs; nil if nobody keeps them.
func (p *parts) heard() hearing {
	if p.history == nil {
		return nil
	}
	return p.history.heard
}

// serve listens for probes.
func (w *Worker) serve(ctx context.Context, p *parts, address string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	w.mu.Lock()
	w.address = listener.Addr().String()
	w.mu.Unlock()
	p.server = &http.Server{
		Handler: w.handlerOf(p), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second,
		IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
	}
	p.served = make(chan struct{})
	go func() {
		defer close(p.served)
		if err := p.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("probes are not served any more", "error", err)
		}
	}()
	return nil
}

// close closes what is open. What is recorded has some seconds to be written.
func (p *parts) close() error {
	p.cutShort()
	var faults []error
	if p.server != nil {
		faults = append(faults, p.server.Close())
		<-p.served
	}
	if p.history != nil {
		faults = append(faults, p.history.close())
	}
	p.repeats.Close()
	return errors.Join(faults...)
}

// Address is where the worker listens, once it does; empty if the file does not have it listen. It waits until Run has
// opened everything, or has failed to.
func (w *Worker) Address() string {
	<-w.serving
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.address
}
