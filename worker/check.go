package worker

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	netmail "net/mail"
	"net/netip"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/job/httpjob"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/worker/internal/allow"
)

// The kinds of jobs that a worker has code for, as [Take.Classes] names them.
const (
	ClassScript = "ScriptJob"
	ClassHTTP   = httpjob.Class
)

// The defaults of a [File].
const (
	DefaultGrace    = 30 * time.Second
	DefaultStop     = 5 * time.Second
	DefaultOutput   = 64 << 10
	DefaultLogSize  = 10 << 20
	DefaultLogFiles = 5
	DefaultKeep     = 720 * time.Hour
	DefaultOutputs  = 100
	DefaultSize     = 1 << 30
	DefaultAddress  = "127.0.0.1:2379"
)

const (
	mostOutput  = 1 << 20 // of an output that is kept in memory, of its beginning and of its end each
	mostOutputs = 100_000 // of an item that the history keeps
	leastSize   = 8 << 20 // of all outputs in the history; one that is larger than all may be would take the others with it

	longestGrace = 30 * 24 * time.Hour
)

// Completed returns the file with its defaults, or every fault of it. What it returns shares nothing with f.
func (f File) Completed() (File, error) {
	f, faults := f.completed()
	return f, errors.Join(faults...)
}

func (f File) completed() (File, []error) {
	f.detach()
	f.complete()
	var c checker
	c.registry(f.Registry)
	c.take(f)
	c.jobs(f.Jobs)
	if f.Script != nil {
		c.script(*f.Script, f)
	}
	if f.HTTP != nil {
		c.http(*f.HTTP)
	}
	if f.Mail != nil {
		c.mail(*f.Mail)
	}
	c.absolute("history.file", f.History.File)
	c.require(f.History.Keep > 0, "history.keep", time.Duration(f.History.Keep), "must be above 0")
	c.require(f.History.Outputs > 0 && f.History.Outputs <= mostOutputs, "history.outputs", f.History.Outputs, fmt.Sprintf("must be 1 to %d", mostOutputs))
	c.require(f.History.Size >= leastSize, "history.size", int64(f.History.Size), "must be at least 8M")
	c.require(f.Grace > 0 && f.Grace <= Duration(longestGrace), "grace", time.Duration(f.Grace), fmt.Sprintf("must be above 0 and at most %s", longestGrace))
	if most := scheduler.MaxHeadStart; f.HeadStart != nil {
		c.require(*f.HeadStart >= 0 && *f.HeadStart <= Duration(most), "headStart", time.Duration(*f.HeadStart), fmt.Sprintf("must be from 0s to %s", most))
	}
	if f.Listen != "" {
		_, _, err := net.SplitHostPort(f.Listen)
		c.require(err == nil, "listen", f.Listen, "must be host:port, such as 127.0.0.1:9090")
	}
	c.word("log.level", f.Log.Level, "debug", "info", "warn", "error")
	c.word("log.format", f.Log.Format, "text", "json")
	return f, c.faults
}

// detach gives the file slices, maps and structs of its own: what it says of a worker, such as the programs that may run, must
// not change when the caller changes what it has, past all checks.
func (f *File) detach() {
	for _, list := range []*[]string{&f.Registry.Etcd, &f.Registry.ZooKeeper, &f.Take.Classes, &f.Take.Jobs} {
		*list = slices.Clone(*list)
	}
	f.Take.Labels = maps.Clone(f.Take.Labels)
	if f.Script != nil {
		s := *f.Script
		for _, list := range []*[]string{&s.Commands, &s.Env.Pass, &s.Env.Files} {
			*list = slices.Clone(*list)
		}
		f.Script = &s
	}
	if f.HTTP != nil {
		h := *f.HTTP
		for _, list := range []*[]string{&h.Allow, &h.Networks, &h.Secrets, &h.Sign.Keys} {
			*list = slices.Clone(*list)
		}
		f.HTTP = &h
	}
	if f.Mail != nil {
		m := *f.Mail
		m.To = slices.Clone(m.To)
		f.Mail = &m
	}
	if f.HeadStart != nil {
		d := *f.HeadStart
		f.HeadStart = &d
	}
}

