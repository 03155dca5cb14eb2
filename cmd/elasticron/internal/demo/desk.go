package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
)

// errNoAnswer: the parent is gone, so nobody says whether a result arrived.
var errNoAnswer = errors.New("the store gave no answer")

// desk is a process's side of the two pipes to its parent. It is safe for concurrent use once
// instance is set.
type desk struct {
	instance string

	mu      sync.Mutex
	out     *json.Encoder
	waiting map[ticket]chan string // size 1; closed without an answer when the parent is gone
	closed  bool
}

// ticket names the result that an answer is about.
type ticket struct {
	item  int
	token int64
}

func newDesk(out io.Writer) *desk {
	return &desk{out: json.NewEncoder(out), waiting: make(map[ticket]chan string)}
}

// write writes one line.
func (d *desk) write(r report) error {
	r.Instance, r.Run.Instance = d.instance, d.instance
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.out.Encode(r) // one call of Write, so a killed process leaves no half lines of others
}

// put writes a result and returns when the store has kept it, or why it did not.
func (d *desk) put(ctx context.Context, run tally.Result) error {
	key := ticket{run.Item, run.Token}
	reply, err := d.expect(key)
	if err != nil {
		return err
	}
	defer d.forget(key)
	if err := d.write(report{Kind: reportResult, Run: run}); err != nil {
		return err
	}
	select {
	case refused, ok := <-reply:
		switch {
		case !ok:
			return errNoAnswer
		case refused != "":
			return fmt.Errorf("the store refused the result: %s", refused)
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// listen hands the parent's answers to those who wait for them, and returns when there are no more.
// It calls stop when the parent asks for it and also when the parent is gone.
func (d *desk) listen(lines *json.Decoder, stop func()) {
	defer stop()
	for {
		var a answer
		if err := lines.Decode(&a); err != nil {
			d.close()
			return
		}
		if a.Stop {
			stop()
			continue
		}
		d.deliver(a)
	}
}

func (d *desk) expect(key ticket) (<-chan string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errNoAnswer
	}
	reply := make(chan string, 1)
	d.waiting[key] = reply
	return reply, nil
}

func (d *desk) forget(key ticket) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.waiting, key)
}

func (d *desk) deliver(a answer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := ticket{a.Item, a.Token}
	if reply := d.waiting[key]; reply != nil {
		reply <- a.Refused
		delete(d.waiting, key)
	}
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for key, reply := range d.waiting {
		close(reply)
		delete(d.waiting, key)
	}
}
