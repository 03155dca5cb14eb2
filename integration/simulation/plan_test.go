package simulation_test

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// plan is all that a seed decides.
type plan struct {
	seed      uint64
	config    job.Config
	pace      pace
	processes int
	skew      time.Duration // clocks are off by up to this
	faults    time.Duration // for how long things go wrong
	calm      time.Duration // for how long nothing does afterwards
	busy      int           // how many of a hundred executions take longer than a moment
	saves     int           // how many checkpoints an execution saves at most; 0 = none
	quickly   bool          // what is run again takes a moment, however long it took at first
	hooks     []string      // the phases of rounds for which the job has hooks
	rate      int           // how many transactions the store takes a second; 0 = all
	requests  int           // how many requests of a process are under way at most; 0 = all
	kind      string        // what the seed is about; empty if about nothing in particular
	drawn     []deed        // what is done to the cluster: each as likely as it stands there
	holdups   []holdup
	actions   []action
}

// pace is how fast a cluster lives. A quick one and one that takes hours go through the same number
// of fires; in between nothing happens, which takes no time to simulate.
type pace struct {
	unit  time.Duration // between fires at first; also the TTL of sessions
	crons [3]string     // a job that fires every unit, and what it may be changed to
}

// most plans take hours: what goes wrong then lasts minutes, and has to be dealt with in moments.
var paces = []pace{
	{5 * time.Second, [3]string{everyFive, "@every 7s", "0/10 * * * * ?"}},
	{time.Minute, [3]string{"0 * * * * ?", "@every 84s", "0 0/2 * * * ?"}},
	{5 * time.Minute, [3]string{"0 0/5 * * * ?", "@every 7m", "0 0/10 * * * ?"}},
	{10 * time.Minute, [3]string{"0 0/10 * * * ?", "@every 14m", "0 0/20 * * * ?"}},
}

// scaled turns a duration of the quickest pace into one of this.
func (p pace) scaled(d time.Duration) time.Duration { return d * (p.unit / paces[0].unit) }

// action is something that is done to the cluster at a time.
type action struct {
	at    time.Duration
	do    deed
	slot  int           // the process it is done to
	lasts time.Duration // of those that last
	n     int           // a number, of whatever the deed needs
	path  string        // the node that a contradiction is about
}

// planOf makes a plan from a seed.
func planOf(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := plan{seed: seed, pace: paces[r.IntN(len(paces))], processes: 2 + r.IntN(4), busy: r.IntN(50)}
	p.configure(r)
	if r.IntN(4) == 0 {
		p.skew = time.Duration(1+r.IntN(3000)) * time.Millisecond
	}
	p.faults, p.calm = time.Duration(10+r.IntN(12))*p.pace.unit+offBeat, 9*p.pace.unit
	p.swarm(r)
	between := p.pace.scaled(time.Duration(2+r.IntN(5)) * time.Second)
	if r.IntN(15) == 0 {
		p.divide(r)
	} else {
		p.specialize(&between)
	}
	for at := 3 * time.Second; at < p.faults; at += rest(r, between) {
		p.actions = append(p.actions, p.action(r, at, p.drawn[r.IntN(len(p.drawn))]))
	}
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
	return p
}

// configure draws the settings of the job and what its code does.
func (p *plan) configure(r *rand.Rand) {
	p.config = job.Config{Name: jobName, Cron: p.pace.crons[0], ShardingTotalCount: 1 + r.IntN(1+r.IntN(12))}
	p.config.Failover = r.IntN(4) > 0
	setMisfire(&p.config, r.IntN(misfirePolicies))
	p.config.ShardingStrategy = []string{"", sharding.NameMinimal}[r.IntN(2)]
	if r.IntN(8) == 0 {
		p.config.Cron = fmt.Sprintf("@delay %s", p.pace.unit)
	}
	if r.IntN(8) == 0 {
		p.config.MaxConcurrentItems = 1 + r.IntN(3)
	}
	if r.IntN(3) == 0 {
		p.saves = 1 + r.IntN(5)
	}
	if r.IntN(12) == 0 && !strings.HasPrefix(p.config.Cron, "@delay") { // with which there are no rounds
		p.hooks = []string{checker.PhaseCompleted}
	}
}

