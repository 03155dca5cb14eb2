package scheduler

import (
	"context"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// Conflict says who wins when a job is declared whose stored configuration is another one.
type Conflict string

// What [OnConflict] may be told.
const (
	// RegistryWins leaves the stored configuration as it is. The difference is logged once, when the
	// job is declared.
	RegistryWins Conflict = "registry wins"
	// CodeWins replaces the stored configuration, if it is still the one that was compared with.
	CodeWins Conflict = "code wins"
	// RefuseConflict has the declaration fail with [ErrConfigConflict], and changes nothing.
	RefuseConflict Conflict = "refuse"
)

// OnConflict says who wins when the stored configuration of the job is another one than the declared.
// The default is [RegistryWins], or [CodeWins] if [job.Config.Overwrite] is set. A job that is stored
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

// conflictOf returns what a declaration says about conflicts.
func (o jobOptions) conflictOf(cfg job.Config) Conflict {
	switch {
	case o.conflict != "":
		return o.conflict
	case cfg.Overwrite:
		return CodeWins
	default:
		return RegistryWins
	}
}

// ConfigConflictError tells in which fields a declared configuration differs from the stored one.
// errors.Is(err, ErrConfigConflict) is true for it.
type ConfigConflictError struct {
	Job    string
	Fields []string // of job.Config
}

// Error names the job, the fields and the ways out.
func (e *ConfigConflictError) Error() string {
	return fmt.Sprintf("job %q is stored with another configuration, which differs in %s; declare the same, or say who wins",
		e.Job, strings.Join(e.Fields, ", "))
}

// Is makes errors.Is(err, ErrConfigConflict) true.
func (e *ConfigConflictError) Is(target error) bool { return target == ErrConfigConflict }

// reportIgnored says that a declaration has no effect, as the stored configuration is another one.
func (s *Scheduler) reportIgnored(ctx context.Context, stored, declared job.Config) {
	if fields := declared.Differences(stored); len(fields) > 0 {
		s.log.WarnContext(ctx, "the stored configuration counts, and differs from the declared one",
			logJob, declared.Name, "fields", strings.Join(fields, ", "))
	}
}
