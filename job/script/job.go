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

// Property is ElasticJob 3.x's name for the setting of a command line. It counts if
// [job.Config.ScriptCommandLine] is empty.
const Property = "script.command.line"

// Job is a [job.Handler] that runs the command line of its job's configuration, once for each item. The zero Job
// is ready for use. Its fields belong to this process. Do not change them after the job was declared.
type Job struct {
	// Dir is the directory in which scripts run. Empty means that of this process.
	Dir string
	// Env are variables besides those of this process, each "name=value".
	Env []string
	// TimeLimit bounds one run of the script. The default, 0, sets no bound besides
	// [job.Config.Timeout].
	TimeLimit time.Duration
	// Grace is how long a script has to end after SIGTERM, with all of its process group, and how long processes have that
	// it leaves behind with its output. The default, 0, is [DefaultGrace]. When the scheduler's stop timeout is over, it is
	// three quarters of a second at most, as the process may end soon after; and when its session is lost, as much as is left
	// until others may run its item.
	Grace time.Duration
	// TailBytes is how much of the end of its output an error keeps. The default, 0, is
	// [DefaultTailBytes].
	TailBytes int
	// Output returns a writer for the output of an item's script, both of its streams together. It is
	// called once for each run, and one goroutine uses the writer; nil is none. By default, the output goes nowhere.
	Output func(sc job.ShardingContext) io.Writer
	// JavaQuoting splits the command line as Java does, see [JavaWords]. Set it where Java instances share the job, so
	// that the script gets the same arguments from all. By default, [Words] splits it.
	JavaQuoting bool
	// Logger gets the output line by line, at level info. By default, nothing is logged.
	Logger *slog.Logger
}

var (
	_ job.Handler = Job{}
	_ job.Checker = Job{}
)

// Configure returns the function that runs the command line of the configuration, whose type must be
// [job.TypeScript].
func (j Job) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.Type != job.TypeScript {
		return nil, &job.FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SCRIPT, as the code is a script"}
	}
	words, err := j.commandLine(cfg)
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
	words, err := j.commandLine(cfg)
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

// CommandLine returns the words of a configuration's command line, as [Words] splits it: at least one. The error is a
// [*job.FieldError].
func CommandLine(cfg job.Config) ([]string, error) { return Job{}.commandLine(cfg) }

func (j Job) commandLine(cfg job.Config) ([]string, error) {
	line := cfg.ScriptCommandLine
	if line == "" {
		line = cfg.Props[Property]
	}
	if strings.IndexByte(line, 0) >= 0 {
		return nil, &job.FieldError{Field: "ScriptCommandLine", Value: line, Reason: "must not contain zero characters, which no argument can hold"}
	}
	split := Words
	if j.JavaQuoting {
		split = JavaWords
	}
	words, err := split(line)
	if err != nil {
		return nil, &job.FieldError{Field: "ScriptCommandLine", Value: line, Reason: "must be a command line", Err: err}
	}
	return words, nil
}