// misfirePolicies is how many of them there are.
const misfirePolicies = 6

// setMisfire sets one of the misfire policies, by number.
func setMisfire(cfg *job.Config, number int) {
	cfg.Misfire, cfg.MisfireMax = job.MisfireOnce, 0
	switch number % misfirePolicies {
	case 0:
		cfg.Misfire = job.MisfireSkip
	case 1, 2:
		cfg.Misfire = job.MisfireAll
	case 3:
		cfg.Misfire, cfg.MisfireMax = job.MisfireAll, 3
	}
}

// swarm draws what goes wrong. Few seeds do everything. Most do a few things, and those a lot, so that
// they meet: one or two kinds of messages are held up, what brings such messages about is done again
// and again, and something that one of them has not reckoned with happens while it is under way.
func (p *plan) swarm(r *rand.Rand) {
	p.drawn = []deed{launch, launch}
	if r.IntN(6) == 0 {
		p.drawn = append(p.drawn, allDeeds()...)
	} else {
		all := allDeeds()
		for range 1 + r.IntN(4) {
			p.drawn = append(p.drawn, all[r.IntN(len(all))])
		}
	}
	if r.IntN(5) == 0 {
		return // the network is as quick as ever
	}
	for range 1 + r.IntN(2) {
		p.holdUp(r, heldSteps[r.IntN(len(heldSteps))])
	}
}

// The kinds of seeds that are about something in particular.
const (
	dividing = "large reshardings"
	clocks   = "wrong clocks"
	denials  = "denied views"
	windows  = "missed fires up to an age"
	claims   = "slow claims"
	moves    = "moves of missed fires"
	crowds   = "a store of limited capacity"
	delayed  = "fires with a jitter"
	limits   = "bounds of executions"
	gates    = "hooks that code waits for"
	traces   = "executions without records"
	heads    = "begins ahead of fires"
	refusals = "settings that a process refuses"
	loops    = "crash loops"

	operators = "operators"
)

// specialize makes some seeds ones of a kind, whose circumstances seldom come together by chance. They are
// drawn apart, so that a new kind leaves all other seeds as they are.
func (p *plan) specialize(between *time.Duration) {
	r := rand.New(rand.NewPCG(p.seed, 4))
	switch r.IntN(50) {
	case 0, 1:
		p.setClocksWrong(r, between)
	case 2, 3:
		p.denyViews(r)
	case 4, 5:
		p.boundMissed(r)
	case 6, 7:
		p.claimLate(r)
	case 8, 9:
		p.moveMissed(r)
	case 10:
		if r.IntN(4) == 0 { // they are dear
			p.crowd(r)
		}
	case 11, 12:
		p.employ(r)
	case 13, 14:
		p.delay(r)
	case 15, 16, 17:
		p.limit(r)
	case 18, 19:
		p.gate(r)
	case 20:
		p.forgoRecords(r)
	case 21, 22, 23:
		p.beginAhead(r)
	case 24, 25:
		p.refuse(r)
	case 26, 27:
		p.loop(r)
	case 30, 31, 32:
		p.makeRoom(r)
	}
}

