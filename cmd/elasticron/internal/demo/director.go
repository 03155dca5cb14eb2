package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
)

const (
	lookEvery = 100 * time.Millisecond // at what time alone makes due
	stopLimit = 10 * time.Second       // for processes that were asked to end
)

// director runs the show: it hears the processes, looks at the registry, has the judge decide and the
// script go on. All of it happens on one goroutine.
type director struct {
	opts   Options
	tell   *narrator
	judge  *tally.Judge
	crew   *crew
	follow *follower
	script script

	seen     picture // the last that was looked at
	shown    picture // the last assignment that was reported
	overdue  int     // the newest round that was reported as late
	faults   int     // that were reported
	stopping bool
	late     <-chan time.Time // when those that do not stop are killed
	err      error
}

// run starts the processes and returns when all have ended: after the show, or when ctx ends. The
// error says what went wrong with the processes or the registry; what the judge found is his to say.
func (d *director) run(ctx context.Context) error {
	for range d.opts.Processes {
		d.start()
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	interrupted := ctx.Done()
	for len(d.crew.members) > 0 {
		started := ""
		select {
		case e := <-d.crew.events:
			d.look() // first: what a result means may depend on who is gone
			started = d.hear(e)
		case <-d.follow.moved:
			d.look()
		case <-tick.C:
			d.checkView()
		case <-interrupted:
			interrupted = nil
			d.interrupt()
		case <-d.late:
			d.fail(fmt.Errorf("%s did not end within %s and were killed", plural(len(d.crew.members), "process"), stopLimit))
			d.crew.kill()
		}
		d.showRounds()
		d.act(started)
	}
	return d.err
}

// fail notes an error and ends the show.
func (d *director) fail(err error) {
	d.err = errors.Join(d.err, err)
	d.stop()
}

// interrupt ends the show because somebody wants it to. That is how a show without an end ends.
func (d *director) interrupt() {
	d.tell.say(accent, "interrupted: the processes hand over and end")
	if d.opts.Keep {
		d.stop()
	} else {
		d.fail(ErrInterrupted)
	}
}

// stop asks the processes to end. Their results are heard and answered until they do, and judged no
// more.
func (d *director) stop() {
	if !d.stopping {
		d.stopping = true
		d.judge.End()
		d.late = time.After(stopLimit)
		d.crew.stop()
	}
}

func (d *director) start() {
	if _, err := d.crew.start(); err != nil {
		d.fail(err)
	}
}

func (d *director) checkView() {
	if err := d.follow.view.Err(); err != nil && !d.stopping {
		d.fail(fmt.Errorf("follow the registry: %w", err))
	}
}

// act does what the script wants next.
func (d *director) act(started string) {
	if d.stopping {
		return
	}
	members, all := d.crew.instances()
	switch d.script.next(scene{
		now: time.Now(), picture: d.seen, members: members, all: all,
		rounds: d.judge.Rounds(), newest: d.judge.Rounds() + len(d.judge.Open()), started: started,
	}) {
	case count:
		d.judge.Start(time.Now())
	case kill:
		d.kill(d.script.victim)
	case join:
		d.tell.say(accent, "one more process joins")
		d.start()
	case invite:
		if d.opts.Keep {
			d.tell.say(accent, "your turn, until Ctrl-C: kill -9 one of %s, or kill -STOP it and later -CONT", d.crew.pids())
		}
	case finish:
		d.tell.say(accent, "that is all: the processes hand over and end")
		d.stop()
	case standstill:
		d.judge.GiveUp()
		d.fail(fmt.Errorf("gave up waiting for %s", d.script.phase))
	case wait:
	}
}

// kill ends a process without warning. Its items have no holder from now on.
func (d *director) kill(instance string) {
	p := d.crew.find(instance)
	held := d.seen.held(instance)
	role := "which holds "
	if instance == d.seen.leader {
		role = "which leads and holds "
	}
	d.tell.say(accent, "kill -9 %d: that is %s, %s%s", p.pid(), p.label, role, listed(held))
	d.judge.Orphan(held)
	if err := p.kill(time.Now()); err != nil {
		d.fail(fmt.Errorf("kill %s: %w", p.label, err))
	}
}
