package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What logs prints, on the registry and through a server.
func TestLogs(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.writeHistory(t)
	for _, flags := range [][]string{on(), w.withServer(t)} {
		logs := func(args string) string {
			t.Helper()
			return w.must(t, append(append([]string{"logs"}, strings.Fields(args)...), flags...)...)
		}
		require.Equal(t, "item1", logs("job/orders"))
		require.Equal(t, "one\ntwo\x1b[31m\nthree", logs("item/orders/0"))
		require.Equal(t, "two\x1b[31m\nthree", logs("item/orders/0 --tail 2"))
		require.Equal(t, "older\n", logs("job/orders --token 40"))
		require.Equal(t, "==> item 0, began 2026-03-02T11:59:00.02Z, token 40 <==\nolder\n==> item 0, began 2026-03-02T12:00:00.02Z, token 41 <==\nthree\n",
			logs("item/orders/0 --last 5 --tail 1"))
		require.Equal(t, "one\ntwo\x1b[31m\nthree", logs("execution/orders/0/2026-03-02T12:00:00.02Z"))
		require.JSONEq(t, `{"outputs": [{"id": "o1", "job": "orders", "item": 0, "token": 40, "start": "2026-03-02T11:59:00.02Z", "bytes": 6, "text": "older\n"}]}`,
			logs("job/orders --token 40 -o json"))
		out, errOut, status := w.does(t, append([]string{"logs", "job/silent"}, flags...)...)
		require.Zero(t, status, errOut)
		require.Empty(t, out)
		require.Equal(t, "item 2, began 2026-03-02T12:00:00.02Z, wrote nothing\n", errOut)

		described := w.must(t, append([]string{"describe", "execution/orders/0/2026-03-02T12:00:00.02Z"}, flags...)...)
		require.Contains(t, described, "Outcome:      success\n")
		require.Contains(t, described, "Output:       90 bytes\n  one\n  two [31m\n  three\n")
		described = w.must(t, append([]string{"describe", "execution/mail/0/2026-03-02T12:00:00.02Z"}, flags...)...)
		require.Contains(t, described, "Output:       none is kept\n")
	}
	// A history that a flag names counts, and needs no registry.
	require.Equal(t, "item1", w.must(t, "logs", "job/orders", "--history", w.variables[historyVariable]))
	require.Equal(t, "item1", w.must(t, "logs", "job/orders"))
}

// Of an output that another worker has, the machine is named.
func TestLogsOfAnotherMachine(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.writeHistory(t)
	for _, flags := range [][]string{on(), w.withServer(t)} {
		_, errOut, status := w.does(t, append([]string{"logs", "item/mail/0"}, flags...)...)
		require.Equal(t, exitFailed, status)
		require.Contains(t, errOut, "no output of item/mail/0 is kept in this history: item 0 began 2026-03-02T12:00:00.02Z on 10.0.0.1 (10.0.0.1@-@7-a)")
		require.Contains(t, errOut, "call elasticron logs on that machine")
		_, errOut, _ = w.does(t, append([]string{"logs", "job/orders", "--token", "99"}, flags...)...)
		require.Contains(t, errOut, "no output of job/orders is kept under the token 99 in this history, and the registry knows of none that ran")
	}
	_, errOut, _ := w.does(t, "logs", "job/mail", "--history", w.variables[historyVariable])
	require.Contains(t, errOut, "is kept in this history, and a history is that of one worker", "no registry is named")
}

// Where outputs are to be found has to be said.
func TestLogsWithoutAHistory(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	flags := w.withServer(t)
	for want, args := range map[string][]string{
		"no history is named: want --history":           on("logs", "job/orders"),
		"no registry is named":                          {"logs", "job/orders"},
		"this server has no history with outputs":       append([]string{"logs", "job/orders"}, flags...),
		"--history is given besides --server":           append([]string{"logs", "job/orders", "--history", "x"}, flags...),
		"no such file":                                  on("logs", "job/orders", "--history", "none.db"),
		"--token is given besides an execution":         on("logs", "execution/orders/0/2026-03-02T12:00:00.02Z", "--token", "5"),
		"want job/NAME or item/JOB/NUMBER":              on("logs", "orders"),
		"--last is 101, want 1 to 100":                  on("logs", "job/orders", "--last", "101"),
		"as get executions -o name has it":              on("logs", "execution/orders/0/soon"),
		"--token is -1, want a fencing token, which is": on("logs", "job/orders", "--token", "-1"),
	} {
		_, errOut, status := w.does(t, args...)
		require.NotZero(t, status, want)
		require.Contains(t, errOut, want)
	}
	described := w.must(t, append([]string{"describe", "execution/orders/0/2026-03-02T12:00:00.02Z"}, flags...)...)
	require.Contains(t, described, "Output:       not known: this server has no history")
	described = w.must(t, on("describe", "execution/orders/0/2026-03-02T12:00:00.02Z")...)
	require.Contains(t, described, "Output:       not known: no history is named")
}
