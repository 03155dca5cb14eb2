package test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/integration/serverprocess"
)

// process is the program at work.
type process struct {
	cmd  *exec.Cmd
	errs serverprocess.Output
	out  io.Reader
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	name := program(t)
	ctx, cancel := context.WithTimeout(context.Background(), patience) // one that hangs is killed
	t.Cleanup(cancel)
	p := &process{cmd: exec.CommandContext(ctx, name, args...)}
	p.cmd.Stderr = &p.errs
	var err error
	p.out, err = p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	return p
}

// stop asks a process to stop, and has it come to a good end.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, p.cmd.Wait(), p.errs.String())
}

// What the chart makes runs: the real program takes the files, jobs and flags of the pods, and their probes find it
// well. It has an etcd of its own here, and files stand where it can find them.
func TestWhatTheChartMakesRuns(t *testing.T) {
	t.Parallel()
	claimed, err := ports.Claim(2)
	require.NoError(t, err)
	dir := t.TempDir()
	r := render(t, merged(t, blocks(t, "yaml")[0]+fmt.Sprintf(`
registry: {etcd: ["http://127.0.0.1:%s"], namespace: shop}
server: {usersSecret: users, sessionKeySecret: session, tlsSecret: tls, prefix: /cron}
`, claimed[0])))

	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("jobs/jobs.yaml", r.configMaps["cron-elasticron-jobs"].Data["jobs.yaml"])
	write("worker.yaml", strings.NewReplacer("/etc/elasticron/jobs", dir+"/jobs", ":9090", "127.0.0.1:"+claimed[1]).Replace(r.workerFile()))
	_, of := r.pod(t, "worker")
	worker := start(t, append(placed(of.Args, "/etc/elasticron/worker", dir), "--embedded", dir+"/etcd", "--address", "127.0.0.1:"+claimed[0])...)
	probe(t, worker, of, "127.0.0.1:"+claimed[1])

	write("users/users.yaml", "users: {anna: {password: '"+strings.TrimSpace(elasticron(t, "correct horse battery staple\n", "server", "passwd"))+
		"', grants: [{role: viewer, namespace: shop}]}}\n")
	write("session/session.key", elasticron(t, "", "server", "key"))
	certificate, key := selfSigned(t)
	write("tls/tls.crt", certificate)
	write("tls/tls.key", key)
	_, of = r.pod(t, "server")
	args := placed(of.Args, "/run/secrets/elasticron", dir)
	require.Equal(t, "--listen=:8080", args[1])
	args[1] = "--listen=127.0.0.1:0"
	server := start(t, args...)
	address := ""
	for lines := bufio.NewScanner(server.out); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "The console is at https://")
	}
	require.True(t, strings.HasSuffix(address, "/cron/"), "%s\n%s", address, server.errs.String())
	probe(t, server, of, strings.TrimSuffix(address, "/cron/"))
	server.stop(t)
	worker.stop(t)
}

// placed are arguments with what lies in one folder in another one.
func placed(args []string, from, to string) (all []string) {
	for _, arg := range args {
		all = append(all, strings.ReplaceAll(arg, from, to))
	}
	return all
}

// probe asks what the probes of a container ask, until all have found it well.
func probe(t *testing.T, p *process, of corev1.Container, address string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // as probes do
	defer client.CloseIdleConnections()
	for _, want := range []*corev1.Probe{of.StartupProbe, of.LivenessProbe, of.ReadinessProbe} {
		url := strings.ToLower(string(want.HTTPGet.Scheme))
		if url == "" {
			url = "http"
		}
		url += "://" + address + want.HTTPGet.Path
		last := ""
		well := func() bool {
			answer, err := client.Get(url)
			if err != nil {
				last = err.Error()
				return false
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			last = answer.Status + " " + string(text)
			return answer.StatusCode == http.StatusOK
		}
		for deadline := time.Now().Add(patience); !well(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %s\n%s", url, last, p.errs.String())
			}
		}
	}
}

// selfSigned makes a certificate for this machine, and its key.
func selfSigned(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return text("CERTIFICATE", signed), text("PRIVATE KEY", der)
}
