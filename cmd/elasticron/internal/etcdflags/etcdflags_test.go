package etcdflags_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
)

const variable = "ELASTICRON_TEST_PASSWORD"

// parse returns the flags of a command line whose etcd flags have the prefix "to-".
func parse(t *testing.T, args ...string) *etcdflags.Flags {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags := etcdflags.New(set, "to", "to-", variable)
	require.NoError(t, set.Parse(args))
	return flags
}

func TestWrongFlags(t *testing.T) {
	t.Parallel()
	none := filepath.Join(t.TempDir(), "none.pem")
	text := filepath.Join(t.TempDir(), "text.pem")
	require.NoError(t, os.WriteFile(text, []byte("no certificate"), 0o600))
	ofFiles := []string{"--to-ca: open " + none, "--to-ca: no certificate in PEM: " + text, "--to-cert, --to-key: tls: failed to find"}
	for want, args := range map[string][]string{
		"--to is missing: want the URLs":              nil,
		"--to-user is given, and $" + variable:        {"--to", "http://x", "--to-user", "u"},
		"--to has an address with a user or a passwo": {"--to", "http://anna:swordfish@x"},
		"--to-ca: open " + none:                       {"--to", "http://x", "--to-ca", none},
		"--to-ca: no certificate in PEM: " + text:     {"--to", "http://x", "--to-ca", text},
		"--to-cert and --to-key must be given togeth": {"--to", "http://x", "--to-cert", text},
		"--to-cert, --to-key: tls: failed to find":    {"--to", "http://x", "--to-cert", text, "--to-key", text},
		"Namespace is empty":                          {"--to", "http://x"},
	} {
		_, err := parse(t, args...).Open(t.Context(), "")
		require.ErrorContains(t, err, want)
		var file etcdflags.FileError
		require.Equal(t, slices.Contains(ofFiles, want), errors.As(err, &file), want)
		require.NotContains(t, err.Error(), "swordfish")
	}
	require.False(t, parse(t).Given())
	require.True(t, parse(t, "--to", "http://x").Given())
}

// A pipe of a shell, as of --password-file <(…), can be read once, and has the password of all logins.
func TestAPasswordThatCanBeReadOnce(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	_, err = w.WriteString("secret\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	flags := parse(t, "--to", "http://x")
	flags.Default(etcdflags.Defaults{User: "me", PasswordFile: fmt.Sprintf("/dev/fd/%d", r.Fd())})
	config, err := flags.Config("shop")
	require.NoError(t, err)
	for range 2 {
		password, err := config.PasswordFunc(t.Context())
		require.NoError(t, err)
		require.Equal(t, "secret", password)
	}
}
