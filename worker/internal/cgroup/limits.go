//go:build linux

package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrUnavailable is the error where there is no cgroup v2 that this process may use as it is asked to.
var ErrUnavailable = errors.New("no cgroup v2 that can be used")

// Limits bound what all processes of a group take together. 0 is no limit.
type Limits struct {
	Memory int64   // bytes; nothing is swapped out
	Pids   int     // processes and threads
	CPU    float64 // processors
}

// needs are the controllers of the limits that are set, in the order of their names.
func (l Limits) needs() (controllers []string) {
	if l.CPU > 0 {
		controllers = append(controllers, "cpu")
	}
	if l.Memory > 0 {
		controllers = append(controllers, "memory")
	}
	if l.Pids > 0 {
		controllers = append(controllers, "pids")
	}
	return controllers
}

// cpuPeriod is the time, in microseconds, within which a group may use its share of the processors.
const cpuPeriod = 100_000

// files are what the limits write, by the names of the files.
func (l Limits) files() map[string]string {
	files := make(map[string]string)
	if l.Memory > 0 {
		files["memory.max"], files["memory.oom.group"] = strconv.FormatInt(l.Memory, 10), "1"
	}
	if l.Pids > 0 {
		files["pids.max"] = strconv.Itoa(l.Pids)
	}
	if l.CPU > 0 {
		files["cpu.max"] = fmt.Sprintf("%d %d", max(int64(l.CPU*cpuPeriod), 1000), cpuPeriod)
	}
	return files
}

// set writes the limits of a group.
func (l Limits) set(dir string) error {
	for name, value := range l.files() {
		if err := write(dir, name, value); err != nil {
			return err
		}
	}
	if l.Memory > 0 {
		if err := write(dir, "memory.swap.max", "0"); err != nil && !errors.Is(err, os.ErrNotExist) { // without swap
			return err
		}
	}
	return nil
}

func write(dir, name, value string) error {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

func read(dir, name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text)), err
}
