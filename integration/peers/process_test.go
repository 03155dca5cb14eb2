package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/javapeer"
)

// patience is for what takes a moment, and only takes as long if it never comes.
const patience = 3 * time.Minute

// process is one instance of a contender.
type process interface {
	// Ran returns what ran in it so far.
	Ran() []ran
	// Kill ends it with SIGKILL.
	Kill()
	PID() int
}

// built says whether there is a program to remove in the end.
var built atomic.Bool

// program builds the program of this folder, once for all tests.
var program = sync.OnceValues(func() (string, error) {
	built.Store(true)
	folder, err := os.MkdirTemp("", "elasticron-peers-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "peers")
	out, err := exec.Command("go", "build", "-o", file, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
})

// goProcess is a process of the program of this folder.
type goProcess struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	ready  chan struct{}
	gone   chan struct{}
	failed bytes.Buffer // to be read once it is gone

	mu  sync.Mutex
	ran []ran
}

func startGo(tb testing.TB, a assignment) *goProcess {
	tb.Helper()
	file, err := program()
	require.NoError(tb, err)
	order, err := json.Marshal(a)
	require.NoError(tb, err)
	p := &goProcess{cmd: exec.Command(file), ready: make(chan struct{}), gone: make(chan struct{})}
	p.cmd.Stderr = &p.failed
	stdin, err := p.cmd.StdinPipe()
	require.NoError(tb, err)
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, p.cmd.Start())
	go p.listen(stdout)
	tb.Cleanup(p.end)
	_, err = stdin.Write(append(order, '\n'))
	require.NoError(tb, err)
	select {
	case <-p.ready:
	case <-p.gone:
		tb.Fatalf("a process of %s ended at once: %s", a.Kind, p.failed.String())
	case <-time.After(patience):
		tb.Fatalf("a process of %s does not get ready", a.Kind)
	}
	return p
}

// listen takes in what the process says until it has ended.
func (p *goProcess) listen(stdout io.Reader) {
	defer close(p.gone)
	for said := bufio.NewScanner(stdout); said.Scan(); {
		if said.Text() == "ready" {
			close(p.ready)
			continue
		}
		var r ran
		var fire, nanos int64
		if _, err := fmt.Sscanf(said.Text(), "run %d %d %d %d", &r.Job, &r.Item, &fire, &nanos); err != nil {
			continue // the last words of a process that was killed
		}
		r.At = time.Unix(0, nanos)
		if fire != 0 {
			r.Fire = time.Unix(fire, 0)
		}
		p.mu.Lock()
		p.ran = append(p.ran, r)
		p.mu.Unlock()
	}
	_ = p.cmd.Wait() // it was told to end, or killed
}

func (p *goProcess) PID() int { return p.cmd.Process.Pid }

func (p *goProcess) Ran() []ran {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]ran(nil), p.ran...)
}

func (p *goProcess) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.gone
}

// end stops the process as a deployment does.
func (p *goProcess) end() {
	_ = p.stdin.Close()
	select {
	case <-p.gone:
	case <-time.After(30 * time.Second):
		p.Kill()
	}
}

// javaProcess is a process of Elastic-Job-Lite.
type javaProcess struct {
	*javapeer.Peer
	jobs map[string]int
}

func startJava(tb testing.TB, number int, a assignment) *javaProcess {
	tb.Helper()
	p := &javaProcess{javapeer.Start(tb, javapeer.WithIP(fmt.Sprintf("10.0.0.%d", 1+number)), javapeer.WithWholeCompiler()), make(map[string]int)}
	cluster := javapeer.Cluster{Servers: strings.Join(a.Stores, ","), Namespace: a.Namespace, Session: time.Minute}
	for n := range a.Work.Jobs {
		job := javapeer.NewJob(jobName(n), a.Work.quartz(), a.Work.Items)
		job.Failover = true
		p.jobs[job.Name] = n
		p.Last(job.Name, a.Work.Lasts)
		_, err := p.Join(cluster, job)
		require.NoError(tb, err)
	}
	return p
}

func (p *javaProcess) Ran() []ran {
	var all []ran
	for name, n := range p.jobs {
		for _, e := range p.Events(name) {
			if e.Kind == javapeer.EventBegin {
				all = append(all, ran{Job: n, Item: e.Item, At: e.Time()})
			}
		}
	}
	return all
}

// cpu is the processor time that a process has used so far.
func cpu(tb testing.TB, pid int) time.Duration {
	tb.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	require.NoError(tb, err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])) // from the third on: the name may have spaces
	var ticks int64
	for _, n := range []int{14, 15} { // user and system, in proc(5)'s count
		t, err := strconv.ParseInt(fields[n-3], 10, 64)
		require.NoError(tb, err)
		ticks += t
	}
	const ticksPerSecond = 100 // on every Linux that Go runs on
	return time.Duration(ticks) * time.Second / ticksPerSecond
}
