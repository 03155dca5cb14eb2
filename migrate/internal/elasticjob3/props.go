package elasticjob3

import (
	"strconv"

	"go.yaml.in/yaml/v3"
)

// The properties of a job that are settings of their own here. All others stay properties, under the
// names that 3.x gives them. Java keeps all of them as strings.
const (
	propScript    = "script.command.line"
	propStreaming = "streaming.process"
)

// props is what the properties say.
type props struct {
	script       string
	hasScript    bool
	streaming    bool
	hasStreaming bool
}

func (d *decoder) readProps(value *yaml.Node) {
	if value.ShortTag() == "!!null" {
		return
	}
	if value.Kind != yaml.MappingNode {
		d.fault("props", value, "a mapping of strings")
		return
	}
	rest := map[string]string{}
	for i := 0; i+1 < len(value.Content); i += 2 {
		name, text := value.Content[i].Value, ""
		d.text("props."+name, resolve(value.Content[i+1]), &text)
		switch name {
		case propScript:
			d.props.script, d.props.hasScript = text, true
		case propStreaming:
			// As Java's Boolean.valueOf: all but true is false.
			d.props.streaming, _ = strconv.ParseBool(text)
			d.props.hasStreaming = true
		default:
			rest[name] = text
		}
	}
	if len(rest) > 0 {
		d.job.Config.Props = rest
	}
}
