package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/migrate/internal/elasticjob3"
	"github.com/elasticron/elasticron/registry"
)

// forth says what the way to the target needs next.
func (m *mover) forth(s *scene) (deed, error) {
	if err := cmp.Or(s.asSource(), s.asTarget(), s.elsewhere(), s.takenBackAlone(), s.leaving()); err != nil {
		return deed{}, err
	}
	switch {
	case s.here.State == Confirmed && s.there.State == "":
		return m.stayed(s)
	case s.there.State == Returning:
		return deed{}, refusal{errors.New("it is being taken back: finish that first")}
	case s.there.State == Prepared && s.target.enabled():
		return m.stop(s, Prepared)
	}
	d, needed, err := m.drain(s)
	if err != nil {
		return deed{}, err
	}
	running := s.there.State == Moved || s.there.State == Confirming
	switch {
	case s.there.State != Prepared && !running:
		return m.prepare(s)
	case needed:
		d.rest = []string{m.waitForSource(s).text, enableTarget}
		return d, nil
	case running:
		return deed{done: true}, nil
	}
	if d, needed := m.leaveClaimed(s); needed {
		return d, nil
	}
	if s.source.busy() != nil || !m.settled(s, true) {
		return m.waitForSource(s), nil
	}
	if d, needed := m.takeLost(s, true); needed {
		d.rest = []string{enableTarget}
		return d, nil
	}
	return m.start(s)
}

// stayed says what is left of a move that was confirmed: nothing, in the target to which it was. The source does not tell
// which that is.
func (m *mover) stayed(s *scene) (deed, error) {
	if !s.target.nodes[s.target.state.Tree().Config()].Exists() {
		return deed{}, refusal{errors.New("its move was confirmed, and the target has no such job: it was moved elsewhere, or removed since")}
	}
	if _, needed, err := m.drain(s); err != nil || needed {
		return deed{}, refusal{errors.Join(errors.New("its move was confirmed, and something of it is enabled again in the source: disable or remove it there"), err)}
	}
	return deed{done: true}, nil
}

// prepare has the target get the job, disabled.
func (m *mover) prepare(s *scene) (deed, error) {
	wanted, err := m.former(s)
	if err != nil {
		return deed{}, err
	}
	left, freed := s.withoutFormerMove()
	if err := m.yields(left, wanted); err != nil {
		return deed{}, err
	}
	wanted.config.Disabled = true
	text, err := jobtree.EncodeConfig(wanted.config)
	if err != nil {
		return deed{}, refusal{err}
	}
	names, d := s.target.state.Tree(), deed{text: "create the job in the target, disabled"}
	found := s.target.nodes[names.Config()]
	if found.Exists() {
		d.text = "disable the job in the target"
		changes := memberChanges(s.target.jobNodes, text)
		if s.there.State == "" && len(changes) > 0 && !m.opts.Overwrite {
			return deed{}, refusal{fmt.Errorf("the target has the job, and has it otherwise (%s): overwrite that, or remove it", changes[0])}
		}
		if s.there.State == Returned {
			d.text = "have the target's job as the source has it, disabled"
		}
	}
	if len(freed) > 0 {
		d.text += ", and have its servers " + list(serversOf(freed)) + " as they were before it was moved away"
	}
	step, _ := s.target.put(names.Config(), text)
	d.first, d.last = freed, []guarded.Step{step, m.pledge(s.target.jobNodes, pledge{ID: newMoveID(), State: Prepared})}
	d.rest = m.plan(s)
	m.moveCheckpoints(s) // whoever plans is to know
	return d, nil
}

