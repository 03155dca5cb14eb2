package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContexts(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	require.Equal(t, "  NAME  REGISTRY  NAMESPACE  USER\n", w.must(t, "context", "list"))
	_, errOut, status := w.does(t, "get", "jobs")
	require.Equal(t, exitMisuse, status)
	require.Contains(t, errOut, "no registry is named: want --etcd, --zookeeper, --server, or a context")

	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379,http://e2:2379", "--namespace", "shop")
	w.must(t, "context", "set", "old", "--zookeeper", "zk1:2181", "-n", "shop")
	require.Equal(t, "   NAME  REGISTRY                            NAMESPACE  USER\n"+
		"   old   zookeeper zk1:2181                  shop\n"+
		"*  prod  etcd http://e1:2379,http://e2:2379  shop\n", w.must(t, "context", "list"))
	require.Contains(t, w.must(t, "get", "jobs"), "orders")
	require.Equal(t, []string{"http://e1:2379", "http://e2:2379"}, w.asked.etcd.Endpoints)
	require.Equal(t, "shop", w.asked.etcd.Namespace)

	w.must(t, "get", "jobs", "--context", "old")
	require.Equal(t, []string{"zk1:2181"}, w.asked.zooKeeper.Servers)
	w.asked.zooKeeper.Servers = nil
	w.variables[contextVariable] = "old"
	w.must(t, "get", "jobs")
	require.Equal(t, []string{"zk1:2181"}, w.asked.zooKeeper.Servers)
	require.Contains(t, w.must(t, "context", "list"), "*  old")
	delete(w.variables, contextVariable)
	w.must(t, "context", "use", "old")
	require.Equal(t, "name: old\nzookeeper:\n  - zk1:2181\nnamespace: shop\n", w.must(t, "context", "show"))
	require.Contains(t, w.must(t, "get", "jobs", "-n", "empty"), "No jobs found", "the flag counts for more than the context")

	w.must(t, "context", "remove", "old")
	_, errOut, status = w.does(t, "context", "show")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, "no context is chosen; known are: prod")
	_, errOut, _ = w.does(t, "get", "jobs", "--context", "old")
	require.Contains(t, errOut, `there is no context "old"; known are: prod`)
	require.Equal(t, "{\n  \"name\": \"prod\",\n", w.must(t, "context", "show", "prod", "-o", "json")[:20])
}

func TestCredentialsOfAContextStayWithIt(t *testing.T) {
	t.Setenv(passwordVariable, "")
	w := newShop(t)
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("geheim\n"), 0o600))
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop", "--user", "ops", "--password-file", password)
	w.must(t, "get", "jobs")
	require.Equal(t, [2]string{"ops", "geheim"}, [2]string{w.asked.etcd.Username, w.askedPassword(t)})
	require.NoError(t, os.WriteFile(password, []byte("neu\n"), 0o600))
	require.Equal(t, "neu", w.askedPassword(t), "at the next login")
	w.must(t, "get", "jobs", "--etcd", "http://e9:2379", "-n", "shop")
	require.Equal(t, [2]string{}, [2]string{w.asked.etcd.Username, w.askedPassword(t)}, "another cluster is told nothing")

	t.Setenv(passwordVariable+"_FILE", password)
	w.must(t, "get", "jobs", "--etcd", "http://e9:2379", "-n", "shop", "--user", "me")
	require.Equal(t, "neu", w.askedPassword(t))
	t.Setenv(passwordVariable, "other\r\n") // as a Secret has it that was made from a file with a line end
	w.must(t, "get", "jobs")
	require.Equal(t, "other", w.askedPassword(t))
	w.must(t, "context", "set", "prod", "--zookeeper", "zk1")
	w.must(t, "get", "jobs")
	require.Equal(t, "ops:other", w.asked.zooKeeper.Digest)

	w.must(t, "context", "set", "prod", "--user", "", "--password-file", "")
	w.must(t, "get", "jobs")
	require.Empty(t, w.asked.zooKeeper.Digest)
	name, err := w.contextsFile()
	require.NoError(t, err)
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	require.Len(t, left, 1, "no remains of writing")
}

func TestContextsThatAreWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for want, args := range map[string][]string{
		"none of etcd, zookeeper and server":  {"a"},
		"--etcd and --zookeeper are given":    {"a", "--etcd", "x", "--zookeeper", "y"},
		"ca, cert and key are for etcd":       {"a", "--zookeeper", "y", "--ca", "x"},
		"server is given besides etcd":        {"a", "--etcd", "x", "--server", "https://c"},
		"token_file is given without server":  {"a", "--etcd", "x", "--token-file", "t"},
		"with server there is a token":        {"a", "--server", "https://c", "--user", "u"},
		"cert and key must be given together": {"a", "--etcd", "x", "--cert", "x"},
		"password_file is given without user": {"a", "--etcd", "x", "--password-file", "x"},
		"etcd has an address with a user or":  {"a", "--etcd", "http://anna:swordfish@h:2379"},
		"must not have an empty segment":      {"a", "--etcd", "x", "-n", "a//b"},
		`the name of a context is " a"`:       {" a", "--etcd", "x"},
		"accepts 1 arg(s), received 0":        {},
	} {
		_, errOut, status := w.does(t, append([]string{"context", "set"}, args...)...)
		require.Equal(t, exitMisuse, status, want)
		require.Contains(t, errOut, want)
		require.NotContains(t, errOut, "swordfish")
	}
	_, errOut, status := w.does(t, "context", "use", "x")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `there is no context "x"; known are: none`)
	for args, want := range map[string]string{
		"--etcd x --zookeeper y -n shop":  "--etcd and --zookeeper are given",
		"--etcd x --context y -n shop":    "--context is given besides --etcd, --zookeeper or --server",
		"--etcd x":                        "--namespace is missing",
		"--etcd x --server https://c":     "--server is given besides --etcd",
		"--server https://c":              "--namespace is missing",
		"--server c -n shop":              "want one such as https://",
		"--etcd x -n shop --token-file t": "--token-file is given without --server",
		"--zookeeper y -n shop --ca x":    "--ca is given, and elasticron speaks no TLS to ZooKeeper",
		"--zookeeper y -n shop --key x":   "--key is given, and elasticron speaks no TLS to ZooKeeper",
	} {
		_, errOut, status := w.does(t, append([]string{"get", "jobs"}, strings.Fields(args)...)...)
		require.Equal(t, exitMisuse, status)
		require.Contains(t, errOut, want)
	}

	name, err := w.contextsFile()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	for text, want := range map[string]string{
		"contexts: {a: {etdc: [x]}}":                 "field etdc not found",
		"contexts: {a: {etcd: [x], zookeeper: [y]}}": "context a: etcd and zookeeper are given",
		"- a": "cannot unmarshal",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		_, errOut, status := w.does(t, "get", "jobs")
		require.Equal(t, exitFailed, status)
		require.Contains(t, errOut, want)
		require.Contains(t, errOut, name)
	}
}

func TestWhereContextsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	delete(w.variables, contextsFileVariable)
	w.variables["XDG_CONFIG_HOME"] = "/x"
	name, err := w.contextsFile()
	require.NoError(t, err)
	require.Equal(t, "/x/elasticron/contexts.yaml", name)
}

