// Package debian gets programs that tests need from Debian's packages.
package debian

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/elasticron/elasticron/integration/cache"
)

// installing bounds the installation of a package.
const installing = 10 * time.Minute

// Need returns the path of a program. If it is missing, the package that brings it is installed where that is allowed: as
// root, with CI or ELASTICRON_INSTALL=1 set. Otherwise the test is skipped, and in CI it fails.
func Need(tb testing.TB, program, pkg string) string {
	tb.Helper()
	NeedAll(tb, pkg, "package "+pkg, func() []string {
		return slices.DeleteFunc([]string{program}, func(program string) bool { return find(program) != "" })
	})
	return find(program)
}

// find returns where a program is; empty if it is nowhere.
func find(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}

// NeedAll is [Need] for all programs of a package, wherever they lie: what tells what the package is for, in messages, and
// missing which of the programs are not there, also after the installation.
func NeedAll(tb testing.TB, pkg, what string, missing func() []string) {
	tb.Helper()
	lacking := missing()
	switch {
	case len(lacking) == 0:
	case mayInstall():
		if err := install(tb.Context(), pkg, missing); err != nil {
			tb.Fatalf("NEEDED: %s: %v", what, err)
		}
	case ci():
		tb.Fatalf("NEEDED: %v of %s: in CI this test must not be skipped, and programs cannot be installed", lacking, what)
	default:
		tb.Skipf("NEEDED: %v of %s: install it (Debian: apt-get install %s), or set ELASTICRON_INSTALL=1 as root", lacking, what, pkg)
	}
}

// ci tells whether this is a run of continuous integration, where a test that cannot run has failed.
func ci() bool { return os.Getenv("CI") != "" }

// mayInstall tells whether this process may install packages, and can.
func mayInstall() bool {
	return find("apt-get") != "" && os.Geteuid() == 0 && (ci() || os.Getenv("ELASTICRON_INSTALL") == "1")
}

// install installs a package. One process at a time does; the others find it done.
func install(ctx context.Context, pkg string, missing func() []string) error {
	ctx, cancel := context.WithTimeout(ctx, installing)
	defer cancel()
	unlock, err := cache.Lock(filepath.Join(os.TempDir(), "elasticron-install.lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if len(missing()) == 0 {
		return nil
	}
	for _, args := range [][]string{
		{"update"},
		{"install", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120", pkg},
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
	if lacking := missing(); len(lacking) > 0 {
		return fmt.Errorf("package %s was installed and brought no %v", pkg, lacking)
	}
	return nil
}
