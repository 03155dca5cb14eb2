package guarded_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func steps(kind string, n int) []guarded.Step {
	var all []guarded.Step
	for i := range n {
		path := fmt.Sprintf("/orders/%s/%d", kind, i)
		all = append(all, guarded.Step{Write: registry.Put(path, ""), Guard: registry.Absent(path)})
	}
	return all
}

func TestAllAtOnceOrLastTheLast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ first, last, commits int }{
		{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {58, 2, 1}, {59, 2, 2}, {60, 2, 2}, {61, 2, 3}, {150, 2, 4}, {150, 0, 3},
	} {
		server := memory.NewServer()
		reg := server.Open("test")
		_, err := guarded.NewWriter(reg).Commit(t.Context(), nil, steps("first", test.first), steps("last", test.last))
		require.NoError(t, err)
		nodes, revision, err := reg.List(t.Context(), "/orders")
		require.NoError(t, err)
		require.Len(t, nodes, test.first+test.last)
		commits := map[registry.Revision]bool{}
		for _, n := range nodes {
			commits[n.Revision] = true
			if test.last > 0 && registry.Within(n.Path, "/orders/last") {
				require.Equal(t, revision, n.Revision)
			}
		}
		require.Len(t, commits, test.commits)
		require.NoError(t, reg.Close(context.Background()))
	}
}

// What a registry does not take in one request is cut, the last ones still in a transaction of their own behind the others.
func TestWhatIsTooLargeIsCut(t *testing.T) {
	t.Parallel()
	long := func(kind string, n, bytes int) []guarded.Step {
		all := steps(kind, n)
		for i := range all {
			all[i].Write.Value = strings.Repeat("x", bytes)
		}
		return all
	}
	for name, test := range map[string]struct {
		first, last []guarded.Step
		commits     int // 0: it does not fit, and nothing is written
	}{
		"it fits":                         {long("first", 10, 100), long("last", 2, 100), 1},
		"not together with the last ones": {long("first", 10, 100), long("last", 1, 9_500), 2},
		"nor without them":                {long("first", 40, 900), long("last", 1, 8_000), 5},
		"there are no last ones":          {long("first", 40, 900), nil, 4},
		"more than fit by number":         {long("first", 100, 200), long("last", 2, 100), 4},
		"each alone":                      {long("first", 3, 7_000), long("last", 1, 7_000), 4},
		"one alone is too large":          {long("first", 1, 10_001), nil, 0},
		"the last ones are":               {long("first", 3, 10), long("last", 2, 6_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := memory.NewServer(memory.WithMaxBytes(10_000)).Open("test")
			defer reg.Close(context.Background()) //nolint:errcheck // nothing is left to be said
			again, err := guarded.NewWriter(reg).Commit(t.Context(), nil, test.first, test.last)
			require.False(t, again)
			nodes, revision, listErr := reg.List(t.Context(), "/orders")
			require.NoError(t, listErr)
			if test.commits == 0 {
				require.ErrorIs(t, err, registry.ErrTooLarge)
				require.Empty(t, nodes)
				return
			}
			require.NoError(t, err)
			require.Len(t, nodes, len(test.first)+len(test.last))
			commits := map[registry.Revision]bool{}
			for _, n := range nodes {
				commits[n.Revision] = true
				if registry.Within(n.Path, "/orders/last") {
					require.Equal(t, revision, n.Revision)
				}
			}
			require.Len(t, commits, test.commits)
		})
	}
}

func TestNothingBehindAConflict(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/first/70", "theirs")}})
	require.NoError(t, err)
	again, err := guarded.NewWriter(reg).Commit(t.Context(), nil, steps("first", 150), steps("last", 1))
	require.ErrorIs(t, err, registry.ErrConflict)
	require.False(t, again)
	nodes, _, err := reg.List(t.Context(), "/orders")
	require.NoError(t, err)
	require.Len(t, nodes, 61)
	require.NoError(t, reg.Close(context.Background()))
}

// What was created without an answer is not created once more: only what is lacking besides.
func TestNothingIsCreatedTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test")
		defer reg.Close(context.Background()) //nolint:errcheck // nothing is left to be said
		reg.HoldBack(1, time.Minute)
		w := guarded.NewWriter(reg)
		again, err := w.Commit(t.Context(), nil, steps("first", 2), nil)
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.True(t, again)
		_, err = w.Commit(t.Context(), nil, steps("other", 2), nil)
		require.NoError(t, err)
		again, err = w.Commit(t.Context(), nil, steps("other", 3)[2:], steps("first", 1))
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.False(t, again)
		nodes, _, err := reg.List(t.Context(), "/orders")
		require.NoError(t, err)
		require.Len(t, nodes, 2)
	})
}

