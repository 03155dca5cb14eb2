package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

// Every command line of elasticron that a page shows in a block is one that the commands take, and every one within a
// line names a command and flags that exist.
func TestCommandLinesOfPages(t *testing.T) {
	t.Parallel()
	lines, mentions := 0, 0
	for name, page := range pagesToRead(t) {
		for _, b := range page.Blocks {
			if b.Language != "sh" && b.Language != "console" {
				continue
			}
			for _, line := range b.CommandLines() {
				if words := ofElasticron(t, line.Text); words != nil {
					lines++
					require.NoError(t, takes(words), "%s:%d: %s", name, line.Line, line.Text)
				}
			}
		}
		for _, s := range page.Spans {
			if strings.HasPrefix(s.Text, "elasticron ") {
				mentions++
				require.NoError(t, knows(strings.Fields(s.Text)[1:]), "%s:%d: %s", name, s.Line, s.Text)
			}
		}
	}
	require.Greater(t, lines, 20)
	require.Greater(t, mentions, 40)
}

// pagesToRead returns the README and the pages of docs, but for the reference, which is made from the commands.
func pagesToRead(t *testing.T) map[string]markdown.Page {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	all := make(map[string]markdown.Page)
	for _, file := range append(files, "../../README.md") {
		if filepath.Base(file) == "cli.md" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all[filepath.Base(file)] = markdown.Parse(text)
	}
	return all
}

// ofElasticron returns the words behind the program's name; nil if the line is of another program.
func ofElasticron(t *testing.T, line string) []string {
	t.Helper()
	parser := shellwords.NewParser()
	parser.ParseComment = true
	words, err := parser.Parse(line) // up to a pipe or a file
	require.NoError(t, err, line)
	switch {
	case len(words) > 0 && words[0] == "elasticron":
		return words[1:]
	case len(words) > 2 && strings.Join(words[:3], " ") == "go run ./cmd/elasticron":
		return words[3:]
	}
	return nil
}

// takes tells whether a command line is one that is carried out: command, flags and arguments.
func takes(words []string) error {
	c, args, err := find(words)
	if err != nil {
		return err
	}
	if !c.Runnable() {
		return fmt.Errorf("%s does nothing by itself", c.CommandPath())
	}
	if err := c.ValidateArgs(args); err != nil {
		return err
	}
	return c.ValidateRequiredFlags()
}

// knows is takes for what is named within a line: with less than it needs, with <something> for a value, and with dots
// for what was said before.
func knows(words []string) error {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "..." || word == "…" })
	for i, word := range words {
		if strings.Contains(word, "<") {
			words[i] = "something"
		}
	}
	if flag, ok := strings.CutPrefix(words[0], "--"); ok { // one that is common to all commands that need a cluster
		c, _, err := find([]string{"get", "jobs"})
		if err == nil && c.Flags().Lookup(flag) == nil {
			err = fmt.Errorf("%s has no flag %s", c.CommandPath(), words[0])
		}
		return err
	}
	_, _, err := find(words)
	return err
}

// find returns the command that a line is about, and its arguments, once its flags are read.
func find(words []string) (*cobra.Command, []string, error) {
	c, rest, err := newRoot(newProgram()).Find(words)
	if err != nil {
		return nil, nil, err
	}
	c.InitDefaultHelpFlag()
	if err := c.ParseFlags(rest); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.CommandPath(), err)
	}
	return c, c.Flags().Args(), nil
}

func TestWhatIsNoCommandLine(t *testing.T) {
	t.Parallel()
	for line, fault := range map[string]string{
		"elasticron get jobs --match 'a-*'":           "",
		"elasticron export > jobs.yaml":               "",
		"elasticron demo   # three processes":         "",
		"go run ./cmd/elasticron demo --rounds 3":     "",
		"elasticron dance":                            "unknown command",
		"elasticron get jobs --fast":                  "unknown flag: --fast",
		"elasticron get jobs orders mail":             "accepts at most 1 arg",
		"elasticron cron":                             "requires at least 1 arg",
		"elasticron trigger orders --wait --items 'x": "invalid command line string",
	} {
		parser := shellwords.NewParser()
		if _, err := parser.Parse(line); err != nil {
			require.ErrorContains(t, err, fault)
			continue
		}
		err := takes(ofElasticron(t, line))
		if fault == "" {
			require.NoError(t, err, line)
		} else {
			require.ErrorContains(t, err, fault, line)
		}
	}
	require.NoError(t, knows([]string{"migrate", "...", "--job", "<job>", "--apply"}))
	require.Error(t, knows([]string{"migrate", "...", "--nonsense"}))
	require.NoError(t, knows([]string{"--server"}))
	require.Error(t, knows([]string{"--nonsense"}))
}
