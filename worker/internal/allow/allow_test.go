package allow_test

import (
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/worker/internal/allow"
)

// program makes an executable file.
func program(t *testing.T, path string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755)) //nolint:gosec // as programs are
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755))
	return path
}

func TestCommands(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	good, other := program(t, dir+"/jobs/report"), program(t, dir+"/bin/other")
	program(t, dir+"/jobs/deep/er")
	box := program(t, dir+"/box/box") // that goes by many names
	require.NoError(t, os.MkdirAll(dir+"/many", 0o755))
	for link, to := range map[string]string{
		dir + "/many/date": box, dir + "/many/sh": box, dir + "/bin/report": good,
		dir + "/jobs/link": other, dir + "/bin/back": good, dir + "/alias": dir + "/jobs", dir + "/jobs/dangling": "nowhere",
	} {
		require.NoError(t, os.Symlink(to, link))
	}
	everybodys := program(t, dir+"/jobs/everybodys")
	require.NoError(t, os.Chmod(everybodys, 0o777))
	program(t, dir+"/open/job")
	require.NoError(t, os.Chmod(dir+"/open", 0o777))
	program(t, dir+"/sticky/job")
	require.NoError(t, os.Chmod(dir+"/sticky", 0o777|os.ModeSticky))
	for _, test := range []struct {
		pattern, command, real string // real is empty if it is refused
	}{
		{dir + "/jobs/*", good, good},
		{dir + "/jobs/report", dir + "/bin/../jobs/report", good},
		{dir + "/jobs/*", other, ""},
		{dir + "/jobs/*", dir + "/jobs/link", ""},
		{dir + "/bin/*", dir + "/jobs/link", ""}, // by another name, which is not on the list
		{dir + "/jobs/link", dir + "/jobs/link", other},
		{dir + "/jobs/*", dir + "/bin/back", ""},
		{dir + "/jobs/*", dir + "/bin/report", good},
		{dir + "/many/date", dir + "/many/date", box},
		{dir + "/many/date", dir + "/many/sh", ""},
		{dir + "/many/date", box, ""},
		{dir + "/many/*", dir + "/many/sh", ""},
		{dir + "/many/*", dir + "/alias/../many/date", ""},
		{dir + "/alias/*", good, good},
		{dir + "/alias/*", dir + "/alias/report", good},
		{dir + "/jobs/*", dir + "/jobs/deep/er", ""},
		{dir + "/jobs/*", dir + "/jobs/deep", ""},
		{dir + "/jobs/*", dir + "/jobs/dangling", ""},
		{dir + "/jobs/*", "report", ""},
		{dir + "/jobs/*", "jobs/report", ""},
		{"*", other, other},
		{"*", "other", ""},
		{"*", everybodys, ""},
		{"*", dir + "/open/job", ""},
		{"*", dir + "/sticky/job", dir + "/sticky/job"},
	} {
		list, err := allow.NewCommands([]string{"/none", test.pattern})
		require.NoError(t, err)
		real, err := list.Resolve(test.command)
		require.Equal(t, test.real, real, "%s by %s: %v", test.command, test.pattern, err)
		require.Equal(t, test.real == "", err != nil)
		if test.real != "" {
			require.NoError(t, list.Judge(test.command), "%s by %s: what may run is not refused before", test.command, test.pattern)
		}
	}
	list, err := allow.NewCommands([]string{dir + "/jobs/*"})
	require.NoError(t, err)
	require.NoError(t, list.Judge(dir+"/jobs/not-there-yet"))
	for _, command := range []string{"report", "jobs/report", other, dir + "/job/report", dir + "/jobs/deep/er", dir + "/jobs/../bin/other"} {
		require.ErrorIs(t, list.Judge(command), allow.ErrRefused, command)
	}
	_, err = list.Resolve(dir + "/jobs/link")
	require.ErrorIs(t, err, allow.ErrRefused)
	require.ErrorContains(t, err, dir+"/jobs/link, which is "+other+", is none of "+dir+"/jobs/*")
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entry, address string
		allowed        bool
	}{
		{"https://*.shop.internal", "https://a.shop.internal/x", true},
		{"https://*.shop.internal", "https://a.b.SHOP.internal.:443/x", true},
		{"https://*.shop.internal", "https://shop.internal/", false},
		{"https://*.shop.internal", "https://evilshop.internal/", false},
		{"https://*.shop.internal", "http://a.shop.internal/", false},
		{"https://*.shop.internal", "https://a.shop.internal:8443/", false},
		{"https://*.shop.internal:*", "https://a.shop.internal:8443/", true},
		{"https://*.shop.internal", "https://a.shop.internal.evil.org/", false},
		{"https://*.shop.internal", "https://evil.org/?a.shop.internal", false},
		{"https://*.shop.internal", "https://a.shop.internal@evil.org/", false},
		{"http://10.0.0.7:8080", "http://10.0.0.7:8080/", true},
		{"http://10.0.0.7:8080", "http://[::ffff:10.0.0.7]:8080/", true},
		{"http://10.0.0.7:8080", "http://10.0.0.7/", false},
		{"http://[::1]", "http://[0:0::1]/", true},
		{"http://*.1", "http://10.0.0.1/", false},
		{"*", "http://anything.org:99/", true},
		{"*", "file:///etc/passwd", false},
		{"*", "gopher://a/", false},
	} {
		list, err := allow.NewAddresses([]string{test.entry}, nil)
		require.NoError(t, err)
		address, err := url.Parse(test.address)
		require.NoError(t, err)
		err = list.Allow(address)
		require.Equal(t, test.allowed, err == nil, "%s by %s: %v", test.address, test.entry, err)
		if err != nil {
			require.ErrorIs(t, err, allow.ErrRefused)
		}
	}
	list, err := allow.NewAddresses([]string{"https://*.shop.internal"}, nil)
	require.NoError(t, err)
	for host, allowed := range map[string]bool{"a_1.b-2.shop.internal": true, "admin.internal:80.shop.internal": false, "a b.shop.internal": false, "a/.shop.internal": false} {
		require.Equal(t, allowed, list.Allow(&url.URL{Scheme: "https", Host: host}) == nil, "as it may stand in a header: %s", host)
	}
	for _, entry := range []string{"", "shop", "ftp://a", "https://", "https://a/b", "https://u@a", "https://*", "https://a.*", "https://*.*.a", "https://a:b:c"} {
		_, err := allow.NewAddresses([]string{entry}, nil)
		require.ErrorContains(t, err, "must be scheme://host", entry)
	}
}

