package mixed

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/integration/javapeer"
	"github.com/elasticron/elasticron/integration/serverprocess"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

var (
	longDuration = flag.Duration("mixed.duration", shortRun, "for how long TestALongRun injects faults, in rounds of half a minute: beside each release of Java, or beside one of them if no longer than by default")
	longSeed     = flag.Uint64("mixed.seed", 0, "what decides what TestALongRun does; 0 = something new")
)

const (
	// shortRun is how long the test command takes.
	shortRun = 2 * time.Minute
	// slotsOfGo and slotsOfJava are how many processes of each side take part at most times.
	slotsOfGo, slotsOfJava = 3, 2
	// longPeriod is between two fires, of every job.
	longPeriod = 3 * time.Second
	longCron   = "0/3 * * * * ?"
	longItems  = 8
	// calmFires are how many fires there are in a calm.
	calmFires = 4
	// noticing is for how long a process that stood still may not have been given a processor to notice.
	noticing = time.Second / 2

	// The bounds of docs/java.md: the shares of fires that run on both sides, and that nobody runs. They are of many.
	mostBoth, mostMissed = 0.01, 0.10
	leastFires           = 1_000
	// One resharding at the time of a fire may have several of its items run on both sides.
	oneResharding = 30
)

// longJob is a job of a long run.
type longJob struct {
	name     string
	failover bool
	lasts    time.Duration
}

// longJobs have items that are over at once, and items that are under way for a third of the time. No more than that:
// Java runs what it missed right after what made it miss that. Both together must be over at the next fire.
var longJobs = []longJob{{"short", true, 50 * time.Millisecond}, {"long", true, time.Second}, {"plain", false, 300 * time.Millisecond}}

// TestALongRun kills, stops, freezes and adds Go and Java processes that share jobs. Among the Go instances nothing
// runs twice. What runs twice or not at all because an item changes sides is counted, and bounded; while nobody is
// disturbed there is none of it.
func TestALongRun(t *testing.T) {
	t.Parallel()
	zookeeper.Need(t)
	seed := *longSeed
	if seed == 0 {
		var random [8]byte
		_, _ = rand.Read(random[:])
		seed = binary.LittleEndian.Uint64(random[:])
	}
	releases := map[jobtree.Layout]*javapeer.Release{jobtree.Lite: javapeer.Lite2, jobtree.ElasticJob3: javapeer.ElasticJob3}
	if *longDuration <= shortRun {
		delete(releases, []jobtree.Layout{jobtree.Lite, jobtree.ElasticJob3}[seed%2])
	}
	for layout, release := range releases {
		t.Run(release.String(), func(t *testing.T) {
			t.Parallel()
			release.Need(t)
			newLong(t, layout, release).run(seed, *longDuration)
		})
	}
}

// long is a cluster whose processes all are ones of their own, and what was done to them.
type long struct {
	t         *testing.T
	address   string
	namespace string
	folder    string // of journals and logs
	layout    jobtree.Layout
	release   *javapeer.Release
	configs   []job.Config
	clusters  []*cluster // one of each job

	goes    []*runner      // by slot
	javas   []*javaProcess // by slot
	runners []*runner      // all that there were
	peers   []*javaProcess
	started int
	extra   int

	incidents  []checker.Incident
	injected   map[fault]int
	calm       []window
	had        [][]string // who had the items in each calm
	unsettled  int        // calms in which items moved
	hung       []hang     // Java processes at their exit
	recoveries []time.Duration

	mu     sync.Mutex
	stalls []checker.Incident // of this process, the store and Java processes
}

// javaProcess is a Java process of a long run.
type javaProcess struct {
	*javapeer.Peer
	id     string
	killed time.Time // zero = it was not
	gone   bool
}

