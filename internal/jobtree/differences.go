package jobtree

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// Differences tells in which members two configurations of a job differ, each as
// "cron: stored \"0 0 * * * ?\", declared \"0 5 * * * ?\"", by the names that they are stored under. What may be
// secret is hidden as [Mask] hides it. What [job.Config.Differences] does not compare is not compared.
func Differences(stored, declared job.Config) []string {
	return told(ChangedMembers(stored, declared))
}

// DifferencesWithSecrets is [Differences] for who may see everything.
func DifferencesWithSecrets(stored, declared job.Config) []string {
	all := ChangedMembersWithSecrets(stored, declared)
	for i, c := range all {
		all[i].Before, all[i].After = Legible(c.Before), Legible(c.After)
	}
	return told(all)
}

func told(changed []ChangedMember) []string {
	var all []string
	for _, c := range changed {
		all = append(all, fmt.Sprintf("%s: stored %s, declared %s", c.Name, c.Before, c.After))
	}
	return all
}

// ChangedMember is a member in which two configurations differ: its name as it is stored, and the JSON texts of its
// values as they may be shown.
type ChangedMember struct{ Name, Before, After string }

// ChangedMembers returns the members in which two configurations of a job differ, as [Differences] tells them. Of what is
// hidden and differs, the second value is "***(changed)".
func ChangedMembers(before, after job.Config) []ChangedMember {
	all := ChangedMembersWithSecrets(before, after)
	for i, c := range all {
		was, is := shown(c.Name, c.Before), shown(c.Name, c.After)
		all[i] = ChangedMember{c.Name, Legible(was), Legible(marked(c, was, is))}
	}
	return all
}

// hiddenChanged stands for what is hidden and was changed.
const hiddenChanged = Hidden + "(changed)"

// marked is the second of two masked values of a member, with a mark at what differs behind the mask.
func marked(c ChangedMember, was, is string) string {
	const hidden = `"` + Hidden + `"`
	if is == hidden && was == hidden {
		return `"` + hiddenChanged + `"`
	}
	var before, after, maskedBefore, maskedAfter map[string]string // props; what is none has no mark
	for text, to := range map[*string]*map[string]string{&c.Before: &before, &c.After: &after, &was: &maskedBefore, &is: &maskedAfter} {
		if json.Unmarshal([]byte(*text), to) != nil {
			return is
		}
	}
	changed := false
	for name, value := range after {
		if old, had := before[name]; had && old != value && maskedBefore[name] == Hidden && maskedAfter[name] == Hidden {
			maskedAfter[name], changed = hiddenChanged, true
		}
	}
	if !changed {
		return is
	}
	text, err := json.Marshal(maskedAfter)
	if err != nil {
		return is
	}
	return string(text)
}

// ChangedMembersWithSecrets is [ChangedMembers] for who may see everything. The texts are as they are stored.
func ChangedMembersWithSecrets(before, after job.Config) []ChangedMember {
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
			all = append(all, ChangedMember{f.name, was, is})
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
