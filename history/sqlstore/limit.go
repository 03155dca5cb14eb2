package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// After a pause of events, a clock that nothing confirms is believed when they have come by it for the time of a trial. Both
// are no longer than events are kept. A weekend is no pause: most often it is one of the jobs, and not of a clock that was set.
const (
	pause = 4 * 24 * time.Hour
	trial = 24 * time.Hour
)

// clocksAgree is by how much the clocks of two machines may differ without a word.
const clocksAgree = time.Minute

// reason is why events stay that are old by the clock of this process.
type reason string

const (
	byDatabase reason = "database" // the database's clock is behind
	byNewest   reason = "newest"   // nothing came since
	byPause    reason = "pause"    // what came after a pause may be of a clock that is ahead
)

// limit is the time before which events are deleted.
type limit struct {
	before time.Time
	own    time.Time // this clock's time
	reason reason    // why it is not what own says; empty if it is
	at     time.Time // what it goes by instead
	resume time.Time // when events came again after at, by byPause
}

// Keeps returns the time before which events are older than keep. A clock that is ahead would have all deleted that others have
// written, and what this process wrote before its clock was set. So Keeps goes by this clock or the database's, whichever is
// earlier, if the database is on another machine. For a file, and a database on this machine, which has the same clock, it goes
// by this clock or the newest event, whichever is earlier; and if events came after a pause of four days, by the last one
// before it, until they have come for a day, in which the clock can be set right. Where keep is less, it takes the place of the
// days.
func (s *Store) Keeps(ctx context.Context, keep time.Duration) (time.Time, error) {
	until, err := s.limit(ctx, keep)
	return until.before, err
}

func (s *Store) limit(ctx context.Context, keep time.Duration) (until limit, err error) {
	if err := s.ready(ctx); err != nil {
		return limit{}, err
	}
	err = s.ask(ctx, func(ctx context.Context, conn *sql.Conn) (err error) {
		until, err = s.limitOn(ctx, conn, keep)
		return err
	})
	if err != nil {
		s.doubtTables(ctx)
		return limit{}, err
	}
	now := until.own
	if until.reason != "" {
		now = until.at
	}
	until.before = now.Add(-keep)
	return until, nil
}

// limitOn finds out which clock to go by.
func (s *Store) limitOn(ctx context.Context, conn *sql.Conn, keep time.Duration) (limit, error) {
	until := limit{own: s.now()}
	theirs, err := s.clockElsewhere(ctx, conn)
	if err != nil {
		return limit{}, err
	}
	if !theirs.IsZero() {
		if theirs.Before(until.own) {
			until.reason, until.at = byDatabase, theirs
		}
		return until, nil
	}
	newest, err := s.extreme(ctx, conn, "DESC", nil)
	if err != nil {
		return limit{}, err
	}
	if newest.IsZero() {
		return until, nil
	}
	now := until.own
	if newest.Before(now) {
		now = newest
		until.reason, until.at = byNewest, newest
	}
	since := now.Add(-min(trial, keep))
	last, err := s.extreme(ctx, conn, "DESC", []string{" <= ?"}, s.time(since))
	if err != nil {
		return limit{}, err
	}
	first, err := s.extreme(ctx, conn, "ASC", []string{" > ?", " <= ?"}, s.time(since), s.time(now))
	if err != nil {
		return limit{}, err
	}
	if !last.IsZero() && !first.IsZero() && first.Sub(last) > min(pause, keep) {
		until.reason, until.at, until.resume = byPause, last, first
	}
	return until, nil
}

// clockElsewhere returns the time of a database that is on another machine; zero for any other.
func (s *Store) clockElsewhere(ctx context.Context, conn *sql.Conn) (time.Time, error) {
	if s.dialect.clock == "" {
		return time.Time{}, nil
	}
	var milliseconds int64
	var near int
	var host string
	if err := conn.QueryRowContext(ctx, s.dialect.clock).Scan(&milliseconds, &near, &host); err != nil {
		return time.Time{}, fmt.Errorf("ask for the time: %w", err)
	}
	if s.isHere(near != 0, host) {
		return time.Time{}, nil
	}
	return time.UnixMilli(milliseconds), nil
}

// isHere tells whether a database is on this machine, by whether it says that the connection comes from its own and by the name
// of its host, if it tells that.
func isHere(near bool, host string) bool {
	name, err := os.Hostname()
	return near || err == nil && host == name
}

// extreme returns the first time of both tables in an order, among those of which conditions hold; zero if there is none.
func (s *Store) extreme(ctx context.Context, conn *sql.Conn, order string, conditions []string, args ...any) (time.Time, error) {
	var found time.Time
	for _, t := range []table{executions, statuses} {
		var at time.Time
		query := "SELECT " + t.time + " FROM " + t.name + " WHERE " + t.time + " IS NOT NULL"
		for _, condition := range conditions {
			query += " AND " + t.time + condition
		}
		query += " ORDER BY " + t.time + " " + order + " LIMIT 1"
		if err := conn.QueryRowContext(ctx, s.dialect.bind(query), args...).Scan(s.instant(&at)); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return time.Time{}, fmt.Errorf("read %s: %w", t.name, err)
		}
		if !at.IsZero() && (found.IsZero() || at.After(found) == (order == "DESC")) {
			found = at
		}
	}
	return found, nil
}

const beforePause = "events came after a pause, or this clock is ahead: for a day, old events are deleted by the time before it"

// explain logs why events stay that are old by this clock, if there are any, once for each cause.
func (s *Store) explain(ctx context.Context, until limit, keep time.Duration, said *limit) error {
	old := until.own.Add(-keep)
	known := until.reason == said.reason && (until.reason == byDatabase || until.at.Equal(said.at))
	switch {
	case until.reason == "":
		*said = until
		return nil
	case known,
		until.reason == byDatabase && old.Sub(until.before) < clocksAgree,
		until.reason == byNewest && !until.at.Before(old): // the scheduler has a rest
		return nil
	}
	for _, t := range []table{executions, statuses} {
		stays, err := s.anyOld(ctx, t, old)
		if err != nil {
			return fmt.Errorf("read %s: %w", t.name, err)
		}
		if stays == "" {
			continue
		}
		*said = until
		switch until.reason {
		case byDatabase:
			s.log.WarnContext(ctx, "this clock is ahead of the database's, by which old events are deleted", "clock", until.own, "database", until.at)
		case byNewest:
			s.log.InfoContext(ctx, "nothing confirms this clock, as no event is new: old events stay", "clock", until.own, "newest", until.at)
		case byPause:
			if until.at.Before(old) { // all that is from before the pause
				s.log.WarnContext(ctx, beforePause, "clock", until.own, "before", until.at, "after", until.resume)
			} else {
				s.log.InfoContext(ctx, beforePause, "clock", until.own, "before", until.at, "after", until.resume)
			}
		}
		return nil
	}
	return nil
}
