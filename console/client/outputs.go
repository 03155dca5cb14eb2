package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/registry"
)

var _ history.OutputReader = (*Namespace)(nil)

// Outputs returns the newest outputs that match, as the history of the server has them. A server without one answers
// with [registry.ErrNotFound].
func (n *Namespace) Outputs(ctx context.Context, q history.OutputQuery) ([]history.Output, error) {
	query := url.Values{"limit": {strconv.Itoa(max(q.Limit, 1))}}
	if q.Item != nil {
		query.Set("item", strconv.Itoa(*q.Item))
	}
	if q.Token != 0 {
		query.Set("token", strconv.FormatInt(q.Token, 10))
	}
	var answer wire.OutputList
	if err := n.once(ctx, request{method: http.MethodGet, path: outputsOf(q.Job), query: query}, &answer); err != nil {
		return nil, err
	}
	found := make([]history.Output, 0, len(answer.Outputs))
	for _, o := range answer.Outputs {
		found = append(found, o.Output())
	}
	return found, nil
}

// Output returns what the server keeps of the output of an execution of a job, or [history.ErrNoOutput].
func (n *Namespace) Output(ctx context.Context, job, id string) (history.Output, error) {
	var answer wire.Output
	err := n.once(ctx, request{method: http.MethodGet, path: outputsOf(job) + "/" + url.PathEscape(id)}, &answer)
	if errors.Is(err, registry.ErrNotFound) {
		err = fmt.Errorf("%w: %w", history.ErrNoOutput, err)
	}
	return answer.Output(), err
}

func outputsOf(job string) string { return "/jobs/" + url.PathEscape(job) + "/outputs" }
