package scheduler

import (
	"context"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Conflict says who wins when a job is declared and its stored configuration is another one.
type Conflict string

// The values of [OnConflict].
const (
	// RegistryWins leaves the stored configuration as it is. The difference is logged once, when the
	// job is declared, with the values.
	RegistryWins Conflict = "registry wins"
	// CodeWins replaces the stored configuration, if it is still the one that was compared with, and writes that down
	// among the job's operations, with what was stored before. Whether the job is disabled stays as an operator has it,
	// except where Java instances take part; see [job.Config].
	CodeWins Conflict = "code wins"
	// RefuseConflict makes the declaration fail with [ErrConfigConflict], and changes nothing.
	RefuseConflict Conflict = "refuse"
)

// OnConflict says who wins when the stored configuration of the job differs from the declared one.
// The default is [RegistryWins]. It is about this declaration only, and not stored. A job that is stored
// with another class is a conflict that nobody wins, see [ErrClassConflict].
func OnConflict(c Conflict) JobOption {
	return func(o *jobOptions) error {
		switch c {
		case RegistryWins, CodeWins, RefuseConflict:
			o.conflict = c
			return nil
		default:
			return fmt.Errorf("%w: conflict %q must be one of %q, %q and %q",
				ErrInvalidOption, c, RegistryWins, CodeWins, RefuseConflict)
		}
	}
}

// ConfigConflictError tells in which fields a declared configuration differs from the stored one.
// errors.Is(err, ErrConfigConflict) is true for it.
type ConfigConflictError struct {
	Job    string
	Fields []string // of job.Config
	// Values shows what is stored in each and what is declared, without what may be secret.
	Values string
}

// Error names the job, the fields and the ways out.
func (e *ConfigConflictError) Error() string {
	return fmt.Sprintf("job %q is stored with another configuration, which differs in %s (%s); declare the same, or say by OnConflict who wins",
		e.Job, strings.Join(e.Fields, ", "), e.Values)
}

// Is makes errors.Is(err, ErrConfigConflict) true.
func (e *ConfigConflictError) Is(target error) bool { return target == ErrConfigConflict }

// reportIgnored says that a declaration has no effect, as the stored configuration is another one.
func (s *Scheduler) reportIgnored(ctx context.Context, stored, declared job.Config) {
	if details := conflictDetails(stored, declared); details != nil {
		s.log.WarnContext(ctx, "the stored configuration counts, and differs from the declared one", details...)
	}
}

// reportReplaced says that a declaration has replaced what was stored, if something was.
func (s *Scheduler) reportReplaced(ctx context.Context, root string, found registry.Node, text string) {
	stored, declared, ok := s.bothConfigs(root, found, text)
	if !ok {
		return
	}
	if details := conflictDetails(stored, declared); details != nil {
		s.log.InfoContext(ctx, "the declared configuration counts, and has replaced the stored one", details...)
	}
}

// conflictDetails are what a log line says of two configurations; nil if they are the same.
func conflictDetails(stored, declared job.Config) []any {
	fields := declared.Differences(stored)
	if len(fields) == 0 {
		return nil
	}
	return []any{
		logJob, declared.Name, "fields", strings.Join(fields, ", "), logDifferences, differences(stored, declared), logDecides, "OnConflict",
	}
}

// replaced shows in short what a configuration changes that takes the place of another.
func (s *Scheduler) replaced(root string, found registry.Node, text string) string {
	stored, declared, ok := s.bothConfigs(root, found, text)
	if !ok {
		return ""
	}
	return texts.Shorten(differences(stored, declared))
}

// bothConfigs returns the configuration of a node and the one that takes its place. ok is false if there was none: both were
// read or written before, so nothing else is wrong with them.
func (s *Scheduler) bothConfigs(root string, found registry.Node, text string) (stored, declared job.Config, ok bool) {
	stored, err := s.dialect.Layout().DecodeConfig(root, found)
	found.Value = text
	declared, fault := s.dialect.Layout().DecodeConfig(root, found)
	return stored, declared, err == nil && fault == nil
}

// differences shows the values in which two configurations differ, without what may be secret.
func differences(stored, declared job.Config) string {
	return strings.Join(jobtree.Differences(stored, declared), "; ")
}