// employ has operators do everything that package operate can, while processes come and go. Much of what they ask for
// is under way when something changes, and two of them often want different things.
func (p *plan) employ(r *rand.Rand) {
	p.kind, p.busy = operators, 20+r.IntN(60)
	p.config.Failover = r.IntN(5) > 0
	p.drawn = []deed{launch, launch, crash}
	all := operations()
	if r.IntN(3) == 0 {
		p.drawn = append(p.drawn, all...)
	} else {
		for range 3 + r.IntN(4) {
			one := all[r.IntN(len(all))]
			p.drawn = append(p.drawn, one, one)
		}
	}
	for range r.IntN(3) {
		p.drawn = append(p.drawn, []deed{stop, expire, cut, pause, storeDown, loseAnswers, crash, removeJob, toggleServer, changeTotal}[r.IntN(10)])
	}
	h := holdup{of: desked, answers: r.IntN(4) == 0, percent: 40 + r.IntN(60), scale: time.Duration(50+r.IntN(1000)) * time.Millisecond, most: 4 * time.Second, meet: 60}
	for range 3 {
		h.deeds = append(h.deeds, append(changes, all...)[r.IntN(len(changes)+len(all))])
	}
	p.holdups = append(p.holdups, h)
	if r.IntN(2) == 0 {
		p.drawn = append(p.drawn, opGiveUp)
	}
	if slices.Contains(p.drawn, opGiveUp) { // what is to be given up must wait
		p.drawn = append(p.drawn, opGiveUp, opGiveUp)
		p.config.Failover, p.busy = true, max(p.busy, 60)
		p.holdups = append(p.holdups, holdup{
			of: claim, percent: 80, scale: time.Duration(500+r.IntN(1500)) * time.Millisecond, most: 4 * time.Second, meet: 80, deeds: []deed{opGiveUp},
		})
	}
}

// crowd has the store take fewer transactions than the job asks for, or just enough. Of a process, few requests are
// under way at a time.
func (p *plan) crowd(r *rand.Rand) {
	p.kind, p.holdups, p.pace, p.saves, p.hooks = crowds, nil, paces[0], 0, nil
	p.processes, p.busy, p.requests = 1+r.IntN(2), 0, 4+r.IntN(5)
	p.config = job.Config{Name: jobName, Cron: p.pace.crons[0], ShardingTotalCount: 200 + r.IntN(300)}
	if r.IntN(3) != 0 {
		p.config.Misfire = job.MisfireSkip
	}
	wanted := 2 * float64(p.config.ShardingTotalCount) / p.pace.unit.Seconds()
	p.rate = max(60*p.processes, int(wanted/(0.5+4*r.Float64())))
	p.drawn = []deed{launch}
	if r.IntN(2) == 0 {
		p.drawn = append(p.drawn, []deed{stop, toggleItem, changeParameter}[r.IntN(3)])
	}
	p.faults, p.calm = time.Duration(12+r.IntN(4))*p.pace.unit+offBeat, 3*p.pace.unit
}

// claimLate has processes die while much runs, and what claims it be slow. Meanwhile items are disabled and
// enabled, and members change.
func (p *plan) claimLate(r *rand.Rand) {
	p.kind, p.processes, p.busy, p.hooks = claims, 3+r.IntN(3), 50+r.IntN(40), nil
	p.config.Failover, p.config.MaxConcurrentItems, p.config.ShardingTotalCount = true, 0, 3+r.IntN(8)
	p.drawn = []deed{launch, launch, crash, crash, toggleItem}
	p.holdups = []holdup{{
		of: claim, percent: 60 + r.IntN(40), scale: time.Duration(100+r.IntN(1500)) * time.Millisecond, most: 4 * time.Second,
		meet: 80, deeds: []deed{toggleItem, toggleItem, toggleItem, launch, stop, changeParameter}[:3+r.IntN(4)],
	}}
}

// moveMissed has items miss fires, because others run for long and few at a time, and move while they do.
func (p *plan) moveMissed(r *rand.Rand) {
	p.kind, p.processes, p.busy, p.hooks, p.holdups = moves, 3+r.IntN(3), 60+r.IntN(40), nil, nil
	p.config.Misfire, p.config.MisfireMax = job.MisfireAll, 0
	p.config.Cron, p.config.MaxConcurrentItems, p.config.ShardingTotalCount = p.pace.crons[0], 1+r.IntN(2), 4+r.IntN(9)
	p.drawn = []deed{launch, launch, launch, stop, stop, toggleServer}
	if r.IntN(2) == 0 {
		p.drawn = append(p.drawn, []deed{changeTotal, crash, expire, forgetInstance}[r.IntN(4)])
	}
}

