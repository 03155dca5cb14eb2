package api

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/cronexpr/words"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
)

// Sizes of a page of jobs.
const (
	usualJobs = 100
	mostJobs  = 500
)

// selection is which jobs are wanted, and in which order.
type selection struct {
	match         string
	status        []string
	sort          string
	down          bool
	offset, limit int
}

// sorts are what jobs can be ordered by.
var sorts = map[string]func(a, b *live.Row) int{
	"name":      func(*live.Row, *live.Row) int { return 0 }, // as they come
	"status":    func(a, b *live.Row) int { return strings.Compare(a.Shown(), b.Shown()) },
	"next":      func(a, b *live.Row) int { return compareTimes(a.Next, b.Next) },
	"last":      func(a, b *live.Row) int { return compareTimes(lastBegin(a), lastBegin(b)) },
	"items":     func(a, b *live.Row) int { return cmp.Compare(a.Items, b.Items) },
	"instances": func(a, b *live.Row) int { return cmp.Compare(a.Instances, b.Instances) },
}

// compareTimes puts what is not known behind everything else.
func compareTimes(a, b time.Time) int {
	switch {
	case a.IsZero() && b.IsZero():
		return 0
	case a.IsZero():
		return 1
	case b.IsZero():
		return -1
	}
	return a.Compare(b)
}

func lastBegin(r *live.Row) time.Time {
	if r.Last == nil {
		return time.Time{}
	}
	return r.Last.Begin
}

func parseSelection(query url.Values) (s selection, err error) {
	if s.match, err = pattern(query); err != nil {
		return s, err
	}
	for _, words := range query["status"] {
		s.status = append(s.status, strings.Split(words, ",")...)
	}
	s.status = slices.DeleteFunc(s.status, func(word string) bool { return word == "" })
	if most := len(operate.WordsOfJobs()); len(s.status) > most {
		return s, malformed("status", "%d words are given, want at most %d", len(s.status), most)
	}
	for _, word := range s.status {
		if !slices.ContainsFunc(operate.WordsOfJobs(), func(known string) bool { return strings.EqualFold(known, word) }) {
			return s, malformed("status", "%q is given, want some of %s", word, strings.Join(operate.WordsOfJobs(), ", "))
		}
	}
	s.sort, s.down = strings.CutPrefix(query.Get("sort"), "-")
	s.sort = cmp.Or(s.sort, "name")
	if sorts[s.sort] == nil {
		return s, malformed("sort", "%q is given, want name, status, next, last, items or instances, and a minus before it for the other way round", query.Get("sort"))
	}
	if s.offset, err = number(query, "offset", 0, 0, 1<<30); err != nil {
		return s, err
	}
	s.limit, err = number(query, "limit", usualJobs, 1, mostJobs)
	return s, err
}

// wants tells whether a job is one of those.
func (s selection) wants(r *live.Row) bool {
	if s.match != "*" {
		if is, _ := path.Match(s.match, r.Job); !is {
			return false
		}
	}
	if len(s.status) == 0 {
		return true
	}
	return slices.ContainsFunc(s.status, func(word string) bool {
		return strings.EqualFold(word, r.Shown()) || strings.EqualFold(word, string(r.Status)) ||
			slices.ContainsFunc(r.Reasons, func(reason operate.Reason) bool { return strings.EqualFold(word, string(reason.Word)) })
	})
}

// looksUp is after how many rows it is asked whether somebody still waits for the answer.
const looksUp = 64

// page returns the rows that are wanted, those of the page, and how many there are. Its error is that of the context.
func (s selection) page(ctx context.Context, rows []*live.Row, visible func(job string) bool) (page []json.RawMessage, total int, err error) {
	var found []*live.Row
	for i, r := range rows {
		if i%looksUp == 0 && ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		if visible(r.Job) && s.wants(r) {
			found = append(found, r)
		}
	}
	order := sorts[s.sort]
	if s.sort != "name" {
		slices.SortStableFunc(found, order)
	}
	if s.down {
		slices.Reverse(found)
	}
	page = []json.RawMessage{}
	for _, r := range found[min(s.offset, len(found)):min(s.offset+s.limit, len(found))] {
		page = append(page, r.JSON)
	}
	return page, len(found), nil
}

