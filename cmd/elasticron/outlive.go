package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// outliveReaders has the process go on when nobody reads its standard output or error any more, as when journald or what it
// is piped into has ended: what it runs is worth more than its lines. Go would end it by SIGPIPE at the next one, whatever
// its parent says about that signal, such as IgnoreSIGPIPE of systemd. It holds for as long as the process does, as the last
// line is written at its very end. Commands that end by themselves are left to the signal: of `get jobs | head -1` nobody
// wants the rest.
//
// The signal is heard, rather than ignored: what is ignored stays so in the scripts that a worker starts, and a `yes | head -1`
// of theirs would not end.
var outliveReaders = sync.OnceFunc(func() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // of which nobody takes any: the write itself fails, too
})

// outliveHangups has the process go on after SIGHUP, for good, and returns where it is heard: the last one, if several come. Go
// would end the process by it, at once, and systemd takes that for an end that was asked for and does not start it again. So
// whoever has all processes of this program read their files anew would lose those that have none, or that still start.
func outliveHangups() <-chan os.Signal {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	return hangups
}

// hasTerminal tells whether the process belongs to a terminal, which tells by SIGHUP that it is closed.
func hasTerminal() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	_ = terminal.Close() // nothing was written
	return true
}