// delay gives the job a jitter, which is long beside what members need to change. While a fire waits, items move, and
// those who have seen it come leave.
func (p *plan) delay(r *rand.Rand) {
	p.kind = delayed
	if strings.HasPrefix(p.config.Cron, "@delay") {
		p.config.Cron = p.pace.crons[0]
	}
	p.config.Jitter = time.Duration(1+r.IntN(100)) * p.pace.unit / 100
	if r.IntN(3) == 0 {
		p.config.MisfireWindow = p.pace.unit * time.Duration(1+r.IntN(10)) / 2
	}
	p.drawn = []deed{launch, launch, stop, stop, crash}
	for range r.IntN(4) {
		p.drawn = append(p.drawn, []deed{toggleServer, toggleItem, changeTotal, changeCron, changeMisfire, expire, runByHand, storeDown, changeJitter, changeJitter}[r.IntN(10)])
	}
}

// limit gives the job settings that bound its executions, which most jobs leave as they are, or has everything of a process
// that crashes run again. Whatever else a seed does may happen.
func (p *plan) limit(r *rand.Rand) {
	p.kind, p.busy = limits, 20+r.IntN(60)
	p.config.Failover = r.IntN(8) > 0
	setLimits(&p.config, p.pace, r.IntN(1000))
	if !strings.HasPrefix(p.config.Cron, "@delay") && r.IntN(2) == 0 {
		fire := func(n int) time.Time { return bubbleStart.Add(time.Duration(n) * p.pace.unit / 2).Add(time.Second) }
		p.config.StartTime = fire(r.IntN(12))
		if r.IntN(2) == 0 {
			p.config.EndTime = fire(14 + r.IntN(20))
		}
	}
	p.drawn = append(p.drawn, crash, crash, expire)
	for range r.IntN(4) {
		p.drawn = append(p.drawn, []deed{changeLimits, changeLimits, stop, cut, toggleItem, toggleServer, launch, changeTotal, storeDown, runByHand}[r.IntN(10)])
	}
}

// gate has the code of all items wait until all of them have begun, and a hook was called. Much happens meanwhile.
func (p *plan) gate(r *rand.Rand) {
	p.kind, p.hooks, p.busy = gates, []string{checker.PhaseStarted}, r.IntN(40)
	if strings.HasPrefix(p.config.Cron, "@delay") {
		p.config.Cron = p.pace.crons[0]
	}
	p.config.ShardingTotalCount = 2 + r.IntN(7)
	for range r.IntN(4) {
		p.drawn = append(p.drawn, []deed{launch, stop, crash, expire, toggleItem, toggleServer, changeTotal, runByHand}[r.IntN(8)])
	}
	if r.IntN(2) == 0 { // begins that are slow have the others wait
		p.holdUp(r, begin)
	}
}

// forgoRecords has executions leave no records, always or at times.
func (p *plan) forgoRecords(r *rand.Rand) {
	p.kind, p.hooks, p.saves, p.busy = traces, nil, 0, r.IntN(40)
	p.config.Unmonitored, p.config.Failover, p.config.MaxConcurrentItems = true, false, 0
	if strings.HasPrefix(p.config.Cron, "@delay") {
		p.config.Cron = p.pace.crons[0]
	}
	p.drawn = slices.DeleteFunc(p.drawn, func(d deed) bool { return d == toggleFailover || d == meddle })
	for i := range p.holdups {
		p.holdups[i].deeds = slices.DeleteFunc(p.holdups[i].deeds, func(d deed) bool { return d == toggleFailover || d == meddle })
	}
	p.holdups = slices.DeleteFunc(p.holdups, func(h holdup) bool { return len(h.deeds) == 0 })
	if r.IntN(2) == 0 {
		p.drawn = append(p.drawn, toggleRecords, toggleRecords)
	}
}