// withoutFormerMove returns what the target has without the servers that a confirmed move from there has disabled, and what makes
// it so: that was no operator's word. Where Java lives, which goes by its servers alone, they stay disabled.
func (s *scene) withoutFormerMove() (left jobNodes, freed []guarded.Step) {
	if s.there.State != Confirmed || s.target.javaLives() {
		return s.target.jobNodes, nil
	}
	nodes := maps.Clone(s.target.nodes)
	for _, ip := range slices.Sorted(maps.Keys(s.there.Servers)) {
		node, was := nodes[s.target.state.Tree().Server(ip)], s.there.Servers[ip]
		switch disabled := jobtree.EncodeServer(true); {
		case node.Value != disabled, was != nil && *was == disabled:
		case was == nil:
			step, _ := s.target.remove(node.Path)
			freed = append(freed, step)
			delete(nodes, node.Path)
		default:
			step, _ := s.target.put(node.Path, *was)
			freed = append(freed, step)
			node.Value = *was
			nodes[node.Path] = node
		}
	}
	return nodesOf(s.name, slices.SortedFunc(maps.Values(nodes), func(a, b registry.Node) int { return cmp.Compare(a.Path, b.Path) }), s.target.bound), freed
}

// serversOf are the addresses of servers that steps write.
func serversOf(steps []guarded.Step) (all []string) {
	for _, step := range steps {
		name, _ := jobtree.Parse(step.Write.Path)
		all = append(all, name.Key)
	}
	return all
}

// yields refuses a job of which the target has marks of operators that the source has not, before anything is disabled.
// Its config is compared where it is written.
func (m *mover) yields(target jobNodes, wanted *original) error {
	if !target.nodes[target.state.Tree().Config()].Exists() || m.opts.Overwrite {
		return nil
	}
	text, err := jobtree.EncodeConfig(wanted.config)
	if err != nil {
		return refusal{err}
	}
	c, err := compare(wanted, text, target)
	if err != nil {
		return refusal{fmt.Errorf("in the target: %w", err)}
	}
	for _, change := range c.changes {
		if change.From != nil && change.Node != "config" && !strings.HasPrefix(change.Node, "config.") {
			return refusal{fmt.Errorf("the target has the job, and has it otherwise (%s): overwrite that, or change it there", change)}
		}
	}
	return nil
}

const enableTarget = "enable the job in the target, with fencing tokens above the source's"

// plan says what comes after the next thing on the way to the target.
func (m *mover) plan(s *scene) []string {
	var texts []string
	if d, needed, _ := m.drain(s); needed && s.there.State != Prepared {
		texts = append(texts, d.text)
	}
	return append(texts, m.waitForSource(s).text, enableTarget)
}

// perStep bounds how many servers one transaction changes.
const perStep = 40

// drain is what disables the job in the source. It is needed as long as something there is enabled that may run it.
func (m *mover) drain(s *scene) (d deed, needed bool, err error) {
	tree, p := s.source.state.Tree(), s.here
	confirmed := p.State == Confirmed && (s.there.State == "" || p.ID == s.there.ID)
	first := !confirmed && !p.promises(s.there.ID, Drained)
	if first {
		p = pledge{ID: s.there.ID, State: Drained, Since: s.source.bound}
	}
	p.Java = !confirmed && (p.Java || s.source.javaLives())
	p.Servers = maps.Clone(p.Servers)
	if p.Servers == nil {
		p.Servers = make(map[string]*string)
	}
	config := s.source.nodes[tree.Config()].Value
	if p.Config == "" || !s.source.config.Disabled {
		p.Config = config
	}
	text, err := s.source.withDisabled(true)
	if err != nil {
		return d, false, refusal{fmt.Errorf("in the source: %w", err)}
	}
	var steps []guarded.Step
	var servers []string
	for _, ip := range s.source.servers() {
		node := s.source.nodes[tree.Server(ip)]
		if node.Value == jobtree.EncodeServer(true) {
			if first { // so that it stays apart from those that start disabled; see formerServers
				p.Servers[ip] = &node.Value
			}
			continue
		}
		if len(servers) == perStep {
			continue
		}
		p.Servers[ip] = nil
		if node.Exists() {
			p.Servers[ip] = &node.Value
		}
		step, _ := s.source.put(tree.Server(ip), jobtree.EncodeServer(true))
		steps, servers = append(steps, step), append(servers, ip)
	}
	needed = first || len(steps) > 0 || text != config
	put, _ := s.source.put(tree.Config(), text)
	d = deed{toSource: true, text: "disable the job in the source", last: append(steps, put, m.pledge(s.source.jobNodes, p))}
	if len(servers) > 0 {
		d.text += ", on its servers " + list(servers)
	}
	return d, needed, nil
}

