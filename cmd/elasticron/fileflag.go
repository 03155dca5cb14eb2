package main

import "github.com/spf13/cobra"

// fileFlag gives a command the flag --filename, which must be given.
func fileFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "filename", "f", "", "file of the jobs (required)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *name == "" {
			return misuse("--filename is missing: want the file of the jobs")
		}
		return nil
	}
}
