package demo

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestLogStaysOnlyIfSomethingFailed(t *testing.T) {
	t.Parallel()
	file, done, err := openLog(nil)
	require.NoError(t, err)
	require.NoError(t, done(nil))
	require.NoFileExists(t, file.Name())

	file, done, err = openLog(nil)
	require.NoError(t, err)
	require.Equal(t, ErrInexact.Error(), done(ErrInexact).Error(), "nobody has logged anything")
	require.NoDirExists(t, filepath.Dir(file.Name()))

	file, done, err = openLog(nil)
	require.NoError(t, err)
	_, err = file.WriteString("a line\n")
	require.NoError(t, err)
	require.ErrorIs(t, done(ErrInterrupted), ErrInterrupted)
	require.NoDirExists(t, filepath.Dir(file.Name()))

	file, done, err = openLog(nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(filepath.Dir(file.Name())) })
	_, err = file.WriteString("a line\n")
	require.NoError(t, err)
	err = done(errors.Join(ErrInexact, ErrInterrupted))
	require.ErrorIs(t, err, ErrInexact)
	require.True(t, strings.HasSuffix(err.Error(), file.Name()))
	require.FileExists(t, file.Name())
}

func TestSourcesAreAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	got, err := sources(t.Context(), dir)
	require.NoError(t, err)
	require.Equal(t, dir, got)

	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = sources(t.Context(), file)
	require.ErrorContains(t, err, "not a folder")
	_, err = sources(t.Context(), filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)

	got, err = sources(t.Context(), "")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(got, "fmt", "print.go"))
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	require.Equal(t, time.Second, period(100*time.Millisecond, 8))
	require.Equal(t, 2*time.Second, period(500*time.Millisecond, 8))
	require.Equal(t, 26*time.Second, period(10*time.Second, 8))
}

func TestRemoveAllLeavesNothing(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	open := func() registry.Registry { return server.Open("demo") }
	reg := open()
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put("/index/config", "x"), registry.Put("/index/sharding/0/record", "y"), registry.Put("/other", "z"),
	}})
	require.NoError(t, err)
	require.NoError(t, removeAll(t.Context(), reg))

	reg = open()
	nodes, _, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	require.Empty(t, nodes)
	require.NoError(t, removeAll(t.Context(), reg), "nothing is there to remove")
}