// complete fills in what was left out. The file must be detached.
func (f *File) complete() {
	f.Grace = cmp.Or(f.Grace, Duration(DefaultGrace))
	f.History.Keep, f.History.Outputs = cmp.Or(f.History.Keep, Duration(DefaultKeep)), cmp.Or(f.History.Outputs, DefaultOutputs)
	f.History.Size = cmp.Or(f.History.Size, DefaultSize)
	f.Jobs.Missing = cmp.Or(f.Jobs.Missing, MissingKeep)
	f.Log.Level, f.Log.Format = cmp.Or(f.Log.Level, "info"), cmp.Or(f.Log.Format, "text")
	f.Registry.Address = cmp.Or(f.Registry.Address, DefaultAddress)
	if f.Script != nil {
		s := f.Script
		s.Stop = cmp.Or(s.Stop, Duration(DefaultStop))
		s.Output = cmp.Or(s.Output, DefaultOutput)
		s.Log.Size, s.Log.Files = cmp.Or(s.Log.Size, DefaultLogSize), cmp.Or(s.Log.Files, DefaultLogFiles)
	}
	if f.HTTP != nil {
		f.HTTP.Output = cmp.Or(f.HTTP.Output, DefaultOutput)
	}
	if f.Mail != nil {
		f.Mail.TLS = cmp.Or(f.Mail.TLS, TLSImplicit)
	}
	if len(f.Take.Classes) == 0 {
		f.Take.Classes = f.sections()
	}
}

// sections are the classes that the file has a section for.
func (f *File) sections() (classes []string) {
	if f.Script != nil {
		classes = append(classes, ClassScript)
	}
	if f.HTTP != nil {
		classes = append(classes, ClassHTTP)
	}
	return classes
}

// checker gathers the faults of a file.
type checker struct{ faults []error }

func (c *checker) fault(field string, value any, reason string, cause error) {
	c.faults = append(c.faults, &FieldError{Field: field, Value: fmt.Sprint(value), Reason: reason, Err: cause})
}

func (c *checker) require(holds bool, field string, value any, reason string) {
	if !holds {
		c.fault(field, value, reason, nil)
	}
}

func (c *checker) word(field, value string, allowed ...string) {
	c.require(slices.Contains(allowed, value), field, value, "must be one of "+strings.Join(allowed, ", "))
}

func (c *checker) absolute(field, value string) {
	c.require(value == "" || filepath.IsAbs(value), field, value, "must be an absolute path")
}

func (c *checker) reference(field, value string) {
	is := reference.Is(value)
	if !is {
		value = fmt.Sprintf("%d bytes", len(value)) // which may be the secret itself
	}
	c.require(is, field, value, `must be "file:" and an absolute path, or "env:" and the name of a variable`)
}

func (c *checker) registry(r Registry) {
	given := 0
	for _, is := range []bool{len(r.Etcd) > 0, len(r.ZooKeeper) > 0, r.Embedded != ""} {
		if is {
			given++
		}
	}
	c.require(given < 2, "registry", "", "must have one of etcd, zookeeper and embedded")
	if slices.ContainsFunc(r.Etcd, reference.HasLogin) {
		c.fault("registry.etcd", fmt.Sprintf("%d addresses", len(r.Etcd)), "must have no user and no password: want registry.user and registry.password", nil)
	}
	if r.Namespace != "" {
		if err := registry.CheckPath("/" + r.Namespace); err != nil {
			c.fault("registry.namespace", r.Namespace, "must be names with a / between them", err)
		}
	}
	c.absolute("registry.embedded", r.Embedded)
	if _, _, err := net.SplitHostPort(r.Address); err != nil {
		c.fault("registry.address", r.Address, "must be host:port, such as "+DefaultAddress, nil)
	}
	if len(r.ZooKeeper) > 0 {
		const none = "must not be there besides zookeeper, to which there is no TLS"
		c.require(r.CA == "", "registry.ca", r.CA, none)
		c.require(r.Cert == "", "registry.cert", r.Cert, none)
		c.require(r.Key == "", "registry.key", r.Key, none)
	}
	c.require((r.Cert == "") == (r.Key == ""), "registry.cert", r.Cert, "and registry.key must be given together")
	if r.Password != "" {
		c.reference("registry.password", r.Password)
	}
}

