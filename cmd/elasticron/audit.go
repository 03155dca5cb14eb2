package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func (g *getting) audit(ctx context.Context, out io.Writer, at place) error {
	nodes, revision, err := at.List(ctx, registry.Root)
	if err != nil {
		return err
	}
	ns := operate.NewNamespace(nodes, revision, g.program.now(), operate.MayHoldJava(at))
	rows := g.rows(ns)
	outside := slices.DeleteFunc(operate.Outside(registry.NewSnapshot(revision, nodes)), func(c operate.OutsideChange) bool { return !g.want.ofJob(c.Job) })
	unreadable, why := ns.UnreadableOperations()
	unreadable = slices.DeleteFunc(unreadable, func(job string) bool { return !g.want.ofJob(job) })
	if g.output == formatJSON || g.output == formatYAML {
		operations := make([]any, 0, len(rows))
		for _, r := range rows {
			operations = append(operations, r.value)
		}
		return g.output.write(out, struct {
			Operations []any                   `json:"operations"`
			Outside    []operate.OutsideChange `json:"outside,omitempty"`
			Unreadable []string                `json:"unreadable,omitempty"` // jobs
		}{operations, outside, unreadable})
	}
	text := g.table(rows, false)
	for _, c := range outside {
		text += fmt.Sprintf("! %s\n", printable(c.String()))
	}
	for _, job := range unreadable {
		text += printable(fmt.Sprintf("! what was done to %q cannot be read: %s", job, why[job])) + "\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

// backfill runs a job for fires, and says how to go on with what is left.
func (v *verb) backfill(job string, fires []time.Time, t operate.Trigger) error {
	if v.opts.DryRun {
		result, err := v.op.Backfill(v.ctx, job, fires, t, v.opts)
		if err != nil {
			return err
		}
		if v.output != formatTable {
			return v.output.write(v.out, result)
		}
		for _, fire := range fires {
			if _, err := fmt.Fprintln(v.out, instant(fire)); err != nil {
				return err
			}
		}
		_, err = fmt.Fprintf(v.out, "%d fires. Nothing was done: this is what would be done without --dry-run.\n", len(fires))
		return err
	}
	if !v.yes {
		if err := v.ask(fmt.Sprintf("backfill %d fires of job %q\n", len(fires), job)); err != nil {
			return err
		}
	}
	result, err := v.op.Backfill(v.ctx, job, fires, t, v.opts)
	if v.output != formatTable {
		if shown := v.output.write(v.out, result); shown != nil {
			return shown
		}
	} else if _, shown := fmt.Fprintf(v.out, "%d of %d fires have run.\n", len(fires)-len(result.Left), len(fires)); shown != nil {
		return shown
	}
	if err != nil && len(result.Left) > 0 && result.ID != "" {
		return fmt.Errorf("%w; go on with the same command and --id %s", err, result.ID)
	}
	return err
}
