package job

import (
	"strconv"
	"time"

	"github.com/elasticron/elasticron/internal/texts"
)

// ShardingContext tells the code of an item what it runs. Later versions may add fields.
type ShardingContext struct {
	// JobName is the name of the job.
	JobName string
	// TaskID names what runs together, for logs and traces; see [TaskID]. It is not unique.
	TaskID string
	// Item is the sharding item to be run, from 0.
	Item int
	// ItemParameter is the item's text of [Config.ShardingItemParameters]; empty if it has none.
	ItemParameter string
	// TotalCount is the number of sharding items of the job when the item was assigned.
	TotalCount int
	// JobParameter is [Config.JobParameter].
	JobParameter string
	// Fire is the time at which the job should have run, in UTC. A misfire has the time of the newest
	// fire that it makes up for; a failover has the fire of the lost execution. It is zero for a run by hand,
	// unless that was asked for a fire, as when one is run again.
	Fire time.Time
	// Trigger is the number of the request for which the item runs by hand, also if a failover runs it again. It
	// is 0 if nobody asked.
	Trigger int64
	// TriggerParameter is the text that came with the request; empty if none did.
	TriggerParameter string
	// Source says why the item runs.
	Source Source
	// Token is the fencing token: larger than the token of every earlier execution of this item,
	// wherever it ran. Pass it to the store that the item writes to, and let the store refuse smaller
	// tokens. It is 0 if the job is [Config.Unmonitored].
	Token int64
	// Offset is the item's checkpoint when the attempt began, or in a stream when the batch began; see
	// [SetOffset]. It is empty if there is none.
	Offset string
	// Streaming tells a dataflow to go on until nothing is left: [Config.StreamingProcess].
	Streaming bool
}

// JSON returns the context as script and HTTP jobs get it: the same text that Java passes to them. It has the
// Java fields only, and leaves out an empty item parameter. A task id above 4 KiB, as of a thousand items that begin together,
// is shortened to 255 characters, as in the history: arguments and headers have bounds, and it would be in those of each item.
func (sc ShardingContext) JSON() string {
	text := make([]byte, 0, 256)
	text = append(text, `{"jobName":`...)
	text = texts.AppendGson(text, sc.JobName)
	text = append(text, `,"taskId":`...)
	text = texts.AppendGson(text, texts.PassedTaskID(sc.TaskID))
	text = append(text, `,"shardingTotalCount":`...)
	text = strconv.AppendInt(text, int64(sc.TotalCount), 10)
	text = append(text, `,"jobParameter":`...)
	text = texts.AppendGson(text, sc.JobParameter)
	text = append(text, `,"shardingItem":`...)
	text = strconv.AppendInt(text, int64(sc.Item), 10)
	if sc.ItemParameter != "" {
		text = append(text, `,"shardingParameter":`...)
		text = texts.AppendGson(text, sc.ItemParameter)
	}
	return string(append(text, '}'))
}

// Source says why an item runs. The words are stored and shown.
type Source string

// The sources of an execution.
const (
	Scheduled Source = "scheduled" // a fire of the job's cron expression
	Misfire   Source = "misfire"   // one or more fires that could not be run on time
	Failover  Source = "failover"  // the execution of this fire before was lost or cut short, or made room
	Manual    Source = "manual"    // somebody asked for it
)

// Trace returns the word for the source in Elastic-Job's event traces and their tables: NORMAL_TRIGGER, MISFIRE or
// FAILOVER. Java calls a run by hand a normal one.
func (s Source) Trace() string {
	switch s {
	case Misfire:
		return "MISFIRE"
	case Failover:
		return "FAILOVER"
	default:
		return "NORMAL_TRIGGER"
	}
}
