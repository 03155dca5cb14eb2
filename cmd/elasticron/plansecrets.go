package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// secretsFlag lets a command show what may be secret to whoever may read it. A registry shows it to everybody who reads the
// registry, and a server to who may administer the job.
func secretsFlag(flags *pflag.FlagSet, secrets *bool) {
	flags.BoolVar(secrets, "secrets", false, "show also what may be secret: parameters, command lines, and settings with names such as password")
}

// opens has plans for a job show secrets, if they are asked for: before and after are the texts of its settings. Those of
// ElasticJob 3.x, and what cannot be read, stay hidden.
func (v *verb) opens(job, before, after string) {
	if !v.secrets || jobtree.LayoutOfConfig(before) == jobtree.ElasticJob3 || jobtree.LayoutOfConfig(after) == jobtree.ElasticJob3 {
		return
	}
	was, err := jobtree.DecodeConfig(registry.Node{Value: before})
	is, err2 := jobtree.DecodeConfig(registry.Node{Value: after})
	if err != nil || err2 != nil {
		return
	}
	if v.opened == nil {
		v.opened = make(map[string][]jobtree.ChangedMember)
	}
	v.opened[job] = jobtree.ChangedMembersWithSecrets(was, is)
}

// shownPlan is a plan as it is shown; for the operator it stays as it is.
func (v *verb) shownPlan(p operate.Plan) operate.Plan {
	changes := slices.Clone(p.Changes)
	for i, c := range changes {
		for _, m := range v.opened[p.Job] {
			if m.Name == c.What {
				changes[i].Before, changes[i].After = jobtree.Legible(m.Before), jobtree.Legible(m.After)
			}
		}
	}
	p.Changes = changes
	return p
}

// shownResult is what was done to one of several jobs, as it is shown.
func (v *verb) shownResult(r operate.JobResult) operate.JobResult {
	r.Result.Plan = v.shownPlan(r.Result.Plan)
	return r
}

// opensRollback is opens for what a rollback to an operation stores.
func (v *verb) opensRollback(ctx context.Context, job, operation string) error {
	if !v.secrets {
		return nil
	}
	tree := jobtree.For(job)
	is, err := stored(v.at).Get(ctx, tree.Config())
	if err != nil {
		return ignoreMissing(err)
	}
	node, err := stored(v.at).Get(ctx, tree.Operated())
	if err != nil {
		return ignoreMissing(err)
	}
	operated, err := jobtree.DecodeOperated(node)
	if err != nil {
		return nil //nolint:nilerr // the operation says so
	}
	if op, found := operated.Find(operation); found {
		v.opens(job, is.Value, op.Before)
	}
	return nil
}

// ignoreMissing is nil for what is not there, of which the operation tells.
func ignoreMissing(err error) error {
	if errors.Is(err, registry.ErrNotFound) {
		return nil
	}
	return err
}
