package jobtree

import (
	"fmt"

	"github.com/elasticron/elasticron/job"
)

// Differences tells in which members two configurations of a job differ, each as
// "cron: stored \"0 0 * * * ?\", declared \"0 5 * * * ?\"", by the names that they are stored under. What may be
// secret is hidden as [Mask] hides it. What [job.Config.Differences] does not compare is not compared.
func Differences(stored, declared job.Config) []string {
	stored.Class, declared.Class = stored.ClassName(), declared.ClassName()
	var all []string
	for _, f := range configFields {
		was, is := string(f.of(&stored).append(nil)), string(f.of(&declared).append(nil))
		if f.name == "overwrite" || was == is {
			continue
		}
		all = append(all, fmt.Sprintf("%s: stored %s, declared %s", f.name, shown(f.name, was), shown(f.name, is)))
	}
	return all
}

// shown returns the JSON text of a member's value as it may be shown.
func shown(name, value string) string {
	masked := Mask(For("job").Config(), `{"`+name+`":`+value+`}`)
	if start := len(name) + len(`{"":`); len(masked) > start {
		return masked[start : len(masked)-1]
	}
	return Hidden // it is no JSON
}
