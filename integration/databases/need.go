package databases

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/cache"
)

// installTimeout bounds the installation of a package.
const installTimeout = 10 * time.Minute

// ci tells whether this is a run of continuous integration, where a test that cannot run has failed.
func ci() bool { return os.Getenv("CI") != "" }

// mayInstall tells whether this process may install packages, and can.
func mayInstall() bool {
	_, err := exec.LookPath("apt-get")
	return err == nil && os.Geteuid() == 0 && (ci() || os.Getenv("ELASTICRON_INSTALL") == "1")
}

// Need makes sure that a server of this kind can be started here. Where it cannot, the test is skipped
// with what is missing, or fails in CI.
func Need(tb testing.TB, k *Kind) {
	tb.Helper()
	missing := k.missing()
	if len(missing) == 0 {
		return
	}
	if mayInstall() {
		if err := k.install(tb.Context()); err != nil {
			tb.Fatalf("NEEDED: %s: %v", k.Name, err)
		}
		return
	}
	if ci() {
		tb.Fatalf("NEEDED: %v of %s: this test talks to a real server, and in CI it must not be skipped", missing, k.Name)
		return // for a testing.TB that goes on
	}
	tb.Skipf("NEEDED: %v of %s: this test talks to a real server. Install it (Debian: apt-get install %s), "+
		"or set ELASTICRON_INSTALL=1 as root", missing, k.Name, k.pkg)
}

// install installs the package. One process at a time does; the others find it done.
func (k *Kind) install(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installTimeout)
	defer cancel()
	unlock, err := cache.Lock(filepath.Join(os.TempDir(), "elasticron-install.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if len(k.missing()) == 0 {
		return nil
	}
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", k.pkg},
	} {
		if err := cache.Again(ctx, func() error {
			cmd := exec.CommandContext(ctx, "apt-get", args...)
			// Nobody is asked, and at run level 1 an installation starts no service.
			cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive", "RUNLEVEL=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("apt-get %v: %w\n%s", args, err, out)
			}
			return nil
		}, cache.Always); err != nil {
			return err
		}
	}
	if missing := k.missing(); len(missing) > 0 {
		return fmt.Errorf("package %s was installed and brought no %v", k.pkg, missing)
	}
	return nil
}
