package jobtree

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/javayaml"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// The properties of ElasticJob 3.x that are settings of their own here.
const (
	prop3Script    = "script.command.line"
	prop3Streaming = "streaming.process"
)

// keptMember is the unknown member of a configuration that holds, as one text, the members of ElasticJob 3.x that have
// no counterpart.
const keptMember = "elasticJob3"

// kept3 are these members: Java's own affair, such as its listeners. They are written back as they stood.
var kept3 = []string{
	"jobExecutorServiceHandlerType", "jobExecutorThreadPoolSizeProviderType", "jobExtraConfigurations", "jobListenerTypes", "label",
	memberStatic,
}

// memberStatic says that items stay where they are while members change. It is kept if it says so, and the one member that
// is kept and heeded; see [State.StaticSharding].
const memberStatic = "staticSharding"

// rootOf returns the value of the node of a job itself: the name of its class, or the word for its type.
func rootOf(c job.Config) string {
	if c.Type == job.TypeScript && (c.Class == "" || c.Class == job.ScriptClass) {
		return job.TypeScript.String()
	}
	return c.ClassName()
}

// encodeConfig3 writes the members in alphabetical order, as ElasticJob 3.x does, all but those without a value.
func encodeConfig3(c job.Config) (string, error) {
	kept, err := keptOf(c.Unknown)
	if err != nil {
		return "", err
	}
	var faults []error
	for _, fault := range storedFaults(withClass(c)) {
		faults = append(faults, fault)
	}
	zone, known := zoneTo3(c.TimeZone)
	if !known {
		faults = append(faults, &ValueError{Field: "timeZone", Value: c.TimeZone, Reason: zone3Form})
	}
	if len(faults) > 0 {
		return "", errors.Join(faults...)
	}
	text := text3(c, zone, kept)
	if !utf8.ValidString(text) {
		return "", &ValueError{Value: texts.Shorten(text), Reason: "must be valid UTF-8"}
	}
	back, err := decodeConfig3(rootOf(c), registry.Node{Path: For(c.Name).Config(), Value: text, Revision: 1})
	if err != nil {
		return "", err
	}
	for _, field := range c.Differences(back) {
		faults = append(faults, &ValueError{Field: MemberOf(field), Reason: field + " must not be set to what ElasticJob 3.x cannot store: it refuses members that it does not know"})
	}
	return text, errors.Join(faults...)
}

func withClass(c job.Config) job.Config {
	c.Class = c.ClassName()
	return c
}

// text3 returns the text of a configuration whose zone has a name in Java.
func text3(c job.Config, zone string, kept map[string]string) string {
	stored := split(c)
	cron := c.Cron
	if cron == cronexpr.Triggered {
		cron = "" // a job of one shot
	}
	settings := maps.Clone(c.Props)
	if settings == nil {
		settings = make(map[string]string)
	}
	switch c.Type {
	case job.TypeScript:
		settings[prop3Script] = c.ScriptCommandLine
	case job.TypeDataflow:
		settings[prop3Streaming] = strconv.FormatBool(c.StreamingProcess)
	}
	w := writer3{kept: kept}
	w.some("cron", cron)
	w.text("description", c.Description)
	w.flag("disabled", c.Disabled)
	w.flag("failover", c.Failover)
	w.some("jobErrorHandlerType", c.ErrorHandler)
	w.text("jobName", c.Name)
	w.text("jobParameter", c.JobParameter)
	w.some("jobShardingStrategyType", c.ShardingStrategy)
	w.number("maxTimeDiffSeconds", maxTimeDiffOf(stored).stored())
	w.flag("misfire", stored.misfire)
	w.flag("monitorExecution", c.Monitored())
	w.flag("overwrite", c.Java.Overwrite)
	w.mapping("props", settings)
	w.number("reconcileIntervalMinutes", max(0, reconcileIntervalOf(stored).stored()))
	w.text("shardingItemParameters", c.ShardingItemParameters)
	w.number("shardingTotalCount", int64(c.ShardingTotalCount))
	if _, static := kept[memberStatic]; !static {
		w.flag(memberStatic, false)
	}
	w.some("timeZone", zone)
	w.keptBefore("\xff")
	return string(w.dst)
}

// writer3 appends members, and between them those that were kept.
type writer3 struct {
	dst  []byte
	kept map[string]string
}

func (w *writer3) keptBefore(name string) {
	for _, k := range slices.Sorted(maps.Keys(w.kept)) {
		if k < name {
			w.dst = append(w.dst, w.kept[k]...)
			delete(w.kept, k)
		}
	}
}

