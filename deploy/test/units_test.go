package test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/elasticron/elasticron/integration/debian"
)

const (
	units     = "../systemd/"
	installed = "/usr/local/bin/elasticron" // as the units and the image have it
)

// settings are what a unit sets: for each name all values, in their order.
func settings(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(units + file)
	require.NoError(t, err)
	all := make(map[string][]string)
	for line := range strings.Lines(string(text)) {
		name, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if found && !strings.HasPrefix(name, "#") {
			all[name] = append(all[name], value)
		}
	}
	require.NotEmpty(t, all, file)
	return all
}

// folderOf copies units into a folder, as they would be if the program were installed.
func folderOf(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		text, err := os.ReadFile(units + name)
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755)) //nolint:gosec // as such folders are
		text = bytes.ReplaceAll(text, []byte(installed), []byte(program(t)))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	return dir
}

// allUnits are the units as they may be installed, and how exposed systemd may find them: 0 is not at all, 10 is a
// service without any bounds.
var allUnits = []struct {
	name    string
	files   []string
	exposed float64
}{
	{"elasticron-server.service", nil, 1.5},
	{"elasticron-worker.service", nil, 3},
	{"elasticron-worker.service", []string{"elasticron-worker.service.d/script-user.conf"}, 4}, // root, for other users' scripts
}

// systemd itself finds nothing wrong with the units. Its exit status does not tell: a setting that it does not know is
// a warning.
func TestSystemdVerifiesTheUnits(t *testing.T) {
	t.Parallel()
	analyze := debian.Need(t, "systemd-analyze", "systemd")
	verify := func(unit string) string {
		var errs bytes.Buffer
		cmd := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", unit)
		cmd.Stderr = &errs
		out, err := cmd.Output()
		require.NoError(t, err, errs.String())
		require.Empty(t, string(out))
		return errs.String()
	}
	for _, unit := range allUnits {
		dir := folderOf(t, append(unit.files, unit.name)...)
		require.Empty(t, verify(filepath.Join(dir, unit.name)), unit)
	}
	misspelt := filepath.Join(folderOf(t, "elasticron-worker.service"), "elasticron-worker.service")
	text, err := os.ReadFile(misspelt)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(misspelt, bytes.Replace(text, []byte("WatchdogSec="), []byte("WatchDogSec="), 1), 0o600))
	require.Contains(t, verify(misspelt), "WatchDogSec", "this test would see it")
}

// offline is the version of systemd from which it judges units that are not installed.
const offline = 250

// systemd judges how much of the machine is within reach of the units.
func TestHowExposedTheUnitsAre(t *testing.T) {
	t.Parallel()
	analyze := debian.Need(t, "systemd-analyze", "systemd")
	out, err := exec.CommandContext(t.Context(), analyze, "--version").Output()
	require.NoError(t, err)
	m := regexp.MustCompile(`^systemd (\d+)`).FindSubmatch(out)
	require.NotNil(t, m, string(out))
	if version, _ := strconv.Atoi(string(m[1])); version < offline {
		if os.Getenv("CI") != "" {
			t.Fatalf("NEEDED: systemd %d or newer, this is %d, and in CI this test must not be skipped", offline, version)
		}
		t.Skipf("NEEDED: systemd %d or newer, this is %d", offline, version)
	}
	for _, unit := range allUnits {
		dir := folderOf(t, append(unit.files, unit.name)...)
		out, err := exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--no-pager", filepath.Join(dir, unit.name)).CombinedOutput()
		require.NoError(t, err, string(out))
		m := regexp.MustCompile(`Overall exposure level for \S+: ([0-9.]+) `).FindSubmatch(out)
		require.NotNil(t, m, string(out))
		exposed, err := strconv.ParseFloat(string(m[1]), 64)
		require.NoError(t, err)
		require.LessOrEqual(t, exposed, unit.exposed, "%v\n%s", unit, out)
	}
}

