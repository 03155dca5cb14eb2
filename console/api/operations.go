package api

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/cronexpr/words"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// newKey makes the id of an operation for which none was given.
func newKey() string { return rand.Text()[:16] }

// deed is an operation on one job, as the operator has it.
type deed func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error)

// operates carries out an operation on one job and answers with its outcome.
func (c *call) operates(asked wire.Asked, do deed) error {
	opts, wait, err := c.options(asked)
	if err != nil {
		return err
	}
	o, err := c.operator()
	if err != nil {
		return err
	}
	outcome, err := c.outcome(o, opts, wait, asked.Reason, do)
	if err != nil {
		return err
	}
	return c.answer(statusOf(opts.DryRun, outcome.followed()), outcome.Outcome)
}

// statusOf is 202 where the job has still to follow.
func statusOf(dry, followed bool) int {
	if dry || followed {
		return http.StatusOK
	}
	return http.StatusAccepted
}

// outcome is what an operation came to.
type outcome struct{ wire.Outcome }

func (o outcome) followed() bool { return o.Progress != nil && o.Progress.Done }

// outcome carries out an operation. It is committed first and waited for then, in a call of its own that finds it done:
// so the end of the waiting does not cut the commit short.
func (c *call) outcome(o *operate.Operator, opts operate.Options, wait time.Duration, reason string, do deed) (outcome, error) {
	ctx, cancel := context.WithTimeout(c.ctx, maxTime)
	result, err := do(ctx, o, opts)
	cancel()
	var unconfirmed *operate.UnconfirmedError
	if errors.As(err, &unconfirmed) {
		err = nil
	}
	if err != nil {
		return outcome{}, err
	}
	if !opts.DryRun {
		c.ns.wrote(result.Revision)
	}
	if wait > 0 && !opts.DryRun && unconfirmed == nil {
		unconfirmed = c.followed(o, opts, wait, &result, do)
	}
	out := outcome{wire.OutcomeOf(result)}
	if unconfirmed != nil {
		progress := unconfirmed.Result.Progress
		out.Progress, out.Unconfirmed = &progress, unconfirmed.Err.Error()
	}
	if !opts.DryRun {
		out.Operation = c.writtenDown(result, reason)
	}
	return out, nil
}

// followed waits for a job to follow what was done. It was, whatever becomes of the waiting.
func (c *call) followed(o *operate.Operator, opts operate.Options, wait time.Duration, result *operate.Result, do deed) *operate.UnconfirmedError {
	ctx, cancel := context.WithTimeout(c.ctx, wait)
	defer cancel()
	opts.Wait, opts.Again, opts.Shown = true, true, nil
	again, err := do(ctx, o, opts)
	result.Progress = again.Progress
	var unconfirmed *operate.UnconfirmedError
	cause, _ := operate.IsRefused(err)
	switch {
	case errors.As(err, &unconfirmed):
		return unconfirmed
	case err == nil:
		return nil
	case cause == operate.CauseOvertaken:
		result.Progress = operate.Progress{Overtaken: true, Text: "later operations have taken its place"}
	case cause == operate.CauseUnknownJob:
		result.Progress = operate.Progress{Overtaken: true, Text: "the job was removed"}
	}
	return &operate.UnconfirmedError{Result: *result, Err: err}
}

// writtenDown is an operation as the job has it; nil if nothing was done.
func (c *call) writtenDown(r operate.Result, reason string) *operate.Operation {
	if r.Was != nil {
		was := *r.Was
		was.Before, was.RollsBack = "", false
		return &was
	}
	if r.Repeated {
		return nil
	}
	return &operate.Operation{Job: r.Job, ID: r.ID, Verb: r.Verb, Target: r.Target, Who: c.who.Name, When: r.When, Reason: reason}
}

// simple is an operation of which nothing is asked but what every one may be.
func (c *call) simple(do deed) error {
	asked, err := body[wire.Asked](c)
	if err != nil {
		return err
	}
	return c.operates(asked, do)
}

func disableJob(c *call) error {
	return c.simple(func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.DisableJob(ctx, c.job, opts)
	})
}

func enableJob(c *call) error {
	return c.simple(func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.EnableJob(ctx, c.job, opts)
	})
}

func reshardJob(c *call) error {
	return c.simple(func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.Reshard(ctx, c.job, opts)
	})
}

// ofItem is an operation on the item in the path.
func (c *call) ofItem(do func(ctx context.Context, o *operate.Operator, item int, opts operate.Options) (operate.Result, error)) error {
	item, err := c.itemOf()
	if err != nil {
		return err
	}
	return c.simple(func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return do(ctx, o, item, opts)
	})
}

func disableItem(c *call) error {
	return c.ofItem(func(ctx context.Context, o *operate.Operator, item int, opts operate.Options) (operate.Result, error) {
		return o.DisableItem(ctx, c.job, item, opts)
	})
}

func enableItem(c *call) error {
	return c.ofItem(func(ctx context.Context, o *operate.Operator, item int, opts operate.Options) (operate.Result, error) {
		return o.EnableItem(ctx, c.job, item, opts)
	})
}

