package browser

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/cache"
	"github.com/elasticron/elasticron/integration/debian"
)

// The version of axe-core, and the SHA-256 of the file of it that is used. It is not ours, so it is not committed.
const (
	axeVersion = "4.14.1"
	axeFile    = "package/axe.min.js"
	axeSum     = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
)

var (
	axeOnce sync.Once
	axeText string
)

// axe returns the script of axe-core. npm brings it once; afterwards it is in the cache.
func axe(tb testing.TB) string {
	tb.Helper()
	axeOnce.Do(func() { axeText = getAxe(tb) })
	require.NotEmpty(tb, axeText, "axe-core could not be had, see the first test that asked for it")
	return axeText
}

func getAxe(tb testing.TB) string {
	tb.Helper()
	folder, err := cache.Folder("axe-core", axeVersion)
	require.NoError(tb, err)
	unlock, err := cache.Lock(filepath.Join(folder, "lock"))
	require.NoError(tb, err)
	defer unlock()
	kept := filepath.Join(folder, "axe.min.js")
	if text, err := os.ReadFile(kept); err == nil && sumOf(text) == axeSum {
		return string(text)
	}
	dir := tb.TempDir()
	fetch(tb, dir, "pack", "axe-core@"+axeVersion, "--silent")
	text := unpack(tb, filepath.Join(dir, "axe-core-"+axeVersion+".tgz"))
	require.Equal(tb, axeSum, sumOf(text), "npm brought another axe-core than the one that is pinned")
	require.NoError(tb, os.WriteFile(kept, text, 0o644))
	return string(text)
}

// fetch has npm bring something into a folder.
func fetch(tb testing.TB, dir string, args ...string) {
	tb.Helper()
	npm := debian.Need(tb, "npm", "npm")
	var out []byte
	err := cache.Again(tb.Context(), func() (err error) {
		cmd := exec.CommandContext(tb.Context(), npm, args...)
		cmd.Dir = dir
		out, err = cmd.CombinedOutput()
		return err
	}, cache.Always)
	require.NoError(tb, err, "NEEDED: npm %v: %s", args, out)
}

// unpack returns the script in the package.
func unpack(tb testing.TB, path string) []byte {
	tb.Helper()
	file, err := os.Open(path)
	require.NoError(tb, err)
	defer file.Close()
	zipped, err := gzip.NewReader(file)
	require.NoError(tb, err)
	for files := tar.NewReader(zipped); ; {
		header, err := files.Next()
		require.False(tb, errors.Is(err, io.EOF), "the package has no %s", axeFile)
		require.NoError(tb, err)
		if header.Name == axeFile {
			text, err := io.ReadAll(files)
			require.NoError(tb, err)
			return text
		}
	}
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
