package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/operate/jobfile"
	"github.com/elasticron/elasticron/registry"
)

// look is how long one request waits for a job to follow: between two, progress is told.
const look = 3 * time.Second

// looking returns how long the next request is to wait, which is over before the context is.
func looking(ctx context.Context) time.Duration {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		return look
	}
	return min(look, max(time.Until(deadline)*3/4, time.Millisecond))
}

// breath is how long a look takes at least: a server that does not wait is not asked again at once.
const breath = 100 * time.Millisecond

// breathe returns so long after a look began, or when the context ends.
func breathe(ctx context.Context, began time.Time) {
	select {
	case <-time.After(time.Until(began.Add(breath))):
	case <-ctx.Done():
	}
}

// glance is how long the first request of an operation waits: it is to come back, whatever happens then.
func glance(waits bool) time.Duration {
	if !waits {
		return 0
	}
	return 20 * time.Millisecond
}

// withID returns the options with an id.
func withID(opts operate.Options) operate.Options {
	if opts.ID == "" {
		opts.ID = rand.Text()[:16]
	}
	return opts
}

// since has the options say which state was read before the operation is asked for, so that what runs code is not done
// twice if an answer is lost, however many others operate the job, and a job that was created anew is not removed for its
// predecessor. What the server shows may be a moment old, so the state
// says nothing of a first try; see [request.fresh].
func (n *Namespace) since(ctx context.Context, job string, opts *operate.Options) error {
	if opts.ID != "" || opts.DryRun {
		return nil
	}
	// The tokens are read first: if the job is moved between the two, or they cannot be read, the state is too old, and not
	// too new.
	var tokens struct {
		Base registry.Revision `json:"base"`
	}
	nodes, _, err := n.List(ctx, "/"+job+"/leader/tokens")
	if err == nil && len(nodes) > 0 {
		_ = json.Unmarshal([]byte(nodes[0].Value), &tokens)
	}
	revision := registry.Revision(0)
	if !away(err) {
		nodes, revision, err = n.List(ctx, "/"+job+"/config")
	}
	if away(err) {
		return err
	}
	if len(nodes) > 0 { // else the server has not heard of the job yet, or the operation itself is told what is wrong
		opts.Since = tokens.Base + revision
	}
	return nil
}

// away tells whether nothing was heard of the server or its registry.
func away(err error) bool {
	var gone *lostError
	return errors.As(err, &gone) || errors.Is(err, registry.ErrUnavailable)
}

// of completes a request of an operation.
func (r request) of(opts operate.Options, waits time.Duration) request {
	query, header := url.Values{}, http.Header{}
	for name, values := range r.query {
		query[name] = values
	}
	for name, values := range r.header {
		header[name] = values
	}
	if opts.DryRun {
		query.Set(wire.ParamDryRun, "true")
	}
	if waits > 0 {
		query.Set(wire.ParamWait, waits.Round(time.Millisecond).String())
	}
	if opts.Again {
		query.Set(wire.ParamAgain, "true")
	}
	header.Set(wire.HeaderKey, opts.Key())
	r.query, r.header, r.fresh = query, header, r.fresh && !opts.Again
	return r
}

func asked(opts operate.Options) wire.Asked {
	return wire.Asked{Reason: opts.Reason, Force: opts.Force, Shown: compared(opts.Shown)}
}

func askedOfMany(opts operate.Options) wire.AskedOfMany {
	asked := wire.AskedOfMany{Reason: opts.Reason, Force: opts.Force}
	if opts.ShownJobs != nil {
		asked.Shown = make(map[string]*operate.Plan, len(opts.ShownJobs))
		for job, shown := range opts.ShownJobs {
			asked.Shown[job] = compared(shown)
		}
	}
	return asked
}

// compared is what of a plan the server compares: of ten thousand jobs the rest would be too much.
func compared(shown *operate.Plan) *operate.Plan {
	if shown == nil {
		return nil
	}
	plan := shown.Compared()
	return &plan
}