func giveUpItem(c *call) error {
	return c.ofItem(func(ctx context.Context, o *operate.Operator, item int, opts operate.Options) (operate.Result, error) {
		return o.GiveUp(ctx, c.job, item, opts)
	})
}

func tidyServers(c *call) error {
	asked, err := body[wire.Servers](c)
	if err != nil {
		return err
	}
	return c.operates(asked.Asked, func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.TidyServers(ctx, c.job, asked.Servers, opts)
	})
}

func rollBackJob(c *call) error {
	asked, err := body[wire.RollBack](c)
	switch {
	case err != nil:
		return err
	case asked.To == "":
		return malformed("to", "it is missing, want the id of an operation")
	}
	return c.operates(asked.Asked, func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.RollBack(ctx, c.job, asked.To, opts)
	})
}

func triggerJob(c *call) error {
	asked, err := body[wire.Trigger](c)
	if err != nil {
		return err
	}
	t, err := triggerOf(asked)
	if err != nil {
		return err
	}
	return c.operates(asked.Asked, func(ctx context.Context, o *operate.Operator, opts operate.Options) (operate.Result, error) {
		return o.Trigger(ctx, c.job, t, opts)
	})
}

// noneNamed refuses a list of items in which there is none. All items run if there is no list, and whoever makes a list and
// finds none for it does not mean all of them.
func noneNamed(items []int) error {
	if items != nil && len(items) == 0 {
		return malformed("items", "it is an empty list, want numbers of items, or no list for all")
	}
	return nil
}

func triggerOf(asked wire.Trigger) (operate.Trigger, error) {
	if err := noneNamed(asked.Items); err != nil {
		return operate.Trigger{}, err
	}
	t := operate.Trigger{Items: asked.Items, Parameter: asked.Parameter, Fire: asked.Fire, Replace: asked.Replace}
	if asked.Within != "" {
		within, err := time.ParseDuration(asked.Within)
		if err != nil {
			return t, malformed("within", "%q is given, want a time such as 1h", asked.Within)
		}
		t.Within = within
	}
	return t, nil
}

func listFires(c *call) error {
	query := c.r.URL.Query()
	from, err := instant(query, "from")
	if err != nil {
		return err
	}
	to, err := instant(query, "to")
	if err != nil {
		return err
	}
	if from.IsZero() || to.IsZero() {
		return malformed("from", "from and to are needed, want the times of the first and the last fire")
	}
	o, err := c.operator()
	if err != nil {
		return err
	}
	fires, err := o.Fires(c.ctx, c.job, from, to)
	if err != nil {
		return err
	}
	answer := wire.FireList{Fires: []time.Time{}, Zone: time.UTC.String()}
	if len(fires) > 0 {
		answer.Fires, answer.Zone = fires, fires[0].Location().String()
	}
	return c.answer(http.StatusOK, answer)
}

// How long a backfill goes on if no other time is asked for, and at least: its commits are not to be cut short.
const (
	backfillTime  = 5 * time.Second
	leastBackfill = time.Second
)

func backfillJob(c *call) error {
	asked, err := body[wire.BackfillRequest](c)
	if err != nil {
		return err
	}
	if err := noneNamed(asked.Items); err != nil {
		return err
	}
	opts, wait, err := c.options(asked.Asked)
	if err != nil {
		return err
	}
	o, err := c.operator()
	if err != nil {
		return err
	}
	if wait == 0 {
		wait = backfillTime
	}
	opts.ShownRuns = asked.MayHaveRun
	ctx, cancel := context.WithTimeout(c.ctx, max(wait, leastBackfill))
	defer cancel()
	result, err := o.Backfill(ctx, c.job, asked.Fires, operate.Trigger{Items: asked.Items, Parameter: asked.Parameter}, opts)
	b := wire.Backfill{ID: result.ID, Done: []wire.Outcome{}, Left: slices.Clone(result.Left), MayHaveRun: result.MayHaveRun, Warnings: result.Warnings}
	if b.Left == nil {
		b.Left = []time.Time{}
	}
	for _, r := range result.Done {
		c.ns.wrote(r.Revision)
		b.Done = append(b.Done, wire.OutcomeOf(r))
	}
	var unconfirmed *operate.UnconfirmedError
	var items *operate.ItemsFailedError
	_, refused := operate.IsRefused(err)
	switch {
	case err == nil:
	case errors.As(err, &unconfirmed):
		c.ns.wrote(unconfirmed.Result.Revision)
		b.Unconfirmed = unconfirmed.Err.Error()
		under := wire.OutcomeOf(unconfirmed.Result)
		b.UnderWay = &under
		return c.answer(http.StatusAccepted, b)
	case errors.As(err, &items):
		b.Failed, b.FailedItems = err.Error(), items.Items
	case refused || len(b.Done) == 0 || errors.Is(err, registry.ErrUnknownOutcome) || unavailable(err):
		return err // asked for again with the same key, it goes on where it came to
	default:
		b.Failed = err.Error()
	}
	return c.answer(http.StatusOK, b)
}

// wordsOf says a cron expression in words, if it can be said.
func wordsOf(expression string) string {
	text, err := words.Describe(expression)
	if err != nil {
		return ""
	}
	return text
}
