package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// itemsFlag is a flag with numbers of items, and runs of them by their ends, as operations are written down.
type itemsFlag struct{ to *[]int }

func (f *itemsFlag) String() string { return "" }

func (f *itemsFlag) Type() string { return "ints" }

func (f *itemsFlag) Set(text string) error {
	var items []int
	for part := range strings.SplitSeq(text, ",") {
		first, last, run := strings.Cut(part, "-")
		if !run {
			last = first
		}
		from, err := strconv.Atoi(strings.TrimSpace(first))
		to, err2 := strconv.Atoi(strings.TrimSpace(last))
		if err != nil || err2 != nil || to < from || to >= job.MaxShardingTotalCount {
			return fmt.Errorf("%q is given, want numbers of items, such as 0,3 or 0-9", part)
		}
		for item := from; item <= to; item++ {
			items = append(items, item)
		}
	}
	*f.to = append(*f.to, items...)
	return nil
}
