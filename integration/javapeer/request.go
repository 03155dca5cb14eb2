package javapeer

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// request is a line to the process.
type request struct {
	ID int64  `json:"id"`
	Op string `json:"op"`

	Servers        string `json:"servers,omitempty"`
	Namespace      string `json:"namespace,omitempty"`
	Digest         string `json:"digest,omitempty"`
	SessionTimeout int64  `json:"sessionTimeout,omitempty"` // milliseconds

	Job  string `json:"job,omitempty"`
	IP   string `json:"ip,omitempty"`
	Item int    `json:"item,omitempty"`
	Spec *Job   `json:"spec,omitempty"`

	Hold   bool   `json:"hold,omitempty"`
	Millis int64  `json:"millis,omitempty"`
	Text   string `json:"text,omitempty"`
}

// answer is a line from the process.
type answer struct {
	ID     int64           `json:"answer"`
	Result json.RawMessage `json:"result"`
	Fault  string          `json:"fault"`
}

// ask sends a request and waits for its answer. The error is what the Java code threw.
func (p *process) ask(r request, result any) error {
	p.mu.Lock()
	p.asked++
	r.ID = p.asked
	answered := make(chan answer, 1) // holds the one answer
	p.answers[r.ID] = answered
	line, err := json.Marshal(r)
	if err == nil {
		_, err = p.in.Write(append(line, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case a := <-answered:
		return a.into(result)
	case <-p.gone:
	case <-time.After(patience):
		return errors.New("the Java process does not answer")
	}
	select {
	case a := <-answered: // the last that it said
		return a.into(result)
	default:
		return errEnded
	}
}

// errEnded is what a request comes to that was sent and is not answered, as the process has ended.
var errEnded = errors.New("the Java process has ended")

// into takes the result over, unless it is nil. The error is what the Java code threw.
func (a answer) into(result any) error {
	switch {
	case a.Fault != "":
		return errors.New(a.Fault)
	case result != nil:
		return json.Unmarshal(a.Result, result)
	default:
		return nil
	}
}

// request is ask for what must not fail.
func (p *Peer) request(r request) {
	p.tb.Helper()
	if err := p.ask(r, nil); err != nil {
		p.tb.Fatalf("%s of a Java process: %v", r.Op, err)
	}
}

// Cluster says where a job's tree is.
type Cluster struct {
	Servers   string        // "host:port,host:port"
	Namespace string        //
	Digest    string        // "user:password"; empty = none
	Session   time.Duration // its timeout
}

func (c Cluster) request(op string) request {
	return request{Op: op, Servers: c.Servers, Namespace: c.Namespace, Digest: c.Digest, SessionTimeout: c.Session.Milliseconds()}
}

// Join has the process take part in a job, as an instance of its own with a session of its own, and
// returns what it then takes to be so. The error is what the library threw.
func (p *Peer) Join(c Cluster, job Job) (Belief, error) {
	var belief Belief
	if p.release == Lite2 && job.needs3() {
		return belief, fmt.Errorf("job %s: %s has not all of its settings", job.Name, p.release)
	}
	r := c.request("start")
	r.Spec = &job
	err := p.ask(r, &belief)
	return belief, err
}

// Last sets how long each execution of a job lasts from now on, in this process. Those that go on
// [UntilTold] then go by the new duration. The default is 0.
func (p *Peer) Last(job string, d time.Duration) {
	p.tb.Helper()
	p.request(request{Op: "last", Job: job, Hold: d == UntilTold, Millis: max(0, d.Milliseconds())})
}

// LastOf does so for one item, whose executions last that much longer than those of its job.
func (p *Peer) LastOf(job string, item int, d time.Duration) {
	p.tb.Helper()
	p.Last(fmt.Sprintf("%s/%d", job, item), d)
}

// Release ends the executions of a job that go on [UntilTold], in this process. Later ones last as before, so that none
// comes and goes between the two.
func (p *Peer) Release(job string) {
	p.tb.Helper()
	p.request(request{Op: "release", Job: job})
}

// Ping returns when the process has answered. The error says that it has ended, or does not answer.
func (p *Peer) Ping() error { return p.ask(request{Op: "last", Job: "ping"}, nil) }

// Feed sets how many batches of data a dataflow job finds in this process, whatever its items. The default is none.
func (p *Peer) Feed(job string, batches int) {
	p.tb.Helper()
	p.request(request{Op: "feed", Job: job, Item: batches})
}

// Execute has a job without cron run once, as the application does that declared it.
func (p *Peer) Execute(job string) error { return p.ask(request{Op: "execute", Job: job}, nil) }

// Belief returns what the instance takes to be so of a job.
func (p *Peer) Belief(job string) (Belief, error) {
	var belief Belief
	err := p.ask(request{Op: "belief", Job: job}, &belief)
	return belief, err
}

// HoldLatch has the process take a latch of a job that it takes part in, as the library does to elect a
// leader, and returns when it has it. The process keeps it until [Peer.Last] sets another duration of
// "latch" than [UntilTold].
func (p *Peer) HoldLatch(job, latch string) {
	p.tb.Helper()
	p.Last("latch", UntilTold)
	p.request(request{Op: "latch", Job: job, Text: latch})
}
