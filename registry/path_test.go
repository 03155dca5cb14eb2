package registry_test

import (
	"path"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func TestCheckPath(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		rule string // a part of the error; empty if the path is well-formed
	}{
		{"/a", ""},
		{"/orders/sharding/0/instance", ""},
		{"/10.0.0.1@-@4711-x7", ""},
		{"/作业/ä b=c", ""},
		{"/...", ""},
		{"/.hidden", ""},
		{"/a..b", ""},
		{"", "must start with a slash"},
		{"a/b", "must start with a slash"},
		{"/", "the root of the namespace"},
		{"/a/", "must not end with a slash"},
		{"//", "must not end with a slash"},
		{"//a", "empty segment"},
		{"/a//b", "empty segment"},
		{"/.", "segment . or .."},
		{"/a/./b", "segment . or .."},
		{"/a/..", "segment . or .."},
		{"/a\x00", "control characters"},
		{"/a\nb", "control characters"},
		{"/a\u0085", "control characters"},
		{"/\xff", "valid UTF-8"},
	}
	for _, tt := range tests {
		err := registry.CheckPath(tt.path)
		if tt.rule == "" {
			require.NoError(t, err, "%q", tt.path)
			continue
		}
		require.ErrorIs(t, err, registry.ErrInvalid, "%q", tt.path)
		require.ErrorContains(t, err, tt.rule)
	}
}

// FuzzCheckPath requires of what is accepted what backends rely on: a path is its own cleaned form,
// and one key of the store.
func FuzzCheckPath(f *testing.F) {
	for _, seed := range []string{"/a/b", "/", "/a/", "/../a", "/a//b", "/\xff", "/a\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if registry.CheckPath(p) != nil {
			return
		}
		require.Equal(t, p, path.Clean(p))
		require.True(t, path.IsAbs(p) && p != registry.Root)
		require.True(t, utf8.ValidString(p))
		require.NotContains(t, strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return '!'
			}
			return 'x'
		}, p), "!")
		require.True(t, registry.Within(p, registry.Root))
		require.True(t, registry.Within(p, p))
		require.True(t, registry.Within(p+"/below", p))
		require.False(t, registry.Within(p+"0", p))
		require.False(t, registry.Within(p, p+"/below"))
	})
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path, root string
		want       bool
	}{
		{"/a/1", "/a/1", true},
		{"/a/1/x", "/a/1", true},
		{"/a/1/x/y", "/a", true},
		{"/a/10", "/a/1", false},
		{"/a/1-", "/a/1", false},
		{"/a", "/a/1", false},
		{"/b", "/a", false},
		{"/a", "/", true},
		{"/", "/", true},
	} {
		require.Equal(t, tt.want, registry.Within(tt.path, tt.root), "%s within %s", tt.path, tt.root)
	}
}
