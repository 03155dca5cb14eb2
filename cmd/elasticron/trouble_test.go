package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
)

// meddled is a registry in which something happens before a transaction, or instead of it.
type meddled struct {
	*memory.Registry
	before func(registry.Txn) error
}

func (m *meddled) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if err := m.before(txn); err != nil {
		return 0, err
	}
	return m.Registry.Commit(ctx, txn)
}

// meddle has something happen before each transaction.
func (w *world) meddle(before func(registry.Txn) error) {
	w.etcd = func(_ context.Context, c etcd.Config) (registry.Registry, error) {
		return &meddled{w.etcdServer.Open(c.Namespace), before}, nil
	}
}

func (w *world) answers(answer string) {
	w.program.asked, w.in = func(any) bool { return true }, strings.NewReader(answer)
}

// What anybody may have written into the registry does not reach a terminal by an error either.
func TestErrorsMoveNoCursor(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.must(t, on("disable", "item/orders/1", "--reason", "a\x1b[2Jb")...)
	_, errOut, status := w.does(t, on("disable", "item/orders/1")...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "a [2Jb")
	require.NotContains(t, errOut, "\x1b")
}

func TestAnErrorSaysThingsOnce(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	_, errOut, status := w.does(t, on("edit", "orders", "--set", "cron=bad", "--yes")...)
	require.Equal(t, exitRefused, status)
	require.True(t, strings.HasPrefix(errOut, `elasticron: change settings of "orders" refused: cron is "bad", must be a cron expression: `), errOut)
	require.Equal(t, 1, strings.Count(errOut, "bad\""), errOut)
	require.Equal(t, 1, strings.Count(errOut, "\n"), errOut)
}

func TestASettingOfNoObject(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	put(t, w.hand(t), "/broken/config", "null")
	_, errOut, status := w.does(t, on("edit", "broken", "--set", "cron=@daily", "--yes")...)
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "use the editor")
}

// After a lost answer each job says how to ask again.
func TestALostAnswerOfSeveralJobs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.meddle(func(txn registry.Txn) error {
		return &registry.OpError{Op: "commit", Path: txn.Then[0].Path, Err: registry.ErrDenied}
	})
	_, errOut, status := w.does(t, on("reshard", "orders", "mail")...)
	require.Equal(t, exitMisuse, status, "nobody can be asked: %s", errOut)
	_, errOut, status = w.does(t, on("reshard", "orders", "mail", "--yes")...)
	require.Equal(t, exitRefused, status, "all were refused: %s", errOut)
	text := jobResultText(operate.JobResult{Job: "orders", Err: registry.ErrUnknownOutcome, Result: operate.Result{ID: "OP1"}}, false)
	require.Contains(t, text, "repeat the command with --id OP1")
}

func TestExitStatusesOfSeveralJobs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for want, args := range map[int][]string{
		exitMisuse:  {"reshard", "orders", "mail", "--id", "a b"},
		exitRefused: {"reshard", "none", "neither"},
		exitSome:    {"reshard", "none", "mail"},
		exitWaited:  {"reshard", "orders", "mail", "--wait", "--timeout", "5s"},
	} {
		_, errOut, status := w.does(t, on(append(args, "--yes")...)...)
		require.Equal(t, want, status, errOut)
	}
}

// Jobs that are stored and have nobody yet who runs them have not failed.
func TestJobsThatAreAppliedAndDoNotFollowInTime(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	text := "new:\n  config: {jobClass: a, cron: '@daily', shardingTotalCount: 1}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, errOut, status := w.does(t, on("apply", "-f", file, "--yes", "--wait", "--timeout", "3s")...)
	require.Equal(t, exitWaited, status)
	require.Equal(t, "0 of 1 jobs, and 1 not confirmed yet\n", out)
	require.Contains(t, errOut, `elasticron: 1 of 1 jobs could not be confirmed yet, the first being "new": create "new" is done (operation `)
	require.Contains(t, errOut, "and not confirmed yet: no instance takes part yet (0 of 1): ")
	require.NotContains(t, errOut, "failed")
	out, errOut, status = w.does(t, on("reshard", "none", "mail", "--yes", "--wait", "--timeout", "3s")...)
	require.Equal(t, exitSome, status)
	require.Equal(t, "0 of 2 jobs, and 1 not confirmed yet\n", out)
	require.Regexp(t, `elasticron: 1 of 2 jobs failed, the first being "none": .*; 1 of 2 jobs could not be confirmed yet, the first being "mail": `, errOut)
}

