package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// describeExecution tells of an execution that the registry keeps, and what it wrote. file is the history to look in,
// rather than that of a server.
func describeExecution(ctx context.Context, what string, at place, now time.Time, file string) (description, error) {
	q, begun, err := queryOf(what)
	if err != nil {
		return description{}, err
	}
	row, err := executionNamed(ctx, at, q, begun, now)
	if err != nil {
		return description{}, err
	}
	var p page
	p.field("Job", row.Job)
	p.field("Item", fmt.Sprint(row.Item))
	p.field("Outcome", row.Outcome)
	p.field("Error", row.Error)
	p.field("Fire", instant(row.Fire))
	p.field("Begin", instant(row.Begin))
	p.field("Took", brief(row.Took(now)))
	p.field("Source", string(row.Source))
	p.field("Instance", row.Instance)
	p.field("Token", tokenText(row.Token))
	p.field("Round", orDash(row.Round))
	wrote, why, err := outputOf(ctx, at, file, row)
	switch {
	case err != nil:
		return description{}, err
	case wrote == nil:
		p.field("Output", why)
	default:
		p.field("Output", fmt.Sprintf("%d bytes", wrote.Bytes))
		for line := range strings.Lines(wrote.Text) {
			p.text.WriteString("  " + printable(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	return description{p.String(), struct {
		operate.ExecutionRow
		Output *wire.Output `json:"output,omitempty"`
	}{row, wrote}}, nil
}

// outputOf returns what an execution wrote; if that is not known, why not.
func outputOf(ctx context.Context, at place, file string, row operate.ExecutionRow) (wrote *wire.Output, why string, err error) {
	if row.Token == 0 {
		return nil, "not known: the execution has no token", nil
	}
	look := func(kept history.OutputReader) error {
		found, err := readOutputs(ctx, kept, history.OutputQuery{Job: row.Job, Item: &row.Item, Token: row.Token})
		switch {
		case errors.Is(err, registry.ErrNotFound):
			why = "not known: " + err.Error()
		case err != nil:
			return err
		case len(found) == 0:
			why = "none is kept"
		default:
			wrote = &found[0]
		}
		return nil
	}
	switch server, is := at.(*client.Namespace); {
	case file != "":
		err = withHistory(ctx, file, look)
	case is:
		err = look(server)
	default:
		why = "not known: no history is named, see elasticron logs --help"
	}
	return wrote, why, err
}
