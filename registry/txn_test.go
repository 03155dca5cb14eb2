package registry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// newSession returns a session for tests that only need one to name.
func newSession(t *testing.T) *registry.Session {
	t.Helper()
	s, control := backend.NewSession(1, time.Hour, backend.NewClock(), 0)
	t.Cleanup(func() { control.Lose(registry.ErrClosed) })
	return s
}

func TestTxnCheck(t *testing.T) {
	t.Parallel()
	put := registry.Put("/a", "")
	only := func(writes ...registry.Write) registry.Txn { return registry.Txn{Then: writes} }
	when := func(c registry.Condition) registry.Txn {
		return registry.Txn{If: []registry.Condition{c}, Then: []registry.Write{put}}
	}
	tests := []struct {
		name  string
		txn   registry.Txn
		fault string // a part of the error; empty if the transaction is well-formed
	}{
		{"a put", only(put), ""},
		{"every kind", only(put, registry.Overwrite("/f", ""), registry.PutOwned("/b", "", newSession(t)), registry.Update("/c", ""),
			registry.Delete("/d"), registry.DeleteTree("/e")), ""},
		{"a path in conditions and in a write", when(registry.Absent("/a")), ""},
		{"a tree beside a longer name", only(registry.DeleteTree("/job"), registry.Put("/job1", "")), ""},
		{"a node deleted above another", only(registry.Delete("/a"), registry.Put("/a/b", "")), ""},

		{"no write", registry.Txn{If: []registry.Condition{registry.Absent("/a")}}, "without a write"},
		{"written twice", only(put, registry.Delete("/a")), `"/a" is written twice`},
		{"below a deleted tree", only(registry.DeleteTree("/a"), registry.Put("/a/b", "")), `"/a/b" is written below "/a"`},
		{"above a tree deleted later", only(registry.Put("/a/b", ""), registry.DeleteTree("/a")), `"/a/b" is written below "/a"`},
		{"tree within tree", only(registry.DeleteTree("/a"), registry.DeleteTree("/a/b")), `"/a/b" is written below "/a"`},
		{"the root", only(registry.DeleteTree("/")), "root"},
		{"path of a write", only(registry.Put("a", "")), "must start with a slash"},
		{"value", only(registry.Put("/a", "\xff")), "not valid UTF-8"},
		{"no session", only(registry.PutOwned("/a", "", nil)), "names no session"},
		{"an update that asks nothing", only(registry.Write{Kind: registry.WriteUpdate, Unasked: true, Path: "/a"}), "cannot leave open who owns the node"},
		{"kind of a write", only(registry.Write{Path: "/a"}), "unknown kind"},
		{"path of a condition", when(registry.Present("/a/")), "must not end with a slash"},
		{"negative revision", when(registry.Unchanged("/a", -1)), "needs a revision above 0"},
		{"created at nothing", when(registry.CreatedAt("/a", 0)), "needs a revision above 0"},
		{"owned by nobody", when(registry.NotOwnedBy("/a", 0)), "names no session"},
		{"kind of a condition", when(registry.Condition{Path: "/a"}), "unknown kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.txn.Check()
			if tt.fault == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, registry.ErrInvalid)
			require.ErrorContains(t, err, tt.fault)
		})
	}
}

func TestWhatMayBeRepeated(t *testing.T) {
	t.Parallel()
	put, own := registry.Put("/a", ""), registry.PutOwned("/a", "", newSession(t))
	del, tree := registry.Delete("/a"), registry.DeleteTree("/a")
	for _, tt := range []struct {
		name      string
		condition registry.Condition
		write     registry.Write
		ends      bool
	}{
		{"changed", registry.Unchanged("/a", 7), put, true},
		{"updated", registry.Unchanged("/a", 7), registry.Update("/a", ""), true},
		{"deleted", registry.Unchanged("/a", 7), del, true},
		{"deleted with its tree", registry.Unchanged("/a/b", 7), tree, true},
		{"the node itself deleted", registry.CreatedAt("/a", 7), del, true},
		{"the node itself deleted with its tree", registry.CreatedAt("/a/b", 7), tree, true},
		{"the node itself only changed", registry.CreatedAt("/a", 7), put, false},
		{"another", registry.Unchanged("/b", 7), put, false},
		{"one below", registry.Unchanged("/a/b", 7), del, false},
		{"created", registry.Unchanged("/a", 0), put, false},
		{"owned", registry.Absent("/a"), own, false},
		{"present", registry.Present("/a"), del, false},
		{"of another session", registry.NotOwnedBy("/a", 1), own, false},
	} {
		txn := registry.Txn{If: []registry.Condition{registry.Present("/x"), tt.condition}, Then: []registry.Write{registry.Put("/y", ""), tt.write}}
		require.Equal(t, tt.ends, txn.EndsItself(), tt.name)
		require.Equal(t, tt.ends, txn.Repeatable(), tt.name)
		txn.Repeat = registry.RepeatHarmless
		require.True(t, txn.Repeatable(), tt.name)
		require.NoError(t, txn.Check(), tt.name)
	}
}

