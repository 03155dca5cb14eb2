package sqlstore

import (
	"strings"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// row is the values of one event, in the order of its table's columns.
type row []any

func (s *Store) executionRow(e history.Execution, text func(string, int) string) row {
	success := 0
	if e.Success {
		success = 1
	}
	// A row with an end is one that has ended, so an end needs a time.
	if e.Complete.IsZero() && !e.Running() {
		e.Complete = e.Start
	}
	return row{
		text(e.ID, 40), text(e.Job, history.MaxJobName), text(e.TaskID, texts.MaxTaskID), text(e.Hostname, 255), text(e.IP, 50), e.Item,
		e.Source.Trace(), orNull(text(e.FailureCause, history.MaxText)), success, s.time(e.Start), s.time(e.Complete),
		orNull(text(e.Round, 40)), s.time(e.Fire), e.Token,
	}
}

func (s *Store) statusRow(e history.Status, text func(string, int) string) row {
	return row{
		text(e.ID, 40), text(e.Job, history.MaxJobName), text(e.OriginalTaskID, texts.MaxTaskID), text(e.TaskID, texts.MaxTaskID),
		text(e.SlaveID, 50), text(e.Source, 50), text(e.ExecutionType, 20), text(e.ShardingItems, 100), text(string(e.State), 20),
		text(e.Message, history.MaxText), s.time(e.Time), orNull(text(e.Round, 40)),
	}
}

// plain is [texts.Clean] for a database that takes none of its unusual characters.
func plain(text string, limit int) string {
	return texts.Clean(strings.Map(func(r rune) rune {
		if (r < ' ' && r != '\n' && r != '\t') || r > '~' {
			return '?'
		}
		return r
	}, text), limit)
}

// shortText is how much of a long text a table holds that is narrower than Elastic-Job's.
const shortText = 255

// short is [plain] for a table whose columns of causes and messages are narrow.
func short(text string, limit int) string {
	if limit == history.MaxText {
		limit = shortText
	}
	return plain(text, limit)
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// layout is how times travel: as text, which every driver leaves as it is.
const layout = "2006-01-02 15:04:05.000"

// What a column of time holds in every dialect.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 1, 0, time.UTC)
	latest   = time.Date(2038, 1, 19, 3, 14, 7, 0, time.UTC)
)

// time returns a time as it is stored. A clock that is off by decades must not make an event one that
// cannot be stored.
func (s *Store) time(t time.Time) any {
	switch {
	case t.IsZero():
		return nil
	case s.dialect.zoned && t.Before(earliest):
		t = earliest
	case s.dialect.zoned && t.After(latest):
		t = latest
	}
	return t.In(s.location).Truncate(time.Millisecond).Format(layout)
}

// source reads the word of Java's.
func source(word string, byHand bool) job.Source {
	switch {
	case word == job.Misfire.Trace():
		return job.Misfire
	case word == job.Failover.Trace():
		return job.Failover
	case byHand:
		return job.Manual
	default:
		return job.Scheduled
	}
}
