package simulation_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/job"
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
}

// planOf makes a plan from a seed.
func planOf(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := plan{seed: seed, pace: paces[r.IntN(len(paces))], processes: 2 + r.IntN(4), busy: r.IntN(50)}
	p.config = job.NewConfig(jobName, p.pace.crons[0], 1+r.IntN(1+r.IntN(12)))
	p.config.Failover = r.IntN(4) > 0
	p.config.Misfire = r.IntN(4) > 0
	p.config.ShardingStrategy = []string{"", sharding.NameMinimal}[r.IntN(2)]
	if r.IntN(4) == 0 {
		p.skew = time.Duration(1+r.IntN(3000)) * time.Millisecond
	}
	p.faults, p.calm = time.Duration(10+r.IntN(12))*p.pace.unit+offBeat, 9*p.pace.unit
	deeds := p.choose(r)
	between := p.pace.scaled(time.Duration(2+r.IntN(5)) * time.Second)
	for at := 3 * time.Second; at < p.faults; at += rest(r, between) {
		p.actions = append(p.actions, p.action(r, at, deeds[r.IntN(len(deeds))]))
	}
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
	return p
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

// choose picks the deeds of a plan: some plans do everything, most only some things, so that those
// meet more often.
func (p *plan) choose(r *rand.Rand) []deed {
	var deeds []deed
	some := r.IntN(3) > 0
	for _, d := range allDeeds {
		if some && d != launch && r.IntN(2) == 0 {
			continue
		}
		for range d.weight() {
			deeds = append(deeds, d)
		}
	}
	return deeds
}

// action makes a deed concrete. Some are done right at a fire, where most happens, and some last no longer
// than messages do.
func (p *plan) action(r *rand.Rand, at time.Duration, do deed) action {
	a := action{at: at, do: do, slot: r.IntN(p.processes), n: r.IntN(1000)}
	switch atFire := at.Round(p.pace.unit) + 567*time.Nanosecond; r.IntN(4) {
	case 0: // while quick messages about it are under way
		a.at = atFire + time.Duration(r.IntN(20_000))*time.Microsecond
	case 1: // while slow ones are
		a.at = atFire + time.Duration(r.IntN(4_000_000))*time.Microsecond
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

// work tells what the code of an execution does: the same for a rerun of the same fire.
func (p *plan) work(sc job.ShardingContext) work {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []int64{int64(p.seed), int64(sc.Item), sc.Fire.Unix()})
	r := rand.New(rand.NewPCG(h.Sum64(), 2))
	w := work{takes: time.Duration(r.IntN(400_000)) * time.Microsecond}
	if r.IntN(100) < p.busy {
		w.takes = p.pace.scaled(time.Duration(r.ExpFloat64() * 6 * float64(time.Second)))
		w.stubborn = r.IntN(8) == 0
	}
	w.takes = min(w.takes, p.pace.scaled(longestWork))
	if r.IntN(20) == 0 {
		w.err = errors.New("it went wrong")
	}
	return w
}

// String describes the plan as its replay would be read.
func (p *plan) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %d processes, clocks off by up to %s, %d items, cron %q, failover %t, misfire %t, strategy %q, busy %d%%\n",
		p.seed, p.processes, p.skew, p.config.ShardingTotalCount, p.config.Cron, p.config.Failover, p.config.Misfire, p.config.ShardingStrategy, p.busy)
	for _, a := range p.actions {
		fmt.Fprintf(&text, "\t%s %s slot %d, lasts %s, n %d\n", bubbleStart.Add(a.at).Format("15:04:05.000000"), a.do, a.slot, a.lasts, a.n)
	}
	return text.String()
}
