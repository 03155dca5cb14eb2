package seed_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/seed"
)

func shopFile(tb testing.TB) seed.File {
	tb.Helper()
	file, err := seed.ReadFile("testdata/shop.yaml")
	require.NoError(tb, err)
	return file
}

func put(tb testing.TB, reg registry.Committer, path, value string) {
	tb.Helper()
	_, err := reg.Commit(tb.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, value)}})
	require.NoError(tb, err)
}

func TestWhatExistsIsKept(t *testing.T) {
	t.Parallel()
	reg := open(t)
	put(t, reg, "/orders/config", "theirs")
	put(t, reg, "/orders/servers/10.0.0.7", "")
	put(t, reg, "/orders/servers/10.0.0.8", "DISABLED")
	put(t, reg, "/other/config", "theirs")
	before := nodes(t, reg)
	want := []seed.Node{
		{Path: "/cleanup/config", Action: seed.Created},
		{Path: "/orders/config", Action: seed.Kept},
		{Path: "/orders/servers/10.0.0.7", Action: seed.Kept},
		{Path: "/orders/sharding/3/disabled", Action: seed.Created},
	}
	got, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{DryRun: true})
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, before, nodes(t, reg))

	got, err = seed.Run(t.Context(), reg, shopFile(t), seed.Options{})
	require.NoError(t, err)
	require.Equal(t, want, got)
	op := written(t, reg, "orders")
	require.Equal(t, "item 3 enabled -> disabled", op.Changed)
	require.Equal(t, []string{"unknown", "seed", ""}, []string{op.Who, op.How, op.Before})
	after := shop(t)
	for path, value := range before {
		after[path] = value
	}
	require.Equal(t, after, nodes(t, reg))
}

// written returns the one operation of a job, and takes it away.
func written(tb testing.TB, reg *memory.Registry, name string) jobtree.Operation {
	tb.Helper()
	n, err := reg.Get(tb.Context(), jobtree.For(name).Operated())
	require.NoError(tb, err)
	operated, err := jobtree.DecodeOperated(n)
	require.NoError(tb, err)
	require.Len(tb, operated.Operations, 1)
	_, err = reg.Commit(tb.Context(), registry.Txn{Then: []registry.Write{registry.Delete(n.Path)}})
	require.NoError(tb, err)
	return operated.Operations[0]
}

func TestOverwriting(t *testing.T) {
	t.Parallel()
	reg := open(t)
	put(t, reg, "/orders/config", "theirs")
	put(t, reg, "/orders/servers/10.0.0.7", "")
	put(t, reg, "/orders/sharding/3/disabled", "")
	put(t, reg, "/orders/sharding/2/disabled", "")
	var heard []string
	got, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{
		Overwrite: true, Who: "anna", How: "deploy", Reason: "v7", Progress: func(done, of int) { heard = append(heard, fmt.Sprint(done, " of ", of)) },
	})
	require.NoError(t, err)
	require.Equal(t, []string{"1 of 2", "2 of 2"}, heard)
	require.Equal(t, []seed.Node{
		{Path: "/cleanup/config", Action: seed.Created},
		{Path: "/orders/config", Action: seed.Updated},
		{Path: "/orders/servers/10.0.0.7", Action: seed.Updated},
		{Path: "/orders/sharding/3/disabled", Action: seed.Unchanged},
	}, got)
	op := written(t, reg, "orders")
	require.Equal(t, []string{"seed", "anna", "deploy", "v7", "theirs"}, []string{op.Verb, op.Who, op.How, op.Reason, op.Before})
	require.Equal(t, "server 10.0.0.7 enabled -> disabled; the text of the configuration", op.Changed)
	after := shop(t)
	after["/orders/sharding/2/disabled"] = "" // the file does not mention it
	require.Equal(t, after, nodes(t, reg))
}

// A script whose type was forgotten would be stored without its command line. What is stored so, as Java's console may do it,
// is exported all the same.
func TestACommandLineWithoutItsType(t *testing.T) {
	t.Parallel()
	const want = `scriptCommandLine is "***", must not be there, as the jobType is SIMPLE: want the jobType SCRIPT`
	_, err := seed.ParseYAML([]byte("mail:\n  config: {scriptCommandLine: /opt/x.sh, cron: '@hourly', shardingTotalCount: 1}\n"))
	require.ErrorIs(t, err, seed.ErrInvalid)
	require.ErrorContains(t, err, want)
	const config = `{"jobName":"mail","jobClass":"mail","jobType":"SIMPLE","cron":"@hourly","shardingTotalCount":1,"scriptCommandLine":"/opt/x.sh"}`
	_, err = seed.ParseProperties([]byte("mail/config=" + config))
	require.ErrorIs(t, err, seed.ErrInvalid)
	require.ErrorContains(t, err, want)

	text, err := seed.Export([]registry.Node{{Path: "/mail/config", Value: config, Created: 1, Revision: 1}})
	require.NoError(t, err)
	file, err := seed.ParseYAML(text)
	require.NoError(t, err)
	for _, value := range file.Nodes() {
		require.Equal(t, config, value)
	}
}

