package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/etcdflags"
	references "github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
	"github.com/elasticron/elasticron/worker"
)

func newWorker(p *program) *cobra.Command {
	r := workerRun{program: p}
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run script and HTTP jobs, without Go code",
		Long: `Worker runs scripts (jobType: SCRIPT) and HTTP jobs (jobClass: HTTP), from files or from the
registry. Its file says which jobs it takes, which programs and addresses they may use, and as
which user they run; docs/worker.md describes it. For a first try, --jobs, --commands and --allow do without one. A
small one:

  registry: {etcd: [http://localhost:2379], namespace: shop}
  jobs: {directory: /etc/elasticron/jobs}
  script: {commands: [/opt/jobs/*]}

With --embedded, or the member embedded of the file, it runs an etcd of its own in a folder: cron
for one machine. Other workers of the machine may use the same one.

SIGHUP reads the file again, and tells what counts only after a restart. The first SIGTERM or
Ctrl-C hands items over and waits for what runs, up to the grace of the file; the second ends
that at once. Under systemd, use Type=notify; a watchdog is served.`,
		Example: `  elasticron worker --embedded data --jobs jobs --commands '/opt/jobs/*' -n shop
  elasticron worker --config worker.yaml
  elasticron worker --config worker.yaml --embedded /var/lib/elasticron/etcd
  elasticron worker --config worker.yaml --check`,
		Args: cobra.NoArgs,
	}
	flags := cmd.Flags()
	r.connection = newRegistryConnection(p, flags)
	flags.StringVar(&r.config, "config", "", "file of the worker")
	flags.StringVar(&r.jobs, "jobs", "", "in place of --config: folder with files of jobs")
	flags.StringSliceVar(&r.commands, "commands", nil, "in place of --config: programs that scripts may be, such as '/opt/jobs/*'")
	flags.StringSliceVar(&r.allow, "allow", nil, "in place of --config: addresses that may be called, such as 'https://*.shop.internal'")
	flags.StringVar(&r.history, "history", "", "in place of --config: SQLite file that keeps executions and what they write")
	flags.StringVar(&r.embedded, "embedded", "", "folder of an etcd that runs inside this process (default: that of the file)")
	flags.StringVar(&r.address, "address", "", "where that etcd listens (default: that of the file, or "+worker.DefaultAddress+")")
	flags.BoolVar(&r.check, "check", false, "only read the file, and tell what is wrong with it; whether the machine has what it names is not looked at")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return r.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// workerRun is one run of the command.
type workerRun struct {
	program    *program
	connection *connection
	config     string
	jobs       string
	commands   []string
	allow      []string
	history    string
	embedded   string
	address    string
	check      bool
}

func (r *workerRun) run(ctx context.Context, out, errOut io.Writer) (err error) {
	file, err := r.file()
	if err != nil {
		return err
	}
	if r.connection.namespace, err = r.namespace(file.Registry); err != nil {
		return err
	}
	if r.check {
		_, err := fmt.Fprintln(out, "The file is in order.")
		return err
	}
	outliveReaders()
	hangups := outliveHangups()
	lines := newLogLines(errOut)
	log := loggerOf(file.Log, lines)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stops, restore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) // which is heard also while a reload is being logged
	defer restore()
	context.AfterFunc(stops, func() { stop(); restore(); lines.hurry() }) // before the worker is there, a second signal ends the program
	reg, closeRegistry, err := r.open(ctx, file.Registry, log)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() { err = errors.Join(err, closeRegistry(ctx)) }()
	w, err := worker.New(reg, file, worker.WithLogger(log), worker.WithNotify(func(state string) { tellSystemd(log, state) }))
	if err != nil {
		return err
	}
	defer r.heed(w, hangups, stop, log)() //nolint:contextcheck // what a reload does outlasts the start
	return w.Run(ctx)
}

