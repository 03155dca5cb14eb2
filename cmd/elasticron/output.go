package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// format is how a command shows what it found.
type format string

// The formats.
const (
	formatTable format = ""
	formatWide  format = "wide"
	formatJSON  format = "json"
	formatYAML  format = "yaml"
	formatName  format = "name"
)

// outputFlag gives a command the flag -o, with those formats besides the default.
func outputFlag(flags *pflag.FlagSet, to *format, allowed ...format) {
	var names []string
	for _, f := range allowed {
		names = append(names, string(f))
	}
	flags.VarP(&choice{to, names}, "output", "o", "format: "+strings.Join(names, ", ")+" (default: text for people)")
}

// choice is a flag with few values.
type choice struct {
	to      *format
	allowed []string
}

func (c *choice) String() string {
	if c.to == nil {
		return ""
	}
	return string(*c.to)
}

func (c *choice) Type() string { return "format" }

func (c *choice) Set(text string) error {
	for _, a := range c.allowed {
		if a == text {
			*c.to = format(text)
			return nil
		}
	}
	return fmt.Errorf("want one of: %s", strings.Join(c.allowed, ", "))
}

// write shows a value as JSON or YAML.
func (f format) write(out io.Writer, value any) error {
	if f == formatYAML {
		text, err := yamlOf(value)
		if err != nil {
			return err
		}
		_, err = out.Write(text)
		return err
	}
	text := json.NewEncoder(out)
	text.SetEscapeHTML(false)
	text.SetIndent("", "  ")
	return text.Encode(value)
}

// yamlOf returns a value as YAML with the members, the names and the order that it has as JSON.
func yamlOf(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var document yaml.Node // JSON is YAML
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	inBlocks(&document)
	var out strings.Builder
	writer := yaml.NewEncoder(&out)
	writer.SetIndent(2)
	if err := writer.Encode(&document); err != nil {
		return nil, err
	}
	return []byte(out.String()), writer.Close()
}

// inBlocks takes the braces and quotes of JSON away, where YAML does without them.
func inBlocks(n *yaml.Node) {
	n.Style = 0
	for _, inner := range n.Content {
		inBlocks(inner)
	}
}
