package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newReference writes docs/cli.md.
func newReference() *cobra.Command {
	return &cobra.Command{
		Use:     "reference",
		Short:   "Write the reference of all commands as Markdown",
		Example: `  elasticron reference > docs/cli.md`,
		Args:    cobra.NoArgs,
		Hidden:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text, err := reference(cmd.Root())
			if err != nil {
				return err
			}
			_, err = io.WriteString(cmd.OutOrStdout(), text)
			return err
		},
	}
}

// reference returns one page with every command that the help shows.
func reference(root *cobra.Command) (string, error) {
	root.DisableAutoGenTag = true
	text := "# The command line\n\n" +
		"This page is made from the help of the commands: `go run ./cmd/elasticron reference > docs/cli.md`.\n" +
		"[Operating jobs](operating.md#with-the-command-line) tells how to use them.\n"
	for _, c := range visible(root) {
		var page bytes.Buffer
		if err := doc.GenMarkdownCustom(c, &page, anchor); err != nil {
			return "", fmt.Errorf("%s: %w", c.CommandPath(), err)
		}
		text += "\n" + strings.TrimSpace(withoutNeighbours(page.String())) + "\n"
	}
	return text, nil
}

// visible returns a command and those below it, but for hidden ones and those that cobra adds.
func visible(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, below := range c.Commands() {
		if !below.Hidden && below.Name() != "completion" && below.Name() != "help" {
			all = append(all, visible(below)...)
		}
	}
	return all
}

// anchor turns the name of a page into a place on this one.
func anchor(page string) string {
	return "#" + strings.ReplaceAll(strings.TrimSuffix(page, ".md"), "_", "-")
}

// withoutNeighbours leaves out what links a page to those around it.
func withoutNeighbours(page string) string {
	page, _, _ = strings.Cut(page, "### SEE ALSO")
	return page
}