func TestNamesAreCompleted(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop")
	for want, args := range map[string][]string{
		"orders":                        {"next", "o"},
		"mail":                          {"get", "jobs", "m"},
		"nightly":                       {"trigger", "ni"},
		"10.0.0.3":                      {"get", "servers", "10.0.0.3"},
		"job/mail":                      {"describe", "job/m"},
		"item/mail/0\nitem/mail/1":      {"give-up", "item/mail"},
		"server/10.0.0.1":               {"disable", "server/10.0.0.1"},
		"instance/" + first:             {"shutdown", "instance/10.0.0.1"},
		"broken\nmail\nnightly\norders": {"export", ""},
	} {
		out, _, status := w.does(t, append([]string{"__complete"}, args...)...)
		require.Zero(t, status)
		require.Equal(t, want+"\n:4\n", out, "%v", args)
	}
	w.must(t, "context", "remove", "prod")
	out, _, status := w.does(t, "__complete", "next", "o")
	require.Zero(t, status)
	require.Equal(t, ":4\n", out)
}

// Shells that change the file of contexts at the same time lose nothing of each other.
func TestManyShellsChangeTheContexts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var shells sync.WaitGroup
	for n := range 20 {
		shells.Go(func() {
			var out, errOut bytes.Buffer
			program := *w.program
			if program.run(t.Context(), []string{"context", "set", fmt.Sprint("c", n), "--etcd", "http://e"}, &out, &errOut) != exitOK {
				t.Error(errOut.String())
			}
		})
	}
	shells.Wait()
	require.Equal(t, 1+20, strings.Count(w.must(t, "context", "list"), "\n"))
}

// A file of contexts that many use stays theirs when one of them changes it, and a link to it stays one.
func TestASharedFileOfContexts(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	shared, link := filepath.Join(t.TempDir(), "shared.yaml"), filepath.Join(t.TempDir(), "contexts.yaml")
	require.NoError(t, os.Symlink(shared, link))
	w.variables[contextsFileVariable] = link
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop")
	info, err := os.Stat(shared)
	require.NoError(t, err, "it is made where the link leads to")
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.NoError(t, os.Chmod(shared, 0o664))
	w.must(t, "context", "set", "test", "--etcd", "http://e2:2379", "-n", "shop")
	w.must(t, "context", "use", "test")
	info, err = os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(shared)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o664), info.Mode())
	require.Contains(t, w.must(t, "context", "list"), "*  test")
}

// The file is made at the end of all links that lead to it, and none of them becomes a file.
func TestContextsBehindSeveralLinks(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	dir := t.TempDir()
	for link, to := range map[string]string{"a": filepath.Join(dir, "b"), "b": "c", "c": "shared.yaml", "x": "y", "y": "x"} {
		require.NoError(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	w.variables[contextsFileVariable] = filepath.Join(dir, "a")
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop")
	for name, mode := range map[string]os.FileMode{"a": os.ModeSymlink, "b": os.ModeSymlink, "c": os.ModeSymlink, "shared.yaml": 0} {
		info, err := os.Lstat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Type(), name)
	}
	w.variables[contextsFileVariable] = filepath.Join(dir, "x")
	_, _, status := w.does(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop")
	require.Equal(t, exitFailed, status)
}

// Files that a context names are found from wherever a command is run.
func TestFilesOfAContextAreAbsolute(t *testing.T) {
	t.Parallel()
	w := newShop(t)
	here, err := os.Getwd()
	require.NoError(t, err)
	w.must(t, "context", "set", "prod", "--etcd", "http://e1:2379", "-n", "shop", "--user", "ops", "--password-file", "p", "--ca", "../ca.pem", "--cert", "c", "--key", "/k")
	w.must(t, "context", "set", "prod", "--user", "cron", "--cert", "", "--key", "")
	require.Equal(t, "name: prod\netcd:\n  - http://e1:2379\nnamespace: shop\nuser: cron\npassword_file: "+filepath.Join(here, "p")+
		"\nca: "+filepath.Join(filepath.Dir(here), "ca.pem")+"\n", w.must(t, "context", "show", "prod"))
	w.must(t, "context", "set", "console", "--server", "https://cron.example.com", "-n", "shop", "--token-file", "x")
	require.Contains(t, w.must(t, "context", "show", "console"), "token_file: "+filepath.Join(here, "x")+"\n")
}
