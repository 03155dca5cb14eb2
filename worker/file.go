package worker

import (
	"errors"
	"fmt"
	"os"
)

// File is the configuration of a worker. The package documentation describes every member.
type File struct {
	Registry Registry `yaml:"registry"`
	Take     Take     `yaml:"take"`
	Jobs     Jobs     `yaml:"jobs"`
	Script   *Script  `yaml:"script"` // nil: no scripts run
	HTTP     *HTTP    `yaml:"http"`   // nil: no HTTP jobs run
	Mail     *Mail    `yaml:"mail"`   // nil: no failures are told by mail
	History  History  `yaml:"history"`
	Grace    Duration `yaml:"grace"`
	Listen   string   `yaml:"listen"`
	Log      Log      `yaml:"log"`

	HeadStart *Duration `yaml:"headStart"` // nil: as scheduler.WithHeadStart has it by default
}

// Registry says where the jobs are. [New] is given the registry itself and does not look at it.
type Registry struct {
	Etcd      []string `yaml:"etcd"`
	ZooKeeper []string `yaml:"zookeeper"`
	Embedded  string   `yaml:"embedded"`
	Address   string   `yaml:"address"`
	Namespace string   `yaml:"namespace"`
	CA        string   `yaml:"ca"`
	Cert      string   `yaml:"cert"`
	Key       string   `yaml:"key"`
	User      string   `yaml:"user"`
	Password  string   `yaml:"password"` // a reference, never the password
}

// Take says which jobs the worker takes part in.
type Take struct {
	Classes []string          `yaml:"classes"`
	Jobs    []string          `yaml:"jobs"`
	Labels  map[string]string `yaml:"labels"`
}

// Jobs says which files hold jobs.
type Jobs struct {
	Directory string  `yaml:"directory"`
	Owner     string  `yaml:"owner"`
	Missing   Missing `yaml:"missing"`
	Version   int64   `yaml:"version"`
}

// Missing says what becomes of a job that its files do not name any more.
type Missing string

// The values of [Jobs.Missing].
const (
	MissingKeep    Missing = "keep"
	MissingDisable Missing = "disable"
	MissingRemove  Missing = "remove"
)

// Script says which scripts may run, and how.
type Script struct {
	Commands  []string  `yaml:"commands"`
	User      string    `yaml:"user"`
	Directory string    `yaml:"directory"`
	Env       Env       `yaml:"env"`
	Memory    Size      `yaml:"memory"`
	Pids      int       `yaml:"pids"`
	CPU       float64   `yaml:"cpu"`
	Cgroup    string    `yaml:"cgroup"`
	Stop      Duration  `yaml:"stop"`
	Output    Size      `yaml:"output"`
	Log       ScriptLog `yaml:"log"`
}

// Env says which variables scripts get.
type Env struct {
	Pass  []string `yaml:"pass"`
	Files []string `yaml:"files"`
}

// ScriptLog says where all output of scripts goes.
type ScriptLog struct {
	Directory string `yaml:"directory"`
	Size      Size   `yaml:"size"`
	Files     int    `yaml:"files"`
}

// HTTP says which addresses may be called, and how.
type HTTP struct {
	Allow    []string `yaml:"allow"`
	Networks []string `yaml:"networks"`
	Secrets  []string `yaml:"secrets"`
	Output   Size     `yaml:"output"`
	Sign     Sign     `yaml:"sign"`
}

// Sign says with which keys calls are signed: references, never the keys.
type Sign struct {
	Keys []string `yaml:"keys"`
}

// Mail says how, and to whom, the error handler EMAIL sends the failures of jobs.
type Mail struct {
	Server   string   `yaml:"server"`
	TLS      string   `yaml:"tls"`
	User     string   `yaml:"user"`
	Password string   `yaml:"password"` // a reference, never the password
	From     string   `yaml:"from"`
	To       []string `yaml:"to"` // patterns
}

// The values of [Mail.TLS].
const (
	TLSImplicit = "implicit"
	TLSOffered  = "offered"
)

// History says where executions and their outputs are kept.
type History struct {
	File    string   `yaml:"file"`
	Keep    Duration `yaml:"keep"`
	Outputs int      `yaml:"outputs"`
	Size    Size     `yaml:"size"`
}

// Log says how the command logs.
type Log struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

// ErrInvalidFile is what every fault of a [File] is.
var ErrInvalidFile = errors.New("invalid worker file")

// FieldError is one fault of a [File]. errors.Is(err, ErrInvalidFile) is true for it.
type FieldError struct {
	Field  string // such as "script.commands"
	Value  string // as it was found
	Reason string // what is allowed
	Err    error  // the cause, if there is one
}

// Error names the field, its value and what is allowed.
func (e *FieldError) Error() string {
	text := fmt.Sprintf("%s %q %s", e.Field, e.Value, e.Reason)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap gives the cause, if there is one.
func (e *FieldError) Unwrap() error { return e.Err }

// Is makes errors.Is(err, ErrInvalidFile) true.
func (e *FieldError) Is(target error) bool { return target == ErrInvalidFile }

// ReadFile reads a file and sets what it leaves out to its default. The error joins all faults.
func ReadFile(name string) (File, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return File{}, err
	}
	file, err := Parse(text)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", name, err)
	}
	return file, nil
}

// Parse is [ReadFile] for the text of a file.
func Parse(text []byte) (File, error) {
	file, d, err := decode(text)
	switch {
	case err != nil:
		return File{}, err
	case len(d.faults) == 0:
		return file.Completed()
	}
	_, faults := file.completed()
	for _, fault := range faults {
		if d.told(fault) {
			d.faults = append(d.faults, fault)
		}
	}
	return File{}, errors.Join(d.faults...)
}
