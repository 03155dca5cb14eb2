package jobfile_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/seed"
)

const text = `
mail:
  config: {cron: '@hourly', shardingTotalCount: 2}
orders:
  config: {cron: '0 0/5 * * * ?', shardingTotalCount: 2, jobParameter: geheim}
  servers: {10.0.0.7: DISABLED, 10.0.0.8: ""}
  sharding: {1: {disabled: }}
`

// apply makes all jobs of a file, and returns the results.
func apply(t *testing.T, direct jobfile.Direct, file seed.File, opts operate.Options) (results []operate.Result) {
	t.Helper()
	for _, job := range jobfile.Jobs(file) {
		stored, err := direct.Store.Get(t.Context(), jobtree.For(job.Name).Config())
		if err != nil {
			require.ErrorIs(t, err, registry.ErrNotFound)
		}
		result, err := jobfile.Apply(t.Context(), direct, stored, job, opts)
		require.NoError(t, err)
		results = append(results, result)
	}
	return results
}

// A file is compared with what people have decided, and not with a job that stands because it is being moved: whoever enabled
// it, as the difference would ask for, would call the move off.
func TestAJobThatIsMovedDoesNotDiffer(t *testing.T) {
	t.Parallel()
	file, err := seed.ParseYAML([]byte("mail:\n  config: {cron: '@hourly', shardingTotalCount: 2}\n"))
	require.NoError(t, err)
	mail := jobtree.For("mail")
	cfg, err := jobtree.DecodeConfig(registry.Node{Path: mail.Config(), Value: jobfile.Jobs(file)[0].Config, Created: 1, Revision: 1})
	require.NoError(t, err)
	cfg.Disabled = true
	stopped, err := jobtree.EncodeConfig(cfg)
	require.NoError(t, err)
	stored := func(operated jobtree.Operated) []registry.Node {
		return []registry.Node{
			{Path: mail.Config(), Value: stopped, Created: 1, Revision: 1},
			{Path: mail.Operated(), Value: jobtree.EncodeOperated(operated), Created: 1, Revision: 1},
		}
	}
	require.Empty(t, jobfile.Differences(file, stored(jobtree.Operated{Moving: &jobtree.Moving{To: "b", Move: "X"}})))
	for _, operated := range []jobtree.Operated{{}, {Moving: &jobtree.Moving{To: "b", Move: "X", Disabled: true}}} {
		require.Equal(t, []string{"~ mail  disabled: stored true, declared false"}, jobfile.Differences(file, stored(operated)))
	}
}

func TestAFileIsAppliedOnce(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	op, err := operate.New(reg, operate.By("anna", "test"))
	require.NoError(t, err)
	direct := jobfile.Direct{Operator: op, Store: reg}
	file, err := seed.ParseYAML([]byte(text))
	require.NoError(t, err)
	list := func() []registry.Node {
		nodes, _, err := reg.List(t.Context(), registry.Root)
		require.NoError(t, err)
		return nodes
	}
	require.Len(t, jobfile.Differences(file, nil), 5)
	for _, line := range jobfile.Differences(file, nil) {
		require.NotContains(t, line, "geheim")
	}

	apply(t, direct, file, operate.Options{DryRun: true})
	require.Empty(t, list())
	for _, result := range apply(t, direct, file, operate.Options{}) {
		require.Equal(t, operate.VerbCreate, result.Verb)
	}
	require.Empty(t, jobfile.Differences(file, list()))
	before := list()
	for _, result := range apply(t, direct, file, operate.Options{}) {
		require.True(t, result.Repeated)
	}
	require.Equal(t, before, list(), "what is so already is not written")

	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Delete("/orders/sharding/1/disabled"), registry.Put("/orders/servers/10.0.0.7", ""),
	}})
	require.NoError(t, err)
	results := apply(t, direct, file, operate.Options{})
	require.True(t, results[0].Repeated)
	require.Len(t, results[1].Changes, 2)
	require.Empty(t, jobfile.Differences(file, list()))

	_, err = jobfile.Create(t.Context(), reg, op, jobfile.Job{Name: "x"}, operate.Options{})
	require.ErrorIs(t, err, jobfile.ErrNoConfig)
	cause, _ := operate.IsRefused(func() error {
		_, err := jobfile.Create(t.Context(), reg, op, jobfile.Jobs(file)[0], operate.Options{})
		return err
	}())
	require.Equal(t, operate.CauseExists, cause)
}

