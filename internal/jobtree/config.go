package jobtree

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// EncodeConfig returns the text of a job's config node. If c has the fields of Elastic-Job-Lite 2.1.5
// only, it is byte for byte what Java writes. Other fields follow behind, which Java skips; so does the exact
// exact value of a time where Java's member has whole units only.
//
// It refuses what a Java instance could not read, as that would stop every instance of the job: an
// empty name or cron expression, an unknown type, a sharding total count out of its range. It does not
// judge what Java would read, such as the cron expression itself; job.Config.Validate does.
func EncodeConfig(c job.Config) (string, error) {
	c.Class = c.ClassName()
	if err := checkUnknown(c.Unknown); err != nil {
		return "", err
	}
	faults := storedFaults(c)
	stored := split(c)
	w := writer{text: make([]byte, 0, 1024)}
	w.text = append(w.text, '{')
	for i := range configFields {
		f := &configFields[i]
		if f.kind != "" && f.kind != c.Type {
			continue
		}
		value := f.of(stored)
		before := len(w.text)
		w.member(f.name)
		from := len(w.text)
		w.text = value.append(w.text)
		if f.own && bytes.Equal(w.text[from:], f.standard) {
			w.text = w.text[:before]
		}
	}
	if len(faults) > 0 {
		var all []error
		for _, fault := range faults {
			all = append(all, fault)
		}
		return "", errors.Join(all...)
	}
	if c.Unknown != "" {
		w.text = append(w.text, ',')
		w.text = append(w.text, c.Unknown...)
	}
	return string(append(w.text, '}')), nil
}

// DecodeConfig reads a config node as Java does: members may come in any order, numbers may be
// quoted, a null, a quoted boolean or an unknown job property is a fault, and so is all that
// [EncodeConfig] refuses. Members that are missing have their defaults, except misfire, which is then
// off; those that say what the default is are read as the zero value, too. The exact value of a time counts
// only if it is, rounded up, what the member of its whole units says: a hand that knows that member alone has
// the last word. Unknown members are kept in the result's Unknown. The error joins a [ValueError] for each
// fault, or is an [ElsewhereError]. Whether what can be read can also be used, [CheckConfig] says.
func DecodeConfig(n registry.Node) (job.Config, error) {
	if e, is := DecodeElsewhere(n); is {
		return job.Config{}, &ElsewhereError{Path: n.Path, Elsewhere: e}
	}
	if elsewhere := writtenElsewhere(n.Value); elsewhere != "" {
		return job.Config{}, ofConfig(n.Path, &ValueError{Value: n.Value, Reason: elsewhere})
	}
	members, err := parseObject(n.Value)
	if err != nil {
		return job.Config{}, ofConfig(n.Path, err)
	}
	var c storedConfig
	var unknown []string
	var faults []error
	unread, typed := make(map[string]bool), false
	for m := range members.members() {
		f, known := memberNamed(m.name)
		if !known {
			unknown = append(unknown, m.text)
			continue
		}
		typed = typed || f.field == "Type"
		if err := f.of(&c).read(m); err != nil {
			unread[m.name] = true
			faults = append(faults, ofConfig(n.Path, err))
		}
	}
	c.Unknown = strings.Join(unknown, ",")
	settle(&c.Config)
	config := c.joined()
	if !typed {
		faults = append(faults, ofConfig(n.Path, &ValueError{Field: "jobType", Reason: mustBeAType()}))
	}
	for _, fault := range storedFaults(config) {
		if !unread[fault.Field] {
			faults = append(faults, ofConfig(n.Path, fault))
		}
	}
	if len(faults) > 0 {
		return job.Config{}, errors.Join(faults...)
	}
	return config, nil
}

// writtenElsewhere tells of a text that another generation of Elastic-Job wrote what that is; empty if
// there is no sign of that.
func writtenElsewhere(text string) string {
	const ours = "must be a JSON object as Elastic-Job-Lite 2.1.5 writes it; "
	switch {
	case text == "":
		return ours + "an empty one is of Elastic-Job 1.x, or of nobody"
	case LayoutOfConfig(text) == ElasticJob3: // which costs as much as to read the JSON
		return ours + "this is YAML, as ElasticJob 3.x writes it: see WithElasticJob3Peers to share the job, or elasticron migrate"
	default:
		return ""
	}
}

// yamlOfElasticJob3 finds the members that 3.x writes of every job, at the start of a line each.
var yamlOfElasticJob3 = regexp.MustCompile(`(?m)^(jobName|shardingTotalCount): `)

// storedFaults holds the rules by which Java refuses to read a configuration, and our own bound on
// the number of items.
func storedFaults(c job.Config) (faults []*ValueError) {
	fault := func(field, value, reason string) {
		faults = append(faults, &ValueError{Field: field, Value: value, Reason: reason})
	}
	if c.Name == "" {
		fault("jobName", "", "must not be empty")
	}
	if !KnownType(c.Type) {
		fault("jobType", c.Type.String(), mustBeAType())
	}
	if c.Class == "" {
		fault("jobClass", "", "must not be empty")
	}
	if c.Cron == "" {
		fault("cron", "", "must not be empty")
	}
	if c.ShardingTotalCount < 1 || c.ShardingTotalCount > job.MaxShardingTotalCount {
		faults = append(faults, outOfRange("shardingTotalCount", c.ShardingTotalCount, 1, job.MaxShardingTotalCount))
	}
	return faults
}

// settle drops what Java reads and ignores because the type of the job has no use for it, as its
// console writes streamingProcess for every type, and names the class of a script that has none.
func settle(c *job.Config) {
	if c.Type != job.TypeDataflow {
		c.StreamingProcess = false
	}
	if c.Type != job.TypeScript {
		c.ScriptCommandLine = ""
		return
	}
	c.Class = c.ClassName()
}

// checkUnknown makes sure that members kept from elsewhere are members, and none of those we write.
func checkUnknown(text string) error {
	if text == "" {
		return nil
	}
	members, err := parseObject("{" + text + "}")
	if err != nil || strings.TrimSpace(text) == "" {
		return &ValueError{Field: "Unknown", Value: text, Reason: "must be members of a JSON object"}
	}
	for m := range members.members() {
		if _, known := memberNamed(m.name); known {
			return &ValueError{Field: "Unknown", Value: m.text, Reason: "must not hold a known member"}
		}
	}
	return nil
}
