package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func Example() {
	_ = format(os.Stdout, strings.NewReader(`goos: linux
goarch: amd64
pkg: example.com/cron
cpu: Some Processor @ 2.50GHz
BenchmarkNext/workdays-2       1000      1234567 ns/op    120 B/op      3 allocs/op
BenchmarkBurst-2                  1         95.3 late-p99-ms   16.04 apart-to-shared-x    4881 B/job   99 B/op   1 allocs/op
PASS
ok  	example.com/cron	1.234s
?   	example.com/none	[no test files]
pkg: example.com/empty
PASS
pkg: example.com/broken
cpu: Some Processor @ 2.50GHz
--- FAIL: BenchmarkBroken
`))
	// Output:
	// on Some Processor @ 2.50GHz
	//
	// example.com/cron
	//   Next/workdays                                                    1.23 ms an operation, 120 B in 3 allocations
	//   Burst                                                            95.3 ms late p99
	//                                                                    16.0 x apart to shared
	//                                                                    4881 B/job
	// --- FAIL: BenchmarkBroken
}

func TestErrorsAreReported(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	require.ErrorIs(t, format(&strings.Builder{}, iotest.ErrReader(boom)), boom)
	require.ErrorIs(t, format(brokenWriter{boom}, strings.NewReader("panic: x\n")), boom)
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
