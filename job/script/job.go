package script

import (
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/elasticron/elasticron/job"
)

// The defaults of a [Job].
const (
	DefaultGrace     = 5 * time.Second
	DefaultTailBytes = 4 << 10
)

// Property is the setting by which ElasticJob 3.x names a command line. It counts where
// [job.Config.ScriptCommandLine] is empty.
const Property = "script.command.line"

// Job runs the command line of its job's configuration, once for each item. The zero Job is ready for
// use. Its fields are what belongs to this process; they must not be changed after it was declared.
type Job struct {
	// Dir is the directory in which scripts run. Empty means that of this process.
	Dir string
	// Env are variables besides those of this process, each "name=value".
	Env []string
	// TimeLimit bounds one run of the script. The default, 0, sets no bound besides
	// [job.Config.Timeout].
	TimeLimit time.Duration
	// Grace is how long a script that is told to end has for it, and processes that it leaves behind.
	// The default, 0, is [DefaultGrace].
	Grace time.Duration
	// TailBytes is how much of the end of its output an error keeps. The default, 0, is
	// [DefaultTailBytes].
	TailBytes int
	// Output returns where the output of an item's script goes, both of its streams together. It is
	// called once for each run and its writer by one goroutine. The default is nowhere.
	Output func(sc job.ShardingContext) io.Writer
	// Logger gets the output line by line, at level info. The default is nobody.
	Logger *slog.Logger
}

var (
	_ job.Handler = Job{}
	_ job.Checker = Job{}
)

// Configure returns what runs the command line of the configuration, which must be that of a script.
func (j Job) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.Type != job.TypeScript {
		return nil, &job.FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SCRIPT, as the code is a script"}
	}
	words, err := wordsOf(cfg)
	if err != nil {
		return nil, err
	}
	if j.Grace <= 0 {
		j.Grace = DefaultGrace
	}
	if j.TailBytes <= 0 {
		j.TailBytes = DefaultTailBytes
	}
	return command{Job: j, words: words}.run, nil
}

// Check looks for the command on this machine, as it would be run: in [Job.Dir] or in PATH. It does not run
// it.
func (j Job) Check(cfg job.Config) error {
	words, err := wordsOf(cfg)
	if err != nil {
		return err
	}
	name := words[0]
	if j.Dir != "" && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = j.Dir + "/" + name
	}
	if _, err := exec.LookPath(name); err != nil {
		return &job.FieldError{Field: "ScriptCommandLine", Value: words[0], Reason: "must begin with a program that this machine has", Err: err}
	}
	return nil
}

// wordsOf returns the words of a configuration's command line, of which there is at least one.
func wordsOf(cfg job.Config) ([]string, error) {
	line := cfg.ScriptCommandLine
	if line == "" {
		line = cfg.Props[Property]
	}
	words, err := Words(line)
	if err != nil {
		return nil, &job.FieldError{Field: "ScriptCommandLine", Value: line, Reason: "must be a command line", Err: err}
	}
	return words, nil
}
