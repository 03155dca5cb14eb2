package api

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/history"
)

func parseOutputQuery(query url.Values) (q history.OutputQuery, err error) {
	if text := query.Get("item"); text != "" {
		item, err := number(query, "item", 0, 0, 1<<30)
		if err != nil {
			return q, err
		}
		q.Item = &item
	}
	if text := query.Get("token"); text != "" {
		if q.Token, err = strconv.ParseInt(text, 10, 64); err != nil || q.Token < 1 {
			return q, malformed("token", "%q is given, want a fencing token, which is a number above 0", text)
		}
	}
	q.Limit, err = number(query, "limit", 1, 1, history.MaxOutputs)
	return q, err
}

// outputs are those that the history keeps.
func (c *call) outputs() (history.OutputReader, error) {
	if kept, is := c.ns.History.(history.OutputReader); is {
		return kept, nil
	}
	return nil, notFound("this server has no history with outputs: start it with --history and the file of a worker")
}

func listOutputs(c *call) error {
	q, err := parseOutputQuery(c.r.URL.Query())
	if err != nil {
		return err
	}
	kept, err := c.outputs()
	if err != nil {
		return err
	}
	q.Job = c.job
	found, err := kept.Outputs(c.ctx, q)
	if err != nil {
		return notAsked(err)
	}
	answer := wire.OutputList{Outputs: []wire.Output{}}
	for _, o := range found {
		answer.Outputs = append(answer.Outputs, wire.OutputOf(o))
	}
	return c.answer(http.StatusOK, answer)
}

func getOutput(c *call) error {
	kept, err := c.outputs()
	if err != nil {
		return err
	}
	id := c.r.PathValue("id")
	found, err := kept.Output(c.ctx, c.job, id)
	switch {
	case errors.Is(err, history.ErrNoOutput):
		return notFound("no output of the execution %q of job %s is kept", id, c.job)
	case err != nil:
		return err
	}
	return c.answer(http.StatusOK, wire.OutputOf(found))
}
