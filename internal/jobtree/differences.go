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
		return Legible(masked[start : len(masked)-1])
	}
	return Hidden // it is no JSON
}

// escaped are the characters that Java's Gson escapes, and so what is stored has escaped, though JSON has them as they are.
var escaped = map[string]byte{`\u003c`: '<', `\u003e`: '>', `\u0026`: '&', `\u003d`: '=', `\u0027`: '\''}

// Legible writes in a JSON text the characters that need not be escaped as they are, for people to read and edit.
func Legible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if c, is := escaped[text[i:min(i+6, len(text))]]; is {
			b.WriteByte(c)
			i += 5
			continue
		}
		b.WriteString(text[i:min(i+2, len(text))]) // an escaped backslash begins nothing
		i++
	}
	return b.String()
}
