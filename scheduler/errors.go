package scheduler

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/scheduler/internal/asking"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/javapeers"
	"github.com/elasticron/elasticron/scheduler/internal/membership"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// What callers branch on.
var (
	// ErrInvalidOption: an option has a value that is not allowed. It is one error in all packages of this
	// module with options: errors.Is finds it by the name that any of them gives it.
	ErrInvalidOption = option.ErrInvalid
	// ErrDeclared: a job of this name was already added to this scheduler, or Run goes on and has taken the job up as data,
	// see [WithHandler].
	ErrDeclared = errors.New("job is already declared")
	// ErrUnknownJob: the scheduler does not have the job: it was never added, it was left, or the scheduler does not run.
	ErrUnknownJob = errors.New("the scheduler does not run this job")
	// ErrNotStored: the job has no configuration in the registry, as it was removed.
	ErrNotStored = configuration.ErrNotStored
	// ErrClassConflict: the registry holds a job of the same name with another class.
	ErrClassConflict = errors.New("job belongs to another class")
	// ErrConfigConflict: the registry holds another configuration of the job; see [RefuseConflict].
	ErrConfigConflict = errors.New("job is stored with another configuration")
	// ErrDuplicateInstance: another live process uses the same instance id, or another scheduler of this process does.
	ErrDuplicateInstance = membership.ErrDuplicate
	// ErrJavaPeers: live Java instances take part in the job, and this process does not know of them, or was told
	// of those of another kind; see [WithJavaPeers] and [WithElasticJob3Peers].
	ErrJavaPeers = javapeers.ErrPeers
	// ErrNoInstance: nobody could run the job: no instance lives whose server is enabled, or the job is disabled.
	ErrNoInstance = errors.New("job has no instance")
	// ErrRan: Run was called before, and may go on; a Scheduler runs once.
	ErrRan = errors.New("Run was called before: a scheduler runs once")
	// ErrNotStarted is what a round's listeners and observers hear of an item that had begun, waited for
	// its turn or for the started hook of its round, and was given back before its code was called: it runs later, or
	// elsewhere.
	ErrNotStarted = executions.ErrNotStarted
	// ErrVanished is what Run returns after [Scheduler.Vanish], and the cause with which the
	// contexts of its items end.
	ErrVanished = errors.New("scheduler vanished")
	// ErrStopped says that the scheduler stops, or has. It is the cause with which the context of an item ends when the
	// stop timeout is over, or at once after [Scheduler.StopNow]; and the error of [Scheduler.Add] and other calls that wait
	// for the registry once Run is over, with why if Run returns an error.
	ErrStopped = stopping.ErrStopped
	// ErrNotReturned is the error of Configure, of the constructor of an error handler or of a sharding strategy
	// that did not return within ten seconds; also if it was asked anew meanwhile, as settings or instances had changed
	// before it had returned.
	ErrNotReturned = asking.ErrNotReturned
	// ErrListenerTimeout is the cause with which the context of a listener ends when its time is over,
	// and what is reported of one that did not return in time.
	ErrListenerTimeout = notify.ErrListenerTimeout
	// ErrErrorHandlerTimeout is the cause with which the context of an error handler ends when it took
	// longer than [WithErrorHandlerTimeout] allows.
	ErrErrorHandlerTimeout = notify.ErrErrorHandlerTimeout
	// ErrTriggerPending says that items have not begun yet for the request before. It names them.
	ErrTriggerPending = errors.New("the request before is pending; it can be replaced")
	// ErrNotRecorded is why [Request.Wait] cannot tell how items ran: the job does not record its executions, or
	// shares them with Java instances, which do not.
	ErrNotRecorded = errors.New("executions are not recorded")
)

// errStop ends Run as its context does.
var errStop = errors.New("stop")

// errTakenUp is ErrDeclared of a job that nobody has added.
var errTakenUp error = takenUp{}

type takenUp struct{}

func (takenUp) Error() string {
	return "this scheduler has taken the job up as data, by its handler for the job's class: add the job before Run, or give it a class without a handler"
}

func (takenUp) Is(target error) bool { return target == ErrDeclared }

// ClassConflictError tells which classes met. errors.Is(err, ErrClassConflict) is true for it.
type ClassConflictError struct {
	Job      string
	Stored   string // in the registry
	Declared string // by this process
}

// Error names the job, both classes and the way out.
func (e *ClassConflictError) Error() string {
	return fmt.Sprintf("job %q belongs to another class: the registry has %q, this process declares %q; use the same class or another job name",
		texts.Shorten(e.Job), texts.Shorten(e.Stored), texts.Shorten(e.Declared))
}

// Is makes errors.Is(err, ErrClassConflict) true.
func (e *ClassConflictError) Is(target error) bool { return target == ErrClassConflict }
