package jobtree

import (
	"time"

	"github.com/elasticron/elasticron/job"
)

// CheckFires judges when a job fires whose configuration is about to be stored, in the place of what is stored, or of nothing
// if that is nil. What is allowed, Validate says.
//
// faulty tells of a job that never fires, at no time. over tells of one that has done so for the last time: what has finished
// may be stored again, as an export of it is, and to end a job is something that somebody can want who knows it. Of times that
// are stored already there is nothing to say, whatever else changes.
func CheckFires(stored *job.Config, c job.Config, now time.Time) (over, faulty error) {
	fires := firesOf(c)
	if stored != nil && SameFires(*stored, c) || fires.Validate() != nil {
		return nil, nil
	}
	err := fires.ValidateAt(now)
	if err == nil {
		return nil, nil
	}
	err = storedFault("", c, each(err)[0])
	if fires.ValidateAt(time.Time{}) != nil {
		return nil, err
	}
	return err, nil
}

// SameFires tells whether two configurations have a job fire at the same times, by the same settings.
func SameFires(a, b job.Config) bool { return len(firesOf(a).Differences(firesOf(b))) == 0 }

// firesOf is what of a configuration says when the job fires, in a configuration that is allowed besides.
func firesOf(c job.Config) job.Config {
	return job.Config{
		Name: "any", ShardingTotalCount: 1, Cron: c.Cron, TimeZone: c.TimeZone, DaylightSaving: c.DaylightSaving,
		StartTime: c.StartTime, EndTime: c.EndTime, Offset: c.Offset,
	}
}
