package elasticjob3

import (
	"encoding/json"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// ClassHTTP is the word of HTTP jobs there, and the class of package httpjob here. Their properties have the same names.
const ClassHTTP = "HTTP"

// Member is the name of the unknown member of a configuration that keeps what has no counterpart.
const Member = "elasticJob3"

// decoder gathers what the members of a config say.
type decoder struct {
	job    Job
	props  props
	left   map[string]any // what has no counterpart, for Member
	faults []error
}

func (d *decoder) member(name string, value *yaml.Node) {
	c := &d.job.Config
	switch name {
	case "jobName":
		d.text(name, value, &c.Name)
	case "cron":
		d.text(name, value, &c.Cron)
	case "timeZone":
		d.text(name, value, &c.TimeZone)
	case "shardingTotalCount":
		d.read(name, value, &c.ShardingTotalCount, "a whole number")
	case "shardingItemParameters":
		d.text(name, value, &c.ShardingItemParameters)
	case "jobParameter":
		d.text(name, value, &c.JobParameter)
	case "description":
		d.text(name, value, &c.Description)
	case "monitorExecution":
		c.Unmonitored = !d.flag(name, value)
	case "failover":
		d.read(name, value, &c.Failover, "true or false")
	case "misfire":
		c.Misfire = job.MisfireSkip
		if d.flag(name, value) {
			c.Misfire = job.MisfireOnce
		}
	case "disabled":
		d.read(name, value, &c.Disabled, "true or false")
	case "overwrite":
		d.read(name, value, &c.Java.Overwrite, "true or false")
	case "maxTimeDiffSeconds":
		c.MaxTimeDiff = d.span(name, value, time.Second, map[int]time.Duration{-1: 0, 0: time.Nanosecond})
	case "reconcileIntervalMinutes":
		c.ReconcileInterval = d.span(name, value, time.Minute, map[int]time.Duration{0: never})
	case "jobShardingStrategyType":
		d.text(name, value, &c.ShardingStrategy)
	case "jobErrorHandlerType":
		d.text(name, value, &c.ErrorHandler)
	case "jobExecutorServiceHandlerType", // as 3.0.0 to 3.0.4 call it
		"jobExecutorThreadPoolSizeProviderType": // and later versions
		d.text(name, value, &c.ExecutorServiceHandler)
	case "props":
		d.readProps(value)
	case "staticSharding":
		d.staticSharding(value)
	default:
		d.noCounterpart(name, value)
	}
}

// text reads a string as SnakeYAML does for a field of that type: any scalar's text, null for unset.
func (d *decoder) text(name string, value *yaml.Node, field *string) {
	switch {
	case value.Kind != yaml.ScalarNode:
		d.fault(name, value, "a string")
	case value.ShortTag() != "!!null":
		*field = value.Value
	}
}

// read reads a number or a flag. Java has no null for these.
func (d *decoder) read(name string, value *yaml.Node, field any, allowed string) {
	if value.ShortTag() == "!!null" || value.Decode(field) != nil {
		d.fault(name, value, allowed)
	}
}

func (d *decoder) flag(name string, value *yaml.Node) (on bool) {
	d.read(name, value, &on, "true or false")
	return on
}

// span reads a time that is a number of units. Some numbers stand for something else.
func (d *decoder) span(name string, value *yaml.Node, unit time.Duration, special map[int]time.Duration) time.Duration {
	var n int
	d.read(name, value, &n, "a whole number")
	if span, is := special[n]; is {
		return span
	}
	const most = 100_000_000 // units; more than any job may have, and less than a time can be
	return time.Duration(min(max(n, -most), most)) * unit
}

// never is the reconcile interval that Java says by 0.
const never time.Duration = -1

func (d *decoder) fault(name string, value *yaml.Node, allowed string) {
	shown := value.Value
	if value.Kind != yaml.ScalarNode {
		shown = "a list or a mapping"
	}
	d.faults = append(d.faults, fmt.Errorf("config, line %d: %s is %q, must be %s", value.Line, name, shown, allowed))
}

// staticSharding has no counterpart, and means nothing while it is off.
func (d *decoder) staticSharding(value *yaml.Node) {
	var on bool
	d.read("staticSharding", value, &on, "true or false")
	if on {
		d.noCounterpart("staticSharding", value)
	}
}

func (d *decoder) noCounterpart(name string, value *yaml.Node) {
	var v any
	if err := value.Decode(&v); err != nil {
		d.faults = append(d.faults, fmt.Errorf("config, line %d: %s: %w", value.Line, name, err))
		return
	}
	d.left[name] = v
	d.job.Kept = append(d.job.Kept, name)
}

// keep moves what has no counterpart into the configuration.
func (d *decoder) keep() error {
	if len(d.left) == 0 {
		return nil
	}
	text, err := json.Marshal(d.left)
	if err != nil {
		return fmt.Errorf("config: keep %q: %w", d.job.Kept, err)
	}
	d.job.Config.Unknown = fmt.Sprintf("%q:%s", Member, text)
	return nil
}

// settle decides what follows from several members and the root node.
func (d *decoder) settle(root string) {
	c := &d.job.Config
	c.Type, c.Class = d.kind(root)
	if c.Cron == "" {
		c.Cron = cronexpr.Triggered // what 3.x calls a one-off job
	}
	c.ScriptCommandLine, c.StreamingProcess = d.props.script, d.props.streaming
	if zone, err := zoneOf(c.TimeZone); err != nil {
		d.faults = append(d.faults, err)
	} else {
		c.TimeZone = zone
	}
}

// kind returns type and class of the job. The root node of 3.x holds the name of its class or, if it
// has none, the word for its type. Whether a class is a dataflow job, only its properties can show.
func (d *decoder) kind(root string) (job.Type, string) {
	class := root
	if root == ClassHTTP {
		return job.TypeSimple, ClassHTTP
	}
	if t := job.Type(root); jobtree.KnownType(t) {
		class = ""
		if root != job.TypeSimple.String() && root != "" {
			return t, class
		}
	}
	switch {
	case d.props.hasScript:
		return job.TypeScript, "" // its class has one name everywhere
	case d.props.hasStreaming:
		return job.TypeDataflow, class
	default:
		return job.TypeSimple, class
	}
}