// What was shown to be refused is not done when it has become possible meanwhile: nobody has agreed to it.
func TestWhatWasRefusedWhenItWasShownIsNotDone(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	w.answers("y\n")
	c := config(t, reg, "mail")
	c.Name, c.Class = "broken", "broken"
	text, err := jobtree.EncodeConfig(c)
	require.NoError(t, err)
	mend := sync.OnceFunc(func() { put(t, reg, "/broken/config", text) })
	w.meddle(func(registry.Txn) error { mend(); return nil })
	_, errOut, status := w.does(t, on("disable", "--match", "*")...)
	require.Equal(t, exitSome, status, errOut)
	require.True(t, config(t, reg, "orders").Disabled)
	require.False(t, config(t, reg, "broken").Disabled)
}

// One job that cannot be operated keeps nobody from being asked about the others.
func TestAServerOfAJobThatIsBroken(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	put(t, reg, "/broken/servers/10.0.0.2", "")
	w.answers("y\n")
	_, errOut, status := w.does(t, on("disable", "server/10.0.0.2")...)
	require.Equal(t, exitSome, status, errOut)
	require.Contains(t, errOut, "Go on? (y/N) ")
	require.Contains(t, errOut, "broken: ")
	require.Equal(t, "DISABLED", value(t, reg, "/orders/servers/10.0.0.2"))
}

// Somebody else creates the job of a file at that moment: nothing of it is changed.
func TestAJobIsCreatedByTwo(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	text, err := jobtree.EncodeConfig(config(t, reg, "mail"))
	require.NoError(t, err)
	put(t, reg, "/spare/config", strings.ReplaceAll(text, `"mail"`, `"spare"`))
	put(t, reg, "/spare/servers/10.0.0.1", "DISABLED")
	require.NoError(t, os.WriteFile(file, []byte(w.must(t, on("export", "spare")...)), 0o600))
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree("/spare")}})
	require.NoError(t, err)

	first := true
	w.meddle(func(registry.Txn) error {
		if first {
			first = false
			put(t, reg, "/spare/config", strings.ReplaceAll(text, `"mail"`, `"spare"`))
		}
		return nil
	})
	_, errOut, status := w.does(t, on("create", "-f", file)...)
	require.Equal(t, exitRefused, status, errOut)
	require.Contains(t, errOut, "there is such a job")
	require.Equal(t, "absent", value(t, reg, "/spare/servers/10.0.0.1"))
}

// Servers that a file names consent to nothing else.
func TestAFileConsentsToNoLossOfWhatOperatorsDid(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	reg := w.hand(t)
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	put(t, reg, "/mail/servers/10.9.9.9", "DISABLED")
	require.NoError(t, os.WriteFile(file, []byte(w.must(t, on("export", "mail")...)), 0o600))
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/mail/servers/10.9.9.9")}})
	require.NoError(t, err)
	put(t, reg, "/mail/operated", "}{")
	_, errOut, status := w.does(t, on("apply", "-f", file, "--yes")...)
	require.Equal(t, exitRefused, status, errOut)
	require.Equal(t, "}{", value(t, reg, "/mail/operated"))
	require.Contains(t, w.must(t, on("audit", "mail")...), `! what was done to "mail" cannot be read: `)
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/mail/operated")}})
	require.NoError(t, err)
	_, errOut, status = w.does(t, on("apply", "-f", file, "--yes")...)
	require.Zero(t, status, errOut)
	require.Equal(t, "DISABLED", value(t, reg, "/mail/servers/10.9.9.9"))
}

// A dry run is refused where the deed would be.
func TestADryRunOfABackfillThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	args := on("backfill", "orders", "--from", "2025-03-01T02:00:00Z", "--to", "2025-03-01T02:05:00Z", "--dry-run")
	out, errOut, status := w.does(t, append(args, "-o", "json")...)
	require.Zero(t, status, errOut)
	require.Contains(t, out, `"left"`)
	require.Contains(t, errOut, "! 6 of the 6 fires may have run already, those up to 2026-03-02 12:00:00 UTC")
	w.must(t, on("disable", "job/orders")...)
	_, errOut, status = w.does(t, args...)
	require.Equal(t, exitRefused, status)
	require.Contains(t, errOut, "enable it first")
}

func TestItemsByTheirEnds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{"3": {3}, "0,3": {0, 3}, "0-2,7": {0, 1, 2, 7}, "4-4, 9": {4, 9}} {
		var items []int
		require.NoError(t, (&itemsFlag{&items}).Set(text), text)
		require.Equal(t, want, items, text)
	}
	w := newShop(t)
	for _, text := range []string{"", "x", "-1", "3-1", "1-", "0-100000000", "1,,2"} {
		_, errOut, status := w.does(t, on("trigger", "orders", "--items="+text)...)
		require.Equal(t, exitMisuse, status, text)
		require.Contains(t, errOut, "want numbers of items", text)
	}
	require.Contains(t, w.must(t, on("trigger", "orders", "--items", "0-1", "--dry-run")...), "items 0-1")
}

