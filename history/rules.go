package history

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// Round has the data from which the events of a round are made.
type Round struct {
	ID     string
	Job    string
	TaskID string
	Items  []int         // that began, ascending
	Began  time.Time     // when that was decided, or when the fire came if it was decided ahead of that
	Ended  time.Time     // of the last item; for [Round.End]
	Failed map[int]error // the items that did not succeed; for [Round.End]
}

// Staged returns the event of a round whose items are about to begin.
func (r Round) Staged() Status {
	return r.status(Staging, r.Began, fmt.Sprintf("Job '%s' execute begin.", r.Job))
}

// Running returns the event of a round whose items have begun.
func (r Round) Running(at time.Time) Status { return r.status(Running, at, "") }

// End returns the event of a round whose last item has ended: finished, or in error, with what failed.
func (r Round) End() Status {
	if len(r.Failed) == 0 {
		return r.status(Finished, r.Ended, "")
	}
	var text strings.Builder
	separator := "{"
	for _, item := range slices.Sorted(maps.Keys(r.Failed)) {
		if text.Len() > 4*MaxText {
			break // more than is kept, in any encoding
		}
		text.WriteString(separator + strconv.Itoa(item) + "=" + texts.Clean(cause(r.Failed[item]), MaxText))
		separator = ", "
	}
	return r.status(Errored, r.Ended, texts.Clean(text.String()+"}", MaxText))
}

func (r Round) status(state State, at time.Time, message string) Status {
	return Status{
		ID: identify("status", r.Job, r.ID, string(state), stamp(r.Began)), Round: r.ID, Job: r.Job,
		TaskID: texts.ShortTaskID(r.TaskID), SlaveID: taskIP(r.TaskID), Source: SourceLite, ExecutionType: ExecutionReady,
		ShardingItems: itemsText(r.Items), State: state, Message: message, Time: at,
	}
}

// Started returns the event of an execution that starts.
func Started(hostname, round string, sc job.ShardingContext, at time.Time) Execution {
	return Execution{
		ID:    identify("execution", sc.JobName, round, strconv.Itoa(sc.Item), strconv.FormatInt(sc.Token, 10), stamp(at)),
		Round: round, Job: sc.JobName, TaskID: texts.ShortTaskID(sc.TaskID), Hostname: hostname, IP: taskIP(sc.TaskID),
		Source: sc.Source, Item: sc.Item, Fire: sc.Fire, Token: sc.Token, Start: at,
	}
}

// Ended returns the event of the execution's end. It succeeded if its code did and the registry took its end. If the
// registry refused the end, the execution had been taken away, and may run or have run again
// elsewhere: then it is a failure whatever its code says, and the cause tells both.
func (e Execution) Ended(at time.Time, err, refused error) Execution {
	e.Complete, e.Success = at, err == nil && refused == nil
	switch {
	case refused != nil && err == nil:
		e.FailureCause = texts.Clean("the code succeeded, but the end was refused: "+refused.Error(), MaxText)
	case refused != nil:
		e.FailureCause = texts.Clean("the end was refused: "+refused.Error()+"; the code failed: "+cause(err), MaxText)
	case err != nil:
		e.FailureCause = texts.Clean(cause(err), MaxText)
	}
	return e
}

// cause is the text of an error, and never empty. A panic has its stack.
func cause(err error) string {
	text := err.Error()
	if text == "" {
		text = fmt.Sprintf("%T", err)
	}
	var panicked *job.PanicError
	if errors.As(err, &panicked) {
		return text + "\n" + string(panicked.Stack)
	}
	return text
}

// identify makes an id, in the form of a UUID, of what tells an event from all others. The start and the
// end of an execution have the same, without anybody keeping it meanwhile.
func identify(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	sum[6] = sum[6]&0x0f | 0x80 // version 8: of one's own making
	sum[8] = sum[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

func stamp(at time.Time) string { return strconv.FormatInt(at.UnixNano(), 36) }
