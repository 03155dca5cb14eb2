package jobtree

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/reference"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// CheckConfig judges what the config node of a job says, as [DecodeConfig] has read it, by the rules of
// [job.Config.Validate]. Whoever reads a configuration asks it, so that all think the same of it.
//
// faulty is what keeps the job from running: the faults of Validate that are not [mild], and another
// name than that of the job. warnings are what a job runs with: the rest of Validate's, and members
// that nobody knows, with the name that may have been meant. Each joins a [ValueError] for each field,
// which names it as it is stored; errors.Is(err, job.ErrInvalidConfig) is true for those of Validate.
func CheckConfig(name string, c job.Config) (warnings, faulty error) {
	path := For(name).Config()
	var doubts, grave []error
	for _, fault := range each(c.Validate()) {
		if mild(c, fault) {
			doubts = append(doubts, storedFault(path, c, fault))
		} else {
			grave = append(grave, storedFault(path, c, fault))
		}
	}
	if c.Name != name {
		grave = append(grave, &ValueError{Path: path, Field: "jobName", Value: c.Name, Reason: fmt.Sprintf("must be %q, as the path has it", name)})
	}
	return errors.Join(append(doubts, unknownMembers(path, c.Unknown)...)...), errors.Join(grave...)
}

// CheckNewConfig judges a configuration that is about to be stored, by all rules of [job.Config.Validate]: with what
// is only a warning where it was found, nobody needs to begin. The result is that of [CheckConfig], each fault once. No
// fault names a path, as nothing is stored yet. Whether the job will ever fire, [CheckFires] tells.
func CheckNewConfig(name string, c job.Config) (warnings, faulty error) {
	var all []error
	for _, fault := range each(c.Validate()) {
		all = append(all, storedFault("", c, fault))
	}
	if c.Name != name {
		all = append(all, &ValueError{Field: "jobName", Value: c.Name, Reason: fmt.Sprintf("must be %q: a job under another name is another job", name)})
	}
	return errors.Join(unknownMembers("", c.Unknown)...), errors.Join(all...)
}

// each lists the faults that Validate has joined.
func each(joined error) []error {
	if joined == nil {
		return nil
	}
	return joined.(interface{ Unwrap() []error }).Unwrap()
}

// mild tells whether a job can run with a fault of its configuration, because Java accepts it or an earlier version
// did: failover of an unmonitored job, parameters of items beyond the count, a Java monitor port below -1, and settings
// that begin like a reference and are none.
func mild(c job.Config, err error) bool {
	var fault *job.FieldError
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Field {
	case "Failover":
		return true
	case "ShardingItemParameters":
		_, unread := job.ParseItemParameters(c.ShardingItemParameters)
		return unread == nil && utf8.ValidString(c.ShardingItemParameters)
	case "Java.MonitorPort":
		return c.Java.MonitorPort < -1
	default:
		return strings.HasPrefix(fault.Field, "Props ") && reference.Almost(fault.Value)
	}
}

// storedFault names the field of a fault of c as it is stored, and a number or flag by what is stored.
func storedFault(path string, c job.Config, err error) error {
	err = StoredError(path, err)
	if fault, is := err.(*ValueError); is { //nolint:errorlint // StoredError made it
		fault.Value = cmp.Or(plainValue(c, fault.Field), fault.Value)
	}
	return err
}

// plainValue returns what is stored in a member that is a number or a flag; empty for others, and for a time
// that is rounded there.
func plainValue(c job.Config, member string) string {
	f, known := memberNamed(member)
	if !known {
		return ""
	}
	stored := f.of(split(c))
	if n, is := stored.(number[time.Duration]); is && !n.whole() {
		return ""
	}
	value := string(stored.append(nil))
	if strings.ContainsAny(value[:1], `"{`) {
		return ""
	}
	return value
}