// servers are the addresses of the instances that live, in ascending order.
func (o *original) servers() []string {
	var all []string
	for _, i := range o.state.Instances {
		all = append(all, jobtree.ServerOf(i.ID))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// javaLives tells whether a Java instance takes part.
func (o *original) javaLives() bool {
	return slices.ContainsFunc(o.state.Instances, func(i jobtree.Instance) bool { return jobtree.JavaInstance(i.ID) })
}

// withDisabled returns the config as it is, but for what it says of disabled.
func (o *original) withDisabled(disabled bool) (string, error) {
	tree := o.state.Tree()
	text := o.nodes[tree.Config()].Value
	switch {
	case o.config.Disabled == disabled:
		return text, nil
	case o.format == Format3:
		return elasticjob3.SetDisabled(o.nodes[tree.Root()].Value, text, disabled)
	default:
		c := o.state.Config.Value
		c.Disabled = disabled
		return jobtree.EncodeConfig(c)
	}
}

// busy says what still runs of a job that is disabled; nil if nothing does.
func (o *original) busy() error {
	var items []int
	for n := range o.state.Items() {
		it := o.state.Item(n)
		if it.Running.Exists() && !o.left(n) || it.Failover.Exists() {
			items = append(items, n)
		}
	}
	if len(items) == 0 {
		return nil
	}
	return fmt.Errorf("items %s still run", list(items))
}

// enabled tells that a job may run which is to stay disabled: somebody has enabled it.
func (o *original) enabled() bool {
	return o.nodes[o.state.Tree().Config()].Exists() && !o.config.Disabled
}

// settled tells whether a side was quiet for long enough. A look alone never says so, even where nothing is to be waited for:
// only of a look that began when a view had shown the side quiet is it certain that all which ended there is in it.
func (m *mover) settled(s *scene, source bool) bool {
	return m.settledAt != 0 && m.settledAt == s.pledged(source)
}

// java tells whether Java instances take part in the source, or did when it was drained: a JVM whose session is over may
// work on.
func (s *scene) java() bool { return s.here.Java || s.source.javaLives() }

// settle is how long a side must be quiet. What is not recorded cannot be seen to run.
func (m *mover) settle(s *scene, source bool) time.Duration {
	if java := source && s.java(); s.side(source).config.Monitored() && !java {
		return 0
	}
	return cmp.Or(m.opts.Settle, defaultSettle)
}

// quietFor says in a text for how long a side must be quiet.
func (m *mover) quietFor(s *scene, source bool) (text string) {
	side := s.side(source)
	if settle := m.settle(s, source); settle > 0 {
		text = fmt.Sprintf(", for %v", settle)
	}
	if !side.config.Monitored() {
		text += ", as nobody can tell whether it runs (monitorExecution is false: want --settle longer than an execution takes)"
	}
	if busy := side.busy(); busy != nil {
		text += "; now " + busy.Error()
	}
	return text
}

func (m *mover) waitForSource(s *scene) deed {
	d := deed{toSource: true, wait: (*original).busy, settle: m.settle(s, true), rest: []string{enableTarget}}
	d.text = "wait until nothing of it runs in the source" + m.quietFor(s, true)
	d.again = func(o *original) bool { return o.enabled() || len(o.claimed(s.here.Lost)) > 0 }
	return d
}

// claimed are the items among those whose lost executions were taken over that an instance has claimed none the less.
func (o *original) claimed(lost map[int]string) []int {
	var items []int
	for n := range lost {
		if o.state.Item(n).Failover.Exists() {
			items = append(items, n)
		}
	}
	slices.Sort(items)
	return items
}

// leaveClaimed leaves to the source what one of its instances has claimed none the less: the source runs that again. A
// Java instance that is disabled claims as others do, and may learn later than the mover that another has crashed.
func (m *mover) leaveClaimed(s *scene) (d deed, needed bool) {
	items := s.source.claimed(s.here.Lost)
	p := s.here
	p.Lost = maps.Clone(p.Lost)
	for _, n := range items {
		delete(p.Lost, n)
	}
	d.toSource, d.text = true, "leave the lost executions of items "+list(items)+" to the source, which has claimed them"
	d.last = []guarded.Step{m.pledge(s.source.jobNodes, p)}
	return d, len(items) > 0
}

// takeLost has one side give up the executions that it has lost, and remember them for the other.
func (m *mover) takeLost(s *scene, fromSource bool) (d deed, needed bool) {
	side, p := s.side(fromSource), s.there
	if fromSource {
		p = s.here
	}
	tree, now := side.state.Tree(), time.Now()
	p.Lost = maps.Clone(p.Lost)
	var items []int
	for n, e := range side.lostExecutions() {
		if len(items) == perStep/4 {
			break
		}
		if p.Lost == nil {
			p.Lost = make(map[int]string)
		}
		lost := jobtree.LostElsewhere(e, now)
		lost.LastFire = side.state.Item(n).Record.Value.LastFire
		p.Lost[n] = jobtree.EncodeRecord(lost)
		items = append(items, n)
		for _, path := range []string{tree.ItemRunning(n), tree.ItemFailovering(n), tree.FailoverItem(n)} {
			if side.nodes[path].Exists() {
				step, _ := side.remove(path)
				d.first = append(d.first, step)
			}
		}
		if it := side.state.Item(n); it.Record.Exists() {
			step, _ := side.put(tree.ItemRecord(n), jobtree.EncodeRecord(givenUp(it, now)))
			d.first = append(d.first, step)
		}
	}
	slices.Sort(items)
	d.toSource, d.text = fromSource, "take over the lost executions of items "+list(items)
	if fromSource && s.java() { // who claims has read there what it will claim, and writes it without a condition
		d.latch = tree.FailoverLatch()
	}
	d.last = append(d.last, m.pledge(side.jobNodes, p))
	return d, len(items) > 0
}

// lostElsewhere is the record of an item whose execution the other side has lost. What ran here before, for fires and by
// hand, does not run again.
func (o *original) lostElsewhere(item int, text string) string {
	had := o.state.Item(item).Record
	r, err := jobtree.DecodeRecord(registry.Node{Value: text})
	if err != nil || !had.Exists() || had.Err != nil {
		return text
	}
	if had.Value.LastFire.After(r.LastFire) {
		r.LastFire = had.Value.LastFire
	}
	r.Trigger, r.Counts = had.Value.Trigger, had.Value.Counts
	return jobtree.EncodeRecord(r)
}

// givenUp is the record of an item whose lost execution another registry runs again.
func givenUp(it jobtree.Item, now time.Time) jobtree.Record {
	r := it.Record.Value
	if lost, err := r.DeclareLost(int64(r.Token(it.Record.Revision)), now, 0); err == nil {
		r = lost
	}
	if up, err := r.GiveUp(); err == nil {
		r = up
	}
	return r
}

// ranElsewhere has the records of one side say which fires the other one has run since. A process that starts there later would
// make these up, as far as MisfireWindow reaches back: the record is all that it knows. lost are items that get another one.
func ranElsewhere(side, other *original, lost map[int]string) (steps []guarded.Step) {
	tree, now := side.state.Tree(), time.Now()
	for n := range min(side.state.Items(), other.state.Items()) {
		it, ran := side.state.Item(n), other.state.Item(n).Record.Value.LastFire
		r := it.Record.Value
		if _, another := lost[n]; another || !it.Record.Exists() || it.Record.Err != nil || !ran.After(r.LastFire) {
			continue
		}
		if r.State == jobtree.ItemRunning { // and nothing of it runs any more: its token would change with the node
			r = givenUp(it, now)
		}
		r.LastFire = ran
		step, _ := side.put(tree.ItemRecord(n), jobtree.EncodeRecord(r))
		steps = append(steps, step)
	}
	return steps
}

// formerServers are the source's servers as they were before it was drained; nil is one without a node. A Java process
// that starts writes its server's node as the config says, which is disabled then: nobody wanted that of the server.
func (s *scene) formerServers() map[string]*string {
	servers := maps.Clone(s.here.Servers)
	if servers == nil {
		servers = make(map[string]*string)
	}
	enabled := jobtree.EncodeServer(false)
	if s.source.format == Format3 {
		enabled = jobtree.ElasticJob3.EncodeServer(false)
	}
	for _, server := range s.source.state.Servers {
		node := s.source.nodes[s.source.state.Tree().Server(server.IP)]
		if _, known := servers[server.IP]; !known && node.Value == jobtree.EncodeServer(true) && node.Revision > s.here.Since {
			servers[server.IP] = &enabled
		}
	}
	return servers
}

// former is the source's job as it was before it was disabled.
func (m *mover) former(s *scene) (*original, error) {
	tree, servers := s.source.state.Tree(), s.formerServers()
	nodes := make([]registry.Node, 0, len(s.source.nodes))
	for path, n := range s.source.nodes {
		if s.here.State == Drained {
			if path == tree.Config() {
				n.Value = s.here.Config
			}
			if name, ok := jobtree.Parse(path); ok && name.Kind == jobtree.KindServer {
				was, changed := servers[name.Key]
				switch {
				case changed && was == nil:
					continue
				case changed:
					n.Value = *was
				}
			}
		}
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b registry.Node) int { return cmp.Compare(a.Path, b.Path) })
	o, err := readOriginal(s.name, nodes, s.source.bound)
	if err == nil {
		_, shared := registry.JavaRoot(m.source)
		err = o.finish(m.opts.TimeZone, shared)
	}
	if err != nil {
		return nil, refusal{err}
	}
	o.lost = nil // takeLost has them
	m.job.Notes = o.notes
	return &o, nil
}

// start has the target run the job.
func (m *mover) start(s *scene) (deed, error) {
	wanted, err := m.former(s)
	if err != nil {
		return deed{}, err
	}
	text, err := jobtree.EncodeConfig(wanted.config)
	if err != nil {
		return deed{}, refusal{err}
	}
	c, err := compare(wanted, text, s.target.jobNodes)
	if err != nil {
		return deed{}, refusal{err}
	}
	for _, change := range c.changes {
		if change.From != nil && change.Node != "config.disabled" && !m.opts.Overwrite {
			return deed{}, refusal{fmt.Errorf("somebody changed it in the target meanwhile (%s): overwrite that, or take it back", change)}
		}
	}
	tree, d := s.target.state.Tree(), deed{text: enableTarget}
	if wanted.config.Disabled {
		d.text = "have the target keep the job, disabled as it was"
	}
	d.first, d.last = c.marks, c.config
	for _, n := range slices.Sorted(maps.Keys(s.here.Lost)) {
		if n < wanted.config.ShardingTotalCount {
			record, _ := s.target.put(tree.ItemRecord(n), s.target.lostElsewhere(n, s.here.Lost[n]))
			waits, _ := s.target.put(tree.FailoverItem(n), "")
			d.first = append(d.first, record, waits)
		}
	}
	d.first = append(d.first, ranElsewhere(s.target, s.source, s.here.Lost)...)
	d.first = append(d.first, m.moveCheckpoints(s)...)
	if !slices.ContainsFunc(d.last, func(step guarded.Step) bool { return step.Write.Path == tree.Config() }) {
		put, _ := s.target.put(tree.Config(), text)
		d.last = append(d.last, put)
	}
	p := s.there
	p.State, p.Started = Moved, true
	d.last = append(d.last, m.pledge(s.target.jobNodes, p))
	m.toTarget = guarded.NewWriter(m.target, s.target.guard(tree.Move()))
	return d, nil
}
