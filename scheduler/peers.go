package scheduler

import (
	"fmt"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/javapeers"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/sharding"
)

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
	_, possible := registry.JavaRoot(reg)
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
	return r.s.dialect.New(peers.Ports{
		Ports: p, WhenShown: r.whenShown,
		LookAgain: func(items ...int) { r.rounds.LookAgain(items...) },
		Strategy:  func() (sharding.Strategy, error) { return r.leadership.Strategy(r.look()) },
	})
}

// whenShown calls done in a message once the state shows all that the registry has committed by now. What the registry is
// asked for does not matter.
func (r *runner) whenShown(done func(shown bool)) {
	view := r.view
	r.s.work.Go(func() {
		_, revision, err := r.s.registry.List(r.life, r.tree.Necessary())
		if err == nil {
			err = view.WaitRevision(r.life, revision)
		}
		r.box.Post(func() { done(err == nil && view == r.view && !r.scope.replacing) })
	})
}

// heedPeers does what only others make necessary.
func (r *runner) heedPeers() {
	for _, batch := range r.peers.Decide(r.look()) {
		r.commit(batch)
	}
	r.claimAbandoned()
	r.commit(r.peers.Urge(r.look()))
}
