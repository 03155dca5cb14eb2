package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const head = `# The HTTP API

This page is made from [openapi.yaml](../console/api/openapi.yaml), which ` + "`elasticron server`" + ` has at
` + "`/api/v1/openapi.yaml`" + `: ` + "`go run ./console/api/apipage > docs/api.md`" + `.
[The console](console.md#the-http-api) tells how to use it, and [who may do what](console.md#who-may-do-what).

`

// page returns the Markdown of the description.
func (d document) page() (string, error) {
	var text strings.Builder
	text.WriteString(head)
	text.WriteString(strings.TrimSpace(d.Info.Description) + "\n")
	for _, s := range d.Servers {
		fmt.Fprintf(&text, "\nAll paths are below `%s`.\n", s.URL)
	}
	text.WriteString("\n## Requests\n")
	for _, path := range d.Paths {
		for _, o := range path.value {
			fmt.Fprintf(&text, "\n### %s %s\n\n%s.\n", strings.ToUpper(o.name), path.name, o.value.Summary)
			if err := d.request(&text, o.value); err != nil {
				return "", fmt.Errorf("%s %s: %w", o.name, path.name, err)
			}
		}
	}
	text.WriteString("\n## Objects\n\nA member that is marked * is always there.\n")
	for _, s := range d.Components.Schemas {
		fmt.Fprintf(&text, "\n### %s\n\n%s", s.name, object(s.value))
	}
	return text.String(), nil
}

// request writes what goes with a request, and what comes back.
func (d document) request(text *strings.Builder, o operation) error {
	rows := ""
	for _, p := range o.Parameters {
		p, err := find(d.Components.Parameters, p.Ref, "parameters", p)
		if err != nil {
			return err
		}
		what := p.Description
		if what == "" {
			what = p.Schema.Description
		}
		rows += fmt.Sprintf("| `%s`%s | %s | %s | %s |\n", p.Name, star(p.Required), p.In, kind(p.Schema), cell(what))
	}
	if rows != "" {
		text.WriteString("\n| parameter | in | type | what it is |\n| --- | --- | --- | --- |\n" + rows)
	}
	text.WriteString("\n")
	if o.RequestBody != nil {
		for _, c := range o.RequestBody.Content {
			fmt.Fprintf(text, "- Body: %s, as `%s`\n", kind(c.value.Schema), c.name)
		}
	}
	for _, r := range o.Responses {
		response, err := find(d.Components.Responses, r.value.Ref, "responses", r.value)
		if err != nil {
			return err
		}
		if r.name == "default" {
			text.WriteString("- Otherwise: a [problem](#problem)\n")
			continue
		}
		fmt.Fprintf(text, "- %s: %s", r.name, cell(response.Description))
		for _, c := range response.Content {
			fmt.Fprintf(text, "; %s, as `%s`", kind(c.value.Schema), c.name)
		}
		text.WriteString("\n")
	}
	return nil
}

// object returns the members of an object, or what it is if it has none.
func object(s schema) string {
	if len(s.Properties) == 0 {
		return upper(kind(s)) + ".\n"
	}
	rows := "| member | type | what it is |\n| --- | --- | --- |\n"
	for _, p := range s.Properties {
		rows += fmt.Sprintf("| `%s`%s | %s | %s |\n", p.name, star(slices.Contains(s.Required, p.name)), kind(p.value), cell(p.value.Description))
	}
	return rows
}

// kind tells in words what values a schema allows.
func kind(s schema) string {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndex(s.Ref, "/")+1:]
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case len(s.OneOf)+len(s.AnyOf) > 0:
		var all []string
		for _, one := range slices.Concat(s.OneOf, s.AnyOf) {
			all = append(all, kind(one))
		}
		return strings.Join(all, " or ")
	case s.Items != nil:
		return "list of " + kind(*s.Items)
	case s.Additional.Kind != 0 && s.Additional.Value == "":
		var value schema
		if s.Additional.Decode(&value) == nil {
			return "object of " + kind(value)
		}
	}
	return simple(s)
}

// simple is kind for what is neither composed nor a reference.
func simple(s schema) string {
	text := s.Type
	switch s.Format {
	case "", "int64":
	case "date-time":
		text = "time (RFC 3339)"
	default:
		text += " (" + s.Format + ")"
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, word := range s.Enum {
			if word != "" { // which a parameter without a value is
				words = append(words, "`"+word+"`")
			}
		}
		text = strings.Join(words, ", ")
	}
	for _, bound := range []struct {
		words string
		value *int
	}{{"from", s.Minimum}, {"to", s.Maximum}, {"of at most", s.MaxLength}} {
		if bound.value != nil {
			text += " " + bound.words + " " + strconv.Itoa(*bound.value)
		}
	}
	if s.MaxLength != nil {
		text += " bytes"
	}
	if s.Default != nil && *s.Default != "" {
		text += "; default `" + *s.Default + "`"
	}
	return text
}

func star(required bool) string {
	if required {
		return " *"
	}
	return ""
}

// cell returns a text as it may stand in a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func upper(text string) string {
	if text == "" || text[0] == '[' {
		return text
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