// beginAhead has some begins be slow, from which the job learns a long head start, and has much happen while what has begun by
// it waits for its fire.
func (p *plan) beginAhead(r *rand.Rand) {
	p.kind, p.busy = heads, r.IntN(60)
	if strings.HasPrefix(p.config.Cron, "@delay") {
		p.config.Cron = p.pace.crons[0]
	}
	if r.IntN(6) == 0 {
		p.config.Jitter = time.Duration(1+r.IntN(20)) * p.pace.unit / 100
	}
	p.holdups = []holdup{{
		of: begin, answers: r.IntN(2) == 0, percent: 5 + r.IntN(30), scale: time.Duration(20+r.IntN(150)) * time.Millisecond, most: 400 * time.Millisecond,
	}}
	p.drawn = []deed{launch, launch}
	all := []deed{
		stop, stop, crash, expire, cut, pause, breakWatch, setClock, storeDown, changeTotal, changeTotal, changeCron, changeMisfire,
		changeParameter, toggleFailover, toggleItem, toggleItem, toggleServer, toggleServer, runByHand, removeJob, spoilConfig,
		forgetInstance, askForResharding,
	}
	for range 2 + r.IntN(4) {
		p.drawn = append(p.drawn, all[r.IntN(len(all))])
	}
}

// mostAhead is how long before its fire something begins at most.
const mostAhead = 200 * time.Millisecond

// setLimits sets what bounds the executions of a job, by a number.
func setLimits(cfg *job.Config, pace pace, n int) {
	cfg.FailoverScope = []job.FailoverScope{job.FailoverAssigned, job.FailoverRunning}[n%2]
	cfg.FailoverLimit = []int{0, 1, 2, -1}[n/2%4]
	cfg.Timeout, cfg.Retries, cfg.RetryBackoff = 0, 0, 0
	if n/8%3 > 0 { // off the instants at which anything else happens
		cfg.Timeout = pace.scaled(time.Duration(200+n*7%4000)*time.Millisecond) + 333*time.Nanosecond
	}
	if n/24%3 > 0 {
		cfg.Retries, cfg.RetryBackoff = 1+n/72%3, -1
		if n/216%2 > 0 { // how long a pause is varies, and no replay repeats it
			cfg.RetryBackoff = min(time.Minute, pace.scaled(time.Duration(100+n%1000)*time.Millisecond))
		}
	}
}

// denyViews has the store refuse processes to follow the job, or also to write to it, for a while. Little else
// happens.
func (p *plan) denyViews(r *rand.Rand) {
	p.kind, p.holdups = denials, nil
	p.drawn = []deed{launch, launch, deny, deny, deny}
	for range r.IntN(3) {
		p.drawn = append(p.drawn, []deed{stop, crash, changeTotal, toggleItem, toggleServer, runByHand, changeMisfire, changeParameter}[r.IntN(8)])
	}
}

// refuse has processes refuse settings that others can use: of each parameter of the job one of them, or none. Little else
// happens.
func (p *plan) refuse(r *rand.Rand) {
	p.kind, p.holdups, p.hooks, p.processes = refusals, nil, nil, 2+r.IntN(4)
	p.drawn = []deed{launch, launch, changeParameter, changeParameter, changeParameter}
	for range r.IntN(3) {
		p.drawn = append(p.drawn, []deed{stop, crash, changeTotal, toggleItem, toggleServer, runByHand, changeMisfire, expire}[r.IntN(8)])
	}
}