// What takes the place of settings is judged as operations judge it, and a finished job may be stored again.
func TestWhatAFileMayNotReplace(t *testing.T) {
	t.Parallel()
	const others = "mail:\n  config: {cron: '@daily', shardingTotalCount: 1}\n"
	of := func(members string) seed.File {
		file, err := seed.ParseYAML([]byte(others + "orders:\n  config: {" + members + "}\n"))
		require.NoError(t, err)
		return file
	}
	for name, row := range map[string]struct{ members, says, forced string }{
		"class":       {"jobClass: other, cron: '@hourly', shardingTotalCount: 3", `jobClass is "other", must stay "orders"`, "must stay"},
		"fewer items": {"cron: '@hourly', shardingTotalCount: 1", "the total count goes from 3 to 1", ""},
		"over":        {"cron: '0 0 0 1 1 ? 2020', shardingTotalCount: 3", "never fires after", ""},
		"never fires": {"cron: '0 0 0 30 2 ?', shardingTotalCount: 3", "never fires after", "never fires after"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := open(t)
			_, err := seed.Run(t.Context(), reg, of("cron: '@hourly', shardingTotalCount: 3"), seed.Options{})
			require.NoError(t, err)
			put(t, reg, "/mail/config", "theirs")
			before, err := reg.Get(t.Context(), "/orders/config")
			require.NoError(t, err)
			for _, dry := range []bool{true, false} {
				done, err := seed.Run(t.Context(), reg, of(row.members), seed.Options{Overwrite: true, DryRun: dry})
				require.ErrorIs(t, err, seed.ErrRefused)
				require.ErrorContains(t, err, row.says)
				require.Equal(t, []seed.Node{{Path: "/mail/config", Action: seed.Updated}}, done, "the others are done")
			}
			after, err := reg.Get(t.Context(), "/orders/config")
			require.NoError(t, err)
			require.Equal(t, before, after)
			_, err = seed.Run(t.Context(), reg, of(row.members), seed.Options{Overwrite: true, Force: true})
			if row.forced == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, row.forced)
			}
		})
	}
	reg := open(t)
	_, err := seed.Run(t.Context(), reg, of("cron: '0 0 0 1 1 ? 2020', shardingTotalCount: 3"), seed.Options{})
	require.NoError(t, err)
	_, err = seed.Run(t.Context(), reg, of("cron: '0 0 0 1 1 ? 2020', shardingTotalCount: 3, description: done"), seed.Options{Overwrite: true})
	require.NoError(t, err)
	_, err = seed.Run(t.Context(), open(t), of("cron: '0 0 0 30 2 ?', shardingTotalCount: 3"), seed.Options{})
	require.ErrorIs(t, err, seed.ErrRefused)
}

// What an operator stopped stays so, and what runs goes on, whatever the file says.
func TestOverwritingKeepsAJobDisabled(t *testing.T) {
	t.Parallel()
	for _, stopped := range []bool{true, false} {
		reg := open(t)
		stored := func(disabled bool, parameter string) string {
			text, err := jobtree.EncodeConfig(job.Config{Name: "a", Cron: "0 0 * * * ?", ShardingTotalCount: 2, Disabled: disabled, JobParameter: parameter})
			require.NoError(t, err)
			return text
		}
		put(t, reg, "/a/config", stored(stopped, "old"))
		file, err := seed.ParseYAML(fmt.Appendf(nil, "a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2, jobParameter: new, disabled: %t}}", !stopped))
		require.NoError(t, err)
		got, err := seed.Run(t.Context(), reg, file, seed.Options{Overwrite: true})
		require.NoError(t, err)
		require.Equal(t, []seed.Node{{Path: "/a/config", Action: seed.Updated}}, got)
		require.Equal(t, stored(stopped, "old"), written(t, reg, "a").Before)
		require.Equal(t, map[string]string{"/a/config": stored(stopped, "new")}, nodes(t, reg))
		got, err = seed.Run(t.Context(), reg, file, seed.Options{Overwrite: true})
		require.NoError(t, err)
		require.Equal(t, []seed.Node{{Path: "/a/config", Action: seed.Kept}}, got, "nothing else differs")

		reg = open(t)
		_, err = seed.Run(t.Context(), reg, file, seed.Options{})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"/a/config": stored(!stopped, "new")}, nodes(t, reg), "a new job starts as the file says")
	}
}

