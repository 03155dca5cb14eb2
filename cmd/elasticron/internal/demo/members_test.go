package demo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func TestAssignmentAndMoves(t *testing.T) {
	t.Parallel()
	name := func(id string) string { return map[string]string{"id1": "w1", "id2": "w2", "id3": "w3"}[id] }
	before := picture{
		leader:    "id2",
		instances: map[string]registry.Revision{"id1": 9, "id2": 4},
		owners:    []string{"id2", "id1", "id2", "id1", ""},
	}
	require.Equal(t, "w2* 0 2 | w1 1 3", assignment(before, name), "who joined first stands first")

	after := picture{
		leader:    "id1",
		instances: map[string]registry.Revision{"id1": 9, "id3": 20, "id4": 20},
		owners:    []string{"id3", "id1", "id1", "id3", "id3", "id1"},
	}
	require.Equal(t, "w1* 1 2 5 | w3 0 3 4 |  -", assignment(after, name))
	require.Equal(t, "item 0 from w2 to w3; item 2 from w2 to w1; item 3 from w1 to w3", moves(before, after, name),
		"items that nobody held have not moved")
	require.Empty(t, moves(before, before, name))
	require.Empty(t, moves(picture{}, after, name))
}

func TestPictureTellsWhoCameAndWent(t *testing.T) {
	t.Parallel()
	before := picture{instances: map[string]registry.Revision{"a": 1, "b": 2, "c": 3}}
	after := picture{instances: map[string]registry.Revision{"b": 2, "c": 7, "d": 8}}
	require.Equal(t, []string{"a", "c"}, after.lost(before), "c has joined anew")
	require.Equal(t, []string{"c", "d"}, after.joined(before))
	require.Empty(t, after.lost(after))
}

func TestPictureIsComplete(t *testing.T) {
	t.Parallel()
	p := shared("a", "b")
	require.True(t, p.complete([]string{"b", "a"}))
	require.False(t, p.complete([]string{"a"}), "b is still there")
	require.False(t, p.complete([]string{"a", "b", "c"}), "c is not there")
	require.False(t, picture{}.complete(nil), "an empty one says nothing")

	leaderless := shared("a", "b")
	leaderless.leader = ""
	require.False(t, leaderless.complete([]string{"a", "b"}))
	orphaned := shared("a", "b")
	orphaned.owners = append(orphaned.owners, "gone")
	require.False(t, orphaned.complete([]string{"a", "b"}))
	idle := shared("a", "b")
	idle.owners = []string{"a", "a"}
	require.False(t, idle.complete([]string{"a", "b"}), "b holds nothing")
}