// operate carries out an operation on one job.
func (n *Namespace) operate(ctx context.Context, r request, opts operate.Options) (operate.Result, error) {
	given := opts.ID != ""
	opts = withID(opts)
	waits := opts.Wait && !opts.DryRun
	r.fresh = !given
	var out wire.Outcome
	lost, err := n.doneOr(ctx, r.of(opts, glance(waits)), &out)
	if err != nil {
		return operate.Result{ID: opts.ID, Plan: operate.Plan{State: opts.Since}}, err
	}
	result := out.Result()
	result.Repeated = result.Repeated && given && !lost // under an id of ours nobody but us has asked before
	if !waits || result.Progress.Done {
		return result, nil
	}
	unconfirmed := func(err error) (operate.Result, error) {
		return result, &operate.UnconfirmedError{Result: result, Err: err}
	}
	opts.Again = true
	for {
		var again wire.Outcome
		began := time.Now()
		next := func() request { return r.of(opts, looking(ctx)) }
		if _, err := n.insist(ctx, next, &again, awaits(opts, result)); err != nil {
			return unconfirmed(ended(ctx, err))
		}
		result.Progress = again.Result().Progress
		if opts.Progress != nil {
			opts.Progress(result.Progress)
		}
		switch {
		case result.Progress.Done:
			return result, nil
		case result.Progress.Overtaken:
			return unconfirmed(errors.New(again.Unconfirmed))
		}
		if breathe(ctx, began); ctx.Err() != nil {
			return unconfirmed(context.Cause(ctx))
		}
	}
}

// awaits returns what tells whoever waits for an operation why the server does not say how far the job has followed.
func awaits(opts operate.Options, result operate.Result) func(why error) {
	return func(why error) {
		if opts.Progress != nil {
			p := result.Progress
			p.Text = strings.TrimSpace(p.Text + " (no answer, and it is asked again: " + reasonOf(why) + ")")
			opts.Progress(p)
		}
	}
}

// onJob is a POST about a job.
func (n *Namespace) onJob(ctx context.Context, job, what string, body any, opts operate.Options) (operate.Result, error) {
	return n.operate(ctx, request{method: http.MethodPost, path: "/jobs/" + url.PathEscape(job) + what, body: body}, opts)
}

// DisableJob is [operate.Operator.DisableJob], as all that follow are those of the operator.
func (n *Namespace) DisableJob(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, "/disable", asked(opts), opts)
}

// EnableJob takes back DisableJob.
func (n *Namespace) EnableJob(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, "/enable", asked(opts), opts)
}

// Reshard has the leader assign the items anew.
func (n *Namespace) Reshard(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, "/reshard", asked(opts), opts)
}

// TidyServers deletes what is stored of servers that are gone.
func (n *Namespace) TidyServers(ctx context.Context, job string, ips []string, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, "/tidy", wire.Servers{Asked: asked(opts), Servers: ips}, opts)
}

// RollBack stores the settings as they were before an operation.
func (n *Namespace) RollBack(ctx context.Context, job, operation string, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, "/rollback", wire.RollBack{Asked: asked(opts), To: operation}, opts)
}

func itemPath(item int, what string) string { return "/items/" + strconv.Itoa(item) + what }

// DisableItem has an item begin nothing any more.
func (n *Namespace) DisableItem(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, itemPath(item, "/disable"), asked(opts), opts)
}

// EnableItem takes back DisableItem.
func (n *Namespace) EnableItem(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, itemPath(item, "/enable"), asked(opts), opts)
}

// GiveUp ends the waiting of an item whose execution was lost.
func (n *Namespace) GiveUp(ctx context.Context, job string, item int, opts operate.Options) (operate.Result, error) {
	return n.onJob(ctx, job, itemPath(item, "/give-up"), asked(opts), opts)
}

// Trigger runs items of a job now.
func (n *Namespace) Trigger(ctx context.Context, job string, t operate.Trigger, opts operate.Options) (operate.Result, error) {
	if err := n.since(ctx, job, &opts); err != nil {
		return operate.Result{}, err
	}
	body := wire.Trigger{Asked: asked(opts), Items: t.Items, Parameter: t.Parameter, Fire: t.Fire, Replace: t.Replace}
	if t.Within != 0 {
		body.Within = t.Within.String()
	}
	return n.onJob(ctx, job, "/trigger", body, opts)
}

// CreateJob creates a job with what its file says of servers and items.
func (n *Namespace) CreateJob(ctx context.Context, job jobfile.Job, opts operate.Options) (operate.Result, error) {
	if job.Config == "" {
		return operate.Result{}, jobfile.ErrNoConfig
	}
	body := wire.NewJob{Asked: asked(opts), Job: job.Name, Text: job.Config, Servers: job.Servers, Items: job.Items}
	return n.operate(ctx, request{method: http.MethodPost, path: "/jobs", body: body}, opts)
}

