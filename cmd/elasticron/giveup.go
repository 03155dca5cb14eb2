package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newGiveUp(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "give-up item/JOB/NUMBER",
		Short: "Do not run a lost execution again",
		Long: `Give-up ends the waiting of an item whose execution was lost: that is not run again, and the
item goes on with its next fire.`,
		Example: `  elasticron give-up item/lost/0 --reason 'was done by hand'`,
		Args:    cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		t, err := targetOf(args[0], "item")
		if err != nil {
			return err
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.GiveUp(ctx, t.name, t.item, opts)
		})
	})
	completes(cmd, v.conn, targetNames(listItems()))
	return cmd
}
