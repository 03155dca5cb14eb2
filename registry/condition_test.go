package registry_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func TestConditionHolds(t *testing.T) {
	t.Parallel()
	var absent registry.Node
	plain := registry.Node{Path: "/a", Created: 3, Revision: 5}
	owned := registry.Node{Path: "/a", Created: 3, Revision: 3, Session: 7}
	tests := []struct {
		condition            registry.Condition
		absent, plain, owned bool
	}{
		{registry.Absent("/a"), true, false, false},
		{registry.Present("/a"), false, true, true},
		{registry.Unchanged("/a", 0), true, false, false},
		{registry.Unchanged("/a", 3), false, false, true},
		{registry.Unchanged("/a", 5), false, true, false},
		{registry.CreatedAt("/a", 3), false, true, true},
		{registry.CreatedAt("/a", 5), false, false, false},
		{registry.NotOwnedBy("/a", 7), true, true, false},
		{registry.NotOwnedBy("/a", 8), true, true, true},
		{registry.Condition{Kind: 99, Path: "/a"}, false, false, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.absent, tt.condition.Holds(absent), "%s of an absent node", tt.condition)
		require.Equal(t, tt.plain, tt.condition.Holds(plain), "%s of %s", tt.condition, plain)
		require.Equal(t, tt.owned, tt.condition.Holds(owned), "%s of %s", tt.condition, owned)
	}
}

func TestConditionText(t *testing.T) {
	t.Parallel()
	for want, condition := range map[string]registry.Condition{
		"/a absent":                  registry.Absent("/a"),
		"/a present":                 registry.Present("/a"),
		"/a unchanged since 5":       registry.Unchanged("/a", 5),
		"/b absent":                  registry.Unchanged("/b", 0),
		"/a created at 3":            registry.CreatedAt("/a", 3),
		"/a not owned by session 1f": registry.NotOwnedBy("/a", 31),
		"/a condition 99":            {Kind: 99, Path: "/a"},
	} {
		require.Equal(t, want, condition.String())
	}
}