func (w *writer3) text(name, value string) {
	w.keptBefore(name)
	w.dst = javayaml.AppendText(w.dst, 0, name, value)
}

func (w *writer3) some(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *writer3) flag(name string, on bool) {
	w.keptBefore(name)
	w.dst = javayaml.AppendPlain(w.dst, 0, name, strconv.FormatBool(on))
}

func (w *writer3) number(name string, n int64) {
	w.keptBefore(name)
	w.dst = javayaml.AppendPlain(w.dst, 0, name, strconv.FormatInt(n, 10))
}

func (w *writer3) mapping(name string, settings map[string]string) {
	if len(settings) == 0 {
		return
	}
	w.keptBefore(name)
	w.dst = javayaml.AppendMapping(w.dst, 0, name)
	for _, setting := range slices.Sorted(maps.Keys(settings)) {
		w.dst = javayaml.AppendText(w.dst, 1, setting, settings[setting])
	}
}

// keptOf reads what [keep3] made.
func keptOf(unknown string) (map[string]string, error) {
	kept := make(map[string]string)
	if unknown == "" {
		return kept, nil
	}
	refused := func(value string) error {
		return &ValueError{Field: "Unknown", Value: texts.Shorten(value), Reason: "must be what ElasticJob 3.x has stored: it refuses members that it does not know"}
	}
	members, err := parseObject("{" + unknown + "}")
	if err != nil {
		return nil, refused(unknown)
	}
	for m := range members.members() {
		if m.name != keptMember || m.value[0] != '"' {
			return nil, refused(m.text)
		}
		within, err := javayaml.Members(unquote(m.value))
		if err != nil {
			return nil, refused(m.text)
		}
		for _, k := range within {
			if !slices.Contains(kept3, k.Name) {
				return nil, refused(k.Text)
			}
			kept[k.Name] = k.Text
		}
	}
	return kept, nil
}

// keep3 makes one unknown member of the texts of several.
func keep3(kept string) string {
	if kept == "" {
		return ""
	}
	w := writer{}
	w.string(keptMember, kept)
	return string(w.text)
}

// decodeConfig3 reads a config node of ElasticJob 3.x with the defaults that Java has for members that are missing:
// misfire, monitorExecution and failover are off, and nothing is reconciled. What Java would refuse is an error, and so
// is what instances of ours could not heed.
func decodeConfig3(root string, n registry.Node) (job.Config, error) {
	if n.Value == "" || n.Value[0] == '{' {
		return job.Config{}, ofConfig(n.Path, &ValueError{Value: n.Value, Reason: "must be YAML as ElasticJob 3.x writes it; this is empty, or JSON as Elastic-Job-Lite 2.1.5 and instances beside it write it"})
	}
	members, err := javayaml.Members(n.Value)
	if err != nil {
		return job.Config{}, ofConfig(n.Path, &ValueError{Value: n.Value, Reason: "must be YAML as ElasticJob 3.x writes it", Err: err})
	}
	r := reader3{}
	r.misfire = false
	r.Unmonitored, r.ReconcileInterval = true, never
	for _, m := range members {
		r.member(m)
	}
	c := r.settled(root)
	for _, fault := range storedFaults(withClass(c)) {
		if !r.unread[fault.Field] {
			r.faults = append(r.faults, fault)
		}
	}
	for i := range r.faults {
		r.faults[i] = ofConfig(n.Path, r.faults[i])
	}
	if len(r.faults) > 0 {
		return job.Config{}, errors.Join(r.faults...)
	}
	return c, nil
}

// never is the reconcile interval that Java says by 0.
const never = -1

// reader3 gathers what the members say.
type reader3 struct {
	storedConfig
	zone      string
	settings  map[string]string
	kept      strings.Builder
	faults    []error
	unread    map[string]bool
	streaming bool // the property is there
	script    bool
}

