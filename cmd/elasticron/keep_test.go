package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

// idle fills the namespace with jobs in which nobody takes part.
func (w *world) idle(t *testing.T) *world {
	t.Helper()
	reg := w.hand(t)
	put(t, reg, "/plain/config", nightlyAt("plain", "0 0 3 * * ?", `,"later":[1, 2]`))
	put(t, reg, "/plain/servers/10.0.0.9", "DISABLED")
	put(t, reg, "/plain/sharding/1/disabled", "")
	put(t, reg, "/other/config", nightlyAt("other", "0 0 4 * * ?", ``))
	put(t, reg, "/bad/config", "{\n no JSON")
	return w
}

// nightlyAt is a configuration, with members at its end that this version does not know.
func nightlyAt(name, cron, later string) string {
	text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: cron, ShardingTotalCount: 2, Class: "X"})
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(text, "}") + later + "}"
}

func keptIn(t *testing.T, out string) string {
	t.Helper()
	m := regexp.MustCompile(`Kept in (.*): elasticron apply -f`).FindStringSubmatch(out)
	require.NotNil(t, m, out)
	return m[1]
}

// A configuration that cannot be read stands in the file as a comment, and nothing in it is read as anything else.
func TestWhatStandsInACommentIsNoJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const payroll = "payroll: {config: {cron: '0 * * * * ?', shardingTotalCount: 1}}"
	put(t, w.hand(t), "/bad\u2028name/config", "{\u2028"+payroll+"\u0085"+payroll+"\u2029"+payroll+"\r"+payroll+"\x00\x1b")
	put(t, w.hand(t), "/other/config", nightlyAt("other", "0 0 4 * * ?", ``))
	kept := filepath.Join(t.TempDir(), "kept.yaml")
	_, errOut, status := w.does(t, on("remove", "other", "bad\u2028name", "--yes", "--force", "--export", kept)...)
	require.Zero(t, status, errOut)
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Contains(t, string(text), "# Its configuration was:\n# {\n# payroll: {")
	file, err := seed.ParseYAML(text)
	require.NoError(t, err, string(text))
	for path := range file.Nodes() {
		require.Equal(t, "/other/config", path)
	}
}

// What is removed can be stored again, with the same bytes, though nothing of it is left in the registry.
func TestARemovedJobCanBeStoredAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	reg := w.hand(t)
	before := map[string]string{}
	nodes := []string{"/plain/config", "/plain/servers/10.0.0.9", "/plain/sharding/1/disabled", "/other/config"}
	for _, path := range nodes {
		before[path] = value(t, reg, path)
	}
	require.Contains(t, w.must(t, on("remove", "plain", "--dry-run")...), "Nothing was done")
	one := keptIn(t, w.must(t, on("remove", "plain", "--yes")...))
	require.Equal(t, filepath.Join(filepath.Dir(w.variables[contextsFileVariable]), "removed", "20260302T120003Z-1.yaml"), one)
	out, errOut, status := w.does(t, on("remove", "--match", "oth*", "--yes")...)
	require.Zero(t, status, errOut)
	two := keptIn(t, out)
	require.NotEqual(t, one, two, "no file is replaced")
	info, err := os.Stat(one)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	left, _, err := reg.List(t.Context(), "/plain")
	require.NoError(t, err)
	require.Empty(t, left)
	for _, file := range []string{one, two} {
		_, errOut, status := w.does(t, on("apply", "-f", file, "--yes")...)
		require.Zero(t, status, errOut)
	}
	for _, path := range nodes {
		require.Equal(t, before[path], value(t, reg, path), path)
	}
}

func TestWhereARemovedJobIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	reg := w.hand(t)
	file := filepath.Join(t.TempDir(), "kept.yaml")
	folder := filepath.Join(filepath.Dir(w.variables[contextsFileVariable]), "removed")

	_, errOut, status := w.does(t, on("remove", "none", "--yes", "--export", file)...)
	require.Equal(t, exitRefused, status, errOut)
	require.NoFileExists(t, file, "nothing was removed")

	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	_, errOut, status = w.does(t, on("remove", "plain", "--yes", "--export", file)...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "nothing was removed, as the jobs cannot be kept first (see --export): open "+file+": file exists")
	require.NotEqual(t, "absent", value(t, reg, "/plain/config"))
	require.NoError(t, os.Remove(file))

	_, errOut, status = w.does(t, on("remove", "plain", "--yes", "--export", "-", "-o", "json")...)
	require.Equal(t, exitMisuse, status, errOut)
	require.Contains(t, w.must(t, on("remove", "plain", "--yes", "--export", "-")...), "plain:\n  config: ")

	out, errOut, status := w.does(t, on("remove", "other", "bad", "--yes", "--force", "--export", file, "-o", "json")...)
	require.Zero(t, status, errOut)
	require.NotContains(t, out, "Kept in")
	require.Equal(t, file, keptIn(t, errOut))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "other:\n")
	require.Contains(t, string(text), "# Its configuration was:\n# {\n#  no JSON\n", "also what no file can hold is kept")

	put(t, reg, "/more/config", nightlyAt("more", "0 0 4 * * ?", ``))
	w.must(t, on("remove", "more", "--yes", "--export", "none")...)
	require.NoDirExists(t, folder)
}

