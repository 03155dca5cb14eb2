package worker

import (
	"slices"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Reload has another file count. Of its sections, these count at once:
//
//   - take
//   - jobs, but not whether there is a folder
//   - script, but not whether there is that section, and not its cgroup
//   - http, but not whether there is that section, and not its secrets
//   - grace, for a stop that begins later
//
// Scripts and calls that run go on as they began. Jobs that were refused are judged anew, also by a file that says the same:
// what they refer to on the machine, such as the file of a secret, may have come. The others are if it allows something else;
// if not, they go on though what they refer to has gone, as that may be for a moment. Reload returns the names of members that
// differ and count only after a restart. If the file is not allowed, or the machine has not what it asks for, nothing changes.
// While Run still opens what the file before asks for, Reload waits until that is done.
func (w *Worker) Reload(file File) (later []string, err error) {
	file, err = file.Completed()
	if err != nil {
		return nil, err
	}
	w.reloading.Lock()
	defer w.reloading.Unlock()
	w.mu.Lock()
	if w.ran && w.parts == nil {
		w.mu.Unlock()
		<-w.serving
		w.mu.Lock()
	}
	if w.parts == nil {
		w.file = file
		w.mu.Unlock()
		return nil, nil
	}
	was := w.file // nobody else changes it
	w.mu.Unlock()
	// Users and keys may come from where nobody answers, and a stop is not to wait for that.
	read, err := w.parts.read(&was, file)
	if err != nil {
		return was.needRestart(file), err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ready && !w.draining {
		w.notices.tell("RELOADING=1\n" + daemon.SdNotifyMonotonicUsec())
		defer w.notices.tell("READY=1")
	}
	later = was.needRestart(file)
	return later, w.apply(&was, file, read)
}

// reread is what the machine has of a file that is reloaded.
type reread struct {
	rules  *callRules   // nil without a section http before and now
	script *Script      // nil without a section script before and now
	set    func() error // has it count for scripts
}

func (p *parts) read(was *File, file File) (r reread, err error) {
	if was.HTTP != nil && file.HTTP != nil {
		if r.rules, err = rulesOf(*file.HTTP); err != nil {
			return r, err
		}
	}
	if was.Script != nil && file.Script != nil {
		r.script = file.Script.keeping(*was.Script)
		r.set, err = p.scripts.read(*r.script)
	}
	return r, err
}

// apply changes what can be changed, all or nothing. The caller holds mu.
func (w *Worker) apply(was *File, file File, read reread) error {
	anew := was.judgesOtherwise(file)
	if read.script != nil {
		if err := read.set(); err != nil {
			return err
		}
		was.Script = read.script
	}
	if read.rules != nil {
		w.parts.calls.now.Store(read.rules)
		now := *file.HTTP
		now.Secrets = was.HTTP.Secrets
		was.HTTP = &now
	}
	if w.parts.files != nil && file.Jobs.Directory != "" {
		w.parts.files.Follow(sourceOf(file.Jobs))
		was.Jobs = file.Jobs
	}
	if err := w.parts.scheduler.SetStopTimeout(stopTimeoutOf(file)); err != nil {
		return err
	}
	classes := was.Take.Classes
	was.Take, was.Grace = file.Take, file.Grace
	if (was.Script == nil) != (file.Script == nil) || (was.HTTP == nil) != (file.HTTP == nil) {
		was.Take.Classes = classes // they follow the sections, which count after a restart
	}
	w.parts.take.Store(&was.Take)
	w.parts.scheduler.Reconsider()
	if anew {
		w.parts.scheduler.Reconfigure()
	} else {
		w.parts.scheduler.ReconfigureRefused()
	}
	w.file = *was
	return nil
}

// judgesOtherwise tells whether jobs may be refused by one file that are not by the other, as far as that counts at once.
func (f *File) judgesOtherwise(next File) bool {
	commands := f.Script != nil && next.Script != nil && !slices.Equal(f.Script.Commands, next.Script.Commands)
	addresses := f.HTTP != nil && next.HTTP != nil && !slices.Equal(f.HTTP.Allow, next.HTTP.Allow)
	return commands || addresses
}

// keeping returns the section with what cannot be changed of another.
func (s Script) keeping(of Script) *Script {
	if s.Cgroup != of.Cgroup {
		s.Cgroup, s.Memory, s.Pids, s.CPU = of.Cgroup, of.Memory, of.Pids, of.CPU
	}
	return &s
}
