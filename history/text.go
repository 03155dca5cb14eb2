package history

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/internal/texts"
)

// What the columns of Elastic-Job's tables hold, in characters.
const (
	MaxText   = 4000 // of failure causes and messages
	MaxTaskID = 255
	maxItems  = 100
)

// ShortTaskID returns a task id as the column of 255 characters holds it: the same, or, if it is
// longer, with its list of items cut, "orders@-@0,1,2,...@-@READY@-@10.0.0.1@-@7". One that is too long
// without its items is cut and ends in a hash, so that what differs stays different. The same id is
// always shortened to the same.
func ShortTaskID(id string) string {
	if len(id) <= MaxTaskID {
		return id
	}
	head := strings.Index(id, taskSeparator)
	tail := strings.LastIndex(id, BeforeInstance)
	if head >= 0 && tail > head {
		items := head + len(taskSeparator)
		if room := MaxTaskID - items - len("...") - (len(id) - tail); room > 0 && room < tail-items {
			kept := id[items : items+room]
			kept = kept[:strings.LastIndexByte(kept, ',')+1]
			return id[:items] + kept + "..." + id[tail:]
		}
	}
	sum := sha256.Sum256([]byte(id))
	return texts.Clean(id, MaxTaskID-17) + "~" + hex.EncodeToString(sum[:8])
}

const taskSeparator = "@-@"

// BeforeInstance is what stands before the id of the instance in a task id.
const BeforeInstance = taskSeparator + "READY" + taskSeparator

// InstanceOf returns the id of the instance at the end of a task id; empty if it has none.
func InstanceOf(taskID string) string {
	i := strings.LastIndex(taskID, BeforeInstance)
	if i < 0 {
		return ""
	}
	return taskID[i+len(BeforeInstance):]
}

// taskIP returns the IP at the end of a task id, "...@-@<ip>@-@<text>"; empty if it has none.
func taskIP(id string) string {
	last := strings.LastIndex(id, taskSeparator)
	if last < 0 {
		return ""
	}
	before := strings.LastIndex(id[:last], taskSeparator)
	if before < 0 {
		return ""
	}
	return id[before+len(taskSeparator) : last]
}

// itemsText lists items as Java does, cut to what the column holds.
func itemsText(items []int) string {
	text := []byte{'['}
	for i, item := range items {
		whole := len(text)
		if i > 0 {
			text = append(text, ", "...)
		}
		text = strconv.AppendInt(text, int64(item), 10)
		if more := i < len(items)-1; len(text) > maxItems-len("]") || more && len(text) > maxItems-len(", ...]") {
			return string(append(text[:whole], ", ...]"...))
		}
	}
	return string(append(text, ']'))
}
