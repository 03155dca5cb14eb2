package scheduler

import (
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/javapeers"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/sharding"
)

// WithJavaPeers tells that Java instances of Elastic-Job-Lite 2.1.5 take part in the jobs of this
// scheduler, over the same ZooKeeper. Every process of such a cluster that uses this library must set
// it, while there are Java instances and no longer. The default is that there are none.
//
// With it the scheduler does what Java instances expect of each other, and refuses to declare jobs that
// they could not read or run. The guarantees on single execution then hold among the instances of this
// library, and between all while one of them leads; docs/java.md says what that means.
func WithJavaPeers() Option {
	return func(o *options) error {
		o.java = true
		return nil
	}
}

// WithElasticJob3Peers tells that Java instances of ElasticJob 3.0.x take part in the jobs of this scheduler, over the
// same ZooKeeper. It is [WithJavaPeers] for these, and not to be used with it: nodes are read and written as ElasticJob
// 3.x writes them, so one job is never shared by both kinds, nor by processes with different options. Settings that
// ElasticJob 3.x does not have are refused. It is tested with 3.0.4; docs/java.md says what works.
func WithElasticJob3Peers() Option {
	return func(o *options) error {
		o.java3 = true
		return nil
	}
}

// checkShared tells what is wrong with the options of a process among others.
func (o *options) checkShared() error {
	if !o.java && !o.java3 {
		return nil
	}
	if o.java && o.java3 {
		return fmt.Errorf("%w: WithJavaPeers and WithElasticJob3Peers exclude each other: they write the same nodes in different words", ErrInvalidOption)
	}
	return javapeers.CheckInstance(o.instance)
}

// dialectOf returns how others take part in the jobs of a process. The error is [ErrInvalidOption] if its
// instance id is like one of theirs.
func dialectOf(o *options, reg registry.Registry) (peers.Dialect, error) {
	_, possible := javapeers.Root(reg)
	var dialect peers.Dialect = peers.None{}
	switch {
	case o.java:
		dialect = javapeers.Dialect{Instance: o.instance, Registry: reg}
	case o.java3:
		dialect = javapeers.Dialect{Instance: o.instance, Registry: reg, Of: jobtree.ElasticJob3}
	case possible:
		dialect = javapeers.Unaware{Registry: reg}
	default:
		return dialect, nil
	}
	return dialect, javapeers.CheckApart(o.instance)
}

// newPeers makes what is known of the others in the job.
func (r *runner) newPeers(p ports) peers.Peers {
	return r.s.dialect.New(peers.Ports{Ports: p, Consider: func(items []int, all bool) { r.rounds.Consider(items, all) }, Strategy: func() (sharding.Strategy, error) { return r.leadership.Strategy(r.look()) }})
}

// heedPeers does what only others make necessary.
func (r *runner) heedPeers() {
	for _, batch := range r.peers.Decide(r.look()) {
		r.commit(batch)
	}
	r.claimAbandoned()
	r.commit(r.peers.Urge(r.look()))
}