func TestASecondTimeChangesNothing(t *testing.T) {
	t.Parallel()
	reg := open(t)
	_, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{})
	require.NoError(t, err)
	before, revision, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	got, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{Overwrite: true})
	require.NoError(t, err)
	for _, n := range got {
		require.Equal(t, seed.Unchanged, n.Action)
	}
	after, again, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.Equal(t, revision, again)
}

// The same settings in other words are no reason to write.
func TestAConfigIsComparedByWhatItMeans(t *testing.T) {
	t.Parallel()
	reg := open(t)
	put(t, reg, "/a/config", `{"shardingTotalCount":"2", "cron":"0 0 * * * ?","jobName":"a","jobClass":"a","jobType":"SIMPLE","misfire":true}`)
	file, err := seed.ParseYAML([]byte("a: {config: {cron: '0 0 * * * ?', shardingTotalCount: 2}}"))
	require.NoError(t, err)
	got, err := seed.Run(t.Context(), reg, file, seed.Options{Overwrite: true})
	require.NoError(t, err)
	require.Equal(t, []seed.Node{{Path: "/a/config", Action: seed.Unchanged}}, got)
}

// Several processes start with the same file: each node is created by one of them.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	var text strings.Builder
	text.WriteString("big:\n  config: {cron: '0 0 * * * ?', shardingTotalCount: 250}\n  sharding:\n")
	for n := range 250 {
		fmt.Fprintf(&text, "    %d: {disabled: ''}\n", n)
	}
	file, err := seed.ParseYAML([]byte(text.String()))
	require.NoError(t, err)
	var mu sync.Mutex
	created := map[string]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			reg := server.Open("shop")
			got, err := seed.Run(t.Context(), reg, file, seed.Options{})
			if err = errors.Join(err, reg.Close(context.Background())); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, n := range got {
				if n.Action == seed.Created {
					created[n.Path]++
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, created["/big/config"])
	reg := server.Open("shop")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	found, _, err := reg.List(t.Context(), "/big")
	require.NoError(t, err)
	require.Len(t, found, 251)
	for _, n := range found {
		require.Equal(t, n.Created, n.Revision, "written once")
		require.LessOrEqual(t, n.Created, found[0].Created, "the config comes last")
	}
}

// denied can be read, and not written.
type denied struct{ seed.Target }

func (denied) Commit(context.Context, registry.Txn) (registry.Revision, error) {
	return 0, registry.ErrDenied
}

func TestARegistryThatRefuses(t *testing.T) {
	t.Parallel()
	reg := open(t)
	_, err := seed.Run(t.Context(), denied{reg}, shopFile(t), seed.Options{})
	require.ErrorIs(t, err, registry.ErrDenied)
	require.ErrorContains(t, err, "seed job cleanup")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = seed.Run(ctx, reg, shopFile(t), seed.Options{})
	require.ErrorIs(t, err, registry.ErrUnavailable)
}

// interfering is a registry to which somebody else writes right before the first commit.
type interfering struct {
	*memory.Registry
	by func()
}

func (i *interfering) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if by := i.by; by != nil {
		i.by = nil
		by()
	}
	return i.Registry.Commit(ctx, txn)
}

// An operator who is faster is neither overwritten nor forgotten, whatever he did to the job.
func TestSomebodyOperatesTheJobMeanwhile(t *testing.T) {
	t.Parallel()
	reg := open(t)
	put(t, reg, "/orders/config", "theirs")
	target := &interfering{reg, func() { put(t, reg, "/orders/operated", `{"operations":[{"id":"A","verb":"reshard","who":"bert"}]}`) }}
	_, err := seed.Run(t.Context(), target, shopFile(t), seed.Options{Overwrite: true, Who: "anna"})
	require.NoError(t, err)
	operated, err := jobtree.DecodeOperated(registry.Node{Path: "/orders/operated", Value: nodes(t, reg)["/orders/operated"]})
	require.NoError(t, err)
	var who []string
	for _, op := range operated.Operations {
		who = append(who, op.Who)
	}
	require.Equal(t, []string{"bert", "anna"}, who)
}

// What was done to a job is not lost, also if this version cannot read it.
func TestOperationsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	reg := open(t)
	put(t, reg, "/orders/config", "theirs")
	put(t, reg, "/orders/operated", `{"format":9}`)
	before := nodes(t, reg)
	for _, dry := range []bool{true, false} {
		_, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{Overwrite: true, DryRun: dry})
		require.ErrorIs(t, err, jobtree.ErrNewerFormat)
		require.ErrorContains(t, err, "seed job orders: what was done to the job cannot be read")
	}
	for path, value := range before {
		require.Equal(t, value, nodes(t, reg)[path])
	}
	_, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{Reason: strings.Repeat("x", 1_001)})
	require.ErrorIs(t, err, seed.ErrInvalidOption)
	require.ErrorContains(t, err, "Reason is ")
}