// CheckExact tells of each exact value of a time in a config node that it has no effect, because the member of
// the whole units says something else. What stored it may have been a hand that knew that member alone, so it
// is no fault where it was found; where somebody writes a text, it is one. If members are named, it judges those alone.
func CheckExact(n registry.Node, named ...string) error {
	members, err := parseObject(n.Value)
	if err != nil {
		return at(n.Path, err)
	}
	var all []error
	c, err := DecodeConfig(n)
	if err != nil {
		return err
	}
	stored := split(c)
	for m := range members.members() {
		f, known := memberNamed(m.name)
		if !known || !f.exact || m.value == `""` || len(named) > 0 && !slices.Contains(named, m.name) {
			continue
		}
		read, found := f.of(&storedConfig{}).(exact), f.of(stored).(exact)
		if err := read.read(m); err == nil && *read.found != *found.rounded.field {
			all = append(all, &ValueError{
				Path: n.Path, Field: m.name, Value: maskedMember(m), Reason: fmt.Sprintf("must be, rounded up, what %s says, which is %d", MemberOf(f.field), found.rounded.stored()),
			})
		}
	}
	return errors.Join(all...)
}

// StoredError returns what a fault of a [job.Config] is where the configuration is stored: the same with the path of the
// node and the name of the member, and without what may be a secret. Of errors that are joined it does so with each. Other
// errors it returns as they are.
func StoredError(path string, err error) error {
	var fault *job.FieldError
	if !errors.As(err, &fault) {
		return err
	}
	for e := err; e != nil; e = errors.Unwrap(e) { // behind the fault are its causes, which are part of it
		if _, is := e.(*job.FieldError); is { //nolint:errorlint // what it wraps is looked at next
			break
		}
		if joined, is := e.(interface{ Unwrap() []error }); is {
			var all []error
			for _, one := range joined.Unwrap() {
				all = append(all, StoredError(path, one))
			}
			return errors.Join(all...)
		}
	}
	reason := fault.Reason
	if fault.Err != nil {
		cause := strings.TrimPrefix(fault.Err.Error(), fmt.Sprintf("cron %q: ", fault.Value)) // which is said already
		reason = texts.Shorten(reason) + ": " + cause
	}
	member := MemberOf(fault.Field)
	if isSecret(member) { // what it came from quotes it
		reason = fault.Reason
	}
	return ofConfig(path, &ValueError{Field: member, Value: fault.Value, Reason: reason, kind: fault})
}

// MemberOf returns the name under which a field of [job.Config] is stored; the field's own name if there
// is no such field.
func MemberOf(field string) string {
	switch field {
	case "ErrorHandler":
		return "jobProperties." + propertyErrorHandler
	case "ExecutorServiceHandler":
		return "jobProperties." + propertyExecutorService
	}
	if name, is := strings.CutPrefix(field, "Props "); is {
		return "props." + name
	}
	for _, f := range slices.Backward(configFields) { // what is wrong with Misfire is wrong with the policy
		if f.field == field && !f.exact {
			return f.name
		}
	}
	return field
}

// unknownMembers warns of members that nobody knows.
func unknownMembers(path, unknown string) (all []error) {
	if unknown == "" {
		return nil
	}
	members, err := parseObject("{" + unknown + "}")
	if err != nil {
		return []error{at(path, err)}
	}
	for m := range members.members() {
		reason := "is no member that this version knows; it is kept, and has no effect"
		if near := nearestMember(m.name); near != "" {
			reason += fmt.Sprintf("; %s may have been meant", near)
		}
		all = append(all, &ValueError{Path: path, Field: m.name, Value: maskedMember(m), Reason: reason})
	}
	return all
}

// nearestMember returns the known member that a name is most like, if it is one that fingers or memory
// may have made of it: up to a third of its letters are other ones. Case does not count.
func nearestMember(name string) (nearest string) {
	least := len(name)/3 + 1
	if len(name) > 2*longestMember {
		return ""
	}
	for _, f := range configFields {
		if d := distance(strings.ToLower(name), strings.ToLower(f.name)); d < least {
			nearest, least = f.name, d
		}
	}
	return nearest
}

// longestMember is about how long names of members are.
const longestMember = 32

// distance counts the letters by which two words differ: those to be put in, taken out or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
