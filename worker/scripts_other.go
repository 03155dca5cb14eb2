//go:build !linux

package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/job"
)

var errNoScripts = errors.New("script: workers run scripts on Linux only")

// scripts are none here.
type scripts struct{ job.Handler }

func openScripts(Script, *slog.Logger, hearing) (*scripts, error) {
	return nil, errNoScripts
}

func (*scripts) read(Script) (func() error, error) { return nil, errNoScripts }
func (*scripts) bury(context.Context)              {}
func (*scripts) close(time.Duration) error         { return nil }
func (*scripts) LongestStop() time.Duration        { return 0 }
func (*scripts) Stop(error)                        {}
func (*scripts) Kill()                             {}
func (*scripts) Idle() <-chan struct{}             { return nil }