// What the units must have, and must not, for the program to work as its documentation says.
func TestWhatTheUnitsSay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"elasticron-server.service", "elasticron-worker.service"} {
		s := settings(t, name)
		require.Equal(t, []string{"notify"}, s["Type"], "Debian 12 has no notify-reload")
		require.Equal(t, []string{"30s"}, s["WatchdogSec"])
		require.Equal(t, []string{"2"}, s["RestartPreventExitStatus"], "the status of a wrong command line")
		require.Equal(t, []string{"0"}, s["StartLimitIntervalSec"], "it goes on trying while the registry is away")
		require.NotContains(t, s, "Environment", "what is secret stands in a file that root alone can read")
		words := strings.Fields(s["ExecStart"][0])
		require.Equal(t, installed, words[0])
		require.Subset(t, flagsOf(t, words[1]), flagsIn(s["ExecStart"][0]))
	}
	server, worker := settings(t, "elasticron-server.service"), settings(t, "elasticron-worker.service")
	require.Contains(t, server["EnvironmentFile"], "-/etc/elasticron/server.secrets")
	require.Contains(t, worker["EnvironmentFile"], "-/etc/elasticron/worker.secrets")
	require.Greater(t, seconds(t, server["TimeoutStopSec"][0]), 20*time.Second, "ten for requests, and some for the registry")

	require.Equal(t, []string{"yes"}, worker["Delegate"])
	require.Equal(t, []string{"mixed"}, worker["KillMode"], "else scripts get SIGTERM when they are to go on until the grace is over")
	require.Equal(t, []string{"continue"}, worker["OOMPolicy"], "a script that needs too much memory is not the worker's end")
	require.Equal(t, []string{"/bin/kill -HUP $MAINPID"}, worker["ExecReload"])
	require.Contains(t, strings.Fields(worker["RestrictAddressFamilies"][0]), "AF_NETLINK", "by it a process learns its own addresses")
	require.NotContains(t, worker, "RestrictNamespaces", "it takes away clone3, by which scripts start in their cgroup")
	require.NotContains(t, worker, "ProtectControlGroups", "the worker makes cgroups")
}

// With a user of their own, scripts get through the folders above theirs, and cannot read the files there: SQLite makes
// its file for all to read.
func TestTheUnitForTheUserOfScripts(t *testing.T) {
	t.Parallel()
	s := settings(t, "elasticron-worker.service.d/script-user.conf")
	mask, err := strconv.ParseUint(s["UMask"][0], 8, 32)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o711), 0o711&^os.FileMode(mask), "folders that the worker makes")
	require.Equal(t, os.FileMode(0o600), 0o644&^os.FileMode(mask), "files")
	require.Equal(t, []string{"0711"}, s["StateDirectoryMode"])
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return d
}

// The files that stand beside the units are ones that the program takes, and fit them.
func TestTheFilesBesideTheUnits(t *testing.T) {
	t.Parallel()
	require.Equal(t, "The file is in order.\n", elasticron(t, "", "worker", "--config", units+"worker.yaml", "--check"))
	text, err := os.ReadFile(units + "worker.yaml")
	require.NoError(t, err)
	var file struct {
		Grace   string
		History struct{ File string }
		Script  struct {
			Directory string
			Log       struct{ Directory string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	worker := settings(t, "elasticron-worker.service")
	require.GreaterOrEqual(t, seconds(t, worker["TimeoutStopSec"][0]), seconds(t, file.Grace)+15*time.Second, "systemd must not kill what the worker still waits for")
	state := strings.Fields(worker["StateDirectory"][0]) // the worker makes none of them, and ProtectSystem=strict leaves no others
	history, found := strings.CutPrefix(filepath.Dir(file.History.File), "/var/lib/")
	require.True(t, found)
	require.Contains(t, state, history)
	jobs, _, found := strings.Cut(strings.TrimPrefix(file.Script.Directory, "/var/lib/"), "/{job}")
	require.True(t, found)
	require.Contains(t, state, jobs)
	require.False(t, strings.HasPrefix(history+"/", jobs+"/"), "a job may be called as the history is")
	require.Equal(t, "/var/log/"+worker["LogsDirectory"][0], file.Script.Log.Directory)

	flags := settings(t, "server.env")["FLAGS"]
	require.Len(t, flags, 1)
	require.Subset(t, flagsOf(t, "server"), flagsIn(" "+flags[0]))
	require.False(t, slices.ContainsFunc(strings.Fields(flags[0]), func(word string) bool { return strings.ContainsAny(word, `"'$\`) }), "systemd would read those")
}

// systemd makes the users of the units from the file beside them. Scripts run as the worker's, and so it must not be the
// console's.
func TestTheUsersOfTheUnits(t *testing.T) {
	t.Parallel()
	sysusers := debian.Need(t, "systemd-sysusers", "systemd")
	file, err := filepath.Abs(units + "elasticron.sysusers")
	require.NoError(t, err)
	root := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(root, "etc"), 0o755)) //nolint:gosec // as such folders are
	out, err := exec.CommandContext(t.Context(), sysusers, "--dry-run", "--root="+root, file).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, unit := range []string{"elasticron-server.service", "elasticron-worker.service"} {
		of := settings(t, unit)
		require.Contains(t, string(out), "Creating user '"+of["User"][0]+"'")
		require.Equal(t, of["User"], of["Group"])
		require.Contains(t, page(t), "-g "+of["Group"][0]+" deploy/systemd/")
	}
	require.NotEqual(t, settings(t, "elasticron-server.service")["User"], settings(t, "elasticron-worker.service")["User"])
}