func listJobs(c *call) error {
	s, err := parseSelection(c.r.URL.Query())
	if err != nil {
		return err
	}
	p := c.picture()
	rows, total, err := s.page(c.ctx, p.Rows, c.readable())
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, wire.JobPage{Jobs: rows, Total: total, Offset: s.offset, Shown: shown(p)})
}

// someFires is how many next fires a job is shown with, and someOperations how many operations.
const (
	someFires      = 5
	someOperations = 5
)

func getJob(c *call) error {
	p := c.picture()
	ns := p.Namespace.Of(c.job)
	row, found := ns.Job(c.job)
	if !found {
		return noJobIn(p, c.job)
	}
	st, _ := ns.State(c.job)
	d := wire.JobDetail{
		Job: row, Items: ns.Items(c.job), Instances: instancesOf(st), Servers: serversOf(st, ns), NextFires: []time.Time{}, Shown: shown(p),
	}
	d.Words, _ = words.Describe(row.Cron)
	d.Settings = ns.Settings(c.job)
	d.NextFires = append(d.NextFires, ns.NextFires(c.job, c.now(), someFires)...)
	operations := ns.Operations(c.job)
	slices.Reverse(operations)
	d.Operations = operations[:min(someOperations, len(operations))]
	return c.answer(http.StatusOK, d)
}

// noJobIn tells that a job is not here, and where it is, if that is known.
func noJobIn(p *live.Picture, job string) error {
	switch e, known := jobtree.DecodeElsewhere(p.State.Get(jobtree.For(job).Config())); {
	case !known:
		return notFound("there is no job %q", job)
	case e.Arriving:
		return notFound("there is no job %q here yet: it is being moved here from registry %q", job, e.Home)
	default:
		return notFound("there is no job %q here: its home is registry %q", job, e.Home)
	}
}

// elsewhere tells whether the home of a job is another registry. One that is on its way there is still shown.
func elsewhere(p *live.Picture, job string) bool {
	e, is := jobtree.DecodeElsewhere(p.State.Get(jobtree.For(job).Config()))
	return is && !e.Leaving()
}

func instancesOf(st *jobtree.State) []wire.JobInstance {
	all := make([]wire.JobInstance, 0, len(st.Instances))
	for _, in := range st.Instances {
		i := wire.JobInstance{
			Instance: in.ID, Server: jobtree.ServerOf(in.ID), Enabled: st.ServerEnabled(jobtree.ServerOf(in.ID)), Leader: st.Leader.Instance == in.ID,
			Leaving: in.Shutdown, Java: jobtree.JavaInstance(in.ID), Items: []int{},
		}
		for item := range st.Total() {
			if st.Owner(item) == in.ID {
				i.Items = append(i.Items, item)
			}
		}
		all = append(all, i)
	}
	return all
}

func serversOf(st *jobtree.State, ns *operate.Namespace) []wire.JobServer {
	all := []wire.JobServer{}
	for _, row := range ns.Servers() {
		s := wire.JobServer{Server: row.Server, Disabled: len(row.Disabled) > 0, Instances: []string{}}
		for _, in := range st.Instances {
			if jobtree.ServerOf(in.ID) == row.Server {
				s.Instances = append(s.Instances, in.ID)
			}
		}
		all = append(all, s)
	}
	return all
}

func me(c *call) error {
	m := wire.Me{Name: c.who.Name, How: c.who.How, Roles: []string{}, Namespaces: []string{}}
	for _, role := range c.who.Roles() {
		m.Roles = append(m.Roles, string(role))
	}
	for _, name := range c.names {
		if c.who.Sees(name) {
			m.Namespaces = append(m.Namespaces, name)
		}
	}
	for _, g := range c.who.Grants {
		m.Grants = append(m.Grants, wire.Grant{Role: string(g.Role), Namespace: g.Namespace, Jobs: cmp.Or(g.Jobs, "*")})
	}
	return c.answer(http.StatusOK, m)
}

func followEvents(c *call) error {
	c.ns.events.ServeHTTP(c.w, c.r)
	return nil
}

// secretsOf tells whether who asks may see what of a job is secret.
func (c *call) secretsOf(job string) bool { return c.who.May(access.Administer, c.ns.Name, job) }
