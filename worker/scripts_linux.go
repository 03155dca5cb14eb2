package worker

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/worker/internal/allow"
	"github.com/elasticron/elasticron/worker/internal/cgroup"
	"github.com/elasticron/elasticron/worker/internal/command"
	"github.com/elasticron/elasticron/worker/internal/kin"
	"github.com/elasticron/elasticron/worker/internal/output"
)

// scripts are the code of script jobs, with what it needs of the machine.
type scripts struct {
	*command.Code
	kin *kin.Kin
	log *slog.Logger

	mu     sync.Mutex
	groups *cgroup.Groups // nil if there are none
	closed bool
}

// openScripts prepares the machine for scripts.
func openScripts(s Script, log *slog.Logger, heard hearing) (*scripts, error) {
	settings, err := settingsOf(s)
	if err != nil {
		return nil, err
	}
	family, err := kin.Shared()
	if err != nil {
		return nil, err
	}
	settings.Groups, err = openGroups(s, log)
	if err != nil {
		return nil, err
	}
	if s.User == "" && os.Geteuid() == 0 {
		log.Warn("scripts run as root: script.user is not set")
	}
	code := command.New(settings, family, log, heard)
	return &scripts{Code: code, kin: family, log: log, groups: settings.Groups}, nil
}

func limitsOf(s Script) cgroup.Limits {
	return cgroup.Limits{Memory: int64(s.Memory), Pids: s.Pids, CPU: s.CPU}
}

// openGroups opens the cgroup of the runs. Without limits, it does without one where there is none.
func openGroups(s Script, log *slog.Logger) (*cgroup.Groups, error) {
	if s.Cgroup == "none" {
		return nil, nil
	}
	limits := limitsOf(s)
	place, err := s.Cgroup, error(nil)
	if place == "" {
		place, err = cgroup.Own()
	}
	var groups *cgroup.Groups
	if err == nil {
		groups, err = cgroup.Open(place, limits)
	}
	switch {
	case err == nil:
		return groups, nil
	case limits != cgroup.Limits{}:
		return nil, unlimited(place, err)
	case s.Cgroup != "":
		return nil, &FieldError{Field: "script.cgroup", Value: place, Reason: "must be a cgroup v2 that the worker may write to, or none", Err: err}
	}
	log.Info("scripts run without cgroups", "error", err)
	return nil, nil
}

// unlimited is the error of limits that cannot be kept.
func unlimited(place string, err error) error {
	return &FieldError{Field: "script.memory, pids and cpu", Value: place, Reason: "need a cgroup v2 with their controllers: delegate one to the worker, or set no limits", Err: err}
}

func settingsOf(s Script) (*command.Settings, error) {
	list, err := allow.NewCommands(s.Commands)
	if err != nil {
		return nil, err
	}
	base, _, _ := strings.Cut(s.Directory, "{")
	if err := errors.Join(isFolder("script.directory", base), isFolder("script.log.directory", s.Log.Directory)); err != nil {
		return nil, err
	}
	settings := &command.Settings{
		Commands: list, Directory: s.Directory, Pass: s.Env.Pass, EnvFiles: s.Env.Files, Stop: time.Duration(s.Stop), Keep: int(s.Output),
		Files: output.Files{Directory: s.Log.Directory, Size: int64(s.Log.Size), Older: s.Log.Files}, Limits: limitsOf(s),
	}
	if s.User != "" {
		settings.User, err = command.LookupUser(s.User)
		if err != nil {
			return nil, &FieldError{Field: "script.user", Value: s.User, Reason: "must be a user as whom this process can run scripts", Err: err}
		}
	}
	return settings, nil
}

// isFolder refuses a folder that is not there: whoever named it is to hear so now, and not when something runs.
func isFolder(field, path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() {
		return nil
	}
	return &FieldError{Field: field, Value: path, Reason: "must be a folder that is there", Err: err}
}

// read reads what the machine has of a section. What it returns has that count for runs that begin later.
func (s *scripts) read(to Script) (set func() error, err error) {
	settings, err := settingsOf(to)
	if err != nil {
		return nil, err
	}
	return func() error { return s.set(to, settings) }, nil
}

func (s *scripts) set(to Script, settings *command.Settings) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil // nothing begins any more
	case s.groups != nil:
		if err := s.groups.Prepare(settings.Limits); err != nil {
			return unlimited(to.Cgroup, err)
		}
	case settings.Limits != cgroup.Limits{}:
		if s.groups, err = openGroups(to, s.log); err != nil {
			return err
		}
	}
	settings.Groups = s.groups
	s.Set(settings)
	return nil
}

// bury forgets orphans that have ended, until ctx ends.
func (s *scripts) bury(ctx context.Context) {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	defer signal.Stop(ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ended:
		}
		select { // many end at once
		case <-ctx.Done():
			return
		case <-time.After(buryEvery):
			s.kin.Bury()
		}
	}
}

// buryEvery bounds how often orphans are looked for: each time, the children of all threads are read.
const buryEvery = 250 * time.Millisecond

// errScripts is the error of scripts that do not end.
var errScripts = errors.New("scripts were killed and do not end")

// close waits for scripts for a while and leaves nothing of them.
func (s *scripts) close(patience time.Duration) error {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		return errScripts
	}
	s.kin.Bury()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.groups == nil {
		return nil
	}
	return s.groups.Close()
}