// What every transaction needs keeps each of them from being done.
func TestWhatEachTransactionNeeds(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	_, err := guarded.NewWriter(reg, registry.Absent("/orders/config")).Commit(t.Context(), nil, steps("first", 150), nil)
	require.NoError(t, err)
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/config", "theirs")}})
	require.NoError(t, err)
	_, err = guarded.NewWriter(reg, registry.Absent("/orders/config")).Commit(t.Context(), nil, steps("later", 150), nil)
	require.ErrorIs(t, err, registry.ErrConflict)
	nodes, _, err := reg.List(t.Context(), "/orders/later")
	require.NoError(t, err)
	require.Empty(t, nodes)
	require.NoError(t, reg.Close(context.Background()))
}

// read returns what finds a node as it is now.
func read(t *testing.T, reg registry.Reader) func(path string) registry.Node {
	t.Helper()
	nodes, revision, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	return registry.NewSnapshot(revision, nodes).Get
}

// shop has a job "orders" that somebody operated once.
func shop(t *testing.T) *memory.Registry {
	t.Helper()
	reg := memory.NewServer().Open("test")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(orders.Config(), configOf(t, "old")), registry.Put(orders.Server("10.0.0.7"), ""),
		registry.Put(orders.Operated(), jobtree.EncodeOperated(jobtree.Operated{Unknown: `"later":1`}.With(jobtree.Operation{ID: "A", Verb: "reshard", Who: "bert"}))),
	}})
	require.NoError(t, err)
	return reg
}

var (
	orders = jobtree.For("orders")
	anna   = guarded.Author{Who: "anna", How: "test", Reason: "new table"}
)

func configOf(t *testing.T, secret string) string {
	t.Helper()
	text, err := jobtree.EncodeConfig(job.Config{
		Name: "orders", Cron: map[bool]string{true: "@daily", false: "@hourly"}[secret == "old"], ShardingTotalCount: 200, JobParameter: "of " + secret,
	})
	require.NoError(t, err)
	return text
}

// changes are steps that change what there is: the settings, a server, and so many items.
func changes(t *testing.T, found func(path string) registry.Node, items int) (first, last []guarded.Step) {
	t.Helper()
	step := func(w registry.Write) guarded.Step {
		return guarded.Step{Write: w, Guard: registry.Unchanged(w.Path, found(w.Path).Revision)}
	}
	first = append(first, step(registry.Put(orders.Server("10.0.0.7"), "DISABLED")))
	for n := range items {
		first = append(first, step(registry.Put(orders.ItemDisabled(n), "")))
	}
	return first, append(last, step(registry.Put(orders.Config(), configOf(t, "new"))))
}

// A change of a job is written down with each of the transactions that it takes, and once.
func TestAChangeIsWrittenDown(t *testing.T) {
	t.Parallel()
	for items, transactions := range map[int]int{1: 1, 150: 4} {
		reg := shop(t)
		found := read(t, reg)
		first, last := changes(t, found, items)
		note, err := guarded.NoteOf("orders", found, slices.Concat(first, last), "seed", anna)
		require.NoError(t, err)
		began := reg.Stats().Transactions
		_, err = guarded.NewWriter(reg).Commit(t.Context(), note, first, last)
		require.NoError(t, err)
		require.Equal(t, transactions, reg.Stats().Transactions-began)
		after := read(t, reg)
		operated, err := jobtree.DecodeOperated(after(orders.Operated()))
		require.NoError(t, err)
		require.Equal(t, `"later":1`, operated.Unknown)
		require.Len(t, operated.Operations, 2)
		op := operated.Operations[1]
		require.NotEmpty(t, op.ID)
		require.NotZero(t, op.When)
		require.Equal(t, []string{"seed", "anna", "test", "new table", configOf(t, "old")}, []string{op.Verb, op.Who, op.How, op.Reason, op.Before})
		require.True(t, strings.HasPrefix(op.Changed, "server 10.0.0.7 enabled -> disabled; item 0 enabled -> disabled"), op.Changed)
		require.Equal(t, after(orders.Config()).Revision, after(orders.Operated()).Revision, "in one transaction")
		require.LessOrEqual(t, after(orders.Server("10.0.0.7")).Revision, after(orders.Operated()).Revision)
	}
}

// Of a change in several parts that stops halfway, what was done is written down, and no more.
func TestWhatIsWrittenDownOfAPart(t *testing.T) {
	t.Parallel()
	reg := shop(t)
	found := read(t, reg)
	first, last := changes(t, found, 100)
	first[70].Guard = registry.Unchanged(first[70].Guard.Path, 999) // in the second part
	note, err := guarded.NoteOf("orders", found, slices.Concat(first, last), "seed", anna)
	require.NoError(t, err)
	_, err = guarded.NewWriter(reg).Commit(t.Context(), note, first, last)
	require.ErrorIs(t, err, registry.ErrConflict)
	after := read(t, reg)
	require.Equal(t, found(orders.Config()), after(orders.Config()), "the last part")
	require.True(t, after(orders.ItemDisabled(10)).Exists(), "the first part")
	operated, err := jobtree.DecodeOperated(after(orders.Operated()))
	require.NoError(t, err)
	require.Len(t, operated.Operations, 2)
	require.Empty(t, operated.Operations[1].Before, "the settings are as they were")
	require.NotContains(t, operated.Operations[1].Changed, "cron")
}