// newLong starts a ZooKeeper and all processes, and returns when they share the jobs.
func newLong(t *testing.T, layout jobtree.Layout, release *javapeer.Release) *long {
	t.Helper()
	l := &long{
		t: t, address: zookeeper.Start(t).Address(), namespace: "long-" + strings.ToLower(rand.Text()[:8]), folder: t.ArtifactDir(),
		layout: layout, release: release, injected: make(map[fault]int),
	}
	reg, err := zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: []string{l.address}, Namespace: l.namespace, SessionTimeout: sessionTimeout, ConnectionTimeout: patience,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reg.Close(context.WithoutCancel(t.Context())) })
	for _, j := range longJobs {
		c := &cluster{t: t, address: l.address, namespace: l.namespace, job: j.name, layout: layout, session: sessionTimeout, tree: jobtree.For(j.name), registry: reg, log: new(serverprocess.Output)}
		c.partLatches()
		cfg := c.config(longCron, longItems)
		cfg.Failover, cfg.JobParameter = j.failover, j.lasts.String()
		l.clusters, l.configs = append(l.clusters, c), append(l.configs, cfg)
	}
	for i := range slotsOfGo {
		l.goes = append(l.goes, l.startGo(i))
		l.goes[0].await() // it stores the settings that all go by
	}
	for i := range slotsOfJava {
		l.javas = append(l.javas, l.startJava(i))
	}
	l.settle()
	l.watch(reg)
	return l
}

// watch writes down when this process stands still, as others may then though they notice nothing, and when the store is
// slow to answer.
func (l *long) watch(reg *zkcompat.Registry) {
	l.t.Cleanup(detectStalls(func(from time.Time) { l.stalled(checker.Paused, "", from) }))
	l.probe(checker.Slow, "", func(ctx context.Context) error {
		_, _ = reg.Get(ctx, l.clusters[0].tree.Config())
		return ctx.Err()
	})
}

// probe writes down whenever somebody takes long to answer, until there is an error.
func (l *long) probe(kind checker.Kind, instance string, ask func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(l.t.Context()))
	var probe sync.WaitGroup
	l.t.Cleanup(func() { cancel(); probe.Wait() })
	probe.Go(func() {
		for ctx.Err() == nil {
			asked := time.Now()
			err := ask(ctx)
			if time.Since(asked) > 4*tick {
				l.stalled(kind, instance, asked)
			}
			if err != nil {
				return
			}
			time.Sleep(tick)
		}
	})
}

func (l *long) stalled(kind checker.Kind, instance string, from time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stalls = append(l.stalls, checker.Incident{Kind: kind, Instance: instance, From: from, Until: time.Now().Add(noticing)})
}

func (l *long) startGo(slot int) *runner {
	r := l.startRunner(fmt.Sprintf("10.0.0.%d", 2+2*slot)) // Java orders by id, so the sides alternate
	l.incident(checker.Started, r.id, r.began, time.Time{})
	return r
}

func (l *long) startJava(slot int) *javaProcess {
	l.t.Helper()
	ip := fmt.Sprintf("10.0.0.%d", 1+2*slot)
	p := &javaProcess{Peer: javapeer.Start(l.t, javapeer.WithRelease(l.release), javapeer.WithIP(ip))}
	for i, j := range longJobs {
		p.Last(j.name, j.lasts)
		spec := javapeer.NewJob(j.name, longCron, longItems)
		spec.Failover = j.failover
		belief, err := p.Join(l.clusters[i].java(), spec)
		require.NoError(l.t, err)
		p.id = belief.Instance
	}
	l.peers = append(l.peers, p)
	l.probe(checker.Paused, p.id, func(context.Context) error { return p.Ping() }) // a JVM stands still by itself, too
	return p
}

func (l *long) incident(kind checker.Kind, instance string, from, until time.Time) {
	l.incidents = append(l.incidents, checker.Incident{Kind: kind, Instance: instance, From: from, Until: until})
}

// run carries a plan out, has what happened judged, and prints it.
func (l *long) run(seed uint64, lasts time.Duration) {
	l.t.Logf("replay with: go test ./integration/mixed -run '^TestALongRun$' -mixed.seed=%d -mixed.duration=%s", seed, *longDuration)
	began := time.Now()
	p := newPlan(seed)
	l.rest()
	for p.round == 0 || time.Since(began) < lasts {
		actions := p.next()
		l.t.Logf("%s round %d: %s", time.Now().UTC().Format("15:04:05.000"), p.round, actions)
		l.round(actions)
	}
	until := time.Now()
	time.Sleep(longPeriod) // so that what the last fires led to is over, too
	l.stopAll()
	l.judge(window{began, until})
}

// step is a moment of a round.
type step struct {
	at time.Duration
	do func()
}