// file reads the file of the worker, or makes one of what the flags say.
func (r *workerRun) file() (worker.File, error) {
	flags := r.jobs != "" || len(r.commands) > 0 || len(r.allow) > 0 || r.history != ""
	switch {
	case r.config != "" && flags:
		return worker.File{}, misuse("--config is given besides --jobs, --commands, --allow or --history: want either")
	case r.config != "":
		return worker.ReadFile(r.config)
	case !flags:
		return worker.File{}, misuse("--config is missing: want the file of the worker, or --jobs and --commands or --allow")
	case len(r.commands) == 0 && len(r.allow) == 0:
		return worker.File{}, misuse("--commands and --allow are missing: want one of them, as the worker runs nothing that is not allowed")
	}
	var file worker.File
	if r.jobs != "" {
		dir, err := filepath.Abs(r.jobs)
		if err != nil {
			return worker.File{}, err
		}
		if err := isFolder(dir); err != nil {
			return worker.File{}, err
		}
		file.Jobs.Directory = dir
	}
	if r.history != "" {
		path, err := filepath.Abs(r.history)
		if err != nil {
			return worker.File{}, err
		}
		file.History.File = path
	}
	if len(r.commands) > 0 {
		file.Script = &worker.Script{Commands: r.commands}
	}
	if len(r.allow) > 0 {
		file.HTTP = &worker.HTTP{Allow: r.allow}
	}
	return file.Completed()
}

// heed has the worker heed signals, until the function that it returns is called, and the hangup that has come before.
func (r *workerRun) heed(w *worker.Worker, hangups <-chan os.Signal, stop func(), log *slog.Logger) func() {
	signals := make(chan os.Signal, 4) // of which none is to be lost
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	over, done := make(chan struct{}), make(chan struct{})
	reloads := make(chan struct{}, 1) // one more than the one that goes on
	select {
	case <-hangups:
		reloads <- struct{}{}
	default:
	}
	go func() { // nobody waits for it: the file may be where nobody answers
		for {
			select {
			case <-over:
				return
			case <-reloads:
				r.reload(w, log)
			}
		}
	}()
	go func() {
		defer close(done)
		defer signal.Stop(signals)
		heedSignals(over, signals, reloads, stop, func() {
			w.StopNow()
			log.Warn("worker ends at once")
		})
	}()
	return func() {
		close(over)
		<-done
	}
}

// heedSignals asks for a reload at each SIGHUP, and does one of ends after the other as other signals come. One more is left to
// Go, which ends the process.
func heedSignals(over <-chan struct{}, signals <-chan os.Signal, reloads chan<- struct{}, ends ...func()) {
	for len(ends) > 0 {
		select {
		case <-over:
			return
		case s := <-signals:
			if s != syscall.SIGHUP {
				ends[0]()
				ends = ends[1:]
				continue
			}
			select {
			case reloads <- struct{}{}:
			default: // the one that waits will read what is there now
			}
		}
	}
}

// reload reads the file again. What is wrong with it is logged, and the old one counts on.
func (r *workerRun) reload(w *worker.Worker, log *slog.Logger) {
	file, err := r.file()
	var later []string
	if err == nil {
		later, err = w.Reload(file)
	}
	if err != nil {
		log.Error("the file of the worker is not reloaded, the old one counts on", "error", err)
		return
	}
	log.Info("the file of the worker is reloaded", "file", r.config, "after_a_restart", strings.Join(later, ", "))
}

// namespace is that of the flags or, where they name none, of the file; where that names none either, of the context.
func (r *workerRun) namespace(from worker.Registry) (string, error) {
	name := cmp.Or(r.connection.namespace, from.Namespace)
	own := r.embedded+from.Embedded != "" || len(from.Etcd)+len(from.ZooKeeper) > 0
	if name == "" && (r.connection.context != "" || !own) {
		chosen, err := r.connection.chosen()
		if err != nil && !errors.Is(err, errNotNamed) {
			return "", err
		}
		if err := oneRegistry(chosen); err != nil {
			return "", err
		}
		if name = chosen.Namespace; strings.Contains(name, ",") {
			return "", misuse("the context has the namespaces %s: want one, with --namespace", name)
		}
	}
	if name == "" {
		return "", misuse("the namespace is missing: want registry.namespace in the file, --namespace, or a context that has one")
	}
	if err := registry.CheckPath("/" + name); err != nil {
		return "", misuse("the namespace is %q: %w", name, err)
	}
	return name, nil
}