// A part that changes nothing that people decide is not written down.
func TestAPartOfNothing(t *testing.T) {
	t.Parallel()
	reg := shop(t)
	found := read(t, reg)
	_, last := changes(t, found, 0)
	same := found(orders.Config())
	tokens := guarded.Step{Write: registry.Put(orders.Tokens(), "{}"), Guard: registry.Absent(orders.Tokens())}
	first := slices.Repeat([]guarded.Step{tokens}, 1)
	for n := range guarded.MaxSteps {
		path := fmt.Sprintf("/orders/offset/%d", n)
		first = append(first, guarded.Step{Write: registry.Put(path, ""), Guard: registry.Absent(path)})
	}
	last[0].Guard = registry.Unchanged(same.Path, 999)
	note, err := guarded.NoteOf("orders", found, slices.Concat(first, last), "seed", anna)
	require.NoError(t, err)
	_, err = guarded.NewWriter(reg).Commit(t.Context(), note, first, last)
	require.ErrorIs(t, err, registry.ErrConflict)
	after := read(t, reg)
	require.True(t, after(orders.Tokens()).Exists())
	require.Equal(t, found(orders.Operated()), after(orders.Operated()))
}

// What is shown of a change to the settings holds no secrets; what is kept of them does, to go back to.
func TestWhatIsWrittenDownOfSettings(t *testing.T) {
	t.Parallel()
	reg := shop(t)
	found := read(t, reg)
	_, last := changes(t, found, 0)
	note, err := guarded.NoteOf("orders", found, last, "seed", guarded.Author{})
	require.NoError(t, err)
	_, err = guarded.NewWriter(reg).Commit(t.Context(), note, nil, last)
	require.NoError(t, err)
	operated, err := jobtree.DecodeOperated(read(t, reg)(orders.Operated()))
	require.NoError(t, err)
	op := operated.Operations[1]
	require.Contains(t, op.Changed, `cron "@daily" -> "@hourly"`)
	require.NotContains(t, op.Changed, "of old")
	require.Contains(t, op.Before, "of old")
}

// Somebody operates or removes the job after it was read: nothing is done and nothing is written down.
func TestAChangeThatIsOvertakenIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]registry.Write{
		"operated": registry.Put(orders.Operated(), "{}"), "removed": registry.DeleteTree("/orders"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := shop(t)
			if name == "removed" { // which nothing but the configuration tells then
				_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(orders.Operated()), registry.Delete(orders.Server("10.0.0.7"))}})
				require.NoError(t, err)
			}
			found := read(t, reg)
			first, _ := changes(t, found, 1)
			note, err := guarded.NoteOf("orders", found, first, "seed", anna)
			require.NoError(t, err)
			_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{meanwhile}})
			require.NoError(t, err)
			before, _, err := reg.List(t.Context(), registry.Root)
			require.NoError(t, err)
			_, err = guarded.NewWriter(reg).Commit(t.Context(), note, first, nil)
			require.ErrorIs(t, err, registry.ErrConflict)
			after, _, err := reg.List(t.Context(), registry.Root)
			require.NoError(t, err)
			require.Equal(t, before, after)
		})
	}
}

func TestWhatIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	reg := shop(t)
	found := read(t, reg)
	same := []guarded.Step{{Write: registry.Put(orders.Config(), found(orders.Config()).Value)}, {Write: registry.Put(orders.Tokens(), "{}")}}
	for name, steps := range map[string][]guarded.Step{"nothing": nil, "what stays as it is": same} {
		note, err := guarded.NoteOf("orders", found, steps, "seed", anna)
		require.NoError(t, err)
		require.Nil(t, note, name)
	}
	note, err := guarded.NoteOf("mail", found, steps("first", 1), "seed", anna)
	require.NoError(t, err)
	require.Nil(t, note, "a new job")

	first, last := changes(t, found, 0)
	for _, text := range []string{"}{", `{"format":9}`} {
		_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.Operated(), text)}})
		require.NoError(t, err)
		_, err = guarded.NoteOf("orders", read(t, reg), slices.Concat(first, last), "seed", anna)
		require.ErrorContains(t, err, "what was done to the job cannot be read")
	}
}

func TestAuthors(t *testing.T) {
	t.Parallel()
	require.NoError(t, anna.Check())
	for field, a := range map[string]guarded.Author{
		"Who": {Who: strings.Repeat("x", 201)}, "How": {How: "\xff"}, "Reason": {Reason: strings.Repeat("x", 1_001)},
	} {
		err := a.Check()
		require.ErrorIs(t, err, option.ErrInvalid)
		require.ErrorContains(t, err, field+" is ")
	}
}