// What an export would have and a file has not is surplus; a job that cannot be exported is a fault, and an enabled server nothing.
func TestWhatAFileDoesNotSay(t *testing.T) {
	t.Parallel()
	file, err := seed.ParseYAML([]byte(text))
	require.NoError(t, err)
	lines, err := jobfile.Surplus(file, nil)
	require.NoError(t, err)
	require.Empty(t, lines)

	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	op, err := operate.New(reg, operate.By("anna", "test"))
	require.NoError(t, err)
	apply(t, jobfile.Direct{Operator: op, Store: reg}, file, operate.Options{})
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put("/broken/config", "{"), registry.Put("/mail/servers/10.0.0.9", ""), registry.Put("/orders/sharding/0/disabled", ""),
	}})
	require.NoError(t, err)
	nodes, _, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	lines, err = jobfile.Surplus(file, nodes)
	require.ErrorContains(t, err, "job broken is left out")
	require.Equal(t, []string{"- orders  sharding/0/disabled  "}, lines)

	var none seed.File
	lines, _ = jobfile.Surplus(none, nodes)
	require.Len(t, lines, 5)
	require.NotContains(t, strings.Join(lines, "\n"), "geheim")
	lines, _ = jobfile.SurplusWithSecrets(none, nodes)
	require.Contains(t, strings.Join(lines, "\n"), "geheim")
}

// An export of a job that has become smaller disables an item that it has no more, and a file may disable one that the job has
// only with the settings of the same file.
func TestAFileDisablesAnItemBeyondTheCount(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"that the job has no more": 4, "that the job has with the file": 8} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := memory.NewServer().Open("shop")
			t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
			op, err := operate.New(reg, operate.By("anna", "test"))
			require.NoError(t, err)
			direct := jobfile.Direct{Operator: op, Store: reg}
			_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
				registry.Put("/orders/config", `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":4}`),
			}})
			require.NoError(t, err)
			file, err := seed.ParseYAML(fmt.Appendf(nil, "orders:\n  config: {cron: '@daily', shardingTotalCount: %d}\n  sharding: {7: {disabled: }}\n", count))
			require.NoError(t, err)
			dry := apply(t, direct, file, operate.Options{DryRun: true})
			require.Contains(t, dry[0].Changes, operate.Change{What: "item 7", Before: "enabled", After: "disabled"})
			done := apply(t, direct, file, operate.Options{Shown: &dry[0].Plan})
			require.Contains(t, done[0].Changes, operate.Change{What: "item 7", Before: "enabled", After: "disabled"})
			nodes, _, err := reg.List(t.Context(), registry.Root)
			require.NoError(t, err)
			require.Empty(t, jobfile.Differences(file, nodes))
			lines, err := jobfile.Surplus(file, nodes)
			require.NoError(t, err)
			require.Empty(t, lines)
			require.True(t, apply(t, direct, file, operate.Options{})[0].Repeated)
		})
	}
}

