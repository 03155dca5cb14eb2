package demo

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// crew is the processes that share the job. It belongs to the director's goroutine.
type crew struct {
	command  []string
	settings settings
	logs     *os.File

	events  chan event
	members []*process // alive, in the order of their start
	started int
	known   map[string]*process // all that ever said hello, by instance id
}

func newCrew(command []string, set settings, logs *os.File) *crew {
	return &crew{
		command: command, settings: set, logs: logs,
		events: make(chan event), known: make(map[string]*process),
	}
}

// start starts one more process.
func (c *crew) start() (*process, error) {
	c.started++
	set := c.settings
	set.Label = fmt.Sprintf("w%d", c.started)
	p, err := startProcess(c.command, set, c.logs, c.events)
	if p != nil {
		c.members = append(c.members, p)
	}
	return p, err
}

// hello notes under which instance id a process takes part.
func (c *crew) hello(p *process, instance string) {
	p.instance = instance
	c.known[instance] = p
}

// remove forgets a process that ended.
func (c *crew) remove(p *process) {
	c.members = slices.DeleteFunc(c.members, func(m *process) bool { return m == p })
}

// instances returns the ids of those that take part and are meant to stay. Until all of these have
// said hello it returns false.
func (c *crew) instances() ([]string, bool) {
	var ids []string
	for _, p := range c.members {
		if !p.killed.IsZero() {
			continue
		}
		if p.instance == "" {
			return nil, false
		}
		ids = append(ids, p.instance)
	}
	return ids, true
}

// find returns the living process that takes part as an instance; nil if there is none.
func (c *crew) find(instance string) *process {
	for _, p := range c.members {
		if p.instance == instance {
			return p
		}
	}
	return nil
}

// pids lists the processes that are meant to stay: "123 (w1), 124 (w3)".
func (c *crew) pids() string {
	var list []string
	for _, p := range c.members {
		if p.killed.IsZero() {
			list = append(list, fmt.Sprintf("%d (%s)", p.pid(), p.label))
		}
	}
	return strings.Join(list, ", ")
}

// name returns what an instance is called in what is shown.
func (c *crew) name(instance string) string {
	switch p := c.known[instance]; {
	case p != nil:
		return p.label
	case instance == "":
		return "nobody"
	default:
		return instance
	}
}

// stop asks all to end.
func (c *crew) stop() {
	for _, p := range c.members {
		p.stop()
	}
}

// kill ends those that are left.
func (c *crew) kill() {
	for _, p := range c.members {
		_ = p.cmd.Process.Kill() // one that has just ended is what is wanted
	}
}
