package serverprocess

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// ProcessorTime returns how long a process has had a processor so far, in all of its threads. It is counted in
// hundredths of a second, and only where there is a /proc as Linux has it.
func ProcessorTime(pid int) (time.Duration, error) {
	fields, err := behindName(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	const user, kernel = 11, 12 // where they stand
	if len(fields) <= kernel {
		return 0, fmt.Errorf("/proc/%d/stat has %d fields behind the name, not %d", pid, len(fields), kernel+1)
	}
	var ticks int64
	for _, field := range fields[user : kernel+1] {
		n, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		ticks += n
	}
	const perSecond = 100 // on every Linux that Go runs on
	return time.Duration(ticks) * time.Second / perSecond, nil
}

// behindName returns the fields of a file named stat that stand behind the process's name, which may have spaces.
func behindName(stat string) ([][]byte, error) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return nil, err
	}
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]), nil
}
