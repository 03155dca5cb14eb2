package email_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/job/errorhandler/email"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// send makes the handler for a server and has it told of a failure.
func send(ctx context.Context, t *testing.T, port string, settings map[string]string) error {
	t.Helper()
	all := map[string]string{
		"email.host": "127.0.0.1", "email.port": port, "email.from": "cron@example.org", "email.to": "ops@example.org,dev@example.org",
	}
	maps.Copy(all, settings)
	handlers := errorhandler.Default()
	require.NoError(t, handlers.Register(email.Name, email.New))
	h, err := handlers.New(job.Config{ErrorHandler: email.Name, Props: all}, slog.Default())
	require.NoError(t, err)
	return h.HandleError(ctx, "orders", job.ShardingContext{Item: 1, TotalCount: 2}, errors.New("boom"))
}

func TestAFailureIsSent(t *testing.T) {
	t.Parallel()
	server, port := open(t, "secret", true)
	require.NoError(t, send(t.Context(), t, port, map[string]string{
		"email.username": "me", "email.password": "secret", "email.ssl.trust": "127.0.0.1", "email.cc": "boss@example.org",
		"email.bcc": "log@example.org", "email.debug": "true",
	}))
	got := <-server.letters
	require.Equal(t, "cron@example.org", got.from)
	require.Equal(t, []string{"ops@example.org", "dev@example.org", "boss@example.org", "log@example.org"}, got.to)
	require.Contains(t, got.text, "Subject: ElasticJob error message\r\n")
	require.Contains(t, got.text, "Job 'orders' failed: item 1 of 2")
	require.Contains(t, got.text, "boom")
	require.NotContains(t, got.text, "log@example.org", "a blind copy is blind")
}

// What has TLS from the first byte gets no second one: a server whose TLS somebody else takes off may offer it all the same.
func TestASecondTLSIsNotTaken(t *testing.T) {
	t.Parallel()
	server, port := behind(t, "secret")
	require.NoError(t, send(t.Context(), t, port, map[string]string{
		"email.username": "me", "email.password": "secret", "email.ssl.trust": "127.0.0.1",
	}))
	require.Contains(t, (<-server.letters).text, "boom")
}

// Addresses are written as mail programs do it, or bare, with commas or spaces between them.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][]string{
		"ops@example.org":                                    {"ops@example.org"},
		" ops@example.org dev@example.org,":                  {"ops@example.org", "dev@example.org"},
		"Ops Team <ops@example.org>":                         {"ops@example.org"},
		`"Ops, Berlin" <ops@example.org>, dev@example.org`:   {"ops@example.org", "dev@example.org"},
		"Jürgen <j@example.org>,Ops Team <ops@example.org>":  {"j@example.org", "ops@example.org"},
		"<ops@example.org>, Dev <dev@example.org>, x@a.test": {"ops@example.org", "dev@example.org", "x@a.test"},
	} {
		_, err := email.New(job.Config{Props: map[string]string{
			"email.host": "h", "email.port": "25", "email.from": "a@b.c", "email.to": list,
		}}, slog.Default())
		require.NoError(t, err, list)
		server, port := open(t, "", false)
		require.NoError(t, send(t.Context(), t, port, map[string]string{"email.useSsl": "false", "email.to": list, "email.cc": list}), list)
		require.Equal(t, slices.Concat(want, want), (<-server.letters).to, list)
	}
	_, err := email.New(job.Config{Props: map[string]string{
		"email.host": "h", "email.port": "25", "email.from": "a@b.c", "email.to": "Ops Team <ops>",
	}}, slog.Default())
	require.ErrorContains(t, err, "email.to")
	require.ErrorContains(t, err, "Ops Team <ops>")
}

func TestWithoutTLS(t *testing.T) {
	t.Parallel()
	server, port := open(t, "", false)
	require.NoError(t, send(t.Context(), t, port, map[string]string{"email.useSsl": "false", "email.subject": "Ouch"}))
	require.Contains(t, (<-server.letters).text, "Subject: Ouch\r\n")
}

// No password goes over a connection that anybody can read.
func TestAPasswordIsNotSentInTheClear(t *testing.T) {
	t.Parallel()
	server, port := open(t, "secret", false)
	err := send(t.Context(), t, port, map[string]string{
		"email.useSsl": "false", "email.username": "me", "email.password": "secret",
	})
	require.ErrorContains(t, err, "no password is sent without TLS")
	require.Empty(t, server.letters)
}

func TestWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	server, port := open(t, "secret", true)
	trust := map[string]string{"email.ssl.trust": "*", "email.username": "me", "email.password": "wrong"}
	require.ErrorContains(t, send(t.Context(), t, port, trust), "email: ")
	require.ErrorContains(t, send(t.Context(), t, port, nil), "certificate", "nobody has signed it")
	require.Empty(t, server.letters)
}

// A server that says nothing is left when the context ends.
func TestAServerThatHangs(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	require.Error(t, send(ctx, t, port, map[string]string{"email.useSsl": "false"}))
}

// A server that stops to answer at any point is left when the context ends, which may be long before it has been silent for too
// long. What it has taken is sent all the same.
func TestAServerThatFallsSilent(t *testing.T) {
	t.Parallel()
	for word, sent := range map[string]bool{"EHLO": false, "MAIL": false, "RCPT": false, "DATA": false, "RSET": true, "QUIT": true} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, TLS %t", word, secure), func(t *testing.T) {
				t.Parallel()
				silent, port := silentAt(t, word, secure)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				over := errors.New("enough")
				go func() {
					<-silent
					if word != "QUIT" { // for which nobody waits for long
						cancel(over)
					}
				}()
				settings := map[string]string{"email.useSsl": strconv.FormatBool(secure), "email.ssl.trust": "*"}
				watch, began := standstill.New(t), time.Now()
				err := send(ctx, t, port, settings)
				require.Less(t, watch.Elapsed(began), 6*time.Second)
				if sent {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, over)
				}
			})
		}
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	_, err := email.New(job.Config{Props: map[string]string{"email.port": "0", "email.tls": "x"}}, slog.Default())
	for _, want := range []string{
		`Props email.host "" must not be empty`, `Props email.port "0" must be a whole number between 1 and 65535`,
		`Props email.from "" must not be empty`, `Props email.to "" must not be empty`, `Props email.tls "x" must not be there`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = email.New(job.Config{Props: map[string]string{
		"email.host": "h", "email.port": "25", "email.from": "nobody", "email.to": "a@b.c",
	}}, slog.Default())
	require.ErrorContains(t, err, "email.from")
}

// The password is in a file of the process, and in no error.
func TestAPasswordByReference(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	server, port := open(t, "secret", true)
	settings := map[string]string{"email.username": "me", "email.password": "file:" + file, "email.ssl.trust": "127.0.0.1"}
	require.NoError(t, send(t.Context(), t, port, settings))
	require.Contains(t, (<-server.letters).text, "boom")

	t.Setenv("EMAIL_FROM", "not an address")
	_, err := email.New(job.Config{Props: map[string]string{
		"email.host": "h", "email.port": "25", "email.from": "env:EMAIL_FROM", "email.to": "a@b.c",
	}}, slog.Default())
	require.ErrorContains(t, err, "email.from")
	require.ErrorContains(t, err, "env:EMAIL_FROM")
	require.NotContains(t, err.Error(), "not an address")
}
