package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/seed"
)

// fileFlag gives a command the flag --filename, which must be given.
func fileFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "filename", "f", "", "file of the jobs, .yaml or .properties; - is YAML from standard input (required)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if *name == "" {
			return misuse("--filename is missing: want the file of the jobs")
		}
		return nil
	}
}

// readJobs reads a file of jobs, or standard input.
func readJobs(name string, in io.Reader) (seed.File, error) {
	if name != "-" {
		return seed.ReadFile(name)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return seed.File{}, err
	}
	file, err := seed.ParseYAML(text)
	if err != nil {
		return seed.File{}, fmt.Errorf("standard input: %w", err)
	}
	return file, nil
}
