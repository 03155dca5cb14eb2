package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Settings are an object in the order of their names, escaped as Gson does it.
func TestPropsAreStoredInTheOrderOfTheirNames(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Class: "orders", Cron: "@daily", ShardingTotalCount: 1}
	for _, empty := range []map[string]string{nil, {}} {
		c.Props = empty
		text, err := jobtree.EncodeConfig(c)
		require.NoError(t, err)
		require.NotContains(t, text, "props")
	}
	c.Props = map[string]string{"b": "2", "a": "=", "ü": "<\u2028>", "": "env:A"}
	text, err := jobtree.EncodeConfig(c)
	require.NoError(t, err)
	require.Contains(t, text, `"props":{"":"env:A","a":"\u003d","b":"2","ü":"\u003c\u2028\u003e"}`, "a reference is stored, not what it stands for")
	got, err := jobtree.DecodeConfig(configNode(text))
	require.NoError(t, err)
	require.Equal(t, c.Props, got.Props)
}

func TestPropsAreReadWhateverTheirFormIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]map[string]string{
		`{}`:                         nil,
		`{ }`:                        nil,
		`{"b":"1","a":null,"b":"2"}`: {"a": "", "b": "2"},
		`{"a":"env:A"}`:              {"a": "env:A"},
	} {
		got, err := jobtree.DecodeConfig(configNode(minimal(`,"props":` + text)))
		require.NoError(t, err)
		require.Equal(t, want, got.Props, text)
	}
}

// What is wrong with a stored setting is named as it is stored, without what may be secret.
func TestFaultsOfStoredProps(t *testing.T) {
	t.Parallel()
	c := job.Config{Name: "orders", Cron: "@daily", ShardingTotalCount: 1}
	c.Props = map[string]string{"http.data": "env: swordfish", "email.subject": "file:a"}
	warnings, faulty := jobtree.CheckConfig("orders", c)
	require.NoError(t, faulty)
	require.ErrorContains(t, warnings, `/orders/config: props.email.subject is "file:a", must be "env:" and the name of an environment variable`)
	require.ErrorContains(t, warnings, `/orders/config: props.http.data is "***", must be "env:"`)
	require.NotContains(t, warnings.Error(), "swordfish")
}
