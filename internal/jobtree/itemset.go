package jobtree

import (
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// encodeItems writes ascending item numbers, runs of them as their ends: "0-9,12".
func encodeItems(items []int) string {
	var text []byte
	for i := 0; i < len(items); {
		end := i
		for end+1 < len(items) && items[end+1] == items[end]+1 {
			end++
		}
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(text, int64(items[i]), 10)
		if end > i {
			text = append(text, '-')
			text = strconv.AppendInt(text, int64(items[end]), 10)
		}
		i = end + 1
	}
	return string(text)
}

// items reads what encodeItems wrote. The bound on item numbers keeps one stray node from taking any
// amount of memory.
func (r *reader) items(m member) []int {
	var items []int
	text := r.text(m)
	for text != "" {
		var part string
		part, text, _ = strings.Cut(text, ",")
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, plainFrom := parseItem(first)
		to, plainTo := parseItem(last)
		if !plainFrom || !plainTo || to < from || to >= job.MaxShardingTotalCount || len(items) > 0 && from <= items[len(items)-1] {
			r.fault(m, `must be ascending item numbers such as "0-9,12"`)
			return nil
		}
		for n := from; n <= to; n++ {
			items = append(items, n)
		}
	}
	return items
}