// A job that the registry does not take, or of which it has what cannot be read, does not stand before those behind it.
func TestAFaultOfOneJob(t *testing.T) {
	t.Parallel()
	reg := open(t)
	put(t, reg, "/c/config", "theirs")
	put(t, reg, "/c/operated", `{"format":9}`)
	of := func(parameter string) string {
		return ":\n  config: {cron: '@daily', shardingTotalCount: 1, jobParameter: '" + parameter + "'}\n"
	}
	file, err := seed.ParseYAML([]byte("a" + of("x") + "b" + of(strings.Repeat("x", 1_600_000)) + "c" + of("x") + "d" + of("x")))
	require.NoError(t, err)
	for _, action := range []seed.Action{seed.Created, seed.Unchanged} {
		got, err := seed.Run(t.Context(), reg, file, seed.Options{Overwrite: true})
		require.ErrorIs(t, err, registry.ErrTooLarge)
		require.ErrorIs(t, err, jobtree.ErrNewerFormat)
		require.ErrorContains(t, err, "seed job b: ")
		require.ErrorContains(t, err, "seed job c: what was done to the job cannot be read")
		require.Equal(t, []seed.Node{{Path: "/a/config", Action: action}, {Path: "/d/config", Action: action}}, got)
	}
}

// A job whose home is another registry is not written over. The other jobs of the file are done.
func TestAJobWhoseHomeIsAnotherRegistry(t *testing.T) {
	t.Parallel()
	for _, word := range []jobtree.Elsewhere{
		{Home: "b"}, {Home: "b", Move: "X", Config: "{}"}, {Home: "b", Move: "X", Arriving: true},
	} {
		for _, overwrite := range []bool{false, true} {
			reg := open(t)
			put(t, reg, "/cleanup/config", jobtree.EncodeElsewhere(word))
			for _, dry := range []bool{true, false} {
				got, err := seed.Run(t.Context(), reg, shopFile(t), seed.Options{Overwrite: overwrite, DryRun: dry})
				want := []seed.Node{
					{Path: "/orders/config", Action: seed.Created},
					{Path: "/orders/servers/10.0.0.7", Action: seed.Created},
					{Path: "/orders/sharding/3/disabled", Action: seed.Created},
				}
				if overwrite {
					require.ErrorContains(t, err, "seed job cleanup: /cleanup/config: the job")
					require.ErrorContains(t, err, `registry "b"`)
				} else {
					require.NoError(t, err)
					want = append([]seed.Node{{Path: "/cleanup/config", Action: seed.Kept}}, want...)
				}
				require.Equal(t, want, got)
			}
			after := nodes(t, reg)
			require.Equal(t, jobtree.EncodeElsewhere(word), after["/cleanup/config"])
			require.Contains(t, after, "/orders/config")
		}
	}
}

// A job that somebody else creates while seed writes what belongs to a new one is treated as one that exists: what is done to
// it is written down.
func TestSomebodyCreatesTheJobMeanwhile(t *testing.T) {
	t.Parallel()
	const theirs = `{"jobName":"big","jobClass":"big","jobType":"SIMPLE","cron":"0 0 3 * * ?","shardingTotalCount":250}`
	for name, row := range map[string]struct {
		marks  int
		config string
	}{
		"in several transactions": {150, "  config: {cron: '0 0 * * * ?', shardingTotalCount: 250}\n"},
		"without a configuration": {3, ""},
		"in one":                  {3, "  config: {cron: '0 0 * * * ?', shardingTotalCount: 250}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := open(t)
			text := "big:\n" + row.config + "  sharding:\n"
			for n := range row.marks {
				text += fmt.Sprintf("    %d: {disabled: ''}\n", n)
			}
			file, err := seed.ParseYAML([]byte(text))
			require.NoError(t, err)
			target := &interfering{reg, func() { put(t, reg, "/big/config", theirs) }}
			got, err := seed.Run(t.Context(), target, file, seed.Options{Who: "anna"})
			require.NoError(t, err)
			did := make(map[seed.Action]int)
			for _, n := range got {
				did[n.Action]++
			}
			require.Equal(t, row.marks, did[seed.Created], did)
			require.Equal(t, theirs, nodes(t, reg)["/big/config"])
			operated, err := jobtree.DecodeOperated(registry.Node{Path: "/big/operated", Value: nodes(t, reg)["/big/operated"]})
			require.NoError(t, err)
			require.Len(t, operated.Operations, 1)
			require.Equal(t, "anna", operated.Operations[0].Who)
			require.Contains(t, operated.Operations[0].Changed, "item 0 enabled -> disabled")
		})
	}
}