// Where a name leads is judged by the address: names are under the control of whoever runs their zone.
func TestWhereNamesLead(t *testing.T) {
	t.Parallel()
	ten := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, test := range []struct {
		entry    string
		networks []netip.Prefix
		address  string
		allowed  bool
	}{
		{"https://*.shop.internal", nil, "10.1.2.3:443", true},
		{"https://*.shop.internal", nil, "93.184.216.34:443", true},
		{"https://*.shop.internal", nil, "127.0.0.1:443", false},
		{"https://*.shop.internal", nil, "[::ffff:127.0.0.1]:443", false},
		{"https://*.shop.internal", nil, "169.254.169.254:80", false},
		{"https://*.shop.internal", nil, "[fe80::1%lo]:80", false},
		{"https://*.shop.internal", nil, "0.0.0.0:80", false},
		{"https://*.shop.internal", nil, "224.0.0.1:80", false},
		{"https://*.shop.internal", nil, "nonsense", false},
		{"*", nil, "169.254.169.254:80", false},
		{"*", nil, "[fd00:ec2::254]:80", false},
		{"*", nil, "[fd20:ce::254]:80", false},
		{"*", nil, "100.100.100.200:80", false},
		{"*", nil, "100.100.100.201:80", true},
		{"*", nil, "[64:ff9b::169.254.169.254]:80", false},
		{"*", nil, "[64:ff9b::127.0.0.1]:80", false},
		{"*", nil, "[64:ff9b::100.100.100.200]:80", false},
		{"*", nil, "[64:ff9b::93.184.216.34]:80", true},
		{"*", nil, "168.63.129.16:80", false},
		{"*", nil, "168.63.129.16:32526", false},
		{"*", nil, "168.63.129.17:80", true},
		{"*", nil, "192.0.0.192:80", false},
		{"*", nil, "[fd00:c1::a9fe:a9fe]:80", false},
		{"*", nil, "[fd00:42::42]:80", false},
		{"*", nil, "[::1]:80", false},
		{"*", nil, "[::]:80", false},
		{"*", nil, "[64:ff9b:1::169.254.169.254]:80", false},
		{"*", nil, "[64:ff9b:1:fffe::168.63.129.16]:80", false},
		{"*", nil, "[64:ff9b:1:fffe::93.184.216.34]:80", true},
		{"*", nil, "[2002:a9fe:a9fe::1]:80", false},
		{"*", nil, "[2002:7f00:1::]:80", false},
		{"*", nil, "[2002:5db8:d822::127.0.0.1]:80", true},
		{"*", nil, "[::169.254.169.254]:80", false},
		{"*", nil, "[::93.184.216.34]:80", true},
		{"http://168.63.129.16", nil, "168.63.129.16:80", true},
		{"http://168.63.129.16", nil, "168.63.129.16:32526", false},
		{"http://[2002:7f00:1::]", nil, "[2002:7f00:1::]:80", true},
		{"http://169.254.169.254", nil, "169.254.169.254:80", true},
		{"http://100.100.100.200", nil, "100.100.100.200:80", true},
		{"http://localhost:8080", nil, "127.0.0.1:8080", true},
		{"http://localhost:8080", nil, "[::1]:8080", true},
		{"http://localhost:8080", nil, "127.0.0.1:2379", false},
		{"https://*.shop.internal", ten, "10.1.2.3:443", true},
		{"https://*.shop.internal", ten, "192.168.0.1:443", false},
		{"http://192.168.0.1", ten, "192.168.0.1:80", true},
	} {
		list, err := allow.NewAddresses([]string{test.entry}, test.networks)
		require.NoError(t, err)
		err = list.Dial("tcp", test.address, nil)
		require.Equal(t, test.allowed, err == nil, "%s by %s: %v", test.address, test.entry, err)
	}
}

// Whoever makes a list may change afterwards what it was made of.
func TestListsAreImmutable(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	job := program(t, dir+"/job")
	patterns := []string{"/nothing"}
	commands, err := allow.NewCommands(patterns)
	require.NoError(t, err)
	networks := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	addresses, err := allow.NewAddresses([]string{"*"}, networks)
	require.NoError(t, err)
	patterns[0], networks[0] = "*", netip.MustParsePrefix("0.0.0.0/0")
	_, err = commands.Resolve(job)
	require.ErrorIs(t, err, allow.ErrRefused)
	require.ErrorIs(t, addresses.Dial("tcp", "192.0.2.1:80", nil), allow.ErrRefused)
}