// loop has a process, or one on each of two servers, die soon after each start, for as long as ten fires and more, while others
// live. Little else happens.
func (p *plan) loop(r *rand.Rand) {
	p.kind, p.holdups, p.hooks, p.processes = loops, nil, nil, 3+r.IntN(3)
	p.config.ShardingTotalCount = 2 + r.IntN(11)
	p.drawn = []deed{launch, launch}
	for range r.IntN(3) {
		p.drawn = append(p.drawn, []deed{stop, toggleItem, runByHand, changeMisfire, toggleFailover, changeTotal, expire, forgetLeader}[r.IntN(8)])
	}
	p.faults = time.Duration(18+r.IntN(6))*p.pace.unit + offBeat
	from := p.pace.scaled(2*time.Second) + time.Duration(r.Int64N(int64(p.pace.unit)))
	for i := range 1 + r.IntN(2) {
		p.actions = append(p.actions, action{
			at: from, do: crashLoop, slot: (r.IntN(p.processes/2)*2 + i) % p.processes, lasts: p.pace.unit * time.Duration(12+r.IntN(4)), n: r.IntN(1000),
		})
	}
}

// refuses tells whether a process cannot use settings. It can use those with which it all began.
func (p *plan) refuses(id string, cfg job.Config) bool {
	if p.kind != refusals || cfg.JobParameter == "" {
		return false
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, p.seed, cfg.JobParameter)
	slot := int(h.Sum64() % uint64(p.processes+1))
	return jobtree.ServerOf(id) == fmt.Sprintf("10.0.0.%d", slot+1)
}

// boundMissed has the job make up missed fires up to an age, which outlasts that nobody was there. Processes
// come and go, and code takes long.
func (p *plan) boundMissed(r *rand.Rand) {
	p.kind, p.processes, p.busy = windows, 1+r.IntN(3), 20+r.IntN(60)
	p.config.Misfire = []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll, job.MisfireAll}[r.IntN(3)]
	p.config.MisfireWindow = time.Duration(int(p.pace.unit/time.Second)*(1+r.IntN(10))/2) * time.Second
	if strings.HasPrefix(p.config.Cron, "@delay") {
		p.config.Cron = p.pace.crons[0]
	}
	p.drawn = []deed{launch, launch, stop, stop, crash}
	for range r.IntN(3) {
		p.drawn = append(p.drawn, []deed{changeTotal, toggleItem, toggleServer, changeParameter, pause, cut, expire, storeDown}[r.IntN(8)])
	}
}

// setClocksWrong has clocks be off by more than they may be, for a while. Little else happens.
func (p *plan) setClocksWrong(r *rand.Rand, between *time.Duration) {
	p.kind, p.holdups = clocks, nil
	p.drawn = []deed{launch, launch, missetClock, missetClock, missetClock}
	for range r.IntN(3) {
		p.drawn = append(p.drawn, []deed{stop, crash, changeTotal, toggleItem, toggleServer, runByHand, changeMisfire}[r.IntN(7)])
	}
	if r.IntN(2) == 0 { // the job tolerates less than clocks may be off
		p.config.MaxTimeDiff, p.config.ClockPolicy = time.Duration(7+r.IntN(20))*time.Second, job.ClockRefuse
	}
	if strings.HasPrefix(p.config.Cron, "@delay") {
		p.config.Cron = p.pace.crons[0]
	}
	p.faults, p.calm = max(p.faults, 4*time.Minute+offBeat), max(p.calm, 2*time.Minute) // a clock must be right for a minute
	*between = max(*between, 15*time.Second)
}

// missetting returns by how much a number sets a clock wrong, and for how long.
func (p *plan) missetting(a action) (ahead, lasts time.Duration) {
	bound := clockBound
	if p.config.ClockPolicy == job.ClockRefuse {
		bound = min(bound, p.config.MaxTimeDiff)
	}
	ahead = bound + time.Duration(float64(bound)*0.1/(1.001-float64(a.n)/1000)) + time.Second // a heavy tail
	if a.n%2 == 0 {
		ahead = -ahead
	}
	if lasts = a.lasts; a.n%5 > 0 {
		lasts += 20 * time.Second
	}
	return ahead, lasts
}

// clockBound is by how much clocks may be off.
var clockBound = checker.DefaultRules().Clock

