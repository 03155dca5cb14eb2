package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// DisableJob has no item of a job begin any more, whatever its servers say, until the job is enabled. What runs
// ends by itself. It is done when nothing runs.
//
// On ZooKeeper, where Java instances may take part, every server of the job is disabled as well, as they and the
// processes that share the job with them know nothing else; those that were disabled before are written down, and stay
// so when the job is enabled.
//
// A job that is disabled because its files do not name it stays so when they name it again. One that is stopped for its move to
// another registry of a federation arrives there disabled. It is refused if the job is disabled already by an operator, or its
// configuration cannot be read, and while elasticron migrate keeps the job disabled for a move, at the end of which it is as it
// was before that.
func (o *Operator) DisableJob(ctx context.Context, job string, opts Options) (Result, error) {
	return o.carry(ctx, deed{verb: VerbDisableJob, job: job, decide: disableJob, followed: nothingRuns, ends: true}, opts)
}

// EnableJob takes back [Operator.DisableJob], and calls off a removal that has not been completed, and a move to another
// registry for which the job has not been closed yet: fires that came since it was stopped are then those of a job that was
// disabled, and a warning says so. Servers that were disabled one by one stay so; a warning names them. It is done when
// every item belongs to a live instance and one leads the job, or none lives, or the job pauses. As long as nobody leads, as of a
// job that every process refuses, the progress says so.
//
// It is refused if the job is not disabled, or its configuration cannot be read, and, unless forced, while elasticron
// migrate keeps the job disabled because it runs in another registry: the refusal names the command that goes on.
func (o *Operator) EnableJob(ctx context.Context, job string, opts Options) (Result, error) {
	return o.carry(ctx, deed{verb: VerbEnableJob, job: job, decide: enableJob, followed: everyItemOwned}, opts)
}

// notRecorded is told of jobs whose executions leave no mark.
const notRecorded = "executions are not recorded: whether something still runs cannot be seen"

func disableJob(w *world) (decision, error) {
	if r := w.known(); r != nil {
		return decision{}, r
	}
	var d decision
	moving, mark := w.disabledToMove(), w.operated.Value.Files
	byFiles := mark != nil && mark.Disabled && w.state.Config.Value.Disabled
	switch {
	case moving != nil && w.state.Config.Value.Disabled:
		return decision{}, moving
	case byFiles: // from now on it is as an operator wants it
		d.plan.Changes = append(d.plan.Changes, Change{What: "disabled when its files name it again", Before: "false", After: "true"})
	case w.staysDisabled() && (!w.shared || w.operated.Value.DisabledServers != nil):
		return decision{}, refuse(CauseAlready, "", "it is disabled already%s", w.since(VerbDisableJob, ""))
	case moving != nil: // somebody has enabled it in the middle of the move
		d.warn("by elasticron migrate it runs where it goes none the less: " + moving.Why)
	}
	err := w.setDisabled(&d, true)
	if running := w.running(); len(running) > 0 {
		d.plan.Notes = append(d.plan.Notes, goOn(running, ""))
	}
	if !w.state.Config.Value.Monitored() {
		d.warn(notRecorded)
	}
	return d, err
}

func enableJob(w *world) (decision, error) {
	if r := w.known(); r != nil {
		return decision{}, r
	}
	operated := w.operated.Value
	if !w.state.Config.Value.Disabled && operated.DisabledServers == nil && operated.Removing == "" {
		return decision{}, refuse(CauseAlready, "", "it is not disabled%s", w.since(VerbEnableJob, ""))
	}
	var d decision
	if r := w.migrating(&d); r != nil {
		return decision{}, r
	}
	err := w.setDisabled(&d, false)
	w.warnOfTrigger(&d, w.state.Pending(w.now))
	if operated.Removing != "" {
		d.plan.Changes = append(d.plan.Changes, Change{What: "removal", Before: "under way", After: "called off"})
	}
	if m := operated.Moving; m != nil {
		d.plan.Changes = append(d.plan.Changes, Change{What: "move to " + m.To, Before: "under way", After: "called off"})
		if m.Disabled {
			d.warn("it had been disabled before the move, and is enabled all the same: disable it again if it is not to run")
		} else if cfg := w.state.Config.Value; cfg.Misfire != job.MisfireSkip && !m.Since.IsZero() {
			d.warn("fires that came since it was stopped at " + m.Since.UTC().Format(time.RFC3339) +
				" are as those of a job that is disabled, and are not made up as after a move that is completed")
		}
	}
	return d, err
}

