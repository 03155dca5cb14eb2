package api

import (
	"net/http"
	"slices"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
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
	return c.operations(limit, func(job string) bool { return of == "" || job == of }, func(operate.Operation) bool { return true })
}

func getOperation(c *call) error {
	id := c.r.PathValue("id")
	return c.operations(mostOperations, func(string) bool { return true }, func(o operate.Operation) bool { return o.ID == id })
}

// operations answers with those that are wanted, the newest first, of jobs that who asks may read.
func (c *call) operations(limit int, ofJob func(string) bool, wanted func(operate.Operation) bool) error {
	p := c.picture()
	ns := p.Namespace
	visible := func(job string) bool { return ofJob(job) && c.reads(job) }
	list := wire.OperationList{
		Operations: []operate.Operation{}, Outside: []operate.OutsideChange{}, Revision: p.Revision, AsOf: p.AsOf.UTC(),
	}
	for _, job := range ns.Names() {
		if !visible(job) {
			continue
		}
		for _, o := range ns.Operations(job) {
			if wanted(o) {
				list.Operations = append(list.Operations, o)
			}
		}
	}
	slices.SortStableFunc(list.Operations, func(a, b operate.Operation) int { return b.When.Compare(a.When) })
	list.Operations = list.Operations[:min(limit, len(list.Operations))]
	for _, job := range ns.Names() {
		tree := jobtree.For(job)
		if !visible(job) || !p.State.Get(tree.Operated()).Exists() { // which says that there is none
			continue
		}
		of := registry.NewSnapshot(p.Revision, slices.Collect(p.State.Below(tree.Root())))
		list.Outside = append(list.Outside, operate.Outside(of)...)
	}
	unreadable, _ := ns.UnreadableOperations()
	list.Unreadable = slices.DeleteFunc(unreadable, func(job string) bool { return !visible(job) })
	return c.answer(http.StatusOK, list)
}
