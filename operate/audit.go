package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Operation is what is written down of an operation.
type Operation struct {
	Job     string    `json:"job"`
	ID      string    `json:"id"`
	Verb    Verb      `json:"verb"`
	Target  string    `json:"target,omitempty"`
	Who     string    `json:"who"`
	How     string    `json:"how,omitempty"`
	When    time.Time `json:"when"`
	Reason  string    `json:"reason,omitempty"`
	Changed string    `json:"changed,omitempty"`
	// Before is the configuration before, without what may be secret unless that is asked for, and RollsBack whether
	// [Operator.RollBack] can store it again.
	Before    string `json:"before,omitempty"`
	RollsBack bool   `json:"rollsBack,omitempty"`
}

// String names the operation: `disable item 3 of "orders"`.
func (o Operation) String() string { return name(o.Verb, o.Job, o.Target) }

// Operations returns the last operations of a job, the oldest first; none if nobody has operated it. The error is a
// [*Refusal] if what is written down cannot be read.
func (o *Operator) Operations(ctx context.Context, job string) ([]Operation, error) {
	d := deed{verb: "list operations", job: job}
	if err := checkName(job); err != nil {
		return nil, d.completed(err)
	}
	n, err := o.store.Get(ctx, jobtree.For(job).Operated())
	if errors.Is(err, registry.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, d.completed(denied(err))
	}
	operated, err := jobtree.DecodeOperated(n)
	if err != nil {
		r := refuse(CauseUnreadable, "look at the node, or use a newer version", "what was done to the job cannot be read")
		r.Err = err
		return nil, d.completed(r)
	}
	return operationsOf(job, operated), nil
}

func operationsOf(job string, operated jobtree.Operated) []Operation {
	return storedOperationsOf(job, jobtree.MaskOperated(operated))
}

// storedOperationsOf is operationsOf with what may be secret.
func storedOperationsOf(job string, operated jobtree.Operated) (all []Operation) {
	for _, op := range operated.Operations {
		all = append(all, Operation{
			Job: job, ID: op.ID, Verb: Verb(op.Verb), Target: op.Target, Who: op.Who, How: op.How, When: op.When,
			Reason: op.Reason, Changed: op.Changed, Before: op.Before, RollsBack: op.Before != "",
		})
	}
	return all
}

// OutsideChange is something of what operators decide that was changed, and not by an operation: by hand, by Java's
// console, or by a program that writes the registry itself.
type OutsideChange struct {
	Job      string            `json:"job"`
	What     string            `json:"what"` // "settings", "server 10.0.0.1" or "item 3"
	Revision registry.Revision `json:"revision"`
	// Gone tells that its node was deleted, at some time after the revision.
	Gone bool `json:"gone,omitempty"`
}

// String names it.
func (c OutsideChange) String() string {
	when := "at"
	if c.Gone {
		when = "after"
	}
	return fmt.Sprintf("%s of %q changed from outside, %s revision %d", c.What, c.Job, when, c.Revision)
}

// Outside finds in a state of a namespace, or of a part of it, what was changed from outside after the last operation
// of its job. An operation writes itself down in the commit that does it, so what is newer than that is nobody's. A
// job that was never operated has no such changes, as its settings and servers are those of its processes. A server that
// is enabled counts if it was disabled by an operation, and so does what is gone, if the last operations tell that it was
// there. A job that was deleted with all that was written down of it leaves nothing behind.
func Outside(s registry.Snapshot) (all []OutsideChange) {
	for n := range s.All() {
		name, ok := jobtree.Parse(n.Path)
		if !ok {
			continue
		}
		if name.Kind == jobtree.KindOperated {
			all = append(all, gone(s, n, name.Job)...)
			continue
		}
		operated := s.Get(jobtree.For(name.Job).Operated())
		if !operated.Exists() || n.Revision <= operated.Revision {
			continue
		}
		what := ""
		switch name.Kind {
		case jobtree.KindConfig:
			// Whoever puts back where the tokens start writes the configuration as it is, in the same transaction. A move puts in its
			// place where the job is.
			if !isElsewhere(n) && s.Get(jobtree.For(name.Job).Tokens()).Revision != n.Revision {
				what = "settings"
			}
		case jobtree.KindServer:
			// Java instances write the node of their server whenever they start.
			if disabledServer(s, n, name.Job) || wasDisabled(operated, name.Key) {
				what = serverTarget(name.Key)
			}
		case jobtree.KindItemDisabled:
			what = itemTarget(name.Item)
		}
		if what != "" {
			all = append(all, OutsideChange{Job: name.Job, What: what, Revision: n.Revision})
		}
	}
	return all
}

func isElsewhere(config registry.Node) bool {
	_, elsewhere := jobtree.DecodeElsewhere(config)
	return elsewhere
}

// disabledServer tells whether the node of a server says that it is disabled, or something that nobody knows.
func disabledServer(s registry.Snapshot, n registry.Node, job string) bool {
	if ofElasticJob3(s, job) {
		return n.Value != jobtree.ElasticJob3.EncodeServer(false)
	}
	disabled, err := jobtree.DecodeServer(n)
	return disabled || err != nil
}

func ofElasticJob3(s registry.Snapshot, job string) bool {
	return jobtree.LayoutOfConfig(s.Get(jobtree.For(job).Config()).Value) == jobtree.ElasticJob3
}

// wasDisabled tells whether a server was disabled by what is written down, as far as anybody knows.
func wasDisabled(operated registry.Node, ip string) bool {
	all, err := jobtree.DecodeOperated(operated)
	if err != nil || all.DisabledServers != nil {
		return true
	}
	for _, op := range slices.Backward(all.Operations) {
		if op.Target == serverTarget(ip) {
			return Verb(op.Verb) == VerbDisableServer
		}
	}
	return false
}

// gone finds what was deleted of a job that the operations have it have.
func gone(s registry.Snapshot, operated registry.Node, job string) (all []OutsideChange) {
	did, err := jobtree.DecodeOperated(operated)
	tree := jobtree.For(job)
	config := s.Get(tree.Config())
	add := func(what string) {
		all = append(all, OutsideChange{Job: job, What: what, Revision: operated.Revision, Gone: true})
	}
	switch {
	case err != nil:
		return nil
	case isElsewhere(config): // what is left of the job is cleaned up
		return nil
	case !config.Exists():
		if did.Removing == "" {
			add("settings")
		}
		return all
	}
	judged, items := make(map[string]bool), true
	for _, op := range slices.Backward(did.Operations) {
		switch Verb(op.Verb) {
		case VerbTidy, VerbSeed, VerbMigrate: // which change servers and items without naming each
			return all
		case VerbSettings, VerbRollBack, VerbDeclare, VerbUpdate, VerbFiles: // after which there may have been fewer items for a while
			items = false
		}
		last := !judged[op.Target]
		judged[op.Target] = true
		ip, number := strings.TrimPrefix(op.Target, serverTarget("")), 0
		_, err := fmt.Sscanf(op.Target, "item %d", &number)
		switch {
		case !last:
		case Verb(op.Verb) == VerbDisableServer && did.DisabledServers == nil && !s.Get(tree.Server(ip)).Exists() && !ofElasticJob3(s, job), // which may take it away itself, once nobody lives there
			Verb(op.Verb) == VerbDisableItem && items && err == nil && !s.Get(tree.ItemDisabled(number)).Exists():
			add(op.Target)
		}
	}
	return all
}
