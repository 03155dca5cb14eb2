// Package javarules are the rules by which Java instances of Elastic-Job-Lite 2.1.5 and of ElasticJob 3.0.x can read and
// run a configuration, beyond those of every job. The scheduler asks them of what it declares, and package operate of
// what it stores. No I/O.
package javarules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Faults lists what Java instances could not read or run of a configuration. Some of it would stop every Java instance
// of the job. root is where the registry's nodes lie in ZooKeeper, and instance the longest id of an instance of the job
// that is known; it may be empty.
func Faults(root, instance string, cfg job.Config) []error {
	all := faultsOfAll(root, instance, cfg)
	fault := func(field, value, reason string) { all = append(all, faultOf(field, value, reason)) }
	if cfg.ShardingStrategy != "" && !strings.Contains(cfg.ShardingStrategy, ".") {
		fault("ShardingStrategy", cfg.ShardingStrategy, "must be empty or the name of a Java class")
	}
	if reason := CronReason(cfg.Cron); reason != "" {
		fault("Cron", cfg.Cron, reason)
	}
	if _, err := cronexpr.ParseDaylightSaving(string(cfg.DaylightSaving)); err == nil && cfg.DaylightSaving != job.DaylightSavingQuartz && cfg.TimeZone != "" {
		fault("DaylightSaving", string(cfg.DaylightSaving), "must be quartz for a job with a time zone")
	}
	return all
}

// Faults3 is [Faults] for Java instances of ElasticJob 3.0.x.
func Faults3(root, instance string, cfg job.Config) []error {
	all := faultsOfAll(root, instance, cfg)
	fault := func(field, value, reason string) { all = append(all, faultOf(field, value, reason)) }
	if cfg.ShardingStrategy != "" && !slices.Contains(strategies3, cfg.ShardingStrategy) {
		fault("ShardingStrategy", cfg.ShardingStrategy, fmt.Sprintf("must be empty or one of %q", strategies3))
	}
	if cfg.ErrorHandler != "" && !slices.Contains(errorHandlers3, cfg.ErrorHandler) {
		fault("ErrorHandler", cfg.ErrorHandler, fmt.Sprintf("must be empty or one of %q", errorHandlers3))
	}
	if cfg.Cron != cronexpr.Triggered { // which is a job of one shot, without a cron
		if reason := CronReason(cfg.Cron); reason != "" {
			fault("Cron", cfg.Cron, reason)
		}
	}
	if _, err := jobtree.ElasticJob3.EncodeConfig(cfg); err != nil {
		all = append(all, fmt.Errorf("ElasticJob 3.x could not read it: %w", err))
	}
	return all
}

// What ElasticJob 3.0.x looks up by name. It refuses the whole configuration for a name that it does not know.
var (
	strategies3    = []string{"AVG_ALLOCATION", "ODEVITY", "ROUND_ROBIN"}
	errorHandlers3 = []string{"LOG", "IGNORE", "THROW", "EMAIL", "WECHAT", "DINGTALK"}
)

func faultOf(field, value, reason string) error {
	return &job.FieldError{Field: field, Value: value, Reason: reason + ", because Java instances share the job"}
}

// faultsOfAll lists what no Java instance could read or run.
func faultsOfAll(root, instance string, cfg job.Config) (all []error) {
	if reason := PathFault(cfg.Name); reason != "" {
		all = append(all, faultOf("Name", cfg.Name, reason))
	}
	// Java pastes the name into a regular expression.
	if strings.ContainsAny(cfg.Name, `\()[]{}*+?^$|`) {
		all = append(all, faultOf("Name", cfg.Name, `must not contain any of \()[]{}*+?^$|`))
	}
	if cfg.Class == "" && cfg.Type != job.TypeScript {
		all = append(all, faultOf("Class", cfg.Class, "must be the canonical name of the Java class"))
	}
	if err := totalFault(root, instance, cfg); err != nil {
		all = append(all, err)
	}
	return all
}

// CronReason tells what is wrong with a cron for Java; empty if nothing is.
func CronReason(cron string) string {
	if n := len(strings.Fields(cron)); n != 6 && n != 7 {
		return "must be a Quartz expression of 6 or 7 fields"
	}
	day, found := strings.CutPrefix(strings.ToUpper(strings.Fields(cron)[3]), "L-")
	day, weekday := strings.CutSuffix(day, "W")
	if n, err := strconv.Atoi(day); found && weekday && err == nil && n >= neverReturns {
		return "must not ask for a working day near " + strconv.Itoa(neverReturns) + " or more days before the end of a month: Quartz never returns from that"
	}
	return ""
}

// neverReturns is the least n of L-nW with which Quartz looks for ever once it comes to a month that is too
// short.
const neverReturns = 28

// PathFault tells what keeps a text from being a part of a path of ZooKeeper, as its Java client and its
// server judge; empty if nothing does.
func PathFault(text string) string {
	for _, c := range text {
		switch {
		case c < 0x20, c >= 0x7f && c <= 0x9f, c >= 0xd800 && c <= 0xf8ff, c >= 0xfff0:
			return fmt.Sprintf("must not contain %q: ZooKeeper refuses control characters, private ones and those beyond U+FFEF, such as emoji, in a path", c)
		}
	}
	return ""
}

// totalFault tells what is wrong with a sharding total count: who reshards writes all items in one
// transaction, as Java instances do, and ZooKeeper takes one MiB by default. root is where the registry's
// nodes lie.
func totalFault(root, instance string, cfg job.Config) error {
	// The first assignment takes three operations an item: they create its node and its owner's, and set the
	// owner. Later ones take less.
	const request, others, around, longID = 1 << 20, 20 << 10, 117, 40
	path := len(root) + len(jobtree.For(cfg.Name).Item(9999))
	most := (request - others) / (around + 3*path + 2*len("/instance") + max(longID, len(instance)))
	if cfg.ShardingTotalCount <= most {
		return nil
	}
	return &job.FieldError{
		Field: "ShardingTotalCount", Value: strconv.Itoa(cfg.ShardingTotalCount),
		Reason: fmt.Sprintf("must be at most %d with names of this length, because Java instances share the job: a resharding is one transaction, and ZooKeeper takes 1 MiB", most),
	}
}
