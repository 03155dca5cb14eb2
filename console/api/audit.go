package api

import (
	"net/http"
	"slices"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/operate"
)

// Sizes of a list of operations.
const (
	usualOperations = 100
	mostOperations  = 10_000
)

func listOperations(c *call) error {
	query := c.r.URL.Query()
	limit, err := number(query, "limit", usualOperations, 1, mostOperations)
	if err != nil {
		return err
	}
	of := query.Get("job")
	if of != "" && !c.reads(of) {
		return forbidden("read", c.ns.Name, of)
	}
	return c.operations(limit, "", of)
}

func getOperation(c *call) error { return c.operations(mostOperations, c.r.PathValue("id"), "") }

// operations answers with those of an id, or all, of one job or of all that who asks may read, the newest first.
func (c *call) operations(limit int, id, of string) error {
	p := c.picture()
	reads := c.readable()
	visible := func(job string) bool { return (of == "" || job == of) && reads(job) }
	list := wire.OperationList{
		Operations: append([]operate.Operation{}, p.Namespace.NewestOperations(limit, id, visible)...),
		Outside:    []operate.OutsideChange{}, Shown: shown(p),
	}
	for _, row := range p.Rows {
		if len(row.Outside) > 0 && visible(row.Job) {
			list.Outside = append(list.Outside, row.Outside...)
		}
	}
	unreadable, _ := p.Namespace.UnreadableOperations()
	list.Unreadable = slices.DeleteFunc(unreadable, func(job string) bool { return !visible(job) })
	return c.answer(http.StatusOK, list)
}
