package job

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/internal/texts"
)

// TaskID names the items that an instance runs together, as Elastic-Job's event traces do. It is not unique: the
// same items on the same instance have the same id in every round.
type TaskID struct {
	Job      string
	Items    []int
	Instance string // id of the instance, "<ip>@-@<text>"
}

const taskIDSeparator = "@-@"

// String returns "<job>@-@<items>@-@READY@-@<instance>", the items separated by commas.
func (id TaskID) String() string {
	text := make([]byte, 0, len(id.Job)+len(id.Instance)+4*len(id.Items)+16)
	text = append(append(text, id.Job...), taskIDSeparator...)
	for i, item := range id.Items {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(item), 10)
	}
	text = append(text, taskIDSeparator+"READY"+taskIDSeparator...)
	return string(append(text, id.Instance...))
}

// ParseTaskID reads what [TaskID.String] wrote: exactly five parts with "@-@" between them. The last two are
// the instance. The list of items may be empty.
func ParseTaskID(text string) (TaskID, error) {
	parts := strings.Split(text, taskIDSeparator)
	if len(parts) != 5 {
		return TaskID{}, fmt.Errorf("task id %q has %d parts between %q, want 5", texts.Shorten(text), len(parts), taskIDSeparator)
	}
	if parts[2] != "READY" {
		return TaskID{}, fmt.Errorf("task id %q has execution type %q, want READY", texts.Shorten(text), texts.Shorten(parts[2]))
	}
	items, err := parseItems(parts[1])
	if err != nil {
		return TaskID{}, fmt.Errorf("task id %q: %w", texts.Shorten(text), err)
	}
	return TaskID{Job: parts[0], Items: items, Instance: parts[3] + taskIDSeparator + parts[4]}, nil
}

func parseItems(list string) ([]int, error) {
	if list == "" {
		return nil, nil
	}
	var items []int
	for text := range strings.SplitSeq(list, ",") {
		item, err := strconv.ParseUint(text, 10, 31)
		if err != nil || strconv.FormatUint(item, 10) != text {
			return nil, fmt.Errorf("item %q is not a plain number from 0", texts.Shorten(text))
		}
		items = append(items, int(item))
	}
	return items, nil
}
