package history

import (
	"strconv"
	"strings"
)

// MaxText is how many characters the columns of Elastic-Job's tables hold of failure causes and messages.
const MaxText = 4000

// maxItems is the same of lists of items.
const maxItems = 100

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
