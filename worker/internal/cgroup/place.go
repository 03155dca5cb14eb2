//go:build linux

package cgroup

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Own returns the folder of the cgroup v2 in which this process is.
func Own() (string, error) {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return own(string(membership), string(mounts))
}

// own finds the folder in the texts that Linux gives.
func own(membership, mounts string) (string, error) {
	path := ""
	for line := range strings.Lines(membership) {
		if rest, is := strings.CutPrefix(strings.TrimSpace(line), "0::"); is {
			path = rest
		}
	}
	if path == "" {
		return "", fmt.Errorf("%w: this process is in none", ErrUnavailable)
	}
	lines := bufio.NewScanner(strings.NewReader(mounts))
	for lines.Scan() {
		fields, kind, _ := strings.Cut(lines.Text(), " - ")
		if !strings.HasPrefix(kind, "cgroup2 ") {
			continue
		}
		at := strings.Fields(fields)
		if len(at) < 5 {
			continue
		}
		root, mount := at[3], at[4]
		below, err := filepath.Rel(root, path)
		if err != nil || strings.HasPrefix(below, "..") {
			below = "." // what is mounted is all that this process sees
		}
		return filepath.Join(mount, below), nil
	}
	return "", fmt.Errorf("%w: it is not mounted", ErrUnavailable)
}
