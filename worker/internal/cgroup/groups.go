//go:build linux

package cgroup

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The names of groups: those that hold the runs of a process, with its pid, a random word and a number, and the one
// into which the process itself moves.
const (
	prefix = "elasticron-"
	self   = "elasticron-worker"
)

// What tells this process from others: in another container, one may have the same pid.
var (
	word   = rand.Text()[:8]
	opened atomic.Int64
)

// Groups makes the groups of the runs of this process. Its methods are safe for concurrent use.
type Groups struct {
	place string
	dir   string   // holds all of them
	lock  *os.File // on dir, for as long as this process lives
	next  atomic.Int64
}

// Open prepares a cgroup for groups, of which some may have these limits, and ends what processes have left there that
// live no more. The error is [ErrUnavailable] if the limits cannot be kept there, or no process can be started there; then
// nothing stays.
func Open(place string, limits Limits) (*Groups, error) { return open(place, limits, askForNone) }

func open(place string, limits Limits, ask func() error) (*Groups, error) {
	if err := has(place, limits); err != nil {
		return nil, err
	}
	if err := canStart(ask); err != nil {
		return nil, err
	}
	sweep(place)
	dir, lock, err := claim(place)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	g := &Groups{place: place, dir: dir, lock: lock}
	if err := g.Prepare(limits); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// has tells whether a place is a cgroup v2 with the controllers of the limits.
func has(place string, limits Limits) error {
	available, err := read(place, "cgroup.controllers")
	if err != nil {
		return fmt.Errorf("%w: %s is none: %w", ErrUnavailable, place, err)
	}
	for _, needed := range limits.needs() {
		if !slices.Contains(strings.Fields(available), needed) {
			return fmt.Errorf("%w: %s has no controller %s (it has %q)", ErrUnavailable, place, needed, available)
		}
	}
	return nil
}

// Prepare has groups be able to have limits from now on, or returns [ErrUnavailable].
func (g *Groups) Prepare(limits Limits) error {
	if err := has(g.place, limits); err != nil {
		return err
	}
	for _, dir := range []string{g.place, g.dir} {
		if err := enable(dir, limits); err != nil {
			return fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return nil
}

// claim makes a folder for groups and locks it. The lock goes with the process: others see by it that the process
// lives, also those in another container, which do not see the process itself. Only who may read the folder can open
// it, and so lock it: that is this user alone. Everybody may look into the groups in it, where scripts find their limits.
func claim(place string) (dir string, lock *os.File, err error) {
	for {
		dir = filepath.Join(place, fmt.Sprintf("%s%d-%s-%d", prefix, os.Getpid(), word, opened.Add(1)))
		if err := os.Mkdir(dir, 0o711); err != nil { //nolint:gosec // see above
			return "", nil, err
		}
		if lock, err = lockWithin(dir, claiming); err == nil { // which one that sweeps may hold for a moment
			if _, err := os.Stat(dir); err == nil {
				return dir, lock, nil
			}
			_ = lock.Close() // it was swept before it was locked
			continue
		}
		if !errors.Is(err, os.ErrNotExist) {
			return "", nil, errors.Join(fmt.Errorf("lock %s: %w", dir, err), os.Remove(dir))
		}
	}
}

// claiming is how long a worker waits for others that look whether it lives.
const claiming = 10 * time.Second

// lockWithin locks a folder as soon as nobody else has it locked, if that is in time.
func lockWithin(dir string, patience time.Duration) (*os.File, error) {
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		lock, err := tryLock(dir)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(deadline) {
			return lock, err
		}
	}
}

// tryLock locks a folder until the file is closed, unless somebody else has it locked.
func tryLock(dir string) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// enable has groups below a folder have the controllers of the limits. A group with such groups below it must have no
// processes of its own, so this process moves out of it.
func enable(dir string, limits Limits) error {
	for _, controller := range limits.needs() {
		err := write(dir, "cgroup.subtree_control", "+"+controller)
		if errors.Is(err, syscall.EBUSY) {
			if err = moveAway(dir); err == nil {
				err = write(dir, "cgroup.subtree_control", "+"+controller)
			}
		}
		if err != nil {
			return fmt.Errorf("enable the controller %s: %w", controller, err)
		}
	}
	return nil
}

func moveAway(dir string) error {
	inner := filepath.Join(dir, self)
	if err := os.Mkdir(inner, 0o755); err != nil && !errors.Is(err, os.ErrExist) { //nolint:gosec // as all of them are
		return err
	}
	return write(inner, "cgroup.procs", strconv.Itoa(os.Getpid()))
}

// Close removes what the groups were in. The groups must be closed.
func (g *Groups) Close() error { return errors.Join(os.Remove(g.dir), g.lock.Close()) }

// Group is where one run lives.
type Group struct {
	dir  string
	file *os.File
}

// New makes a group with limits, for which the groups were prepared. Close it.
func (g *Groups) New(limits Limits) (*Group, error) {
	dir := filepath.Join(g.dir, strconv.FormatInt(g.next.Add(1), 10))
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // as all of them are
		return nil, err
	}
	err := limits.set(dir)
	var file *os.File
	if err == nil {
		file, err = os.Open(dir)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &Group{dir, file}, nil
}

// FD is for [syscall.SysProcAttr.CgroupFD].
func (g *Group) FD() int { return int(g.file.Fd()) }

// Processes are the pids of what lives in the group.
func (g *Group) Processes() []int { return processes(g.dir) }

// OutOfMemory tells whether a process of the group was killed because the group had reached its limit.
func (g *Group) OutOfMemory() bool {
	events, _ := read(g.dir, "memory.events")
	for line := range strings.Lines(events) {
		if name, count, _ := strings.Cut(strings.TrimSpace(line), " "); name == "oom_kill" && count != "0" {
			return true
		}
	}
	return false
}

// Close ends every process of the group at once and removes the group.
func (g *Group) Close() error {
	return errors.Join(g.file.Close(), end(g.dir))
}

// patience is how long the processes of a group may take to be gone after they were killed.
const patience = 10 * time.Second

// end kills what lives in a group and removes it, with the groups that its processes made below it.
func end(dir string) error {
	for deadline := time.Now().Add(patience); ; time.Sleep(2 * time.Millisecond) {
		kill(dir)
		err := remove(dir)
		if err == nil || errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes in %s do not end: %w", dir, err)
		}
	}
}

// kill sends SIGKILL to all that live in a group, in one step where Linux can do that, as it can since 5.14.
func kill(dir string) {
	if write(dir, "cgroup.kill", "1") == nil {
		return
	}
	for _, pid := range processes(dir) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
	}
}