// A word that the transaction itself belies is refused.
func TestWordsAreChecked(t *testing.T) {
	t.Parallel()
	config := registry.Unchanged("/config", 7)
	create := []registry.Write{registry.Put("/a", "")}
	own := []registry.Write{registry.PutOwned("/a", "", newSession(t))}
	for _, tt := range []struct {
		word  registry.Repeat
		when  []registry.Condition
		then  []registry.Write
		fault string
	}{
		{registry.RepeatCreation, []registry.Condition{registry.Absent("/a"), config}, create, ""},
		{registry.RepeatCreation, []registry.Condition{config}, own, ""},
		{registry.RepeatCreation, []registry.Condition{registry.Unchanged("/a", 7)}, create, ""}, // ends itself
		{registry.RepeatCreation, []registry.Condition{config}, create, "wants absent"},
		{registry.RepeatCreation, []registry.Condition{registry.Absent("/b"), config}, create, "wants absent"},
		{registry.RepeatCreation, []registry.Condition{registry.Absent("/a"), registry.Present("/config")}, create, "condition on a revision"},
		{registry.RepeatOwned, nil, own, ""},
		{registry.RepeatOwned, []registry.Condition{config}, create, "in a session"},
		{registry.RepeatHarmless, nil, create, ""},
		{99, nil, create, "unknown word 99"},
	} {
		err := registry.Txn{If: tt.when, Then: tt.then, Repeat: tt.word}.Check()
		if tt.fault == "" {
			require.NoError(t, err, "%s: %v", tt.word, tt.when)
			continue
		}
		require.ErrorIs(t, err, registry.ErrInvalid, tt.word)
		require.ErrorContains(t, err, tt.fault, tt.word)
	}
}

func TestTxnGuards(t *testing.T) {
	t.Parallel()
	stated := make([]registry.Condition, 2, 10)
	stated[0], stated[1] = registry.Present("/config"), registry.Absent("/run")
	txn := registry.Txn{If: stated, Then: []registry.Write{
		registry.Put("/record", ""),
		registry.PutOwned("/run", "", newSession(t)),
		registry.PutOwned("/mark", "", newSession(t)),
		registry.Update("/state", ""),
		registry.Update("/config", ""),
		registry.Delete("/gone"),
	}}
	want := []registry.Condition{
		registry.Present("/config"), registry.Absent("/run"), registry.Absent("/mark"), registry.Present("/state"),
	}
	require.Equal(t, want, txn.Guards(), "stated ones first, implied ones once")
	require.Equal(t, make([]registry.Condition, 8), stated[2:10], "the caller's slice stays as it is")

	for _, c := range []registry.Condition{registry.Unchanged("/state", 7), registry.CreatedAt("/state", 7)} {
		txn = registry.Txn{If: []registry.Condition{c}, Then: []registry.Write{registry.Update("/state", "")}}
		require.Equal(t, txn.If, txn.Guards(), "what is unchanged is there")
	}
}

func TestWriteTouches(t *testing.T) {
	t.Parallel()
	require.True(t, registry.Put("/a/1", "").Touches("/a/1"))
	require.False(t, registry.Delete("/a/1").Touches("/a/1/x"))
	require.True(t, registry.DeleteTree("/a/1").Touches("/a/1"))
	require.True(t, registry.DeleteTree("/a/1").Touches("/a/1/x"))
	require.False(t, registry.DeleteTree("/a/1").Touches("/a/10"))
}
