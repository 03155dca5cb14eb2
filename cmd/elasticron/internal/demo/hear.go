package demo

import (
	"fmt"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/tally"
	"github.com/elasticron/elasticron/job"
)

// hear takes in what a process did. It returns the instance that has just started an item.
func (d *director) hear(e event) (started string) {
	if e.ended {
		d.ended(e.from, e.err)
		return ""
	}
	run := e.report.Run
	key := ticket{run.Item, run.Token}
	switch e.report.Kind {
	case reportHello:
		d.crew.hello(e.from, e.report.Instance)
		d.tell.say(plain, "%s is process %d, instance %s", e.from.label, e.from.pid(), e.report.Instance)
	case reportStarted:
		e.from.running[key] = run
		return e.report.Instance
	case reportResult:
		delete(e.from.running, key)
		d.result(e.from, run)
	case reportRecorded:
		d.judge.Recorded(run.Item, run.Token)
	}
	return ""
}

// result has the judge keep or refuse a result, and tells its writer.
func (d *director) result(from *process, run tally.Result) {
	reply := answer{Item: run.Item, Token: run.Token}
	told := d.judge.Rounds()
	if err := d.judge.Accept(run); err != nil {
		reply.Refused = err.Error()
		d.tell.say(accent, "refused a result of %s: %s", from.label, err)
	} else if number := d.judge.Number(run); run.Source == job.Failover && number > 0 && number <= told {
		d.tell.say(plain, "failover: %s ran item %d of round %d again; its result replaces the one of before", from.label, run.Item, number)
	}
	from.answer(reply)
}

// ended takes note of the end of a process: expected, by somebody's signal, or by a fault.
func (d *director) ended(p *process, err error) {
	d.crew.remove(p)
	switch {
	case !p.killed.IsZero():
		d.tell.say(plain, "%s is dead%s; the registry will notice in %s", p.label, d.inTheMiddle(p), sessionTTL)
	case p.stopping && err != nil:
		d.fail(fmt.Errorf("%s did not end in order: %w", p.label, err))
	case p.stopping:
	case died(err):
		d.tell.say(accent, "somebody ended %s (%s)%s; another process takes its place", p.label, err, d.inTheMiddle(p))
		d.judge.Orphan(d.seen.held(p.instance))
		d.start()
	case err == nil:
		d.fail(fmt.Errorf("%s ended although nobody asked it to", p.label))
	default:
		d.fail(fmt.Errorf("%s failed: %w", p.label, err))
	}
}

// inTheMiddle tells what a process was doing when it ended.
func (d *director) inTheMiddle(p *process) string {
	for _, run := range p.running {
		if number := d.judge.Number(run); number > 0 {
			return fmt.Sprintf(", in the middle of round %d", number)
		}
	}
	return ""
}
