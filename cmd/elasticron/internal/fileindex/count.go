package fileindex

import (
	"context"
	"fmt"
	"io/fs"
)

// Truth is what a tree holds, to compare others' sums with.
type Truth struct {
	Whole  Sum   // every file once, counted without regard to items
	Shares []Sum // of each item
}

// Count counts the tree as a whole and the share of each of total items. The error is the first that
// the file system gave, or the context's cause.
func Count(ctx context.Context, tree fs.FS, total int) (Truth, error) {
	truth := Truth{Shares: make([]Sum, total)}
	all := func(string) bool { return true }
	err := walk(ctx, tree, all, func(path string, one Sum) {
		truth.Whole = truth.Whole.Plus(one)
		item := ItemOf(path, total)
		truth.Shares[item] = truth.Shares[item].Plus(one)
	})
	if err != nil {
		return Truth{}, fmt.Errorf("count files: %w", err)
	}
	return truth, nil
}

// Share counts the files that belong to one of total items. Errors as [Count].
func Share(ctx context.Context, tree fs.FS, item, total int) (Sum, error) {
	var sum Sum
	mine := func(path string) bool { return ItemOf(path, total) == item }
	err := walk(ctx, tree, mine, func(_ string, one Sum) { sum = sum.Plus(one) })
	if err != nil {
		return Sum{}, fmt.Errorf("count files of item %d of %d: %w", item, total, err)
	}
	return sum, nil
}
