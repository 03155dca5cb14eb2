package serverprocess

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// Written returns how many bytes a process has had written to disks so far. They are counted in whole pages, when these
// are changed, and only where there is a /proc as Linux has it.
func Written(pid int) (int64, error) {
	name := fmt.Sprintf("/proc/%d/io", pid)
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if value, found := bytes.CutPrefix(line, []byte("write_bytes: ")); found {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s does not say what was written", name)
}
