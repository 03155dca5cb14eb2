package jobtree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// CheckConfig judges what the config node of a job says, as [DecodeConfig] has read it, by the rules of
// [job.Config.Validate]. Whoever reads a configuration asks it, so that all think the same of it.
//
// faulty is what keeps the job from running: the faults of [job.Config.ValidateStored], and another
// name than that of the job. warnings are what a job runs with: the rest of Validate's, and members
// that nobody knows, with the name that may have been meant. Each joins a [ValueError] for each field,
// which names it as it is stored; errors.Is(err, job.ErrInvalidConfig) is true for those of Validate.
func CheckConfig(name string, c job.Config) (warnings, faulty error) {
	path := For(name).Config()
	doubts, faults := c.ValidateStored()
	grave := storedErrors(path, faults)
	if c.Name != name {
		grave = append(grave, &ValueError{Path: path, Field: "jobName", Value: c.Name, Reason: fmt.Sprintf("must be %q, as the path has it", name)})
	}
	return errors.Join(append(storedErrors(path, doubts), unknownMembers(path, c.Unknown)...)...), errors.Join(grave...)
}

// storedErrors names the fields of faults as they are stored.
func storedErrors(path string, joined error) (all []error) {
	if joined == nil {
		return nil
	}
	for _, err := range joined.(interface{ Unwrap() []error }).Unwrap() {
		all = append(all, StoredError(path, err))
	}
	return all
}

// StoredError returns what a fault of a [job.Config] is where the configuration is stored: the same with
// the path of the node and the name of the member. Other errors it returns as they are.
func StoredError(path string, err error) error {
	var fault *job.FieldError
	if !errors.As(err, &fault) {
		return err
	}
	reason := fault.Reason
	if fault.Err != nil {
		reason = job.Shorten(reason) + ": " + fault.Err.Error()
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
	case "Name", "Class", "Type":
		return "job" + field
	case "ShardingStrategy":
		return "jobShardingStrategyClass"
	case "ErrorHandler":
		return "jobProperties." + propertyErrorHandler
	case "ExecutorServiceHandler":
		return "jobProperties." + propertyExecutorService
	}
	member := strings.ToLower(field[:min(1, len(field))]) + field[min(1, len(field)):]
	if _, known := configValue(&job.Config{}, member); !known {
		return field
	}
	return member
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
