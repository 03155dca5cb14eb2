package main

import (
	"context"
	"fmt"
	"io"
	"slices"

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