// round injects faults, waits until all instances share all jobs again, and then leaves them alone.
func (l *long) round(actions []action) {
	l.t.Helper()
	var steps []step
	for _, a := range actions {
		var undo func()
		steps = append(steps, step{a.after, func() { undo = l.begin(a) }}, step{a.after + a.lasts, func() { undo() }})
		l.injected[a.fault]++
	}
	slices.SortStableFunc(steps, func(a, b step) int { return int(a.at - b.at) })
	began := time.Now()
	for _, s := range steps {
		time.Sleep(time.Until(began.Add(s.at)))
		s.do()
	}
	over := time.Now()
	l.settle()
	l.recoveries = append(l.recoveries, time.Since(over))
	l.rest()
}

// atWork waits until items are under way, so that what is done then hits some.
func atWork() { time.Sleep(time.Until(time.Now().Truncate(longPeriod).Add(longPeriod + longPeriod/8))) }

// begin does what an action says, and returns what ends it.
func (l *long) begin(a action) (end func()) {
	switch a.fault {
	case killGo, killJava, killLeader, freezeGo, freezeJava:
		atWork()
	}
	switch a.fault {
	case killGo:
		l.killGo(l.goes[a.slot])
		return func() { l.goes[a.slot] = l.startGo(a.slot) }
	case stopGo:
		l.stopGo(l.goes[a.slot])
		return func() { l.goes[a.slot] = l.startGo(a.slot) }
	case freezeGo:
		r, from := l.goes[a.slot], time.Now()
		r.signal(sigStop)
		return func() {
			r.signal(sigCont)
			l.incident(checker.Paused, r.id, from, time.Now().Add(noticing))
		}
	case joinGo:
		r := l.startGo(slotsOfGo + l.more())
		return func() { l.stopGo(r) }
	case killJava:
		l.killJava(l.javas[a.slot])
		return func() { l.javas[a.slot] = l.startJava(a.slot) }
	case stopJava:
		l.stopJava(l.javas[a.slot])
		return func() { l.javas[a.slot] = l.startJava(a.slot) }
	case freezeJava:
		p, from := l.javas[a.slot], time.Now()
		require.NoError(l.t, p.Freeze())
		return func() {
			require.NoError(l.t, p.Thaw())
			l.incident(checker.Paused, p.id, from, time.Now())
		}
	case joinJava:
		p := l.startJava(slotsOfJava + l.more())
		return func() { l.stopJava(p) }
	default:
		return l.killLeader(a.slot)
	}
}

// more numbers the processes that take part for a while, each with an address of its own.
func (l *long) more() int {
	l.extra++
	return l.extra % 100
}

func (l *long) killGo(r *runner) {
	from := time.Now()
	r.kill()
	l.incident(checker.Crashed, r.id, from, r.killed)
}

func (l *long) stopGo(r *runner) {
	from := time.Now()
	r.await() // one that did not get to take part yet has nothing to leave
	r.stop()
	l.incident(checker.Stopped, r.id, from, time.Now())
}

func (l *long) killJava(p *javaProcess) {
	p.Kill()
	p.killed, p.gone = time.Now(), true
}

// stopJava has a Java process exit. If it hangs at that, its items do not run for a while, and that is nobody's fault.
func (l *long) stopJava(p *javaProcess) {
	from := time.Now()
	clean := p.Exit()
	p.gone = true
	if !clean {
		p.killed = time.Now()
		l.hung = append(l.hung, hang{window{from, p.killed}, p.id})
	}
}

// killLeader kills the leader of a job, on whichever side it is.
func (l *long) killLeader(n int) (end func()) {
	l.t.Helper()
	c := l.clusters[n%len(l.clusters)]
	leader := c.eventually("a leader", func(s *jobtree.State) bool { return s.Leader.Instance != "" }).Leader.Instance
	for slot, r := range l.goes {
		if r.id == leader {
			l.killGo(r)
			return func() { l.goes[slot] = l.startGo(slot) }
		}
	}
	for slot, p := range l.javas {
		if p.id == leader {
			l.killJava(p)
			return func() { l.javas[slot] = l.startJava(slot) }
		}
	}
	require.Fail(l.t, "the leader is nobody", leader)
	return nil
}

// settle waits until all instances share all jobs.
func (l *long) settle() {
	l.t.Helper()
	var ids []string
	for _, r := range l.goes {
		r.await()
		ids = append(ids, r.id)
	}
	for _, p := range l.javas {
		ids = append(ids, p.id)
	}
	for _, c := range l.clusters {
		c.eventually("all share "+c.job, settled(longItems, ids...))
	}
}

