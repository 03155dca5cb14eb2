package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
)

// Namespace is what one read of a registry shows of its jobs: everything that its methods return is true of one
// revision. It never changes, and is safe for concurrent use.
type Namespace struct {
	revision registry.Revision
	now      time.Time
	jobs     []*look // in ascending order of their names
}

// ReadNamespace reads all jobs of a namespace, with one request where the registry can (see
// [registry.Reader.List]). What is late, and what comes next, is judged as of now. Errors are those of the
// registry.
func ReadNamespace(ctx context.Context, from registry.Reader, now time.Time) (*Namespace, error) {
	nodes, revision, err := from.List(ctx, registry.Root)
	if err != nil {
		return nil, fmt.Errorf("read the namespace: %w", err)
	}
	return NewNamespace(nodes, revision, now, MayHoldJava(from)), nil
}

// ReadJob is [ReadNamespace] for one job: it reads the tree of this job and shows no other.
func ReadJob(ctx context.Context, from registry.Reader, name string, now time.Time) (*Namespace, error) {
	nodes, revision, err := from.List(ctx, jobtree.For(name).Root())
	if err != nil {
		return nil, fmt.Errorf("read job %q: %w", texts.Shorten(name), err)
	}
	return NewNamespace(nodes, revision, now, MayHoldJava(from)), nil
}

// MayHoldJava tells whether Java instances may take part in the jobs of a registry.
func MayHoldJava(store registry.Reader) bool {
	_, may := registry.JavaRoot(store)
	return may
}

// NewNamespace shows the jobs of nodes that were read before, in any order. Nodes that belong to no job are passed over, and
// so are jobs without a configuration of which nothing lives or is recorded: Java leaves such remains behind; and jobs whose
// home is another registry. java is what [MayHoldJava] says of the registry: then jobs in which a Java instance lives are
// read as Java reads them.
func NewNamespace(nodes []registry.Node, revision registry.Revision, now time.Time, java bool) *Namespace {
	byJob := make(map[string][]registry.Change)
	for _, n := range nodes {
		name := jobOf(n.Path)
		byJob[name] = append(byJob[name], registry.Change{New: n})
	}
	names := slices.Sorted(maps.Keys(byJob))
	looks := make([]*look, len(names))
	shown := registry.NewSnapshot(revision, nil)
	part := len(names)/runtime.GOMAXPROCS(0) + 1
	var parts sync.WaitGroup
	for from := 0; from < len(names); from += part {
		parts.Go(func() {
			schedules := make(map[timing]cronexpr.Schedule)
			for i := from; i < min(from+part, len(names)); i++ {
				step := registry.Step{Snapshot: shown, Changes: byJob[names[i]]}
				looks[i] = lookAt(names[i], step, now, java, schedules)
			}
		})
	}
	parts.Wait()
	jobs := slices.DeleteFunc(looks, func(l *look) bool { return l == nil })
	return &Namespace{revision: revision, now: now, jobs: jobs}
}

// lookAt returns nil for what is no job. The changes of the step are all nodes of the job; its snapshot need not show them.
func lookAt(name string, nodes registry.Step, now time.Time, java bool, schedules map[timing]cronexpr.Schedule) *look {
	st := jobtree.NewState(name)
	config := slices.IndexFunc(nodes.Changes, func(c registry.Change) bool { return c.New.Path == st.Tree().Config() })
	if config >= 0 && jobtree.LayoutOfConfig(nodes.Changes[config].New.Value) == jobtree.ElasticJob3 {
		st.ShareWithElasticJob3()
	} else if java && slices.ContainsFunc(nodes.Changes, javaLives) {
		st.ShareWithJava()
	}
	st.Apply(nodes)
	if !st.Config.Exists() && len(st.Instances) == 0 && st.Items() == 0 && !slices.ContainsFunc(nodes.Changes, isOperated) {
		return nil
	}
	if away := (*jobtree.ElsewhereError)(nil); errors.As(st.Config.Err, &away) && !away.Leaving() {
		return nil // its home is another registry
	}
	l := newLook(st, now, schedules)
	l.noteOperated(nodes.Changes)
	l.noteMigration(nodes.Changes)
	return l
}

// jobOf returns the first segment of a path, which names the job.
func jobOf(path string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return name
}

// javaLives tells whether a node is a live Java instance. Where one lives, the tree counts as Java reads it.
func javaLives(c registry.Change) bool {
	if !strings.Contains(c.New.Path, "@-@") {
		return false
	}
	name, known := jobtree.Parse(c.New.Path)
	return known && name.Kind == jobtree.KindInstance && jobtree.JavaInstance(name.Key)
}

// isOperated tells whether a node is that of a job's operations, which a removal deletes last.
func isOperated(c registry.Change) bool {
	name, known := jobtree.Parse(c.New.Path)
	return known && name.Kind == jobtree.KindOperated
}

// Revision returns the state of the registry that this shows.
func (n *Namespace) Revision() registry.Revision { return n.revision }

// Time returns the time at which lateness is judged; of a namespace of [Following] that of the last look.
func (n *Namespace) Time() time.Time { return n.now }

// Names returns the names of the jobs in ascending order.
func (n *Namespace) Names() []string {
	names := make([]string, 0, len(n.jobs))
	for _, l := range n.jobs {
		names = append(names, l.name())
	}
	return names
}

// State returns a job's tree in typed form, and false if there is no such job. It is to be read only.
func (n *Namespace) State(job string) (*jobtree.State, bool) {
	l := n.find(job)
	if l == nil {
		return nil, false
	}
	return l.st, true
}

func (n *Namespace) find(job string) *look {
	i, found := slices.BinarySearchFunc(n.jobs, job, func(l *look, name string) int { return strings.Compare(l.name(), name) })
	if !found {
		return nil
	}
	return n.jobs[i]
}
