package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan is for those who package the program.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man FOLDER",
		Short:   "Write manual pages of all commands into a folder",
		Example: `  elasticron man man1`,
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			root.InitDefaultCompletionCmd()
			fixed := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) // the same pages however often they are made
			return doc.GenManTree(root, &doc.GenManHeader{Title: "ELASTICRON", Section: "1", Source: "Elasticron", Manual: "Elasticron", Date: &fixed}, args[0])
		},
	}
}
