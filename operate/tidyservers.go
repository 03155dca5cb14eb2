package operate

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// mostTidied is how many servers one transaction forgets, for every registry to take it.
const mostTidied = 100

// TidyServers deletes what is stored of servers at which no instance of the job lives: of those that are named, or else of all
// that are not disabled. A server that was disabled starts enabled if it comes back. It is refused if an instance lives at one
// that is named, and if there is nothing to delete. It deletes a hundred at a time, and warns if there are more: call it again
// then, with another id.
func (o *Operator) TidyServers(ctx context.Context, job string, ips []string, opts Options) (Result, error) {
	ips = slices.Compact(slices.Sorted(slices.Values(ips)))
	target := ""
	if len(ips) > 0 {
		target = "servers " + listed(ips)
	}
	return o.carry(ctx, deed{
		verb: VerbTidy, job: job, target: target,
		decide: func(w *world) (decision, error) { return tidy(w, ips) },
	}, opts)
}

func tidy(w *world, ips []string) (decision, error) {
	if r := w.known(); r != nil {
		return decision{}, r
	}
	for _, ip := range ips {
		switch {
		case w.serves(ip):
			return decision{}, refuse(CauseAlive, "shut its instances down, or disable it", "an instance of the job lives at %s", ip)
		case !w.snapshot.Get(w.tree.Server(ip)).Exists():
			return decision{}, refuse(CauseUnknownTarget, "look at the servers of the job", "the job knows no server %s", ip)
		}
	}
	var d decision
	disabled, more := 0, 0
	for _, s := range w.state.Servers {
		named := slices.Contains(ips, s.IP)
		switch {
		case w.serves(s.IP), len(ips) > 0 && !named:
			continue
		case s.Disabled && !named:
			disabled++
			continue
		case len(d.write) == mostTidied:
			more++
			continue
		case s.Disabled:
			d.warn(fmt.Sprintf("server %s was disabled, and starts enabled if it comes back", s.IP))
		}
		path := w.tree.Server(s.IP)
		d.compare = append(d.compare, w.asRead(path))
		d.write = append(d.write, registry.Delete(path))
		d.plan.Changes = append(d.plan.Changes, Change{What: serverTarget(s.IP), Before: enabledWord(s.Disabled), After: "forgotten"})
	}
	if len(d.write) == 0 {
		do := ""
		if disabled > 0 {
			do = fmt.Sprintf("name those that are disabled, of which there are %d, if they are to go", disabled)
		}
		return decision{}, refuse(CauseAlready, do, "nothing is stored of servers at which nobody lives")
	}
	if more > 0 {
		d.warn(fmt.Sprintf("%d more are left, as one transaction takes no more than %d: tidy those next", more, mostTidied))
	}
	return d, nil
}
