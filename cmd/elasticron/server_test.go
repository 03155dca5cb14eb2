//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/access"
)

// A server with an etcd of its own serves what commands through it do, keeps it over a restart, and stops when it is
// asked to.
func TestServerWithItsOwnEtcd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, command := range []string{"create -f testdata/jobs.yaml", "disable job/orders"} {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // one that hangs is killed
		t.Cleanup(cancel)
		server := exec.CommandContext(ctx, os.Args[0], "server", "--embedded", "--embedded-listen", "", "--data", dir, "-n", "shop", "--listen", "127.0.0.1:0")
		server.Env = append(os.Environ(), asProgram+"="+sound)
		var errs bytes.Buffer
		server.Stderr = &errs
		out, err := server.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, server.Start())
		url := ""
		for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
			_, url, _ = strings.Cut(lines.Text(), "The console is at ")
		}
		if url == "" {
			_ = server.Wait() // which is still writing errs until then
			require.Fail(t, "it ended without saying where it is", errs.String())
		}
		w := newWorld(t)
		_, errOut, status := w.does(t, append(strings.Fields(command), "--server", url, "-n", "shop")...)
		require.Zero(t, status, errOut)
		require.NoError(t, server.Process.Signal(syscall.SIGTERM))
		require.NoError(t, server.Wait(), errs.String())
		require.FileExists(t, filepath.Join(dir, "history", "shop.db"))
	}
}

func TestWrongServers(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	for args, want := range map[string]string{
		"--etcd http://e1 -n shop --listen 0.0.0.0:80":                         "listens on loopback only",
		"--etcd http://e1 -n shop --listen nowhere":                            "--listen: ",
		"--etcd http://e1 -n shop,bank --history x":                            "a history does not tell namespaces apart",
		"--embedded -n shop,bank --history x":                                  "a history does not tell namespaces apart",
		"--etcd http://e1":                                                     "--namespace is missing",
		"--embedded":                                                           "--namespace is missing",
		"--embedded --etcd http://e1 -n shop":                                  "--embedded is given besides",
		"--server https://c -n shop":                                           "unknown flag: --server",
		"--etcd http://e1 -n shop --tls-cert x":                                "--tls-cert and --tls-key",
		"--etcd http://e1 -n shop --cert x":                                    "--cert and --key must be given together",
		"--etcd http://e1 -n shop --oidc-client-id x":                          "--oidc-issuer is missing",
		"--etcd http://e1 -n shop --proxy-user-header X":                       "--proxy-from is missing",
		"--etcd http://e1 -n shop --proxy-user-header X --proxy-from somebody": `--proxy-from is "somebody"`,
	} {
		_, errOut, status := w.does(t, append([]string{"server"}, strings.Fields(args)...)...)
		require.Equal(t, exitMisuse, status, "%s: %s", args, errOut)
		require.Contains(t, errOut, want)
	}
	missing := filepath.Join(t.TempDir(), "none")
	for args, want := range map[string]string{
		"--users " + missing: "no such file", "--history " + missing: "--history: ", "--prefix cron": "must begin with one slash",
		"--tls-cert " + missing + " --tls-key " + missing: "--tls-cert: ",
		// They may be there at the next start, which systemd does not make after a wrong command line.
		"--ca " + missing: "--ca: ", "--cert " + missing + " --key " + missing: "--cert, --key: ",
	} {
		_, errOut, status := w.does(t, append([]string{"server", "--etcd", "http://e1", "-n", "shop"}, strings.Fields(args)...)...)
		require.Equal(t, exitFailed, status, args)
		require.Contains(t, errOut, want)
	}
}

func TestSecretsForTheUsersFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.in = strings.NewReader("correct horse battery staple\n")
	require.True(t, strings.HasPrefix(w.must(t, "server", "passwd"), "$argon2id$"))
	w.in = strings.NewReader("\n")
	_, errOut, status := w.does(t, "server", "passwd")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "password")
	require.Regexp(t, `^token: \S+\nsha256: [0-9a-f]{64}\n$`, w.must(t, "server", "token"))
	require.Len(t, strings.TrimSpace(w.must(t, "server", "key")), len(access.NewKey()))
}
