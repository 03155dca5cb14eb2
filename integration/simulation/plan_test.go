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
	processes int
	faults    time.Duration // for how long things go wrong
	calm      time.Duration // for how long nothing does afterwards
	pace      time.Duration // between two actions, on average
	busy      int           // how many of a hundred executions take longer than a moment
	actions   []action
}

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
	p := plan{seed: seed, processes: 2 + r.IntN(4), pace: time.Duration(2+r.IntN(10)) * time.Second, busy: r.IntN(50)}
	p.config = job.NewConfig(jobName, everyFive, 1+r.IntN(12))
	p.config.Failover = r.IntN(4) > 0
	p.config.Misfire = r.IntN(4) > 0
	p.config.ShardingStrategy = []string{"", sharding.NameMinimal}[r.IntN(2)]
	p.faults, p.calm = time.Duration(2+r.IntN(4))*time.Minute, 80*time.Second
	if r.IntN(10) == 0 { // a slow job for longer
		p.config.Cron, p.pace = "0 0/2 * * * ?", p.pace*6
		p.faults, p.calm = 50*time.Minute, 11*time.Minute
	}
	deeds := p.choose(r)
	for at := 3 * time.Second; at < p.faults; at += time.Duration(r.ExpFloat64() * float64(p.pace)) {
		p.actions = append(p.actions, p.action(r, at, deeds[r.IntN(len(deeds))]))
	}
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
	return p
}

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

// action makes a deed concrete. Some are done right at a fire, where most happens.
func (p *plan) action(r *rand.Rand, at time.Duration, do deed) action {
	a := action{at: at, do: do, slot: r.IntN(p.processes), n: r.IntN(1000)}
	if r.IntN(4) == 0 {
		a.at = at.Round(5*time.Second) + time.Duration(r.IntN(20_000))*time.Microsecond
	}
	short, long := time.Duration(50+r.IntN(4000)), time.Duration(4000+r.IntN(12000))
	if a.lasts = short * time.Millisecond; r.IntN(2) == 0 {
		a.lasts = long * time.Millisecond
	}
	return a
}

// longestWork bounds how long the code of an item goes on.
const longestWork = 20 * time.Second

// work tells what the code of an execution does: the same for a rerun of the same fire.
func (p *plan) work(sc job.ShardingContext) work {
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, []int64{int64(p.seed), int64(sc.Item), sc.Fire.Unix()})
	r := rand.New(rand.NewPCG(h.Sum64(), 2))
	w := work{takes: time.Duration(r.IntN(400_000)) * time.Microsecond}
	if r.IntN(100) < p.busy {
		w.takes = time.Duration(r.ExpFloat64() * 6 * float64(time.Second))
		w.stubborn = r.IntN(8) == 0
	}
	w.takes = min(w.takes, longestWork)
	if r.IntN(20) == 0 {
		w.err = errors.New("it went wrong")
	}
	return w
}

// String describes the plan as its replay would be read.
func (p *plan) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %d processes, %d items, cron %q, failover %t, misfire %t, strategy %q, busy %d%%\n",
		p.seed, p.processes, p.config.ShardingTotalCount, p.config.Cron, p.config.Failover, p.config.Misfire, p.config.ShardingStrategy, p.busy)
	for _, a := range p.actions {
		fmt.Fprintf(&text, "\t%s %s slot %d, lasts %s, n %d\n", bubbleStart.Add(a.at).Format("15:04:05.000000"), a.do, a.slot, a.lasts, a.n)
	}
	return text.String()
}
