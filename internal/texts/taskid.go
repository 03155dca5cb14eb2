package texts

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxTaskID is how many characters the columns of Elastic-Job's tables hold of a task id.
const MaxTaskID = 255

const taskSeparator = "@-@"

// MaxPassedTaskID is how many bytes of a task id scripts and HTTP endpoints get. Linux allows 128 KiB for an argument or a
// variable, and many servers allow 8 KiB for all headers.
const MaxPassedTaskID = 4 << 10

// PassedTaskID returns a task id as scripts and HTTP endpoints get it: as it is or, if it is longer than [MaxPassedTaskID], as
// [ShortTaskID] has it.
func PassedTaskID(id string) string {
	if len(id) <= MaxPassedTaskID {
		return id
	}
	return ShortTaskID(id)
}

// ShortTaskID returns a task id as the column of 255 characters holds it: the same, or, if it is
// longer, with its list of items cut, "orders@-@0,1,2,...@-@READY@-@10.0.0.1@-@7". One that is too long
// without its items is cut and ends in a hash, so that what differs stays different. The same id is
// always shortened to the same.
func ShortTaskID(id string) string {
	if len(id) <= MaxTaskID {
		return id
	}
	head := strings.Index(id, taskSeparator)
	tail := strings.LastIndex(id, taskSeparator+"READY"+taskSeparator)
	if head >= 0 && tail > head {
		items := head + len(taskSeparator)
		if room := MaxTaskID - items - len("...") - (len(id) - tail); room > 0 && room < tail-items {
			kept := id[items : items+room]
			kept = kept[:strings.LastIndexByte(kept, ',')+1]
			return id[:items] + kept + "..." + id[tail:]
		}
	}
	sum := sha256.Sum256([]byte(id))
	return Clean(id, MaxTaskID-17) + "~" + hex.EncodeToString(sum[:8])
}
