//go:build linux

package cgroup

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhereThisProcessIs(t *testing.T) {
	t.Parallel()
	const mount = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n"
	const inside = "612 601 0:26 /kubepods/pod1/c1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	for _, test := range []struct{ membership, mounts, want string }{
		{"0::/system.slice/elasticron.service\n", mount, "/sys/fs/cgroup/system.slice/elasticron.service"},
		{"9:name=systemd:/\n4:memory:/a\n0::/\n", "28 1 0:1 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n" + "30 28 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/unified"},
		{"0::/kubepods/pod1/c1\n", inside, "/sys/fs/cgroup"},
		{"0::/\n", inside, "/sys/fs/cgroup"},
		{"0::/a\n", "", ""},
		{"4:memory:/a\n", mount, ""},
	} {
		got, err := own(test.membership, test.mounts)
		require.Equal(t, test.want, got, test.membership)
		if test.want == "" {
			require.ErrorIs(t, err, ErrUnavailable)
		}
	}
}

func TestWhatLimitsWrite(t *testing.T) {
	t.Parallel()
	limits := Limits{Memory: 512 << 20, Pids: 64, CPU: 1.5}
	require.Equal(t, []string{"cpu", "memory", "pids"}, limits.needs())
	require.Equal(t, map[string]string{"memory.max": "536870912", "memory.oom.group": "1", "pids.max": "64", "cpu.max": "150000 100000"}, limits.files())
	require.Empty(t, Limits{}.needs())
	require.Equal(t, "1000 100000", Limits{CPU: 0.0001}.files()["cpu.max"])
}

// place is a cgroup for the test alone.
func place(t *testing.T) string {
	t.Helper()
	own, err := Own()
	if err != nil {
		t.Skip(err)
	}
	dir, err := os.MkdirTemp(own, "test-") //nolint:usetesting // it is no folder of a disk
	if err != nil {
		t.Skipf("no cgroup can be made here: %s", err)
	}
	t.Cleanup(func() { require.NoError(t, end(dir)) })
	return dir
}

// start starts a command in a cgroup, where that is allowed.
func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	err := cmd.Start()
	for _, refused := range []error{syscall.EOPNOTSUPP, syscall.EACCES, syscall.EPERM} {
		if errors.Is(err, refused) {
			t.Skipf("no process can be started in a cgroup here: %s", err)
		}
	}
	require.NoError(t, err)
}

// startIn starts a command in the cgroup of an open folder.
func startIn(t *testing.T, fd int, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: fd}
	start(t, cmd)
	return cmd
}

// A limit whose controller is not there is refused, and not pretended.
func TestLimitsThatCannotBeKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := Open(dir, Limits{})
	require.ErrorIs(t, err, ErrUnavailable)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cgroup.controllers"), []byte("cpu io\n"), 0o600))
	_, err = Open(dir, Limits{CPU: 1, Pids: 9})
	require.ErrorIs(t, err, ErrUnavailable)
	require.ErrorContains(t, err, `has no controller pids (it has "cpu io")`)
}

// Where no process can be started in a group, there are none, and nothing is left.
func TestWhereNoProcessCanBeStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cgroup.controllers"), nil, 0o600))
	for _, refused := range []error{syscall.ENOSYS, syscall.E2BIG, syscall.EPERM} {
		_, err := open(dir, Limits{}, func() error { return refused })
		require.ErrorIs(t, err, ErrUnavailable)
		require.ErrorIs(t, err, refused)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	for _, wrong := range []error{syscall.EINVAL, syscall.EBADF} {
		groups, err := open(dir, Limits{}, func() error { return wrong })
		require.NoError(t, err)
		require.NoError(t, groups.Close())
	}
}

// The question starts nothing, and is answered as a process that is started in a group is.
func TestTheQuestionWhetherProcessesCanBeStarted(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "true")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: 1 << 30}
	err := cmd.Start()
	require.Error(t, err)
	require.Equal(t, errors.Is(err, syscall.EBADF), canStart(askForNone) == nil, "%v, %v", err, askForNone())
}

func TestAllOfAGroupEnds(t *testing.T) {
	t.Parallel()
	groups, err := Open(place(t), Limits{})
	require.NoError(t, err)
	g, err := groups.New(Limits{})
	require.NoError(t, err)
	cmd := startIn(t, g.FD(), "sh", "-c", "setsid sleep 600 & setsid setsid sh -c 'trap \"\" TERM; sleep 600' & sleep 600")
	inner := filepath.Join(g.dir, "of-a-script", "of-its-child") // as what runs containers makes them
	require.NoError(t, os.MkdirAll(inner, 0o700))
	f, err := os.Open(inner)
	require.NoError(t, err)
	defer f.Close()
	below := startIn(t, int(f.Fd()), "sleep", "600")
	require.Eventually(t, func() bool { return len(g.Processes()) >= 5 }, time.Minute, 5*time.Millisecond)
	all := g.Processes()
	require.NoError(t, g.Close())
	require.Error(t, cmd.Wait())
	require.Error(t, below.Wait())
	for _, pid := range all {
		_, err := os.Stat("/proc/" + strconv.Itoa(pid))
		if err == nil { // as a zombie, of whoever inherited it
			text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
			require.Contains(t, string(text), ") Z ")
		}
	}
	require.False(t, g.OutOfMemory())
	require.NoError(t, groups.Close())
}

// What a worker has left that was killed ends when the next one starts; what others have is left alone.
func TestWhatDeadWorkersLeft(t *testing.T) {
	t.Parallel()
	dir := place(t)
	dead := filepath.Join(dir, prefix+"999999-AAAAAAAA-1", "7")
	require.NoError(t, os.MkdirAll(dead, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "elasticron-other-thing"), 0o700))
	f, err := os.Open(dead)
	require.NoError(t, err)
	defer f.Close()
	cmd := startIn(t, int(f.Fd()), "sleep", "600")
	groups, err := Open(dir, Limits{})
	require.NoError(t, err)
	require.Error(t, cmd.Wait(), "it was killed")
	require.NoDirExists(t, filepath.Dir(dead))
	require.NoError(t, os.Remove(filepath.Join(dir, "elasticron-other-thing")))
	again, err := Open(dir, Limits{})
	require.NoError(t, err, "a process may open it twice")
	require.NoError(t, again.Close())
	require.NoError(t, groups.Close())
}

// Whether a worker lives is told by its lock: one in another container has a pid that means nothing here.
func TestWorkersOfOtherContainers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cgroup.controllers"), nil, 0o600))
	left, lives := filepath.Join(dir, prefix+"1-AAAAAAAA-1"), filepath.Join(dir, prefix+"1-BBBBBBBB-1")
	for _, name := range []string{left, lives} {
		require.NoError(t, os.MkdirAll(filepath.Join(name, "7", "of-a-script"), 0o700))
	}
	lock, err := tryLock(lives)
	require.NoError(t, err)
	groups, err := Open(dir, Limits{})
	require.NoError(t, err)
	require.NoDirExists(t, left)
	require.DirExists(t, filepath.Join(lives, "7"))
	sweep(dir)
	require.DirExists(t, groups.dir, "its own")
	require.NoError(t, lock.Close())
	// A process that another test has just forked holds the lock until it is another program.
	require.Eventually(t, func() bool {
		sweep(dir)
		_, err := os.Stat(lives)
		return errors.Is(err, os.ErrNotExist)
	}, 30*time.Second, time.Millisecond)
	require.NoError(t, groups.Close())
	require.NoDirExists(t, groups.dir)
}

// Nobody but its user can lock the folder of a worker, and so pass for it or hold it up; whoever holds it all the same does
// not do so for ever.
func TestTheLockIsTheWorkersOwn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cgroup.controllers"), nil, 0o600))
	groups, err := Open(dir, Limits{})
	require.NoError(t, err)
	info, err := os.Stat(groups.dir)
	require.NoError(t, err)
	require.Zero(t, info.Mode().Perm()&0o066, "others may neither read nor write it")
	other := exec.CommandContext(t.Context(), "flock", "--nonblock", groups.dir, "true")
	if _, err := exec.LookPath("flock"); err == nil && os.Getuid() == 0 {
		for _, above := range []string{dir, filepath.Dir(dir)} {
			require.NoError(t, os.Chmod(above, 0o755)) //nolint:gosec // as a cgroup is
		}
		other.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := other.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "Permission denied")
	}

	_, err = lockWithin(groups.dir, time.Millisecond)
	require.ErrorIs(t, err, syscall.EWOULDBLOCK)
	require.NoError(t, groups.Close())
}

// Many that begin at once do not take each other for dead.
func TestWorkersThatBeginAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "cgroup.controllers"), nil, 0o600))
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			groups, err := Open(dir, Limits{})
			if assert.NoError(t, err) {
				assert.DirExists(t, groups.dir)
				assert.NoError(t, groups.Close())
			}
		})
	}
	group.Wait()
}

// Where the controllers are there, a group is bounded.
func TestAGroupIsBounded(t *testing.T) {
	t.Parallel()
	limits := Limits{Pids: 8, Memory: 64 << 20}
	groups, err := Open(place(t), Limits{})
	if err == nil {
		err = groups.Prepare(limits) // later, as a reload does
	}
	if err != nil {
		require.ErrorIs(t, err, ErrUnavailable)
		if groups != nil {
			require.NoError(t, groups.Close())
		}
		t.Skip(err)
	}
	g, err := groups.New(limits)
	require.NoError(t, err)
	cmd := startIn(t, g.FD(), "sh", "-c", "i=0; while [ $i -lt 20 ]; do sleep 600 & i=$((i+1)); done; wait")
	require.Error(t, cmd.Wait(), "the shell cannot fork any more")
	require.LessOrEqual(t, len(g.Processes()), 8)
	require.NoError(t, g.Close())
	require.NoError(t, groups.Close())
}
