package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// Backfill runs a job for fires, one after the other, which it drives itself, one request or more for each.
func (n *Namespace) Backfill(ctx context.Context, job string, fires []time.Time, t operate.Trigger, opts operate.Options) (operate.BackfillResult, error) {
	given := opts.ID != ""
	if err := n.since(ctx, job, &opts); err != nil {
		return operate.BackfillResult{Left: slices.Clone(fires)}, err
	}
	opts = withID(opts)
	opts.Shown = nil
	result := operate.BackfillResult{ID: opts.ID, Left: slices.Clone(fires), Since: opts.Since}
	slices.SortFunc(result.Left, time.Time.Compare)
	ask := func(fires []time.Time, opts operate.Options) request {
		body := wire.BackfillRequest{Asked: asked(opts), Fires: fires, Items: t.Items, Parameter: t.Parameter, MayHaveRun: opts.ShownRuns}
		return request{method: http.MethodPost, path: "/jobs/" + url.PathEscape(job) + "/backfill", body: body, fresh: !given}
	}
	dry := opts
	dry.DryRun = true
	var judged wire.Backfill
	err := n.done(ctx, ask(result.Left, dry).of(dry, 0), &judged)
	result.MayHaveRun = judged.MayHaveRun
	if opts.DryRun {
		result.Warnings = judged.Warnings
		if asked := len(result.Left) - len(judged.Left); err == nil && asked > 0 { // by its id before; the answer names no time zone
			result.Left = result.Left[asked:]
		}
	}
	if err != nil || opts.DryRun { // all of them are judged before the first is run
		return result, err
	}
	var before error   // of a fire of an earlier call
	var came time.Time // how far earlier calls had come, as far as is known
	for len(result.Left) > 0 {
		done, failed, err := n.backfillOne(ctx, ask(result.Left[:1], opts), opts, len(result.Done) > 0)
		if err != nil {
			return result, err
		}
		done.Repeated = done.Repeated && given // under an id of ours nobody but us has asked before
		result.Done = append(result.Done, done)
		result.Left = result.Left[1:]
		if done.Came.After(came) {
			came = done.Came
		}
		// What was asked for before is not decided anew. What was not, was not by now either.
		opts.Again = len(result.Left) > 0 && !result.Left[0].After(came)
		if opts.Since != 0 {
			opts.Since = max(opts.Since, done.State)
		}
		if failed != nil {
			if !done.Repeated {
				return result, failed
			}
			before = failed // whoever goes on knows of it, or learns it when all else is done
		}
	}
	return result, before
}

// backfillOne runs a job for one fire, and returns what failed of it. The first of a series is not waited for if there is no
// server. The others are: with the state before them, they may be asked for as often as one likes.
func (n *Namespace) backfillOne(
	ctx context.Context, r request, opts operate.Options, later bool,
) (result operate.Result, failed, err error) {
	for first := true; ; first, opts.Again = false, true {
		var answer wire.Backfill
		began := time.Now()
		var lost bool
		var err error
		switch {
		case !first:
			_, err = n.insist(ctx, func() request { return r.of(opts, looking(ctx)) }, &answer, awaits(opts, result))
		case later && opts.Since != 0:
			lost, err = n.insist(ctx, func() request { return r.of(opts, glance(true)) }, &answer, awaits(opts, result))
		default:
			lost, err = n.doneOr(ctx, r.of(opts, glance(true)), &answer)
		}
		switch {
		case err != nil && !first:
			return result, nil, &operate.UnconfirmedError{Result: result, Err: ended(ctx, err)}
		case err != nil && !errors.Is(err, registry.ErrUnknownOutcome):
			return result, nil, ended(ctx, err)
		case err != nil:
			return result, nil, err
		}
		switch {
		case answer.Failed != "" && len(answer.FailedItems) > 0:
			failed = &failedFire{answer.Failed, &operate.ItemsFailedError{Items: answer.FailedItems}}
		case answer.Failed != "":
			failed = errors.New(answer.Failed)
		}
		if len(answer.Done) > 0 {
			result = answer.Done[0].Result()
			result.Repeated = result.Repeated && first && !lost // else it is repeated by us
			if opts.Progress != nil {
				opts.Progress(result.Progress)
			}
			return result, failed, nil
		}
		if failed != nil { // of the fire before, which an item had still to run for: this one was not asked for
			return result, nil, failed
		}
		if answer.UnderWay != nil {
			result = answer.UnderWay.Result()
			if opts.Progress != nil {
				opts.Progress(result.Progress)
			}
			if result.Progress.Overtaken {
				return result, nil, &operate.UnconfirmedError{Result: result, Err: errors.New(answer.Unconfirmed)}
			}
		}
		breathe(ctx, began)
	}
}

// failedFire says which fire failed, and with which items.
type failedFire struct {
	text  string
	items *operate.ItemsFailedError
}

func (e *failedFire) Error() string { return e.text }
func (e *failedFire) Unwrap() error { return e.items }