// rest leaves the cluster alone for some fires, once the last round before is over.
func (l *long) rest() {
	l.t.Helper()
	time.Sleep(2 * longPeriod)
	before, from := l.owners(), time.Now()
	time.Sleep((calmFires + 1) * longPeriod)
	if !slices.Equal(before, l.owners()) {
		l.unsettled++
		return
	}
	l.calm, l.had = append(l.calm, window{from, time.Now()}), append(l.had, before)
}

// owners returns those of all items of all jobs.
func (l *long) owners() (all []string) {
	l.t.Helper()
	for _, c := range l.clusters {
		all = append(all, ownersOf(c.state())...)
	}
	return all
}

func (l *long) stopAll() {
	l.t.Helper()
	for _, r := range l.goes {
		l.stopGo(r)
	}
	for _, p := range l.javas {
		l.stopJava(p)
	}
}

// judge judges and counts all that ran, and prints it.
func (l *long) judge(whole window) {
	l.t.Helper()
	all := newTally()
	noted := l.allStalls()
	var stalls []window
	for _, i := range noted {
		stalls = append(stalls, window{i.From, i.Until})
	}
	for n, j := range longJobs {
		executions, runs := l.executions(j.name)
		h := checker.History{Job: j.name, Runs: runs, Incidents: slices.Concat(l.incidents, noted), End: time.Now()}
		for _, finding := range checker.JudgeRuns(h, l.rules()) {
			l.t.Errorf("job %s: %s", j.name, finding)
		}
		before := len(all.inCalm)
		all.add(run{
			executions: executions, items: longItems, period: longPeriod, failover: j.failover, whole: whole, calm: l.calmOf(n), stalls: stalls, hung: l.hung,
		})
		for _, fault := range all.inCalm[before:] {
			l.t.Errorf("job %s, while nobody was disturbed: %s", j.name, fault)
		}
	}
	defer l.bound(all)
	var text strings.Builder
	faults := 0
	for _, f := range slices.Sorted(maps.Keys(l.injected)) {
		faults += l.injected[f]
		fmt.Fprintf(&text, "  %3d x %s\n", l.injected[f], f)
	}
	l.t.Logf("Go beside %s, %s, %d processes of Go, %d of Java, %d faults\n%s%s\n  all shared all jobs again after %s, %d calms and %d in which items moved; %d Java processes hung at their exit",
		l.release, whole.until.Sub(whole.from).Round(time.Second), len(l.runners), len(l.peers), faults, &text, all, spread(l.recoveries), len(l.calm), l.unsettled, len(l.hung))
}

// calmOf returns the calms as the n-th job had them.
func (l *long) calmOf(n int) (all []calm) {
	for i, w := range l.calm {
		var java []bool
		for _, owner := range l.had[i][n*longItems : (n+1)*longItems] {
			java = append(java, slices.ContainsFunc(l.peers, func(p *javaProcess) bool { return p.id == owner }))
		}
		all = append(all, calm{w, java})
	}
	return all
}

// allStalls are those of this process, which concern all, of the store, and of the other processes.
func (l *long) allStalls() []checker.Incident {
	l.t.Helper()
	l.mu.Lock()
	all := slices.Clone(l.stalls)
	l.mu.Unlock()
	for _, r := range l.runners {
		all = append(all, stallsOf(readJournal(l.t, r.journal), r.id)...)
	}
	return all
}

// stallsOf are those that a Go process noted.
func stallsOf(notes []note, id string) (all []checker.Incident) {
	for _, n := range notes {
		if n.Kind == noteStalled {
			all = append(all, checker.Incident{Kind: checker.Paused, Instance: id, From: n.Fire, Until: n.At.Add(noticing)})
		}
	}
	return all
}

// rules are those of package checker, for these sessions.
func (l *long) rules() checker.Rules {
	rules := checker.DefaultRules()
	rules.TTL = sessionTimeout
	rules.Settle += time.Second // for a machine that is busy
	return rules
}

// bound holds what was counted to what docs/java.md says.
func (l *long) bound(all *tally) {
	l.t.Helper()
	require.Positive(l.t, all.java)
	require.Positive(l.t, all.source[job.Scheduled])
	if all.fires < leastFires {
		return
	}
	share := func(n int) float64 { return float64(n) / float64(all.fires) }
	both := max(mostBoth, share(oneResharding))
	require.LessOrEqual(l.t, share(all.both), both, "fires that ran on both sides")
	require.LessOrEqual(l.t, share(all.overlaps), both, "runs that were under way on both sides at once")
	require.LessOrEqual(l.t, share(all.missed-all.missedInStalls-all.missedInHangs), mostMissed, "fires that nobody ran")
	require.Zero(l.t, all.notAgain[false], "what died in Go was not run again: %s", all.forgotten)
}