// A job is made as a dry run has shown it, or not at all.
func TestAFileIsAppliedAsItWasShown(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	op, err := operate.New(reg, operate.By("anna", "test"))
	require.NoError(t, err)
	direct := jobfile.Direct{Operator: op, Store: reg}
	file, err := seed.ParseYAML([]byte(text))
	require.NoError(t, err)
	orders := jobfile.Jobs(file)[1]
	put := func(path, value string) {
		t.Helper()
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, value)}})
		require.NoError(t, err)
	}
	stored := func() registry.Node {
		n, err := reg.Get(t.Context(), jobtree.For("orders").Config())
		if err != nil {
			require.ErrorIs(t, err, registry.ErrNotFound)
		}
		return n
	}
	try := func(opts operate.Options) (operate.Result, error) {
		return jobfile.Apply(t.Context(), direct, stored(), orders, opts)
	}
	show := func() *operate.Plan {
		t.Helper()
		dry, err := try(operate.Options{DryRun: true})
		require.NoError(t, err)
		again, err := try(operate.Options{DryRun: true, Shown: &dry.Plan})
		require.NoError(t, err, "it is so still")
		require.True(t, again.Same(dry.Plan))
		return &dry.Plan
	}
	stale := func(shown *operate.Plan) {
		t.Helper()
		before := stored()
		_, err := try(operate.Options{Shown: shown})
		cause, _ := operate.IsRefused(err)
		require.Equal(t, operate.CauseStale, cause, "%v", err)
		require.Equal(t, before, stored())
	}
	creates := show()
	put("/orders/config", `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":2}`)
	stale(creates)
	changes := show()
	put("/orders/servers/10.0.0.7", "DISABLED")
	stale(changes) // one change less is not what was shown
	changes = show()
	put("/orders/config", `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@weekly","shardingTotalCount":2}`)
	stale(changes)
	result, err := try(operate.Options{Shown: show()})
	require.NoError(t, err)
	require.False(t, result.Repeated)
	require.Equal(t, orders.Config, stored().Value)
	_, err = reg.Get(t.Context(), "/orders/sharding/1/disabled")
	require.NoError(t, err)
	result, err = try(operate.Options{Shown: changes})
	require.NoError(t, err)
	require.True(t, result.Repeated, "nothing is to be done any more")
}

// Somebody creates the same job between the look and the writing: what is said of servers and items does not hit it.
func TestAJobThatSomebodyElseCreates(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	file, err := seed.ParseYAML([]byte(text))
	require.NoError(t, err)
	orders := jobfile.Jobs(file)[1]
	store := &faster{Registry: reg, config: orders.Config}
	op, err := operate.New(store, operate.By("anna", "test"))
	require.NoError(t, err)
	_, err = jobfile.Create(t.Context(), store, op, orders, operate.Options{})
	cause, _ := operate.IsRefused(err)
	require.Equal(t, operate.CauseExists, cause)
	_, err = reg.Get(t.Context(), "/orders/servers/10.0.0.7")
	require.ErrorIs(t, err, registry.ErrNotFound)
}

// Somebody creates the same job right before any of the transactions: either it is made as the file says, or nothing of the
// file hits the other's job. That goes for marks, too, for which one transaction has no room.
func TestAJobThatSomebodyElseCreatesLater(t *testing.T) {
	t.Parallel()
	for name, disabled := range map[string]int{"few marks": 3, "as many as fit": 58, "one more": 59, "many marks": 150} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := jobfile.Job{
				Name: "orders", Servers: map[string]bool{"10.0.0.7": true},
				Config: `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":200}`,
			}
			for n := range disabled {
				job.Items = append(job.Items, n)
			}
			for at, first := 1, false; !first; at++ {
				reg := memory.NewServer().Open("shop")
				_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/sharding/1/disabled", "")}}) // left by somebody
				require.NoError(t, err)
				store := &sooner{Registry: reg, at: at, config: job.Config}
				op, err := operate.New(store, operate.By("anna", "test"))
				require.NoError(t, err)
				_, err = jobfile.Create(t.Context(), store, op, job, operate.Options{})
				nodes, _, listErr := reg.List(t.Context(), "/orders")
				require.NoError(t, listErr)
				var marks []string
				for _, n := range nodes {
					if strings.Contains(n.Path, "/servers/") || strings.HasSuffix(n.Path, "/disabled") {
						marks = append(marks, n.Path)
					}
				}
				if first = err == nil; first {
					require.Len(t, marks, 1+disabled, "before transaction %d", at)
				} else {
					cause, _ := operate.IsRefused(err)
					require.Equal(t, operate.CauseExists, cause, "%v", err)
					require.Equal(t, []string{"/orders/sharding/1/disabled"}, marks, "before transaction %d", at)
				}
				require.NoError(t, reg.Close(context.Background()))
			}
		})
	}
}

// sooner is a registry in which somebody creates the job right before one of the commits.
type sooner struct {
	*memory.Registry
	at     int
	config string
}

func (s *sooner) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if s.at--; s.at == 0 {
		if _, err := s.Registry.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/orders/config", s.config)}}); err != nil {
			return 0, err
		}
	}
	return s.Registry.Commit(ctx, txn)
}

