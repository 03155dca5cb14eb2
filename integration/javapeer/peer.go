package javapeer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is for what takes a moment, and only takes as long if it never comes.
const patience = 60 * time.Second

// Peer is a Java process, as one test sees it. Its methods may be called concurrently.
type Peer struct {
	*process
	tb testing.TB
}

// In returns the process for a subtest, which then is what fails.
func (p *Peer) In(tb testing.TB) *Peer { return &Peer{p.process, tb} }

type process struct {
	release *Release
	cmd     *exec.Cmd
	in      io.WriteCloser
	ready   chan struct{}
	gone    chan struct{} // closed when the process has ended

	mu      sync.Mutex
	asked   int64
	answers map[int64]chan answer
	events  []Event
	changed chan struct{} // closed and made anew with each event
	log     bytes.Buffer
}

// Option changes how a peer is started.
type Option func(*options)

type options struct {
	whole   bool
	ip      string
	release *Release
}

// WithIP sets the address under which the process takes part, so that several on one machine are
// servers of their own. The default is 10.0.0.1.
func WithIP(ip string) Option { return func(o *options) { o.ip = ip } }

// WithRelease sets which library the process uses. The default is [Lite2].
func WithRelease(r *Release) Option { return func(o *options) { o.release = r } }

// WithWholeCompiler has Java compile what runs often as well as it can, and gives it a larger heap, for who measures it. Peers
// that live for a test alone do without.
func WithWholeCompiler() Option { return func(o *options) { o.whole = true } }

// Start starts a Java process that ends with the test. See [Need] for machines that cannot run it. A
// test that fails shows what the process logged.
func Start(tb testing.TB, chosen ...Option) *Peer {
	tb.Helper()
	o := options{ip: "10.0.0.1", release: Lite2}
	for _, choose := range chosen {
		choose(&o)
	}
	o.release.Need(tb)
	p, err := launch(tb, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.end)
	select {
	case <-p.ready:
	case <-p.gone:
		tb.Fatalf("the Java process ended at once:\n%s", p.text())
	case <-time.After(patience):
		tb.Fatal("the Java process does not start")
	}
	return p
}

func launch(tb testing.TB, o options) (*Peer, error) {
	folder, err := o.release.jars()
	if err != nil {
		return nil, err
	}
	p := &process{
		release: o.release,
		ready:   make(chan struct{}), gone: make(chan struct{}), changed: make(chan struct{}),
		answers: make(map[int64]chan answer),
	}
	line := command(folder, o)
	p.cmd = exec.Command(line[0], line[1:]...)
	p.cmd.Stderr = lockedWriter{p}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a Java process: %w", err)
	}
	peer := &Peer{p, tb}
	go peer.read(out)
	return peer, nil
}

// lockedWriter keeps what the process logs.
type lockedWriter struct{ p *process }

func (w lockedWriter) Write(text []byte) (int, error) {
	w.p.mu.Lock()
	defer w.p.mu.Unlock()
	return w.p.log.Write(text)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.log.String()
}

// read takes in what the process says until it has ended.
func (p *Peer) read(out io.Reader) {
	defer close(p.gone)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			answer
			Event
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			p.tb.Errorf("a Java process said %q: %v", lines.Text(), err)
			continue
		}
		p.take(line.answer, line.Event)
	}
	_ = p.cmd.Wait() // it was killed, or says so by its exit code
}

func (p *process) take(a answer, e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case a.ID != 0:
		p.answers[a.ID] <- a
		delete(p.answers, a.ID)
	case e.Kind == EventReady:
		close(p.ready)
	default:
		p.events = append(p.events, e)
		close(p.changed)
		p.changed = make(chan struct{})
	}
}

// Events returns what happened of a job so far.
func (p *Peer) Events(job string) []Event {
	events, _ := p.look(job)
	return events
}

func (p *process) look(job string) ([]Event, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	events := slices.DeleteFunc(slices.Clone(p.events), func(e Event) bool { return e.Job != job })
	return events, p.changed
}