func (r *reader3) member(m javayaml.Member) {
	c := &r.Config
	switch m.Name {
	case "cron":
		r.text(m, &c.Cron)
	case "description":
		r.text(m, &c.Description)
	case "disabled":
		r.flag(m, &c.Disabled)
	case "failover":
		r.flag(m, &c.Failover)
	case "jobErrorHandlerType":
		r.text(m, &c.ErrorHandler)
	case "jobName":
		r.text(m, &c.Name)
	case "jobParameter":
		r.text(m, &c.JobParameter)
	case "jobShardingStrategyType":
		r.text(m, &c.ShardingStrategy)
		if c.ShardingStrategy == "SINGLE_SHARDING_BALANCE" {
			r.fault(m, c.ShardingStrategy, "must be another strategy: with this one, instances of ElasticJob 3.0.5 go by next-job-instance-ip and not by who has the item, so that it would run on both sides; ElasticJob 3.0.4 does not have it", nil)
		}
	case "maxTimeDiffSeconds":
		r.count(m, func(n int) { // any negative number is the default
			r.readAs(m, maxTimeDiffOf(&r.storedConfig), max(-1, n))
		})
	case "misfire":
		r.flag(m, &r.misfire)
	case "monitorExecution":
		r.flag(m, &c.Unmonitored)
		c.Unmonitored = !c.Unmonitored
	case "overwrite":
		r.flag(m, &c.Java.Overwrite)
	case "props":
		r.props(m)
	case "reconcileIntervalMinutes":
		r.count(m, func(n int) {
			if n <= 0 {
				c.ReconcileInterval = never
				return
			}
			r.readAs(m, reconcileIntervalOf(&r.storedConfig), n)
		})
	case "shardingItemParameters":
		r.text(m, &c.ShardingItemParameters)
	case "shardingTotalCount":
		r.count(m, func(n int) { c.ShardingTotalCount = n })
	case memberStatic:
		var on bool
		if r.flag(m, &on); on {
			r.kept.WriteString(m.Text)
		}
	case "timeZone":
		r.text(m, &r.zone)
	default:
		if !slices.Contains(kept3, m.Name) {
			r.fault(m, "", "must not be there: ElasticJob 3.x refuses members that it does not know", nil)
			return
		}
		r.kept.WriteString(m.Text)
	}
}

func (r *reader3) fault(m javayaml.Member, value, reason string, err error) {
	if r.unread == nil {
		r.unread = make(map[string]bool)
	}
	r.unread[m.Name] = true
	r.faults = append(r.faults, &ValueError{Field: m.Name, Value: value, Reason: reason, Err: err})
}

// text reads a text; one that is there without a value is as one that is missing.
func (r *reader3) text(m javayaml.Member, field *string) {
	text, _, err := m.Scalar()
	if err != nil {
		r.fault(m, "", "must be a text", err)
		return
	}
	*field = text
}

func (r *reader3) flag(m javayaml.Member, field *bool) {
	on, err := m.Flag()
	if err != nil {
		r.fault(m, "", "must be true or false", err)
		return
	}
	*field = on
}

func (r *reader3) count(m javayaml.Member, take func(n int)) {
	n, err := m.Number()
	if err != nil {
		r.fault(m, "", "must be a whole number of 32 bits", err)
		return
	}
	take(n)
}

// readAs reads a number of units as the configurations of Lite have it.
func (r *reader3) readAs(m javayaml.Member, field configText, n int) {
	if err := field.read(member{name: m.Name, value: strconv.Itoa(n)}); err != nil {
		r.faults = append(r.faults, err)
	}
}

func (r *reader3) props(m javayaml.Member) {
	within, err := m.Mapping()
	if err != nil {
		r.fault(m, "", "must be a mapping of texts", err)
		return
	}
	rest := make(map[string]string)
	for _, p := range within {
		var text string
		named := p
		named.Name = "props." + p.Name
		r.text(named, &text)
		switch p.Name {
		case prop3Script:
			r.ScriptCommandLine, r.script = text, true
		case prop3Streaming:
			r.StreamingProcess, r.streaming = strings.EqualFold(text, "true"), true // as Java's Boolean.valueOf
		default:
			rest[p.Name] = text
		}
	}
	if len(rest) > 0 {
		r.settings = rest
	}
}

// settled decides what follows from several members and the job's own node.
func (r *reader3) settled(root string) job.Config {
	r.Cron = cmp.Or(r.Cron, cronexpr.Triggered)
	r.Props, r.Unknown = r.settings, keep3(r.kept.String())
	zone, known := ZoneOfElasticJob3(r.zone)
	if !known {
		r.faults = append(r.faults, &ValueError{Field: "timeZone", Value: r.zone, Reason: zone3Form})
	}
	r.TimeZone = zone
	r.Type, r.Class = job.TypeSimple, root
	switch {
	case root == job.TypeScript.String() || r.script:
		r.Type, r.Class = job.TypeScript, job.ScriptClass
	case r.streaming:
		r.Type = job.TypeDataflow
	}
	settle(&r.Config)
	return r.joined()
}
