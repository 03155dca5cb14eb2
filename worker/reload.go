package worker

import (
	"reflect"

	"github.com/coreos/go-systemd/v22/daemon"
)

// Reload has another file count: its section jobs, but not whether there is one; of script all but the limits, the
// cgroup and stop; and of http all but the secrets. It returns the names of members that differ and count only after a restart. If the file is not
// allowed, or the machine has not what it asks for, nothing changes.
func (w *Worker) Reload(file File) (later []string, err error) {
	file, err = file.Completed()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parts == nil {
		w.file = file
		return nil, nil
	}
	if w.ready && !w.draining {
		w.notify("RELOADING=1\n" + daemon.SdNotifyMonotonicUsec())
		defer w.notify("READY=1")
	}
	was := w.file
	later = was.needRestart(file)
	return later, w.apply(&was, file)
}

// apply changes what can be changed, all or nothing. The caller holds mu.
func (w *Worker) apply(was *File, file File) error {
	var rules *callRules
	var err error
	if was.HTTP != nil && file.HTTP != nil {
		if rules, err = rulesOf(*file.HTTP); err != nil {
			return err
		}
	}
	if was.Script != nil && file.Script != nil {
		kept := file.Script.keeping(*was.Script)
		if err := w.parts.scripts.set(*kept); err != nil {
			return err
		}
		was.Script = kept
	}
	if rules != nil {
		w.parts.calls.now.Store(rules)
		now := *file.HTTP
		now.Secrets = was.HTTP.Secrets
		was.HTTP = &now
	}
	if w.parts.files != nil && file.Jobs.Directory != "" {
		w.parts.files.Follow(sourceOf(file.Jobs))
		was.Jobs = file.Jobs
	}
	w.file = *was
	return nil
}

// keeping returns the section with what cannot be changed of another.
func (s Script) keeping(of Script) *Script {
	s.Memory, s.Pids, s.CPU, s.Cgroup, s.Stop = of.Memory, of.Pids, of.CPU, of.Cgroup, of.Stop
	return &s
}

// needRestart names what differs and is not changed by a reload.
func (f File) needRestart(next File) (names []string) {
	differs := func(name string, a, b any) {
		if !reflect.DeepEqual(a, b) {
			names = append(names, name)
		}
	}
	differs("registry", f.Registry, next.Registry)
	differs("take", f.Take, next.Take)
	differs("jobs.directory", f.Jobs.Directory == "", next.Jobs.Directory == "")
	differs("script", f.Script == nil, next.Script == nil)
	differs("http", f.HTTP == nil, next.HTTP == nil)
	if f.Script != nil && next.Script != nil {
		differs("script.memory", f.Script.Memory, next.Script.Memory)
		differs("script.pids", f.Script.Pids, next.Script.Pids)
		differs("script.cpu", f.Script.CPU, next.Script.CPU)
		differs("script.cgroup", f.Script.Cgroup, next.Script.Cgroup)
		differs("script.stop", f.Script.Stop, next.Script.Stop)
	}
	if f.HTTP != nil && next.HTTP != nil {
		differs("http.secrets", f.HTTP.Secrets, next.HTTP.Secrets)
	}
	differs("history", f.History, next.History)
	differs("grace", f.Grace, next.Grace)
	differs("listen", f.Listen, next.Listen)
	differs("log", f.Log, next.Log)
	return names
}