// faster is a registry in which somebody creates the job right before the first commit.
type faster struct {
	*memory.Registry
	config string
	done   bool
}

func (f *faster) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if !f.done {
		f.done = true
		if _, err := f.Registry.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/orders/config", f.config)}}); err != nil {
			return 0, err
		}
	}
	return f.Registry.Commit(ctx, txn)
}

// tired is a registry that takes only so many commits, and then none for a while.
type tired struct {
	*memory.Registry
	left int
}

var errTired = errors.New("no more")

func (s *tired) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if s.left == 0 {
		return 0, errTired
	}
	s.left--
	return s.Registry.Commit(ctx, txn)
}

// What was cut short goes on when it is asked for again with the same id and the same plan, wherever it was cut; what is
// done is not done again, even if somebody has taken it back since.
func TestAFileThatWasCutShort(t *testing.T) {
	t.Parallel()
	file, err := seed.ParseYAML([]byte(text))
	require.NoError(t, err)
	orders := jobfile.Jobs(file)[1]
	for name, row := range map[string]struct {
		stored  string // the configuration before; empty: no job
		commits int    // that an undisturbed run needs
	}{
		"other settings":    {`{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":2}`, 3},
		"the same settings": {orders.Config, 2},
		"a new job":         {"", 1},
	} {
		for cut := range row.commits + 1 {
			t.Run(fmt.Sprintf("%s/%d", name, cut), func(t *testing.T) {
				t.Parallel()
				store := &tired{Registry: memory.NewServer().Open("shop"), left: -1}
				t.Cleanup(func() { require.NoError(t, store.Close(context.Background())) })
				op, err := operate.New(store, operate.By("anna", "test"))
				require.NoError(t, err)
				if row.stored != "" {
					_, err := store.Registry.Commit(t.Context(), registry.Txn{Then: []registry.Write{
						registry.Put("/orders/config", row.stored), registry.Put("/orders/servers/10.0.0.8", ""), // which is enabled in either way
					}})
					require.NoError(t, err)
				}
				try := func(opts operate.Options) (operate.Result, error) {
					node, err := store.Get(t.Context(), "/orders/config")
					if err != nil {
						require.ErrorIs(t, err, registry.ErrNotFound)
					}
					return jobfile.Apply(t.Context(), jobfile.Direct{Operator: op, Store: store}, node, orders, opts)
				}
				dry, err := try(operate.Options{DryRun: true})
				require.NoError(t, err)
				opts := operate.Options{ID: strings.Repeat("k", 64), Shown: &dry.Plan}
				store.left = cut
				_, err = try(opts)
				if cut < row.commits {
					require.ErrorIs(t, err, errTired)
				} else {
					require.NoError(t, err)
				}
				store.left = -1
				_, err = try(opts)
				require.NoError(t, err)
				nodes, _, err := store.List(t.Context(), registry.Root)
				require.NoError(t, err)
				for _, line := range jobfile.Differences(file, nodes) {
					require.NotContains(t, line, "orders")
				}

				_, err = op.EnableItem(t.Context(), "orders", 1, operate.Options{})
				require.NoError(t, err)
				again, err := try(opts)
				require.NoError(t, err)
				require.True(t, again.Repeated)
				_, err = store.Get(t.Context(), "/orders/sharding/1/disabled")
				require.ErrorIs(t, err, registry.ErrNotFound, "what was done once is not done again")
				_, err = try(operate.Options{Shown: &dry.Plan})
				cause, _ := operate.IsRefused(err)
				require.Equal(t, operate.CauseStale, cause, "with another id it is another operation")
			})
		}
	}
}

// However many items a file disables, the settings that it has replaced can be rolled back.
func TestAFileOfManyMarksIsOneOperation(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("shop")
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	op, err := operate.New(reg, operate.By("anna", "test"))
	require.NoError(t, err)
	const before = `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":30}`
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/config", before)}})
	require.NoError(t, err)
	stored, err := reg.Get(t.Context(), "/orders/config")
	require.NoError(t, err)
	job := jobfile.Job{Name: "orders", Config: strings.Replace(before, "@daily", "@hourly", 1)}
	for n := range 30 {
		job.Items = append(job.Items, n)
	}
	_, err = jobfile.Apply(t.Context(), jobfile.Direct{Operator: op, Store: reg}, stored, job, operate.Options{ID: "FILE"})
	require.NoError(t, err)
	operations, err := op.Operations(t.Context(), "orders")
	require.NoError(t, err)
	require.Len(t, operations, 31)
	_, err = op.RollBack(t.Context(), "orders", "FILE", operate.Options{})
	require.NoError(t, err)
}

