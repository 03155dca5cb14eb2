package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// runs notes that an item runs, and lasts as long as it should. The fire is the one that it runs for, zero where the
// library does not tell.
type runs func(job, item int, fire time.Time)

// A kind takes part in the work until the context ends, and calls ready when it does.
type kind func(ctx context.Context, a assignment, run runs, ready func()) error

var kinds = map[string]kind{
	kindElasticron:   elasticron,
	kindElasticronZK: elasticronOnZooKeeper,
	kindGocron:       gocronWithMutex,
	kindRobfig:       robfig,
}

// The kinds of processes.
const (
	kindElasticron   = "elasticron"
	kindElasticronZK = "elasticron-zookeeper"
	kindGocron       = "gocron"
	kindRobfig       = "robfig"
)

func main() {
	if err := takePart(os.Stdin, &lines{w: os.Stdout}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// takePart does what the first line of the input says, until the input ends.
func takePart(in io.Reader, out *lines) error {
	input := bufio.NewReader(in)
	line, err := input.ReadBytes('\n')
	if err != nil {
		return err
	}
	var a assignment
	if err := json.Unmarshal(line, &a); err != nil {
		return err
	}
	takesPart := kinds[a.Kind]
	if takesPart == nil {
		return fmt.Errorf("kind %q is none of those that there are", a.Kind)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		_, _ = io.Copy(io.Discard, input)
		stop()
	}()
	return takesPart(ctx, a, func(job, item int, fire time.Time) {
		out.run(job, item, fire)
		time.Sleep(a.Work.Lasts)
	}, out.ready)
}

// lines are what a process says. Each is written at once, so that a process that is killed has said what it did.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lines) ready() { l.say("ready\n") }

func (l *lines) run(job, item int, fire time.Time) {
	unix := int64(0)
	if !fire.IsZero() {
		unix = fire.Unix()
	}
	l.say(fmt.Sprintf("run %d %d %d %d\n", job, item, unix, time.Now().UnixNano()))
}

func (l *lines) say(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.w, line) // who listened is gone, and so will this process be
}
