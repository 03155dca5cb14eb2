package seed

import (
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// ErrRefused is the error of what a file would do to a job and what package operate refuses as well: to change its class, to
// store times at which it never fires and, unless forced, to take away items or to end it by times that are over.
var ErrRefused = errors.New("refused")

// mayStore tells whether the configuration of a file may take the place of what is stored. What cannot be read is replaced in
// any case.
func mayStore(stored registry.Node, value string, force bool, now time.Time) error {
	c, err := jobtree.DecodeConfig(registry.Node{Path: stored.Path, Value: value})
	if err != nil {
		return err
	}
	if !stored.Exists() {
		_, never := jobtree.CheckFires(nil, c, now) // what has finished may be stored again
		return refused(never)
	}
	was, err := jobtree.DecodeConfig(stored)
	if err != nil {
		return nil
	}
	over, never := jobtree.CheckFires(&was, c, now)
	if reason := jobtree.ClassStays(was, c); reason != "" {
		never = errors.Join(&jobtree.ValueError{Field: "jobClass", Value: c.ClassName(), Reason: reason}, never)
	}
	if never != nil || force {
		return refused(never)
	}
	if c.ShardingTotalCount < was.ShardingTotalCount {
		over = errors.Join(fmt.Errorf("the total count goes from %d to %d, which ends items", was.ShardingTotalCount, c.ShardingTotalCount), over)
	}
	if over != nil {
		over = fmt.Errorf("%w; force it if that is meant", over)
	}
	return refused(over)
}

func refused(why error) error {
	if why == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrRefused, why)
}
