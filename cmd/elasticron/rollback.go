package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/operate"
)

func newRollback(p *program) *cobra.Command {
	operation := ""
	cmd := &cobra.Command{
		Use:   "rollback JOB --to OPERATION",
		Short: "Store the settings as they were before an operation",
		Long: `Rollback stores the settings as they were before an operation that changed them, and leaves the
job disabled or enabled as it is. elasticron audit lists the operations. It asks, unless --yes is
given.`,
		Example: `  elasticron edit orders --set cron='0 0/3 * * * ?' --id CHANGE1 --yes
  elasticron rollback orders --to CHANGE1 --yes`,
		Args: cobra.ExactArgs(1),
	}
	v := newVerb(p, cmd, func(v *verb, args []string) error {
		if operation == "" {
			return misuse("--to is missing: want the id of an operation, as elasticron audit lists it")
		}
		if err := v.opensRollback(v.ctx, bare("job", args[0]), operation); err != nil {
			return err
		}
		return v.one(func(ctx context.Context, opts operate.Options) (operate.Result, error) {
			return v.op.RollBack(ctx, bare("job", args[0]), operation, opts)
		})
	})
	v.asks = true
	secretsFlag(cmd.Flags(), &v.secrets)
	cmd.Flags().StringVar(&operation, "to", "", "id of the operation (required)")
	return cmd
}