// WaitEvents waits until what happened of a job so far is enough, and returns it.
func (p *Peer) WaitEvents(job string, enough func([]Event) bool) []Event {
	p.tb.Helper()
	deadline := time.After(patience)
	for {
		events, changed := p.look(job)
		if enough(events) {
			return events
		}
		select {
		case <-changed:
		case <-p.gone:
			p.tb.Fatalf("a Java process ended while its job %s was waited for; it did %v", job, events)
		case <-deadline:
			p.tb.Fatalf("waited in vain for job %s of a Java process; it did %v; its threads:\n%s", job, events, p.Stacks())
		}
	}
}

// Stacks returns what those threads do that are in code of the library or wait in a latch.
func (p *process) Stacks() string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() { // who ends meanwhile does not answer
		select {
		case <-p.gone:
			cancel()
		case <-ctx.Done():
		}
	}()
	all, err := exec.CommandContext(ctx, "jstack", strconv.Itoa(p.PID())).CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s%v", all, err)
	}
	threads := slices.DeleteFunc(strings.Split(string(all), "\n\n"), func(thread string) bool {
		return !strings.Contains(thread, "elasticjob") && !strings.Contains(thread, "ddframe.job") && !strings.Contains(thread, "LeaderLatch")
	})
	return strings.Join(threads, "\n\n")
}

// PID is the process id.
func (p *process) PID() int { return p.cmd.Process.Pid }

// Kill ends the process with SIGKILL.
func (p *Peer) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.gone
}

// Freeze stops the process with SIGSTOP: its sessions end when the server has waited long enough.
func (p *Peer) Freeze() error { return Freeze(p.cmd.Process) }

// Thaw lets a frozen process go on.
func (p *Peer) Thaw() error { return Thaw(p.cmd.Process) }

// Freeze is [Peer.Freeze] for any process.
func Freeze(p *os.Process) error { return p.Signal(stop) }

// Thaw is [Peer.Thaw] for any process.
func Thaw(p *os.Process) error { return p.Signal(goOn) }

// Exit ends the process as System.exit does: running items are waited for, then the library's exit
// hooks say farewell. It tells whether the process ended by itself: one that hangs by a fault of the library, as
// [Release] 3.0.4 may, is killed, as people would.
func (p *Peer) Exit() (clean bool) {
	p.tb.Helper()
	if err := p.ask(request{Op: "exit"}, nil); err != nil && !errors.Is(err, errEnded) { // it may exit before it has answered
		p.tb.Fatalf("exit of a Java process: %v", err)
	}
	look := time.NewTicker(patience / 10)
	defer look.Stop()
	deadline := time.After(patience)
	for hung := false; ; {
		select {
		case <-p.gone:
			return true
		case <-look.C:
			stacks := p.Stacks()
			if now := hangs(stacks); !now || !hung {
				hung = now
				continue
			}
			p.tb.Logf("a Java process hangs at its exit, and is killed; its threads:\n%s", stacks)
			p.Kill()
			return false
		case <-deadline:
			stacks := p.Stacks()
			select {
			case <-p.gone:
				return true
			default:
			}
			p.tb.Errorf("a Java process does not exit; its threads:\n%s", stacks)
			p.Kill()
			return false
		}
	}
}

var (
	holdsController = regexp.MustCompile(`- locked <(0x[0-9a-f]+)> \(a [\w.]*JobScheduleController\)`)
	wantsController = regexp.MustCompile(`- waiting to lock <(0x[0-9a-f]+)> \(a [\w.]*JobScheduleController\)`)
)

// hangs tells whether a process waits for itself for ever: the exit hook of a job holds the lock of the job's controller
// while it waits for Quartz, and Quartz's only worker for that job waits for the lock, to trigger a failover.
func hangs(stacks string) bool {
	held := make(map[string]bool)
	var wanted []string
	for thread := range strings.SplitSeq(stacks, "\n\n") {
		if lock := holdsController.FindStringSubmatch(thread); lock != nil && strings.Contains(thread, "QuartzSchedulerThread.halt") {
			held[lock[1]] = true
		}
		if lock := wantsController.FindStringSubmatch(thread); lock != nil && strings.Contains(thread, "SimpleThreadPool$WorkerThread.run") {
			wanted = append(wanted, lock[1])
		}
	}
	return slices.ContainsFunc(wanted, func(lock string) bool { return held[lock] })
}

func (p *Peer) end() {
	_ = p.cmd.Process.Kill()
	<-p.gone
	if p.tb.Failed() && os.Getenv("CI") == "" {
		p.tb.Logf("a Java process logged:\n%s", p.text())
	}
}