func (c *checker) take(f File) {
	has := f.sections()
	c.require(len(has) > 0, "script", "", "or http must be there: without both, the worker could run nothing")
	for _, class := range f.Take.Classes {
		c.word("take.classes", class, ClassScript, ClassHTTP)
		if (class == ClassScript || class == ClassHTTP) && !slices.Contains(has, class) {
			section := map[string]string{ClassScript: "script", ClassHTTP: "http"}[class]
			c.fault("take.classes", class, "needs the section "+section+", which says what may run", nil)
		}
	}
	for _, pattern := range f.Take.Jobs {
		_, err := path.Match(pattern, "")
		c.require(err == nil && pattern != "", "take.jobs", pattern, `must be patterns such as "orders-*"`)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Take.Labels)) {
		value := f.Take.Labels[name]
		text := name + "=" + value
		c.require(name != "" && !strings.ContainsAny(name, "=, ") && !strings.ContainsAny(value, "=, "), "take.labels", text,
			"must have no space, comma or equals sign in a name or value")
	}
}

// maxOwner bounds the name of an owner, in bytes: it stands in every job of its.
const maxOwner = 200

func (c *checker) jobs(j Jobs) {
	c.absolute("jobs.directory", j.Directory)
	c.word("jobs.missing", string(j.Missing), string(MissingKeep), string(MissingDisable), string(MissingRemove))
	c.require(j.Version >= 0, "jobs.version", j.Version, "must not be negative")
	c.require(len(j.Owner) <= maxOwner && utf8.ValidString(j.Owner), "jobs.owner", j.Owner, fmt.Sprintf("must be at most %d bytes of UTF-8", maxOwner))
	if j.Directory == "" {
		alone := j.Owner == "" && j.Missing == MissingKeep && j.Version == 0
		c.require(alone, "jobs.directory", "", "must be there if owner, missing or version is")
		return
	}
	c.require(j.Missing == MissingKeep || j.Owner != "", "jobs.owner", "",
		"must be there if missing is "+string(j.Missing)+": jobs of this owner that the folder lacks are no more wanted")
}

