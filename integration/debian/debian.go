// Package debian gets programs that tests need from Debian's packages.
package debian

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/cache"
)

// installing bounds the installation of a package.
const installing = 10 * time.Minute

// Need returns the path of a program. If it is missing, the package that brings it is installed where that is allowed: as
// root, with CI or ELASTICRON_INSTALL=1 set. Otherwise the test is skipped, and in CI it fails.
func Need(tb testing.TB, program, pkg string) string {
	tb.Helper()
	if path, err := exec.LookPath(program); err == nil {
		return path
	}
	ci := os.Getenv("CI") != ""
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 || !ci && os.Getenv("ELASTICRON_INSTALL") != "1" {
		if ci {
			tb.Fatalf("NEEDED: %s: in CI this test must not be skipped, and the program cannot be installed", program)
		}
		tb.Skipf("NEEDED: %s: install it (Debian: apt-get install %s), or set ELASTICRON_INSTALL=1 as root", program, pkg)
	}
	unlock, err := cache.Lock(filepath.Join(os.TempDir(), "elasticron-install.lock"))
	require.NoError(tb, err)
	defer unlock()
	ctx, cancel := context.WithTimeout(tb.Context(), installing)
	defer cancel()
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", pkg},
	} {
		var out []byte
		err := cache.Again(ctx, func() (err error) {
			install := exec.CommandContext(ctx, "apt-get", args...)
			install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
			out, err = install.CombinedOutput()
			return err
		}, cache.Always)
		require.NoError(tb, err, "NEEDED: apt-get %v\n%s", args, out)
	}
	path, err := exec.LookPath(program)
	require.NoError(tb, err, "NEEDED: package %s was installed and brought no %s", pkg, program)
	return path
}
