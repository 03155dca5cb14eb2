package docs_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/internal/docs/markdown"
	"github.com/elasticron/elasticron/seed"
	"github.com/elasticron/elasticron/worker"
)

// Every block of YAML is what its members say that it is: a file of jobs, a file of a worker, or one of users, values of the
// chart, a part of Prometheus' own file, or objects of Kubernetes, of which only the form is checked.
func TestYAMLBlocks(t *testing.T) {
	t.Parallel()
	kinds := make(map[string]int)
	blocks(t, func(page string, b markdown.Block) {
		kind, err := readYAML(b.Text)
		require.NoError(t, err, "%s: the %s", page, b)
		kinds[kind]++
	}, "yaml", "yml")
	require.Greater(t, kinds["jobs"], 2, "%v", kinds)
	require.NotZero(t, kinds["worker"], "%v", kinds)
}

// readYAML tells what kind of file a text is, and what is wrong with it.
func readYAML(text string) (kind string, err error) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document map[string]any
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return kind, nil
		} else if err != nil {
			return "", err
		}
		if kind, err = readDocument(text, document); err != nil {
			return kind, err
		}
	}
}

func readDocument(text string, document map[string]any) (kind string, err error) {
	switch {
	case document["apiVersion"] != nil && document["kind"] != nil:
		return "kubernetes", nil
	case document["users"] != nil:
		return "users", nil
	case document["image"] != nil:
		return "values", nil
	case document["metric_relabel_configs"] != nil:
		return "prometheus", nil
	case document["registry"] != nil:
		_, err := worker.Parse([]byte(text))
		return "worker", err
	case hasConfig(document):
		_, err := seed.ParseYAML([]byte(text))
		return "jobs", err
	}
	return "", fmt.Errorf("it is of no kind that this test knows: it has %v", document)
}

// hasConfig tells whether one member at least has a config, as a job does.
func hasConfig(document map[string]any) bool {
	for _, member := range document {
		if job, ok := member.(map[string]any); ok && job["config"] != nil {
			return true
		}
	}
	return false
}

func TestReadYAML(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, kind, fault string }{
		{"orders: {config: {cron: '@daily', shardingTotalCount: 2}}", "jobs", ""},
		{"orders: {config: {cron: '@daily', shardingTotal: 2}}", "jobs", "shardingTotal"},
		{"registry: {etcd: [http://e1:2379], namespace: shop}\nscript: {commands: ['*']}", "worker", ""},
		{"registry: {etcd: [http://e1:2379], namespace: shop}\nscripts: {}", "worker", "scripts"},
		{"apiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Secret", "kubernetes", ""},
		{"image: {tag: v1}\nregistry: {}", "values", ""},
		{"metric_relabel_configs: [{action: labeldrop, regex: x}]", "prometheus", ""},
		{"apiVersion: v1", "", "of no kind"},
		{"a: [", "", "did not find"},
	}
	for _, tt := range tests {
		kind, err := readYAML(tt.text)
		require.Equal(t, tt.kind, kind, tt.text)
		if tt.fault == "" {
			require.NoError(t, err, tt.text)
		} else {
			require.ErrorContains(t, err, tt.fault, tt.text)
		}
	}
}
