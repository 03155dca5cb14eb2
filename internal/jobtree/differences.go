package jobtree

import (
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// Differences tells in which members two configurations of a job differ, each as
// "cron: stored \"0 0 * * * ?\", declared \"0 5 * * * ?\"", by the names that they are stored under. What may be
// secret is hidden as [Mask] hides it. What [job.Config.Differences] does not compare is not compared.
func Differences(stored, declared job.Config) []string {
	var all []string
	for _, c := range ChangedMembers(stored, declared) {
		all = append(all, fmt.Sprintf("%s: stored %s, declared %s", c.Name, c.Before, c.After))
	}
	return all
}

// ChangedMember is a member in which two configurations differ: its name as it is stored, and the JSON texts of its
// values as they may be shown.
type ChangedMember struct{ Name, Before, After string }

// ChangedMembers returns the members in which two configurations of a job differ, as [Differences] tells them.
func ChangedMembers(before, after job.Config) []ChangedMember {
	differs := make(map[string]bool)
	for _, field := range before.Differences(after) {
		member, _, _ := strings.Cut(MemberOf(field), ".")
		differs[member] = true
	}
	differs["misfire"] = differs[MemberOf("Misfire")]
	one, two := split(before), split(after)
	one.Class, two.Class = before.ClassName(), after.ClassName()
	var all []ChangedMember
	for _, f := range configFields {
		if f.exact {
			differs[f.name] = differs[MemberOf(f.field)]
		}
		was, is := string(f.of(one).append(nil)), string(f.of(two).append(nil))
		if differs[f.name] && was != is {
			all = append(all, ChangedMember{f.name, shown(f.name, was), shown(f.name, is)})
		}
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
