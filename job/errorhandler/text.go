package errorhandler

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// Describe returns what a message to people says of a failure: job, item, fire, the error and, of a
// panic, the stack. It is cut to most bytes, between characters, and is valid UTF-8. What stands before the error is short,
// however many items began together: a long parameter is cut, and so is the list of items in a task id.
func Describe(name string, sc job.ShardingContext, err error, most int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Job '%s' failed: item %d of %d", texts.Shorten(name), sc.Item, sc.TotalCount)
	if sc.ItemParameter != "" {
		fmt.Fprintf(&text, " (%s)", texts.Shorten(sc.ItemParameter))
	}
	if !sc.Fire.IsZero() {
		fmt.Fprintf(&text, ", fire %s", sc.Fire.UTC().Format(time.RFC3339))
	}
	if sc.Source != "" {
		fmt.Fprintf(&text, ", %s", sc.Source)
	}
	fmt.Fprintf(&text, "\ntask %s\n%s", texts.ShortTaskID(sc.TaskID), err)
	var panicked *job.PanicError
	if errors.As(err, &panicked) {
		fmt.Fprintf(&text, "\n%s", panicked.Stack)
	}
	return cut(strings.ToValidUTF8(text.String(), "\uFFFD"), most)
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(0, most)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