// ChangeSettings changes the settings of a job to a text; a function is not sent.
func (n *Namespace) ChangeSettings(ctx context.Context, job string, s operate.Settings, opts operate.Options) (operate.Result, error) {
	if s.Change != nil || s.Text == "" {
		return operate.Result{}, fmt.Errorf("%w: over a server, settings are changed by Text", ErrInvalidOption)
	}
	path := "/jobs/" + url.PathEscape(job) + "/config"
	if s.Shown == 0 {
		var stored wire.Config
		if err := n.once(ctx, request{method: http.MethodGet, path: path}, &stored); err != nil {
			return operate.Result{}, err
		}
		s.Shown = stored.Revision
	}
	return n.operate(ctx, request{
		method: http.MethodPut, path: path, header: http.Header{wire.HeaderIfMatch: {strconv.Quote(s.Shown.String())}},
		body: wire.NewConfig{Asked: asked(opts), Text: s.Text, Base: s.ShownText},
	}, opts)
}

// inJob returns the request for one job of a server or an instance.
func inJob(path, job string, opts operate.Options) request {
	return request{method: http.MethodPost, path: path, query: url.Values{"job": {job}}, body: asked(opts)}
}

func serverPath(ip, what string) string { return "/servers/" + url.PathEscape(ip) + what }
func instancePath(id string) string     { return "/instances/" + url.PathEscape(id) + "/shutdown" }

// DisableServer takes all instances at an address out of a job.
func (n *Namespace) DisableServer(ctx context.Context, job, ip string, opts operate.Options) (operate.Result, error) {
	return n.operate(ctx, inJob(serverPath(ip, "/disable"), job, opts), opts)
}

// EnableServer takes back DisableServer.
func (n *Namespace) EnableServer(ctx context.Context, job, ip string, opts operate.Options) (operate.Result, error) {
	return n.operate(ctx, inJob(serverPath(ip, "/enable"), job, opts), opts)
}

// ShutDown has an instance leave a job.
func (n *Namespace) ShutDown(ctx context.Context, job, instance string, opts operate.Options) (operate.Result, error) {
	return n.operate(ctx, inJob(instancePath(instance), job, opts), opts)
}

// DisableServerEverywhere takes all instances at an address out of all their jobs.
func (n *Namespace) DisableServerEverywhere(ctx context.Context, ip string, opts operate.Options) ([]operate.JobResult, error) {
	return n.everywhere(ctx, serverPath(ip, "/disable"), opts)
}

// EnableServerEverywhere takes back DisableServerEverywhere.
func (n *Namespace) EnableServerEverywhere(ctx context.Context, ip string, opts operate.Options) ([]operate.JobResult, error) {
	return n.everywhere(ctx, serverPath(ip, "/enable"), opts)
}

// ShutDownEverywhere has an instance leave all its jobs.
func (n *Namespace) ShutDownEverywhere(ctx context.Context, instance string, opts operate.Options) ([]operate.JobResult, error) {
	return n.everywhere(ctx, instancePath(instance), opts)
}

func (n *Namespace) everywhere(ctx context.Context, path string, opts operate.Options) ([]operate.JobResult, error) {
	opts = withID(opts)
	r := request{method: http.MethodPost, path: path, body: askedOfMany(opts)}
	var all wire.Outcomes
	if err := n.done(ctx, r.of(opts, 0), &all); err != nil {
		return nil, err
	}
	results, index := make([]operate.JobResult, len(all.Jobs)), make(map[string]int)
	for i, j := range all.Jobs {
		results[i], index[j.Job] = resultOf(j), i
		results[i].Result.ID = cmp.Or(results[i].Result.ID, all.ID) // under which a job that got no answer is asked again
	}
	opts.Again = true
	for waits := opts.Wait && !opts.DryRun; waits; {
		var again wire.Outcomes
		began := time.Now()
		next := func() request { return r.of(opts, looking(ctx)) }
		if _, err := n.insist(ctx, next, &again, awaits(opts, operate.Result{})); err != nil {
			for i := range results {
				if results[i].Err == nil && !results[i].Result.Progress.Done {
					results[i].Err = &operate.UnconfirmedError{Result: results[i].Result, Err: ended(ctx, err)}
				}
			}
			break
		}
		waits = false
		breaks := time.Duration(0)
		for _, j := range again.Jobs {
			i, known := index[j.Job]
			if !known || results[i].Err != nil {
				continue
			}
			if j.Problem != nil {
				switch err := j.Problem.Err(); {
				case results[i].Result.Progress.Done:
				case away(err), errors.Is(err, registry.ErrUnknownOutcome): // its registry does not answer
					waits, breaks = true, look
				default:
					results[i].Err = &operate.UnconfirmedError{Result: results[i].Result, Err: err}
				}
				continue
			}
			results[i].Result.Progress = j.Outcome.Result().Progress
			switch {
			case results[i].Result.Progress.Overtaken:
				results[i].Err = &operate.UnconfirmedError{Result: results[i].Result, Err: errors.New(j.Outcome.Unconfirmed)}
			case !results[i].Result.Progress.Done:
				waits = true
			}
		}
		if waits {
			breathe(ctx, began.Add(breaks))
		}
	}
	return results, operate.SomeFailed(results)
}

