//go:build unix

package pgroup

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// Lives tells whether a process of a group lives that this process may signal. What has ended and waits to be forgotten
// by its parent keeps the group's number taken, and may do so for ever; it does not live.
func Lives(group int) bool {
	if syscall.Kill(-group, 0) != nil {
		return false
	}
	if runtime.GOOS != "linux" { // others do not signal what has ended
		return true
	}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, _ := os.ReadFile(file)                                    // of a process that may be gone
		fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:]) // the name before may hold anything
		if len(fields) > 2 && string(fields[2]) == strconv.Itoa(group) && !ended(fields[0][0]) {
			return true
		}
	}
	return false
}

// ended tells whether a state is that of a process which has ended.
func ended(state byte) bool { return state == 'Z' || state == 'X' }

// The pauses between two looks at processes: at first most of them end at once, and a look at all takes a while.
const (
	firstPause   = time.Millisecond
	longestPause = 50 * time.Millisecond
	lookShare    = 10 // times what a look takes is the least pause after it
)

// Await returns when something does not live any more, when a time has come, or when it is told to hurry.
func Await(lives func() bool, until time.Time, hurry func() bool) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		began := time.Now()
		if !lives() || hurry() {
			return
		}
		left := time.Until(until)
		if left <= 0 {
			return
		}
		time.Sleep(min(max(pause, lookShare*time.Since(began)), left)) // there may be thousands of processes to look at
	}
}