func (c *checker) script(s Script, f File) {
	if _, err := allow.NewCommands(s.Commands); err != nil {
		c.fault("script.commands", strings.Join(s.Commands, ", "), "is not allowed", err)
	}
	c.absolute("script.directory", s.Directory)
	rest := strings.NewReplacer("{job}", "", "{item}", "").Replace(s.Directory)
	c.require(!strings.ContainsAny(rest, "{}"), "script.directory", s.Directory, "must have no other braces than {job} and {item}")
	base, _, _ := strings.Cut(s.Directory, "{")
	c.require(s.Directory == base || strings.HasSuffix(base, "/") && base != "/", "script.directory", s.Directory,
		"must have {job} and {item} as whole segments below an existing folder")
	if file := filepath.Clean(f.History.File); s.Directory != "" && f.History.File != "" {
		c.require(!strings.HasPrefix(file, strings.TrimSuffix(filepath.Clean(base), "/")+"/"), "history.file", f.History.File,
			"must not be below "+base+", where scripts run and jobs get folders by their names")
	}
	for _, name := range s.Env.Pass {
		c.require(name != "" && !strings.ContainsAny(name, "=\x00"), "script.env.pass", name, "must be names of variables")
	}
	for _, name := range s.Env.Files {
		c.require(filepath.IsAbs(name), "script.env.files", name, "must be absolute paths")
	}
	c.require(s.Memory == 0 || s.Memory >= 1<<20, "script.memory", int64(s.Memory), "must be 0, which is no limit, or at least 1M")
	c.require(s.Pids >= 0, "script.pids", s.Pids, "must be 0, which is no limit, or more")
	c.require(s.CPU == 0 || s.CPU >= 0.01 && s.CPU <= 10_000, "script.cpu", strconv.FormatFloat(s.CPU, 'g', -1, 64), "must be 0, which is no limit, or 0.01 to 10000 processors")
	if s.Cgroup != "none" {
		c.absolute("script.cgroup", s.Cgroup)
	}
	c.require(s.Cgroup != "none" || s.Memory == 0 && s.Pids == 0 && s.CPU == 0, "script.cgroup", s.Cgroup, "must not be none with a limit of memory, pids or cpu")
	c.require(s.Stop > 0 && s.Stop < f.Grace, "script.stop", time.Duration(s.Stop), fmt.Sprintf("must be above 0 and less than grace, which is %s", time.Duration(f.Grace)))
	c.require(s.Output <= mostOutput, "script.output", int64(s.Output), "must be at most 1M")
	c.absolute("script.log.directory", s.Log.Directory)
	c.require(s.Log.Size >= 4<<10, "script.log.size", int64(s.Log.Size), "must be at least 4K")
	c.require(s.Log.Files >= 0 && s.Log.Files <= 1000, "script.log.files", s.Log.Files, "must be 0 to 1000")
}

func (c *checker) http(h HTTP) {
	if _, err := allow.NewAddresses(h.Allow, nil); err != nil {
		c.fault("http.allow", strings.Join(h.Allow, ", "), "is not allowed", err)
	}
	for _, network := range h.Networks {
		_, err := netip.ParsePrefix(network)
		c.require(err == nil, "http.networks", network, "must be networks such as 10.0.0.0/8")
	}
	for _, pattern := range h.Secrets {
		_, err := path.Match(pattern, "")
		is := strings.HasPrefix(pattern, "env:") || strings.HasPrefix(pattern, "file:/")
		c.require(err == nil && is, "http.secrets", pattern, "must be patterns such as file:/run/secrets/* and env:API_*")
	}
	c.require(h.Output <= mostOutput, "http.output", int64(h.Output), "must be at most 1M")
	c.require(len(h.Sign.Keys) <= 2, "http.sign.keys", fmt.Sprintf("%d keys", len(h.Sign.Keys)), "must be one key, or two while they change")
	for _, key := range h.Sign.Keys {
		c.reference("http.sign.keys", key)
	}
}

func (c *checker) mail(m Mail) {
	host, port, err := net.SplitHostPort(m.Server)
	number, _ := strconv.ParseUint(port, 10, 16)
	c.require(err == nil && host != "" && number > 0, "mail.server", m.Server, "must be host:port, such as smtp.example.org:465")
	c.word("mail.tls", m.TLS, TLSImplicit, TLSOffered)
	c.require((m.User == "") == (m.Password == ""), "mail.user", m.User, "and mail.password must be given together")
	if m.Password != "" {
		c.reference("mail.password", m.Password)
	}
	_, err = netmail.ParseAddress(m.From)
	c.require(err == nil, "mail.from", m.From, "must be an address, such as jobs@example.org")
	c.require(len(m.To) > 0, "mail.to", "", `must have patterns of who may get mail, such as "*@example.org", or "*" for everybody`)
	for _, pattern := range m.To {
		_, err := path.Match(pattern, "")
		c.require(err == nil && (pattern == "*" || strings.Count(pattern, "@") == 1), "mail.to", pattern, `must be patterns with one @, such as "*@example.org", or "*" for everybody`)
	}
}