// resultOf makes the result of one of several jobs.
func resultOf(j wire.JobOutcome) operate.JobResult {
	r := operate.JobResult{Job: j.Job}
	if j.Outcome != nil {
		r.Result = j.Outcome.Result()
	}
	if j.Problem != nil {
		r.Err = j.Problem.Err()
	}
	return r
}

// Remove deletes a job. It waits until nothing of it runs.
func (n *Namespace) Remove(ctx context.Context, job string, opts operate.Options) (operate.Result, error) {
	given := opts.ID != ""
	if err := n.since(ctx, job, &opts); err != nil {
		return operate.Result{}, err
	}
	opts = withID(opts)
	r := request{method: http.MethodPost, path: "/jobs/" + url.PathEscape(job) + "/remove", body: asked(opts), fresh: !given}
	var result operate.Result
	for first := true; ; first, opts.Again = false, true {
		var out wire.Outcome
		var lost bool
		var err error
		began := time.Now()
		if first {
			lost, err = n.doneOr(ctx, r.of(opts, 0), &out)
			lost = lost && (given || opts.Since != 0) // else the job was not there before, as far as is known
		} else {
			_, err = n.insist(ctx, func() request { return r.of(opts, 0) }, &out, awaits(opts, result))
		}
		if cause, _ := operate.IsRefused(err); cause == operate.CauseUnknownJob && (lost || !first) {
			if first {
				result = operate.Result{ID: opts.ID, Plan: operate.Plan{Verb: operate.VerbRemove, Job: job}}
			}
			return result, nil // it went meanwhile
		}
		if err != nil {
			if first {
				return operate.Result{ID: opts.ID, Plan: operate.Plan{State: opts.Since}}, err
			}
			return result, &operate.UnconfirmedError{Result: result, Err: ended(ctx, err)}
		}
		if progress := out.Result().Progress; first {
			result = out.Result()
		} else {
			result.Progress, result.Revision = progress, max(result.Revision, out.Revision)
		}
		if opts.Progress != nil {
			opts.Progress(result.Progress)
		}
		switch {
		case out.Unconfirmed == "":
			return result, nil
		case result.Progress.Overtaken:
			return result, &operate.UnconfirmedError{Result: result, Err: errors.New(out.Unconfirmed)}
		}
		if breathe(ctx, began); ctx.Err() != nil {
			return result, &operate.UnconfirmedError{Result: result, Err: context.Cause(ctx)}
		}
	}
}

// Fires returns the fires of a job between two times.
func (n *Namespace) Fires(ctx context.Context, job string, from, to time.Time) ([]time.Time, error) {
	query := url.Values{"from": {from.Format(time.RFC3339Nano)}, "to": {to.Format(time.RFC3339Nano)}}
	var answer wire.FireList
	if err := n.once(ctx, request{method: http.MethodGet, path: "/jobs/" + url.PathEscape(job) + "/fires", query: query}, &answer); err != nil {
		return nil, err
	}
	if zone, err := time.LoadLocation(answer.Zone); err == nil { // else it is not known here
		for i := range answer.Fires {
			answer.Fires[i] = answer.Fires[i].In(zone)
		}
	}
	return answer.Fires, nil
}

// Match is [operate.Operator.Match], among the jobs that the server lets who asks read.
func (n *Namespace) Match(ctx context.Context, pattern string) ([]string, error) {
	if _, err := operate.Matching(nil, pattern); err != nil {
		return nil, err
	}
	nodes, revision, err := n.List(ctx, registry.Root)
	if err != nil {
		return nil, err
	}
	return operate.Matching(operate.JobNames(registry.NewSnapshot(revision, nodes)), pattern)
}
