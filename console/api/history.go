package api

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
)

// usualRows is how many rows of a history a page has.
const usualRows = 100

func parsePaging(query url.Values, columns []string) (p history.Paging, err error) {
	if p.Page, err = number(query, "page", 1, 1, 1<<20); err != nil {
		return p, err
	}
	if p.PerPage, err = number(query, "per-page", usualRows, 1, history.MaxPerPage); err != nil {
		return p, err
	}
	if p.Sort, err = oneOf(query, "sort", columns...); err != nil {
		return p, err
	}
	p.Ascending, err = flag(query, "ascending")
	return p, err
}

func parseExecutionQuery(query url.Values) (q history.ExecutionQuery, err error) {
	q = history.ExecutionQuery{Job: query.Get("job"), Round: query.Get("round"), IP: query.Get("ip"), Instance: query.Get("instance"), Source: job.Source(query.Get("source"))}
	if text := query.Get("item"); text != "" {
		item, err := strconv.Atoi(text)
		if err != nil || item < 0 {
			return q, malformed("item", "%q is given, want the number of an item", text)
		}
		q.Item = &item
	}
	if query.Get("success") != "" {
		success, err := flag(query, "success")
		if err != nil {
			return q, err
		}
		q.Success = &success
	}
	outcome, err := oneOf(query, "outcome", "success", "failure", "running")
	if err != nil {
		return q, err
	}
	if outcome != "" {
		success, running := outcome == "success", outcome == "running"
		q.Running = &running
		if !running {
			q.Success = &success
		}
	}
	if q.From, err = instant(query, "from"); err != nil {
		return q, err
	}
	if q.Until, err = instant(query, "until"); err != nil {
		return q, err
	}
	q.Paging, err = parsePaging(query, history.ExecutionSorts())
	return q, err
}

func listExecutions(c *call) error {
	q, err := parseExecutionQuery(c.r.URL.Query())
	if err != nil {
		return err
	}
	if c.ns.History == nil {
		return c.lastExecutions(q)
	}
	if err := c.mayAskHistory(q.Job); err != nil {
		return err
	}
	page, err := c.ns.History.Executions(c.ctx, q)
	if err != nil {
		return notAsked(err)
	}
	written, err := c.written(page.Rows)
	if err != nil {
		return err
	}
	answer := wire.ExecutionPage{Executions: []wire.Execution{}, Total: page.Total, Recorded: wire.FromStore}
	runs := c.runs(page.Rows)
	for i, e := range page.Rows {
		answer.Executions = append(answer.Executions, wire.Execution{
			ID: e.ID, Round: e.Round, Job: e.Job, Task: e.TaskID, Hostname: e.Hostname, IP: e.IP, Instance: history.InstanceOf(e.TaskID), Source: string(e.Source), Item: e.Item,
			Fire: e.Fire, Token: e.Token, Start: e.Start.UTC(), Complete: e.Complete.UTC(), Success: e.Success, Running: runs[i], EndUnknown: e.Running() && !runs[i],
			Error: e.FailureCause, Output: written[e.ID],
		})
	}
	return c.answer(http.StatusOK, answer)
}

// mayAskHistory refuses a job whose rows nobody can tell from those of others, unless all may be read.
func (c *call) mayAskHistory(job string) error {
	if job == "" || history.TellsApart(job) || c.reads("") {
		return nil
	}
	return fault(http.StatusForbidden, wire.CauseForbidden,
		"you may not read all jobs of namespace %s, and of a name as long as this one the history keeps the first %d characters, so it cannot tell the job from others", c.ns.Name, history.MaxJobName)
}

const (
	// heardLate is how long a history may take to hear of an end that the registry shows.
	heardLate = time.Minute
	// begunUnseen is how long before the registry's last answer an execution may have begun that is not in it: by how much
	// clocks may differ, and a commit takes.
	begunUnseen = 5 * time.Second
)

// runs tells which executions without an end run, as the registry shows, or have just ended, so that the history is about to
// hear of it. A history has the start of one whose process was killed, and no end. While the registry does not answer, the
// history is believed of what began after its last answer.
func (c *call) runs(rows []history.Execution) map[int]bool {
	var p *live.Picture
	found := make(map[int]bool)
	for i, e := range rows {
		if !e.Running() || !history.TellsApart(e.Job) {
			continue
		}
		if p == nil {
			p = c.picture() // later than the history was read: what began before is there
		}
		found[i] = !p.Connected && e.Start.After(p.AsOf.Add(-begunUnseen)) || slices.ContainsFunc(p.Namespace.ExecutionsOf(e.Job, e.Item), func(now operate.ExecutionRow) bool {
			ended := now.Outcome == string(jobtree.Success) || now.Outcome == string(jobtree.Failure)
			if now.Outcome != operate.OutcomeRunning && (!ended || p.AsOf.Sub(now.End) > heardLate) {
				return false // what has ended for longer, the history does not hear of any more
			}
			return e.Token != 0 && now.Token == e.Token || now.Begin.UnixMilli() == e.Start.UnixMilli()
		})
	}
	return found
}

