package operate

import (
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/internal/texts"
)

// What several operations say.
const (
	jobRemoved      = "the job was removed"
	nobodyEnabled   = "no instance lives that is enabled"
	nothingRunsMore = "no other instance of the job lives that is enabled: nothing runs any more"
)

// one chooses the words for one thing, or for several.
func one(n int, single, several string) string {
	if n == 1 {
		return single
	}
	return several
}

// items puts the word before a list of n items.
func items(n int, list string) string { return one(n, "item ", "items ") + list }

// goOn says that items run, and are not ended; where says more of where.
func goOn(running []int, where string) string {
	return items(len(running), listed(running)) + one(len(running), " runs", " run") + where +
		one(len(running), ", and goes on until it ends by itself", ", and go on until they end by themselves")
}

func itemCount(n int) string { return fmt.Sprintf("%d %s", n, one(n, "item", "items")) }

// itemRange names all items of a job.
func itemRange(total int) string {
	if total <= 0 { // what cannot be read has none
		return "no items"
	}
	return one(total, "item 0", fmt.Sprintf("items 0 to %d", total-1))
}

// maxItemList bounds a list of items, in bytes: a job may have thousands, and lists are written down.
const maxItemList = 200

// itemList writes items, runs of them by their ends: "0-9,12". What is too long ends with how many there are more.
func itemList(items []int) string {
	var list []byte
	listed := 0
	for first, last := range texts.Runs(items) {
		if len(list) > maxItemList {
			return fmt.Sprintf("%s and %d more", list, len(items)-listed)
		}
		list = texts.AppendRun(list, first, last)
		listed += last - first + 1
	}
	return string(list)
}

// listed writes items for people: "0, 3 and 7".
func listed[T any](all []T) string {
	var text strings.Builder
	for i, each := range all {
		switch {
		case i == 10 && len(all) > 11:
			fmt.Fprintf(&text, " and %d more", len(all)-i)
			return text.String()
		case i > 0 && i == len(all)-1:
			text.WriteString(" and ")
		case i > 0:
			text.WriteString(", ")
		}
		fmt.Fprint(&text, each)
	}
	return text.String()
}