// A job with more marks than one transaction takes is cut short before any of them. Whoever asks again completes it, and nobody
// has seen the job before.
func TestAJobOfManyMarksThatWasCutShort(t *testing.T) {
	t.Parallel()
	job := jobfile.Job{
		Name: "orders", Config: `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":200}`,
	}
	for n := range 150 {
		job.Items = append(job.Items, n)
	}
	for cut := range 4 {
		store := &tired{Registry: memory.NewServer().Open("shop"), left: cut}
		op, err := operate.New(store, operate.By("anna", "test"))
		require.NoError(t, err)
		try := func() error {
			_, err := jobfile.Create(t.Context(), store, op, job, operate.Options{ID: "new"})
			return err
		}
		require.ErrorIs(t, try(), errTired)
		_, err = store.Get(t.Context(), "/orders/config")
		require.ErrorIs(t, err, registry.ErrNotFound)
		store.left = -1
		require.NoError(t, try())
		require.NoError(t, try(), "it was done under this id")
		ctx, cancel := context.WithCancel(t.Context())
		_, err = jobfile.Create(ctx, store, op, job, operate.Options{ID: "new", Wait: true, Progress: func(operate.Progress) { cancel() }})
		cancel()
		var unconfirmed *operate.UnconfirmedError
		require.ErrorAs(t, err, &unconfirmed, "nobody takes part")
		nodes, _, err := store.List(t.Context(), "/orders/sharding")
		require.NoError(t, err)
		require.Len(t, nodes, 150)
		require.NoError(t, store.Close(context.Background()))
	}
}

// unanswered is a store that carries out one transaction, and does not answer any more: who asks stops waiting.
type unanswered struct {
	operate.Store
	stop context.CancelFunc
}

func (u unanswered) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	_, _ = u.Store.Commit(ctx, txn)
	u.stop()
	return 0, fmt.Errorf("%w: the connection is gone", registry.ErrUnknownOutcome)
}

// Whoever hears no answer has the id to ask again with, whatever of a job was under way.
func TestTheIdOfALostAnswer(t *testing.T) {
	t.Parallel()
	many := jobfile.Job{Name: "orders", Config: `{"jobName":"orders","jobClass":"orders","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":200}`}
	for item := range 150 {
		many.Items = append(many.Items, item)
	}
	few := many
	few.Items = []int{180}
	reg := memory.NewServer().Open("shop")
	defer func() { require.NoError(t, reg.Close(context.Background())) }()
	unheard := func(do func(context.Context, operate.Store, *operate.Operator) (operate.Result, error)) operate.Result {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		store := unanswered{reg, cancel}
		op, err := operate.New(store, operate.By("anna", "test"))
		require.NoError(t, err)
		r, err := do(ctx, store, op)
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		return r
	}
	for _, id := range []string{"K", ""} {
		created := unheard(func(ctx context.Context, store operate.Store, op *operate.Operator) (operate.Result, error) {
			return jobfile.Create(ctx, store, op, many, operate.Options{ID: id})
		})
		require.NotEmpty(t, created.ID)
		require.True(t, id == "" || created.ID == id)
	}
	op, err := operate.New(reg, operate.By("anna", "test"))
	require.NoError(t, err)
	_, err = op.CreateText(t.Context(), "orders", many.Config, operate.Options{})
	require.NoError(t, err)
	stored, err := reg.Get(t.Context(), "/orders/config")
	require.NoError(t, err)
	applied := unheard(func(ctx context.Context, store operate.Store, op *operate.Operator) (operate.Result, error) {
		return jobfile.Apply(ctx, jobfile.Direct{Operator: op, Store: store}, stored, few, operate.Options{ID: "L"})
	})
	require.Equal(t, "L", applied.ID)
}
