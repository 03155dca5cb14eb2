package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
)

func TestParseInstanceID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]jobtree.InstanceID{
		"10.0.0.1@-@27661":      {IP: "10.0.0.1", Process: "27661"},
		"10.0.0.9@-@go-1":       {IP: "10.0.0.9", Process: "go-1"},
		"fe80::1@-@7-c0ffee":    {IP: "fe80::1", Process: "7-c0ffee"},
		"null@-@7":              {IP: "null", Process: "7"},
		"10.0.0.1@-@a@b-c@--@d": {IP: "10.0.0.1", Process: "a@b-c@--@d"},
	} {
		got, err := jobtree.ParseInstanceID(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, text, got.String())
	}
}

func TestParseInstanceIDRefuses(t *testing.T) {
	t.Parallel()
	for text, rule := range map[string]string{
		"":                 "must be of the form",
		"10.0.0.1":         "must be of the form",
		"@-@7":             "must be of the form",
		"10.0.0.1@-@":      "must be of the form",
		"10.0.0.1@-@7@-@8": "only once",
		"10.0.0.1@-@-@7":   "only once",
		"10.0.0.1@-@7/8":   `neither "/" nor control`,
		"10.0.0.1@-@7\n":   `neither "/" nor control`,
		"10.0.0.1@-@\xff":  "valid UTF-8",
	} {
		_, err := jobtree.ParseInstanceID(text)
		require.ErrorContains(t, err, rule, text)
	}
}

func TestServerOf(t *testing.T) {
	t.Parallel()
	require.Equal(t, "10.0.0.1", jobtree.ServerOf("10.0.0.1@-@7"))
	require.Equal(t, "10.0.0.12", jobtree.ServerOf("10.0.0.12@-@7"))
	require.Equal(t, "odd", jobtree.ServerOf("odd"))
	require.Empty(t, jobtree.ServerOf(""))
}

func TestInstanceIDsThatAreAcceptedAreNodeNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a1./@-]{0,12}`).Draw(t, "id")
		id, err := jobtree.ParseInstanceID(text)
		if err != nil {
			return
		}
		require.Equal(t, text, id.String())
		name, ok := jobtree.Parse(jobtree.For("orders").Instance(text))
		require.True(t, ok)
		require.Equal(t, text, name.Key)
	})
}

func FuzzParseInstanceID(f *testing.F) {
	f.Add("10.0.0.1@-@27661")
	f.Add("a@-@-@b")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := jobtree.ParseInstanceID(text); err == nil {
			require.Equal(t, text, id.String())
			require.Equal(t, id.IP, jobtree.ServerOf(text))
		}
	})
}
