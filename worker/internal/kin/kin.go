//go:build linux

package kin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Kin is what this process has started. Its methods are safe for concurrent use.
type Kin struct {
	// mu is held for reading while a process starts, lest it is taken for an orphan before it is known.
	mu    sync.RWMutex
	known sync.Map // pids of those that somebody waits for

	told    map[int]string                // since when those live that Hidden has returned, by their pids
	environ func(pid int) ([]byte, error) // nil: as Linux tells it
}

// Shared has orphans come to this process from now on, and returns what knows them: one for the whole process.
func Shared() (*Kin, error) { return shared() }

var shared = sync.OnceValues(func() (*Kin, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("have orphans come to this process: %w", err)
	}
	return new(Kin), nil
})

// Start starts a command, for which the caller waits. Then it calls forget.
func (k *Kin) Start(cmd *exec.Cmd) (forget func(), err error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	pid := cmd.Process.Pid
	k.known.Store(pid, nil)
	return func() { k.known.Delete(pid) }, nil
}

// Bury forgets orphans that have ended.
func (k *Kin) Bury() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, pid := range k.orphans() {
		if hasEnded(pid) {
			_, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil)
		}
	}
}

// Patience is how long orphans may take to be gone after they were killed. Tests on slow machines set it before anything
// else.
var Patience = 10 * time.Second

// End kills the orphans that have a variable in their environment, "name=value", with all that they leave in turn, and
// returns when none is left; [Kin.Bury] forgets them. It does not find what has left out the variable, or what [Kin.Hidden]
// returns.
func (k *Kin) End(variable string) error {
	clean := 0
	for deadline := time.Now().Add(Patience); ; time.Sleep(2 * time.Millisecond) {
		left := 0
		for _, pid := range k.orphans() { // what has just started is not known yet, but has not the variable
			switch {
			case k.has(pid, variable):
				left++
				_ = syscall.Kill(pid, syscall.SIGKILL)
			case isEnding(pid): // and may leave orphans in a moment
				left++
			}
		}
		// One that ended after it was listed has left orphans that were not: they are in the next list.
		if clean++; left > 0 {
			clean = 0
		}
		if clean == 2 {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes were killed and do not end: %d of them", left)
		}
	}
}

// Hidden returns the orphans whose environment this process may not read, each of them once: those of another user, and
// programs that forbid it, as those that hold keys do. Nobody can tell to which run they belong. Those in the process group
// of what this process has started and waits for, or in the group killed, end with it.
func (k *Kin) Hidden(killed int) (pids []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make(map[int]string)
	for _, pid := range k.orphans() {
		const group, began = 5 - 3, 22 - 3
		fields := statOf(pid)
		if len(fields) <= began || hasEnded(pid) || isEnding(pid) {
			continue
		}
		leader, _ := strconv.Atoi(fields[group])
		if _, waitedFor := k.known.Load(leader); waitedFor || leader == killed {
			continue
		}
		if _, err := k.environOf(pid); !errors.Is(err, fs.ErrPermission) {
			continue
		}
		if all[pid] = fields[began]; k.told[pid] != all[pid] {
			pids = append(pids, pid)
		}
	}
	k.told = all
	return pids
}

// orphans are the children of this process for which nobody waits, and those that have just started unless the caller
// holds mu.
func (k *Kin) orphans() (pids []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, list := range lists {
		text, _ := os.ReadFile(list) // of a thread that may be gone
		for _, word := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(word)
			if _, known := k.known.Load(pid); err == nil && !known {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// hasEnded tells whether a process only waits to be forgotten, and isEnding whether it is on its way there: then it has no
// environment any more, and its children are still its own.
func hasEnded(pid int) bool {
	fields := statOf(pid)
	return len(fields) > 0 && fields[0] == "Z"
}

func isEnding(pid int) bool {
	const flagsField, exiting = 9 - 3, 0x4 // PF_EXITING
	fields := statOf(pid)
	if len(fields) <= flagsField || fields[0] == "Z" {
		return false
	}
	flags, err := strconv.ParseUint(fields[flagsField], 10, 64)
	return err == nil && flags&exiting != 0
}

// statOf are what Linux tells of a process, from its state on, which is the third field.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // the name before may hold anything
}

// has tells whether a process was started with a variable.
func (k *Kin) has(pid int, variable string) bool {
	text, err := k.environOf(pid)
	return err == nil && bytes.Contains(append([]byte{0}, text...), []byte("\x00"+variable+"\x00"))
}

func (k *Kin) environOf(pid int) ([]byte, error) {
	if k.environ != nil {
		return k.environ(pid)
	}
	return os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
}
