package api

import (
	_ "embed"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/timezone"
)

//go:embed openapi.yaml
var openAPI []byte

func description(c *call) error {
	c.w.Header().Set("Content-Type", "application/yaml")
	c.w.Header().Set("Cache-Control", "public, max-age=3600")
	_, _ = c.w.Write(openAPI)
	return nil
}

// Limits of what is asked about a cron expression.
const (
	maxExpression = 1000 // bytes
	mostFires     = 1000
)

// cronQuery is what is asked about a cron expression.
type cronQuery struct {
	expression string
	schedule   cronexpr.Schedule
	zone       *time.Location
	count      int
}

func parseCronQuery(query url.Values) (q cronQuery, err error) {
	q.expression = query.Get("expression")
	switch {
	case q.expression == "":
		return q, malformed("expression", "it is missing, want a cron expression such as 0 0/5 * * * ?")
	case len(q.expression) > maxExpression:
		return q, malformed("expression", "it has %d bytes, want at most %d", len(q.expression), maxExpression)
	}
	if q.count, err = number(query, "count", someFires, 1, mostFires); err != nil {
		return q, err
	}
	name := query.Get("zone")
	if q.zone, err = timezone.Load(name); err != nil {
		return q, malformed("zone", "%q is given, want %s", name, timezone.Wanted)
	}
	rule, err := cronexpr.ParseDaylightSaving(query.Get("daylight-saving"))
	if err != nil {
		return q, malformed("daylight-saving", "%q is given, want natural or quartz", query.Get("daylight-saving"))
	}
	q.schedule, err = cronexpr.Parse(q.expression, cronexpr.WithLocation(q.zone), cronexpr.WithDaylightSaving(rule))
	return q, faultOfCron(err)
}

// faultOfCron says what of an expression is wrong, and where.
func faultOfCron(err error) error {
	if err == nil {
		return nil
	}
	p := fault(http.StatusUnprocessableEntity, "cron", "%s", err)
	p.Field = "expression"
	var syntax *cronexpr.SyntaxError
	if errors.As(err, &syntax) {
		p.Target, p.Why, p.Do = syntax.Field, syntax.Why, "allowed "+syntax.Allowed
		if syntax.Index >= 0 {
			p.Position = &syntax.Index
		}
	}
	return p
}

func cron(c *call) error {
	q, err := parseCronQuery(c.r.URL.Query())
	if err != nil {
		return err
	}
	now := c.now()
	answer := wire.Cron{Cron: q.expression, Words: wordsOf(q.expression), Zone: c.r.URL.Query().Get("zone"), NextFires: []time.Time{}, Changes: []wire.ClockChange{}}
	for fire := range cronexpr.Upcoming(q.schedule, now) {
		answer.NextFires = append(answer.NextFires, fire)
		if len(answer.NextFires) == q.count {
			break
		}
	}
	answer.Changes = append(answer.Changes, clockChanges(q.zone, now)...)
	return c.answer(http.StatusOK, answer)
}

// someChanges is how many of the next changes of a clock are told, and changesAhead how far ahead they are looked for.
const (
	someChanges  = 2
	changesAhead = 2 * 366 * 24 * time.Hour
)

// clockChanges are the next changes of a zone's clock.
func clockChanges(zone *time.Location, now time.Time) (changes []wire.ClockChange) {
	for at := now.In(zone); len(changes) < someChanges && at.Sub(now) < changesAhead; {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		_, before := end.Add(-time.Nanosecond).In(zone).Zone()
		_, after := end.In(zone).Zone()
		if before != after {
			changes = append(changes, wire.ClockChange{At: end, Before: before, After: after})
		}
		at = end
	}
	return changes
}
