package test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// mayBeNull are values with a default that null takes away; without them, Kubernetes has a default.
var mayBeNull = []string{"server.replicas", "worker.replicas"}

// Helm takes null for a value that is not there. One that the chart needs is refused, and no other is made up in its place.
func TestValuesThatAreNull(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../chart/values.yaml")
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, yaml.Unmarshal(text, &values))
	asked := 0
	var ask func(at []string, values map[string]any)
	ask = func(at []string, values map[string]any) {
		for name, value := range values {
			path := append(slices.Clone(at), name)
			dotted := strings.Join(path, ".")
			documents, err := template(withNull(t, everything, path))
			asked++
			switch {
			case slices.Contains(mayBeNull, dotted) || len(path) == 4: // resources, which are Kubernetes' matter
			case isNothing(value):
				if err != nil {
					require.ErrorContains(t, err, name, dotted) // what belongs to others that are there
					require.NotContains(t, err.Error(), "nil pointer", dotted)
				}
			case !strings.Contains(dotted, "resources."):
				require.ErrorContains(t, err, "missing property '"+name+"'", dotted)
			}
			if err == nil {
				for _, document := range documents {
					require.NoError(t, new(rendered).decode(document), dotted)
					require.NotContains(t, document, "<nil>", dotted)
				}
			}
			if below, is := value.(map[string]any); is {
				ask(path, below)
			}
		}
	}
	ask(nil, values)
	require.Greater(t, asked, 80)
}

// isNothing tells whether a value is the same as none.
func isNothing(value any) bool {
	switch v := value.(type) {
	case string:
		return v == ""
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return value == nil
	}
}

// withNull sets one value to null.
func withNull(t *testing.T, values string, path []string) string {
	t.Helper()
	var all map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(values), &all))
	at := all
	for _, name := range path[:len(path)-1] {
		below, is := at[name].(map[string]any)
		if !is {
			below = make(map[string]any)
			at[name] = below
		}
		at = below
	}
	at[path[len(path)-1]] = nil
	text, err := yaml.Marshal(all)
	require.NoError(t, err)
	return string(text)
}

// Whoever has an autoscaler leaves the number of replicas to it.
func TestReplicasAreLeftToAnAutoscaler(t *testing.T) {
	t.Parallel()
	r := render(t, withNull(t, withNull(t, everything, []string{"server", "replicas"}), []string{"worker", "replicas"}))
	for name, d := range r.deployments {
		require.Nil(t, d.Spec.Replicas, name)
	}
}