// A job that is changed at the last moment is kept as it was removed.
func TestAJobIsKeptAsItWasRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	file := filepath.Join(t.TempDir(), "kept.yaml")
	k := &keeping{v: &verb{program: w.program, at: w.hand(t)}, to: file, jobs: []string{"other"}}
	changed := nightlyAt("other", "0 0 5 * * ?", ``)
	remove := k.removes(func(ctx context.Context, _ string, _ operate.Options) (operate.Result, error) {
		return operate.Result{Before: changed}, nil
	})
	_, err := remove(t.Context(), "other", operate.Options{})
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "0 0 5 * * ?")
	require.NotContains(t, string(text), "0 0 4 * * ?")
	require.NoFileExists(t, file+".new")
}

// The file stays if the job may be gone, whatever its removal returned.
func TestWhatIsKeptOfAJobThatMayBeGone(t *testing.T) {
	t.Parallel()
	unknown := &operate.Refusal{Cause: operate.CauseUnknownJob}
	for name, test := range map[string]struct {
		job  string
		err  error
		kept bool
	}{
		"refused":                    {"other", &operate.Refusal{Cause: operate.CauseAlive}, false},
		"gone meanwhile":             {"other", unknown, true},
		"never there":                {"none", unknown, false},
		"in part, and then refused":  {"other", &operate.UnconfirmedError{Err: &operate.Refusal{Cause: operate.CauseAlive}}, true},
		"without an answer":          {"other", registry.ErrUnknownOutcome, true},
		"by somebody else, in parts": {"other", &operate.UnconfirmedError{Err: unknown}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).idle(t)
			file := filepath.Join(t.TempDir(), "kept.yaml")
			k := &keeping{v: &verb{program: w.program, at: w.hand(t), out: io.Discard}, to: file, jobs: []string{"other", "none"}}
			remove := k.removes(func(context.Context, string, operate.Options) (operate.Result, error) {
				return operate.Result{}, test.err
			})
			_, err := remove(t.Context(), test.job, operate.Options{})
			require.ErrorIs(t, err, test.err)
			require.NoError(t, k.end())
			if !test.kept {
				require.NoFileExists(t, file)
				return
			}
			require.FileExists(t, file)
		})
	}
}

// A job that is named twice is kept once, and one of ElasticJob 3.x as it stands, in a comment: that is not promised to be
// stored again.
func TestWhatIsKeptOnceAndAsItStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	reg := w.hand(t)
	file := keptIn(t, w.must(t, on("remove", "plain", "plain", "--yes")...))
	_, errOut, status := w.does(t, on("apply", "-f", file, "--yes")...)
	require.Zero(t, status, errOut)

	put(t, reg, "/three/config", "jobName: three\nprops:\n  a: b\n")
	out, errOut, status := w.does(t, on("remove", "three", "other", "--yes", "--force")...)
	require.Zero(t, status, errOut)
	require.Contains(t, out, "stores it again, but for the jobs that comments name there: three.")
	text, err := os.ReadFile(keptIn(t, out))
	require.NoError(t, err)
	require.Contains(t, string(text), "# Its configuration was:\n# jobName: three\n# props:\n#   a: b\n")
	require.Contains(t, string(text), "stores it again, but for the jobs that comments name")
}

// What a job ran with, and nobody may declare, is kept byte for byte, and the file says what stores it.
func TestAJobThatApplyRefusesIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	reg := w.hand(t)
	for _, member := range []string{`"monitorPort":-7`, `"streamingProcess":true`} {
		text := `{"jobName":"mild","jobClass":"m","jobType":"SIMPLE","cron":"@daily","shardingTotalCount":1,` + member + `}`
		put(t, reg, "/mild/config", text)
		out := w.must(t, on("remove", "mild", "--yes")...)
		require.Contains(t, out, "but for the jobs that comments name there: mild.")
		file := keptIn(t, out)
		_, errOut, status := w.does(t, on("apply", "-f", file, "--yes")...)
		require.NotZero(t, status, errOut)
		kept, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(kept), "# elasticron apply refuses mild, and elasticron seed stores it: ")
		w.must(t, on("seed", file)...)
		require.Equal(t, text, value(t, reg, "/mild/config"))
	}
}

// A removal that was interrupted has disabled the job. Whoever goes on with it keeps the job as it was before.
func TestARemovalThatIsGoneOnWithKeepsTheJobAsItWas(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	reg := w.hand(t)
	was := value(t, reg, "/other/config")
	disabled := strings.Replace(was, `"disabled":false`, `"disabled":true`, 1)
	require.NotEqual(t, was, disabled)
	put(t, reg, "/other/config", disabled)
	put(t, reg, "/other/servers/10.0.0.1", "DISABLED")
	put(t, reg, "/other/servers/10.0.0.2", "DISABLED")
	put(t, reg, "/other/operated", jobtree.EncodeOperated(jobtree.Operated{
		Removing: "yes", DisabledServers: []string{"10.0.0.2"},
		Operations: []jobtree.Operation{
			{ID: "0", Verb: "change settings", Before: "{}"},
			{ID: "1", Verb: string(operate.VerbRemove), Before: was},
			{ID: "2", Verb: string(operate.VerbRemove), Before: disabled},
		},
	}))
	text, err := os.ReadFile(keptIn(t, w.must(t, on("remove", "other", "--yes")...)))
	require.NoError(t, err)
	require.NotContains(t, string(text), "disabled: true")
	require.Contains(t, string(text), "10.0.0.2: DISABLED")
	require.NotContains(t, string(text), "10.0.0.1")
}