// divide gives the job so many items that a change of members moves more of them than one transaction may.
// Begins are under way while somebody joins or a server is switched, and what tidies up after that is slow.
func (p *plan) divide(r *rand.Rand) {
	p.kind = dividing
	p.config.ShardingTotalCount, p.config.ShardingStrategy = 9+r.IntN(8), ""
	p.config.Cron, p.config.MaxConcurrentItems = p.pace.crons[0], 0
	p.processes, p.busy, p.saves, p.hooks = 3+r.IntN(2), r.IntN(10), 0, nil
	p.drawn, p.holdups = []deed{launch, launch, stop, toggleServer, toggleServer, crash, forgetInstance}, nil
	for _, s := range []step{begin, reshard, tidy} {
		h := holdup{of: s, percent: 60 + r.IntN(40), scale: time.Duration(800+r.IntN(1500)) * time.Millisecond, most: 4 * time.Second}
		switch {
		case s == begin:
			h.meet, h.deeds = 80, []deed{launch, launch, stop, toggleServer, toggleServer}
		case s == reshard && r.IntN(2) == 0:
			h.scale /= 10
		}
		p.holdups = append(p.holdups, h)
	}
}

// heldSteps are the kinds of messages that may be held up, each as likely as it stands there.
var heldSteps = []step{
	join, join, elect, elect, reshard, reshard, reshard, begin, begin, begin, end, end, declare, declare, claim, claim, claim, claim,
	acknowledge, save, event,
}

// holdUp has messages of a kind be slow, and be many.
func (p *plan) holdUp(r *rand.Rand, s step) {
	h := holdup{
		of: s, answers: s != event && r.IntN(6) == 0, percent: 20 + r.IntN(80), meet: 30 + r.IntN(70),
		scale: time.Duration(20*math.Exp(r.Float64()*4)) * time.Millisecond, // up to a second
		most:  4 * time.Second,
	}
	if r.IntN(3) == 0 { // as long as sessions last
		h.scale, h.most = p.pace.scaled(h.scale), p.pace.unit*3/2
	}
	for range 1 + r.IntN(3) {
		h.deeds = append(h.deeds, changes[r.IntN(len(changes))])
	}
	if r.IntN(4) == 0 {
		all := allDeeds()
		h.deeds = append(h.deeds, all[r.IntN(len(all))])
	}
	p.holdups = append(p.holdups, h)
	if c := causes(s); len(c) > 0 {
		for range 2 {
			p.drawn = append(p.drawn, launch, c[r.IntN(len(c))], c[r.IntN(len(c))])
		}
	}
	switch s {
	case end, declare, claim:
		p.config.Failover, p.busy = true, max(p.busy, 60)
		p.quickly = r.IntN(2) == 0
	case acknowledge:
		h.deeds[0] = []deed{h.deeds[0], runByHand}[r.IntN(2)]
	case save:
		p.saves, p.busy = max(p.saves, 3), max(p.busy, 40)
	}
}

// rest is the time to the next action. Troubles do not come alone: the next one may come while the
// cluster still deals with the last.
func rest(r *rand.Rand, between time.Duration) time.Duration {
	if r.IntN(3) == 0 {
		between = 500 * time.Millisecond
	}
	return time.Duration(r.ExpFloat64() * float64(between))
}

// offBeat keeps what the driver does off the instants at which jobs fire: what happens in one instant
// happens in an order that no replay repeats.
const offBeat = 1234567 * time.Nanosecond

// action makes a deed concrete. Some are done right at a fire, where most happens, and some last no longer
// than messages do.
func (p *plan) action(r *rand.Rand, at time.Duration, do deed) action {
	a := action{at: at, do: do, slot: r.IntN(p.processes), n: r.IntN(1000)}
	switch atFire := at.Round(p.pace.unit) + 567*time.Nanosecond; r.IntN(5) {
	case 0: // while quick messages about it are under way
		a.at = atFire + time.Duration(r.IntN(20_000))*time.Microsecond
	case 1: // while slow ones are
		a.at = atFire + time.Duration(r.IntN(4_000_000))*time.Microsecond
	case 2: // right before
		a.at = max(0, atFire-time.Duration(r.IntN(2_000_000))*time.Microsecond)
	}
	if p.kind == heads && r.IntN(3) > 0 {
		a.at = max(0, at.Round(p.pace.unit)+567*time.Nanosecond-time.Duration(r.Int64N(int64(mostAhead))))
	}
	short, long := time.Duration(50+r.IntN(4000))*time.Millisecond, time.Duration(4000+r.IntN(12000))*time.Millisecond
	switch r.IntN(4) {
	case 0:
		a.lasts = short
	case 1:
		a.lasts = p.pace.scaled(short)
	default:
		a.lasts = p.pace.scaled(long)
	}
	return a
}