// A question ends with the command, whoever types nothing; and how long somebody thinks is not what --timeout bounds.
func TestAQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t).idle(t)
	silent, typing := io.Pipe()
	w.program.asked, w.in = func(any) bool { return true }, silent
	ctx, cancel := context.WithCancel(t.Context())
	asked := signalling{shows: make(chan struct{})}
	status := make(chan int, 1)
	go func() { status <- w.run(ctx, on("remove", "plain"), io.Discard, &asked) }()
	<-asked.shows
	cancel()
	require.Equal(t, exitFailed, <-status)
	require.NoError(t, typing.Close())
	require.NotEqual(t, "absent", value(t, w.hand(t), "/plain/config"))

	silent, typing = io.Pipe()
	w.in, asked = silent, signalling{shows: make(chan struct{})}
	go func() { status <- w.run(t.Context(), on("remove", "plain", "--timeout", "5s"), io.Discard, &asked) }()
	<-asked.shows
	time.Sleep(6 * time.Second)
	_, err := io.WriteString(typing, "y\n")
	require.NoError(t, err)
	require.Equal(t, 0, <-status)
	require.Equal(t, "absent", value(t, w.hand(t), "/plain/config"))
}

// signalling tells when a question is asked.
type signalling struct {
	shows chan struct{}
	once  sync.Once
}

func (s *signalling) Write(text []byte) (int, error) {
	if strings.Contains(string(text), "Go on?") {
		s.once.Do(func() { close(s.shows) })
	}
	return len(text), nil
}

// An editor may take longer than --timeout, and what was written in one that breaks is kept.
func TestAnEditorThatTakesItsTime(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w := newShop(t)
	editor := filepath.Join(t.TempDir(), "editor")
	w.variables["EDITOR"] = editor
	writeProgram(t, editor, "sleep 3; sed -i 's/0 \\* \\* \\* \\* ?/0 * * * 5 ?/' \"$1\"")
	_, errOut, status := w.does(t, on("edit", "orders", "--yes", "--timeout", "2s")...)
	require.Zero(t, status, errOut)
	writeProgram(t, editor, "echo much >> \"$1\"; exit 3")
	_, errOut, status = w.does(t, on("edit", "orders", "--yes")...)
	require.Equal(t, exitFailed, status)
	_, name, found := strings.Cut(strings.TrimSpace(errOut), "what you wrote is in ")
	require.True(t, found, errOut)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Contains(t, string(text), "much")
}

// What was written in an editor is not lost when it is refused.
func TestWhatWasEditedAndRefusedIsKept(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w := newShop(t)
	editor := filepath.Join(t.TempDir(), "editor")
	for change, text := range map[string]string{`s/0 \* \* \* \* ?/daily at noon/`: "daily at noon", `s/^}$/]/`: "]"} {
		writeProgram(t, editor, "sed -i '"+change+"' \"$1\"")
		w.variables["EDITOR"] = editor
		_, errOut, status := w.does(t, on("edit", "orders", "--yes")...)
		require.NotZero(t, status)
		_, name, found := strings.Cut(strings.TrimSpace(errOut), "what you wrote is in ")
		require.True(t, found, errOut)
		after, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, string(after), text)
	}
	_, errOut, status := w.does(t, on("reshard", "orders", "--timeout", "-1s")...)
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "--timeout is -1s")
}

// Who may not even open the registry has done nothing.
func TestARegistryThatMayNotBeOpened(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.etcd = func(context.Context, etcd.Config) (registry.Registry, error) {
		return nil, &registry.OpError{Op: "open", Path: "/", Err: registry.ErrDenied}
	}
	for _, args := range [][]string{{"get", "jobs"}, {"trigger", "orders", "--yes"}} {
		_, errOut, status := w.does(t, on(args...)...)
		require.Equal(t, exitRefused, status, errOut)
	}
}

// A right that is taken away when something was done already is no refusal.
func TestARightThatGoesInABackfill(t *testing.T) {
	t.Parallel()
	require.Equal(t, exitSome, statusOf(judged(statusError{exitSome, fmt.Errorf("go on: %w", registry.ErrDenied)})))
	require.Equal(t, exitRefused, statusOf(judged(fmt.Errorf("not begun: %w", registry.ErrDenied))))
}
