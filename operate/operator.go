package operate

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// Store is what an [Operator] needs of a registry. Every [registry.Registry] has it.
type Store interface {
	registry.Reader
	registry.Committer
	registry.Viewer
}

// Operator carries out operations on the jobs of a namespace. It asks for no session, so it holds no lease and
// leaves nothing behind. All methods may be called concurrently, also by several operators: those of one job come
// one after the other.
//
// Errors of all operations: a [*Refusal] if nothing was written because it must not be; an [*UnconfirmedError] if
// the operation was done and the context ended before the job had followed; and those of the registry. After
// [registry.ErrUnknownOutcome] the operation may have been done, or may come about later: ask again with the id of
// the result as [Options.ID] and its state as [Options.Since], which does nothing twice.
type Operator struct {
	store      Store
	who, how   string
	log        *slog.Logger
	strategies *sharding.Registry
}

// Option changes an [Operator].
type Option func(*Operator) error

// ErrInvalidOption is the error of an option that is not allowed.
var ErrInvalidOption = option.ErrInvalid

// New returns an operator. [By] is required: what is done is written down with who did it.
func New(store Store, options ...Option) (*Operator, error) {
	o := &Operator{store: store, log: slog.New(slog.DiscardHandler), strategies: sharding.Default()}
	var faults []error
	if store == nil {
		faults = append(faults, fmt.Errorf("%w: the registry is nil", ErrInvalidOption))
	}
	faults = append(faults, option.Apply(o, options)...)
	if o.who == "" {
		faults = append(faults, fmt.Errorf("%w: who operates must be said, by By", ErrInvalidOption))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return o, nil
}

// maxName bounds, in bytes, who operates and how.
const maxName = 200

// By says who operates, such as a user's name, and how, such as the name of a program, which may be empty. Both are
// written down with every operation, and have at most 200 bytes.
func By(who, how string) Option {
	return func(o *Operator) error {
		for name, text := range map[string]string{"who": who, "how": how} {
			if len(text) > maxName || !utf8.ValidString(text) {
				return fmt.Errorf("%w: %s %q must be at most %d bytes of UTF-8", ErrInvalidOption, name, text, maxName)
			}
		}
		o.who, o.how = who, how
		return nil
	}
}

// WithLogger sets where operations are logged, besides the job's tree. The default is nowhere.
func WithLogger(log *slog.Logger) Option {
	return func(o *Operator) error {
		if log == nil {
			return fmt.Errorf("%w: the logger is nil", ErrInvalidOption)
		}
		o.log = log
		return nil
	}
}

// WithStrategies tells which sharding strategies the processes of the jobs have, so that a plan can say which items
// move. The default is those of package sharding; of others the plan says that it does not know.
func WithStrategies(strategies *sharding.Registry) Option {
	return func(o *Operator) error {
		if strategies == nil {
			return fmt.Errorf("%w: the strategies are nil", ErrInvalidOption)
		}
		o.strategies = strategies
		return nil
	}
}

// Options are what every operation may be told. The zero value does it now, and does not wait.
type Options struct {
	// Reason is why, for whoever reads it later; at most 1,000 bytes.
	Reason string
	// ID is the operation's id: 1 to 64 letters, digits, "-" or "_". An operation of the job that has it was done
	// already, and is not done again. Empty is a new one.
	ID string
	// Again says that the operation was seen to be done under its ID, and is asked for only to learn how far the job has
	// followed. If the job does not know the id any more, because of later operations, it is refused with
	// [CauseOvertaken], and not done a second time. Of a backfill it is about the first fire.
	Again bool
	// Since is a state that was read before the operation was asked for first under its ID, such as State of the [Result]
	// whose outcome is unknown. With it nothing is done twice, however much others did to the job meanwhile: if it may
	// have been done since and the job would not know, it is refused with [CauseOvertaken]. Without it, an operation is
	// known to have been done as long as it is among the last 16 of its job. Of a backfill it is about the first fire.
	// A number of before the job was moved to another registry says nothing there: what the job does not know is refused.
	Since registry.Revision
	// DryRun has nothing written. The result says what would be.
	DryRun bool
	// Force consents to what a [Refusal] with Forcible says needs consent.
	Force bool
	// Shown is the plan to which a person has agreed. If the operation would be another one by now, it is refused,
	// with the difference. nil agrees to whatever the operation is.
	Shown *Plan
	// ShownJobs is Shown of operations on several jobs, by job. A job of which no plan was shown is refused if there is
	// anything to do to it. nil agrees to whatever the operation is.
	ShownJobs map[string]*Plan
	// ShownRuns is, of a backfill, which of its fires may have run, as it was told to the person who has agreed to run them
	// again. If others may have run by then, it is refused with [CauseStale], and nothing, or nothing more, is run. nil agrees
	// to whatever may have run.
	ShownRuns *MayHaveRun
	// Wait has the operation return when the job has followed, or ctx ends.
	Wait bool
	// Progress hears of how far a job has followed, while the operation waits, on the caller's goroutine.
	Progress func(Progress)
}

// maxReason bounds a reason, in bytes.
const maxReason = 1_000

func (o Options) check() error {
	if len(o.Reason) > maxReason || !utf8.ValidString(o.Reason) {
		return fmt.Errorf("%w: the reason has %d bytes, and must be at most %d of UTF-8", ErrInvalidOption, len(o.Reason), maxReason)
	}
	if len(o.ID) > 64 {
		return fmt.Errorf("%w: the id has %d bytes, and must have at most 64", ErrInvalidOption, len(o.ID))
	}
	for _, c := range []byte(o.ID) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '-' && c != '_' {
			return fmt.Errorf("%w: the id %q must be of letters, digits, \"-\" and \"_\"", ErrInvalidOption, o.ID)
		}
	}
	return nil
}

// Key is how an id and what goes with it as [Options.Since] are written in one word: "id" or "id@revision".
func (o Options) Key() string {
	if o.Since == 0 {
		return o.ID
	}
	return o.ID + "@" + o.Since.String()
}

// SetKey reads what [Options.Key] writes. The error is [ErrInvalidOption] if the revision is none.
func (o *Options) SetKey(key string) error {
	id, since, is := strings.Cut(key, "@")
	o.ID, o.Since = id, 0
	if !is {
		return nil
	}
	n, err := strconv.ParseInt(since, 10, 64)
	if err != nil || n <= 0 || id == "" {
		return fmt.Errorf("%w: the id %q must be an id, or an id and a revision such as ID1@48211", ErrInvalidOption, texts.Shorten(key))
	}
	o.Since = registry.Revision(n)
	return nil
}

// id returns the operation's id, a new one if none was given.
func (o Options) id() string {
	if o.ID != "" {
		return o.ID
	}
	return rand.Text()[:16]
}

// ofJob returns the options for one of several jobs.
func (o Options) ofJob(job string) Options {
	o.Shown = o.ShownJobs[job]
	if o.Shown == nil && o.ShownJobs != nil {
		o.Shown = &Plan{Job: job} // which no operation is
	}
	o.ShownJobs = nil
	return o
}

// shownConfig is the revision of the configuration in the plan to which a person has agreed; 0 if there is none.
func (o Options) shownConfig() registry.Revision {
	if o.Shown == nil {
		return 0
	}
	return o.Shown.Config
}

// now is the operator's clock, to the millisecond, as it is written down.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }
