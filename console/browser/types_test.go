package browser

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/cache"
	"github.com/elasticron/elasticron/integration/debian"
)

// typescriptVersion is that of the checker: esbuild strips types and does not look at them.
const typescriptVersion = "7.0.2"

// typescript returns TypeScript's checker. npm brings it once; afterwards it is in the cache.
func typescript(tb testing.TB) (tsc string) {
	tb.Helper()
	debian.Need(tb, "node", "nodejs") // in which the checker runs
	folder, err := cache.Folder("typescript")
	require.NoError(tb, err)
	unlock, err := cache.Lock(filepath.Join(folder, "lock"))
	require.NoError(tb, err)
	defer unlock()
	kept := filepath.Join(folder, typescriptVersion)
	tsc = filepath.Join(kept, "node_modules", ".bin", "tsc")
	if _, err := os.Stat(tsc); err == nil {
		return tsc
	}
	whole, err := os.MkdirTemp(folder, "fetch-") //nolint:usetesting // beside where it is to be, so that it can be renamed
	require.NoError(tb, err)
	defer func() { _ = os.RemoveAll(whole) }()
	fetch(tb, whole, "install", "--prefix", whole, "--no-audit", "--no-fund", "typescript@"+typescriptVersion)
	require.NoError(tb, os.RemoveAll(kept))
	require.NoError(tb, os.Rename(whole, kept))
	return tsc
}

// The script of the pages is what TypeScript's checker takes it for.
func TestTypes(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), typescript(t), "-p", "../web/src").CombinedOutput()
	require.NoError(t, err, "tsc:\n%s", out)
}