// open connects to the registry that the flags name or, where they name none, the file. It starts an etcd if that is in
// this process.
func (r *workerRun) open(ctx context.Context, from worker.Registry, log *slog.Logger) (registry.Registry, func(context.Context) error, error) {
	c := r.connection
	c.log = log
	named := c.etcd.Given() || len(c.zooKeeper) > 0 || c.context != ""
	dir := r.embedded
	if dir == "" && !named {
		dir = from.Embedded
	}
	if dir != "" && named {
		return nil, nil, misuse("--embedded is given besides --etcd, --zookeeper or --context: want one of them")
	}
	if dir != "" {
		return r.openEmbedded(ctx, dir, cmp.Or(r.address, from.Address), log)
	}
	var chosen cluster
	if !named && (len(from.Etcd) > 0 || len(from.ZooKeeper) > 0) {
		var password func() (string, error)
		if from.Password != "" {
			password = func() (string, error) {
				text, err := references.Resolve(from.Password)
				if err != nil {
					return "", fmt.Errorf("registry.password %q: %w", from.Password, err)
				}
				return text, nil
			}
			if _, err := password(); err != nil {
				return nil, nil, err
			}
		}
		c.etcd.Default(etcdflags.Defaults{Endpoints: from.Etcd, User: from.User, Password: password, CA: from.CA, Cert: from.Cert, Key: from.Key})
		c.zooKeeper = from.ZooKeeper
	} else {
		var err error
		if chosen, err = c.chosen(); err != nil {
			return nil, nil, err
		}
	}
	if chosen.Server != "" {
		return nil, nil, misuse("the context is that of a server, want --etcd, --zookeeper or --embedded")
	}
	c.etcd.Log = log
	reg, err := r.program.newStartWait(log).open(ctx, func(ctx context.Context) (registry.Registry, error) { return c.open(ctx, chosen) })
	if err != nil {
		return nil, nil, err
	}
	return reg, func(ctx context.Context) error { return leave(ctx, reg) }, nil
}

// openEmbedded starts an etcd in this process and connects to it.
func (r *workerRun) openEmbedded(ctx context.Context, dir, address string, log *slog.Logger) (registry.Registry, func(context.Context) error, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, nil, err
	}
	server, err := embedded.Start(ctx, embedded.WithDir(dir), embedded.WithAddress(address), lastWords(log))
	switch {
	case errors.Is(err, embedded.ErrInUse), errors.Is(err, embedded.ErrMisplaced), errors.Is(err, embedded.ErrInvalidOption):
		return nil, nil, fmt.Errorf("--embedded: %w", err)
	case err != nil:
		return nil, nil, fmt.Errorf("%w; another process may use %s or %s", err, dir, address)
	}
	log.Info("etcd runs inside this worker", "endpoint", server.Endpoints()[0], "folder", dir)
	r.connection.etcd.Default(etcdflags.Defaults{Endpoints: server.Endpoints()})
	reg, err := r.connection.open(ctx, cluster{})
	if err != nil {
		return nil, nil, errors.Join(err, server.Close())
	}
	return reg, func(ctx context.Context) error { return errors.Join(leave(ctx, reg), server.Close()) }, nil
}

// lastWords has the log tell why an etcd in this process ends it.
func lastWords(log *slog.Logger) embedded.Option {
	return embedded.WithLastWords(func(err error) {
		log.Error("the etcd inside this process cannot go on, the process ends", "error", err)
	})
}

// isFolder refuses a folder of jobs that a person has named and that is none. That of a file may come later, as a mount does.
func isFolder(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return misuse("--jobs: there is no folder %s: make it and put files of jobs there, or name another one", dir)
	case err != nil:
		return fmt.Errorf("--jobs: %w", err)
	case !info.IsDir():
		return misuse("--jobs: %s is no folder: want the one in which the files of jobs are", dir)
	}
	return nil
}

// loggerOf returns a logger as the file has it.
func loggerOf(l worker.Log, out io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(l.Level)) // it is one of the words
	opts := &slog.HandlerOptions{Level: level}
	if l.Format == "json" {
		return slog.New(slog.NewJSONHandler(out, opts))
	}
	return slog.New(slog.NewTextHandler(out, opts))
}
