package main

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what the page shows of an OpenAPI document. Everything keeps the order in which it stands there.
type document struct {
	Info struct {
		Description string `yaml:"description"`
	} `yaml:"info"`
	Servers []struct {
		URL string `yaml:"url"`
	} `yaml:"servers"`
	Paths      ordered[ordered[operation]] `yaml:"paths"`
	Components struct {
		Parameters ordered[parameter] `yaml:"parameters"`
		Responses  ordered[body]      `yaml:"responses"`
		Schemas    ordered[schema]    `yaml:"schemas"`
	} `yaml:"components"`
}

type operation struct {
	Summary     string        `yaml:"summary"`
	Parameters  []parameter   `yaml:"parameters"`
	RequestBody *body         `yaml:"requestBody"`
	Responses   ordered[body] `yaml:"responses"`
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string `yaml:"name"`
	In          string `yaml:"in"`
	Required    bool   `yaml:"required"`
	Description string `yaml:"description"`
	Schema      schema `yaml:"schema"`
}

// body is that of a request or of a response.
type body struct {
	Ref         string                           `yaml:"$ref"`
	Description string                           `yaml:"description"`
	Content     ordered[struct{ Schema schema }] `yaml:"content"`
}

type schema struct {
	Ref         string          `yaml:"$ref"`
	Type        string          `yaml:"type"`
	Format      string          `yaml:"format"`
	Description string          `yaml:"description"`
	Enum        []string        `yaml:"enum"`
	Default     *string         `yaml:"default"`
	Minimum     *int            `yaml:"minimum"`
	Maximum     *int            `yaml:"maximum"`
	MaxLength   *int            `yaml:"maxLength"`
	Items       *schema         `yaml:"items"`
	Required    []string        `yaml:"required"`
	Properties  ordered[schema] `yaml:"properties"`
	Additional  yaml.Node       `yaml:"additionalProperties"` // a flag, or a schema
	OneOf       []schema        `yaml:"oneOf"`
	AnyOf       []schema        `yaml:"anyOf"`
}

// ordered is a mapping that keeps its order.
type ordered[T any] []member[T]

type member[T any] struct {
	name  string
	value T
}

// UnmarshalYAML reads a mapping.
func (o *ordered[T]) UnmarshalYAML(n *yaml.Node) error {
	for i := 0; i+1 < len(n.Content); i += 2 {
		m := member[T]{name: n.Content[i].Value}
		if err := n.Content[i+1].Decode(&m.value); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

// find returns the member that a reference such as #/components/schemas/Job names; one without a reference is
// returned as it is.
func find[T any](among ordered[T], ref, kind string, itself T) (T, error) {
	if ref == "" {
		return itself, nil
	}
	name, ok := strings.CutPrefix(ref, "#/components/"+kind+"/")
	for _, m := range among {
		if ok && m.name == name {
			return m.value, nil
		}
	}
	return itself, fmt.Errorf("%s names nothing", ref)
}

func read(text []byte) (document, error) {
	var d document
	err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&d)
	return d, err
}