// setDisabled has the decision disable or enable the whole job.
func (w *world) setDisabled(d *decision, disabled bool) error {
	cfg := w.state.Config.Value
	d.before = w.snapshot.Get(w.tree.Config()).Value
	if cfg.Disabled != disabled {
		d.plan.Changes = append(d.plan.Changes, Change{What: "disabled", Before: fmt.Sprint(cfg.Disabled), After: fmt.Sprint(disabled)})
	}
	if disabled && cfg.Disabled && !w.staysDisabled() {
		d.plan.Changes = append(d.plan.Changes, w.whereItGoes(true))
	}
	cfg.Disabled = disabled
	text, err := w.encode(cfg)
	if err != nil {
		return invalid(err)
	}
	d.write = append(d.write, registry.Put(w.tree.Config(), text))
	before := w.operated.Value.DisabledServers
	switch {
	case disabled && w.shared:
		if was := w.putServers(d, true, nil); before == nil {
			before = was
		}
	case disabled: // what is written down already counts
	case before != nil:
		w.putServers(d, false, before)
	default:
		for _, s := range w.state.Servers {
			if s.Disabled {
				before = append(before, s.IP)
			}
		}
	}
	if !disabled && len(before) > 0 {
		d.warn(fmt.Sprintf("the servers %s stay disabled, as they were disabled one by one", listed(before)))
	}
	d.note = func(o *jobtree.Operated) {
		o.DisabledServers = nil
		if o.Files != nil && o.Files.Disabled { // from now on it is as somebody wants it
			mark := *o.Files
			mark.Disabled = false
			o.Files = &mark
		}
		if disabled {
			o.DisabledServers = before
			o.Moving = asDisabled(o.Moving, true)
		} else {
			o.Removing, o.Moving = "", nil
		}
	}
	return nil
}

// staysDisabled tells whether the job is disabled, and not for its move alone, after which it would be enabled.
func (w *world) staysDisabled() bool {
	m := w.operated.Value.Moving
	return w.state.Config.Value.Disabled && (m == nil || m.Disabled)
}

// whereItGoes is the change by which a job that is moving arrives disabled or not.
func (w *world) whereItGoes(disabled bool) Change {
	return Change{What: "disabled in registry " + w.operated.Value.Moving.To, Before: fmt.Sprint(!disabled), After: fmt.Sprint(disabled)}
}

// asDisabled is a note of a move, if there is one, by which the job arrives disabled or not.
func asDisabled(m *jobtree.Moving, disabled bool) *jobtree.Moving {
	if m == nil {
		return nil
	}
	after := *m
	after.Disabled = disabled
	return &after
}

// putServers writes what Java instances heed in place of the job's own word, except to some, and returns the servers
// that were disabled before.
func (w *world) putServers(d *decision, disabled bool, except []string) []string {
	before := []string{}
	ips := make(map[string]bool)
	for _, s := range w.state.Servers {
		ips[s.IP] = s.Disabled && (!s.Unset || !disabled)
	}
	for _, i := range w.state.Instances {
		ip := jobtree.ServerOf(i.ID)
		if _, is := ips[ip]; !is { // ElasticJob 3.x takes it for disabled, though nobody has disabled it
			ips[ip] = w.disabledAt(ip) && !disabled
		}
	}
	for _, ip := range slices.Sorted(maps.Keys(ips)) {
		if ips[ip] {
			before = append(before, ip)
		}
		if ips[ip] == disabled || slices.Contains(except, ip) {
			continue
		}
		path := w.tree.Server(ip)
		d.compare = append(d.compare, w.asRead(path))
		d.write = append(d.write, registry.Put(path, w.state.Layout().EncodeServer(disabled)))
		d.plan.Changes = append(d.plan.Changes, Change{What: serverTarget(ip), Before: enabledWord(!disabled), After: enabledWord(disabled)})
	}
	return before
}

// enabledWord is how a change names that something is disabled.
func enabledWord(disabled bool) string {
	if disabled {
		return "disabled"
	}
	return "enabled"
}

// nothingRuns tells whether nothing of a job runs that is disabled. It is overtaken when the job is not any more.
func nothingRuns(w *world, _ Result) Progress {
	if cfg := w.state.Config; cfg.Exists() && cfg.Err == nil && !cfg.Value.Disabled {
		return Progress{Overtaken: true, Text: "the job was enabled again" + w.since(VerbEnableJob, "")}
	}
	running := len(w.running())
	if running == 0 {
		return done("nothing runs")
	}
	return Progress{Of: running, Text: "items still run"}
}

// everyItemOwned tells how many items of a job belong to a live instance that is enabled. Owners alone do not run it: those from
// before it was disabled keep their items also where no process can use the settings, and then nobody leads.
func everyItemOwned(w *world, _ Result) Progress {
	cfg := w.state.Config
	switch {
	case !cfg.Exists():
		return Progress{Overtaken: true, Text: jobRemoved}
	case cfg.Err == nil && cfg.Value.Disabled:
		return Progress{Overtaken: true, Text: "the job was disabled again" + w.since(VerbDisableJob, "")}
	case len(w.enabled(nil)) == 0:
		return done(nobodyEnabled)
	case pausedFor(w.state) != "":
		return done("the job pauses, and runs when its settings are corrected: " + pausedFor(w.state))
	}
	owned, total := 0, w.total()
	for item := range total {
		if owner := w.state.Owner(item); owner != "" && w.state.Instance(owner).Created != 0 && w.state.Enabled(owner) {
			owned++
		}
	}
	p := reached(owned, total, "items have an owner")
	if leaderless(w.state) {
		p.Done = false
		p.Text += w.butNobodyLeads()
	}
	return p
}