// remove removes a group in which nothing lives, those below it first.
func remove(dir string) error {
	for _, below := range groupsBelow(dir) {
		_ = remove(below) // then this one cannot be removed either
	}
	return os.Remove(dir)
}

func groupsBelow(dir string) (below []string) {
	all, _ := os.ReadDir(dir)
	for _, entry := range all {
		if entry.IsDir() {
			below = append(below, filepath.Join(dir, entry.Name()))
		}
	}
	return below
}

// processes are the pids of what lives in a group, and in those below it.
func processes(dir string) (pids []int) {
	for _, below := range groupsBelow(dir) {
		pids = append(pids, processes(below)...)
	}
	text, _ := read(dir, "cgroup.procs")
	for _, word := range strings.Fields(text) {
		if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}

// sweep ends what workers have left in a place that live no more.
func sweep(place string) {
	all, _ := os.ReadDir(place)
	for _, entry := range all {
		words := strings.Split(strings.TrimPrefix(entry.Name(), prefix), "-")
		_, err := strconv.Atoi(words[0])
		if !strings.HasPrefix(entry.Name(), prefix) || len(words) != 3 || err != nil {
			continue
		}
		dir := filepath.Join(place, entry.Name())
		lock, err := tryLock(dir)
		if err != nil {
			continue // its worker lives
		}
		for _, run := range groupsBelow(dir) {
			_ = end(run) // the next worker tries again
		}
		_ = os.Remove(dir)
		_ = lock.Close()
	}
}