// executions returns what there was of a job: everything, and what package checker judges.
func (l *long) executions(name string) (all []execution, runs []checker.Run) {
	l.t.Helper()
	for _, r := range l.runners {
		for _, run := range runsOf(readJournal(l.t, r.journal), name, r) {
			runs = append(runs, run)
			e := execution{
				instance: run.Instance, item: run.Context.Item, began: run.Began, ended: run.Ended,
				died: run.Died, fire: run.Context.Fire, source: run.Context.Source,
			}
			if !run.Cancelled.IsZero() {
				e.ended = run.Cancelled
			}
			all = append(all, e)
		}
	}
	for n, p := range l.peers {
		events := p.Events(name)
		text, err := json.MarshalIndent(events, "", " ")
		require.NoError(l.t, err)
		require.NoError(l.t, os.WriteFile(filepath.Join(l.folder, fmt.Sprintf("java%d-%s.json", n+1, name)), text, 0o600))
		all = append(all, javaExecutions(events, p)...)
	}
	return all, runs
}

// runsOf puts the runs of a Go process together.
func runsOf(notes []note, name string, r *runner) (runs []checker.Run) {
	type key struct {
		item  int
		token int64
	}
	open := make(map[key]int)
	for _, n := range notes {
		k := key{n.Item, n.Token}
		switch {
		case n.Job != name:
		case n.Kind == noteBegin:
			open[k] = len(runs)
			runs = append(runs, checker.Run{Instance: r.id, Began: n.At, Context: job.ShardingContext{
				JobName: n.Job, Item: n.Item, Fire: n.Fire, Source: n.Source, Token: n.Token,
			}})
		case n.Kind == noteCancelled:
			runs[open[k]].Cancelled = n.At
		default:
			runs[open[k]].Ended = n.At
			if n.Failed != "" {
				runs[open[k]].Err = errors.New(n.Failed)
			}
		}
	}
	for i := range runs {
		if runs[i].Ended.IsZero() {
			runs[i].Ended, runs[i].Died = r.killed, !r.killed.IsZero()
		}
	}
	return runs
}

// javaExecutions puts the runs of a Java process together.
func javaExecutions(events []javapeer.Event, p *javaProcess) (all []execution) {
	open := make(map[int]int)
	for _, e := range events {
		switch e.Kind {
		case javapeer.EventBegin:
			open[e.Item] = len(all)
			all = append(all, execution{java: true, instance: p.id, item: e.Item, began: e.Time()})
		case javapeer.EventEnd:
			all[open[e.Item]].ended = e.Time()
			delete(open, e.Item)
		}
	}
	for _, i := range open {
		all[i].ended, all[i].died = p.killed, true
	}
	return all
}

// What a process that stood still did without knowing better is not held against it; what one did that did not is.
func TestAStallIsToldToTheJudge(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	begun := func(kind string, token int64, seconds float64) note {
		return note{Kind: kind, Job: "short", Token: token, Fire: start, Source: job.Failover, At: at(seconds)}
	}
	stall := note{Kind: noteStalled, Fire: at(1), At: at(8)}
	slept := []note{begun(noteBegin, 1, 0.5), stall, begun(noteCancelled, 1, 8.2), begun(noteEnd, 1, 8.3)}
	other := []note{begun(noteBegin, 2, 7), begun(noteEnd, 2, 9)}
	a, b := &runner{id: "a"}, &runner{id: "b"}
	h := checker.History{
		Job: "short", Runs: slices.Concat(runsOf(slept, "short", a), runsOf(other, "short", b)), End: at(20),
		Incidents: []checker.Incident{{Kind: checker.Started, Instance: "a", From: at(-60)}, {Kind: checker.Started, Instance: "b", From: at(-60)}},
	}
	rules := (&long{}).rules()
	require.NotEmpty(t, checker.JudgeRuns(h, rules))
	h.Incidents = append(h.Incidents, stallsOf(slept, "a")...)
	require.Empty(t, checker.JudgeRuns(h, rules))
}