// longestWork bounds how long the code of an item goes on, at the quickest pace.
const longestWork = 20 * time.Second

// work tells what the code of an execution does.
func (p *plan) work(sc job.ShardingContext) work {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []int64{int64(p.seed), int64(sc.Item), sc.Fire.Unix()})
	r := rand.New(rand.NewPCG(h.Sum64(), 2))
	w := work{takes: time.Duration(r.IntN(400_000)) * time.Microsecond}
	if r.IntN(100) < p.busy {
		w.takes = p.pace.scaled(time.Duration(r.ExpFloat64() * 6 * float64(time.Second)))
		w.stubborn = r.IntN(8) == 0
	}
	w.takes = min(w.takes, p.pace.scaled(longestWork)-time.Duration(1+h.Sum64()%1000)*time.Microsecond) // its end is no fire's instant
	if p.quickly && sc.Source == job.Failover {
		w.takes = min(w.takes, 100*time.Millisecond)
	}
	if r.IntN(20) == 0 {
		w.err = errors.New("it went wrong")
	}
	w.yields = p.kind == yields
	w.saves, w.patience = r.IntN(p.saves+1), time.Duration(100+r.IntN(1500))*time.Millisecond
	return w
}

// String describes the plan as its replay would be read.
func (p *plan) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d (%s): %d processes, clocks off by up to %s, %d items, cron %q, jitter %s, failover %t, misfire %s up to %d and %s, strategy %q, at most %d at once, busy %d%%, up to %d checkpoints, hooks %q\n",
		p.seed, cmp.Or(p.kind, "of no kind"), p.processes, p.skew, p.config.ShardingTotalCount, p.config.Cron, p.config.Jitter, p.config.Failover, p.config.Misfire,
		inforce.MisfireMax(p.config), p.config.MisfireWindow, p.config.ShardingStrategy, p.config.MaxConcurrentItems, p.busy, p.saves, p.hooks)
	if p.kind == limits {
		c := p.config
		fmt.Fprintf(&text, "\tfailover of what is %s up to %d, timeout %s, %d retries after %s, from %s to %s\n", c.FailoverScope, c.FailoverLimit, c.Timeout, c.Retries, c.RetryBackoff, c.StartTime, c.EndTime)
	}
	for _, h := range p.holdups {
		fmt.Fprintf(&text, "\t%s\n", h)
	}
	for _, a := range p.actions {
		fmt.Fprintf(&text, "\t%s %s slot %d, lasts %s, n %d\n", bubbleStart.Add(a.at).Format("15:04:05.000000"), a.do, a.slot, a.lasts, a.n)
	}
	return text.String()
}

// follows says what a process follows of the job: all of it, as by default, or, in one plan of four, most of the
// processes their own items alone, as soon as and as often as they may.
func (p plan) follows(id string) scheduler.Following {
	if !p.narrow() || delayOf(fmt.Sprint(id, p.seed))%8 == 0 {
		return scheduler.FollowWhole
	}
	return scheduler.FollowOwn
}

// opening says how long it takes a process to open a view of its own items: up to a second and a half, or no time.
func (p plan) opening(id string) time.Duration {
	return max(0, delayOf(fmt.Sprint("open", id, p.seed))*1000-1500*time.Millisecond)
}

// narrow tells whether processes follow their own items alone.
func (p plan) narrow() bool { return p.seed%4 == 1 }
