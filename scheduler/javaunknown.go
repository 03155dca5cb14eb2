package scheduler

import (
	"context"
	"fmt"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// errJavaPeers names a Java instance that takes part in a job of a process that was not told of any.
func errJavaPeers(id string) error {
	return fmt.Errorf("%w: %s is one; without WithJavaPeers both would run the same items: set it on every process, or stop the Java instances first", ErrJavaPeers, id)
}

// unaware tells whether Java instances may take part in jobs of which this process was not told.
func (s *Scheduler) unaware() bool { return !s.java && javaLayout(s.registry) }

// refuseJava refuses to declare a job in which Java instances take part that this process was not told of.
func (s *Scheduler) refuseJava(ctx context.Context, name string) error {
	if !s.unaware() {
		return nil
	}
	ids, err := s.registry.Children(ctx, jobtree.For(name).Instances())
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(ids, jobtree.JavaInstance); i >= 0 {
		return errJavaPeers(ids[i])
	}
	return nil
}

// refusesJava tells whether this instance must not join, because Java instances take part of which this
// process was not told. Before it joined the first time that ends Run; a job that is data, and one whose
// session was lost, wait until they are gone.
func (r *runner) refusesJava() bool {
	id := r.unknownJava()
	_, isData := r.handler.(handlers)
	if id != "" && !r.hasJoined() && !isData {
		r.s.fail(fmt.Errorf("job %q: %w", r.name, errJavaPeers(id)))
	}
	return id != ""
}

// unknownJava returns a Java instance that takes part without this process having been told; empty if
// there is none.
func (r *runner) unknownJava() string {
	if !r.s.unaware() {
		return ""
	}
	i := slices.IndexFunc(r.state.Instances, func(i jobtree.Instance) bool { return jobtree.JavaInstance(i.ID) })
	if i < 0 {
		return ""
	}
	return r.state.Instances[i].ID
}

// reportUnknownJava reports such an instance once, until there is none.
func (r *runner) reportUnknownJava() {
	id := r.unknownJava()
	if id != "" && r.shared.unknown == "" {
		r.log.ErrorContext(r.life, "a Java instance takes part in the job, and this process was not told: items may run twice",
			"java_instance", id, logError, errJavaPeers(id))
	}
	r.shared.unknown = id
}