// written tells of which executions the output is kept, and how much they wrote.
func (c *call) written(rows []history.Execution) (map[string]int64, error) {
	kept, is := c.ns.History.(history.OutputFinder)
	if !is {
		return nil, nil
	}
	ids := make([]string, len(rows))
	for i, e := range rows {
		ids[i] = e.ID
	}
	return kept.OutputsOf(c.ctx, ids)
}

// notAsked makes a problem of a query that a store refuses.
func notAsked(err error) error {
	if errors.Is(err, history.ErrInvalidQuery) {
		return malformed("query", "%s", err)
	}
	return err
}

// lastExecutions answers from the registry, by time: of a job with what the registry keeps, which is the last two of each
// item, and of all jobs with the last one.
func (c *call) lastExecutions(q history.ExecutionQuery) error {
	if q.Sort != "" && q.Sort != "startTime" {
		return malformed("sort", "%q is given, and without a history store executions are ordered by startTime only", q.Sort)
	}
	p := c.picture()
	wanted := func(e *operate.ExecutionRow) bool { return matches(q, e) }
	until := q.Page * q.PerPage
	var found []operate.ExecutionRow
	var total int
	if q.Job == "" {
		f := operate.ExecutionFilter{
			Source: q.Source, Item: q.Item, Server: q.IP, Instance: q.Instance, From: q.From, Until: q.Until, Success: q.Success, Running: q.Running,
		}
		if q.Round != "" {
			f.Wanted = wanted
		}
		found, total = p.Namespace.NewestExecutions(until, q.Ascending, f)
	} else {
		found, total = lastOfJob(p.Namespace.Executions(q.Job), q.Ascending, wanted)
	}
	state := shown(p)
	answer := wire.ExecutionPage{Executions: []wire.Execution{}, Total: total, Recorded: wire.FromRegistry, Shown: &state}
	for _, e := range found[min(until-q.PerPage, len(found)):min(until, len(found))] {
		answer.Executions = append(answer.Executions, wire.Execution{
			Round: e.Round, Job: e.Job, IP: jobtree.ServerOf(e.Instance), Instance: e.Instance, Source: string(e.Source), Item: e.Item, Fire: e.Fire, Token: e.Token,
			Start: e.Begin.UTC(), Complete: e.End, Success: e.Outcome == string(jobtree.Success), Running: e.Outcome == operate.OutcomeRunning, Error: e.Error,
		})
	}
	return c.answer(http.StatusOK, answer)
}

// lastOfJob returns those that are wanted by time, and how many there are.
func lastOfJob(all []operate.ExecutionRow, ascending bool, wanted func(*operate.ExecutionRow) bool) ([]operate.ExecutionRow, int) {
	all = slices.DeleteFunc(all, func(e operate.ExecutionRow) bool { return !wanted(&e) })
	slices.SortStableFunc(all, func(a, b operate.ExecutionRow) int {
		if ascending {
			return a.Begin.Compare(b.Begin)
		}
		return b.Begin.Compare(a.Begin)
	})
	return all, len(all)
}

// matches tells whether an execution is one that a query is about.
func matches(q history.ExecutionQuery, e *operate.ExecutionRow) bool {
	return (q.Round == "" || q.Round == e.Round) && (q.IP == "" || q.IP == jobtree.ServerOf(e.Instance)) &&
		(q.Instance == "" || q.Instance == e.Instance) && (q.Running == nil || *q.Running == (e.Outcome == operate.OutcomeRunning)) &&
		(q.Item == nil || *q.Item == e.Item) && (q.Source == "" || q.Source == e.Source) &&
		(q.Success == nil || *q.Success == (e.Outcome == string(jobtree.Success))) &&
		(q.From.IsZero() || !e.Begin.Before(q.From)) && (q.Until.IsZero() || !e.Begin.After(q.Until))
}

func parseStatusQuery(query url.Values) (q history.StatusQuery, err error) {
	q = history.StatusQuery{Job: query.Get("job"), Round: query.Get("round")}
	states := []string{string(history.Staging), string(history.Running), string(history.Finished), string(history.Errored)}
	state, err := oneOf(query, "state", states...)
	if err != nil {
		return q, err
	}
	q.State = history.State(state)
	if q.From, err = instant(query, "from"); err != nil {
		return q, err
	}
	if q.Until, err = instant(query, "until"); err != nil {
		return q, err
	}
	q.Paging, err = parsePaging(query, history.StatusSorts())
	return q, err
}

func listRounds(c *call) error {
	q, err := parseStatusQuery(c.r.URL.Query())
	if err != nil {
		return err
	}
	answer := wire.RoundPage{Rounds: []wire.Round{}}
	if c.ns.History == nil {
		return c.answer(http.StatusOK, answer)
	}
	if err := c.mayAskHistory(q.Job); err != nil {
		return err
	}
	page, err := c.ns.History.Statuses(c.ctx, q)
	if err != nil {
		return notAsked(err)
	}
	answer.Total = page.Total
	for _, s := range page.Rows {
		answer.Rounds = append(answer.Rounds, wire.Round{
			ID: s.ID, Round: s.Round, Job: s.Job, Task: s.TaskID, IP: s.SlaveID, Items: s.ShardingItems, State: s.State, Message: s.Message, Time: s.Time.UTC(),
		})
	}
	return c.answer(http.StatusOK, answer)
}
