package timezone_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/timezone"
)

// What means another zone on another host is refused wherever it is known.
func TestZonesOfTheHost(t *testing.T) {
	hosts := t.TempDir()
	utc, err := time.LoadLocation("UTC")
	require.NoError(t, err)
	require.NotNil(t, utc)
	zone := []byte("TZif\x00" + string(make([]byte, 15)) + // no leap seconds, no changes, one zone with one name of four letters
		"\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x04" +
		"\x00\x00\x0e\x10\x00\x00" + "OWN\x00")
	for _, name := range []string{"localtime", "posixrules", "right/Europe/Berlin", "Mine/Own"} {
		require.NoError(t, os.MkdirAll(filepath.Join(hosts, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(hosts, name), zone, 0o600))
	}
	t.Setenv("ZONEINFO", hosts)
	for _, name := range []string{"Local", "local", "localtime", "LOCALTIME", "posixrules", "right/Europe/Berlin", "./localtime", "Mine/./Own", "Mine//Own"} {
		_, err := timezone.Load(name)
		require.Error(t, err, name)
	}
	own, err := timezone.Load("Mine/Own")
	require.NoError(t, err, "so those above would have been found")
	_, offset := time.Unix(0, 0).In(own).Zone()
	require.Equal(t, 3600, offset)
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "UTC", "Europe/Berlin", "Etc/GMT-8", "America/Argentina/Buenos_Aires", "CET"} {
		zone, err := timezone.Load(name)
		require.NoError(t, err)
		if name != "" {
			require.Equal(t, name, zone.String())
		}
	}
	for _, name := range []string{"Mars/Base", " ", "/etc/localtime", "../zoneinfo/UTC", "Europe"} {
		_, err := timezone.Load(name)
		require.Error(t, err, name)
	}
	zone, err := timezone.Load("")
	require.NoError(t, err)
	require.Equal(t, time.UTC, zone)
}
