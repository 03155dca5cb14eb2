package jobtree

import (
	"regexp"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/javayaml"
	"github.com/elasticron/elasticron/internal/texts"
)

// names3 are members of ElasticJob 3.x that only Java heeds, and that name what is chosen and say nothing else. What
// else only Java heeds may hold anything, such as the password of a database.
var names3 = []string{"jobExecutorServiceHandlerType", "jobExecutorThreadPoolSizeProviderType", "jobListenerTypes", "label", memberStatic}

// wordsOf3 is a member that is a list of names, as SnakeYAML writes it and as hands may.
var wordsOf3 = regexp.MustCompile(`^[\w"']+: *(\n *- [\w.$-]+ *)*\n$|^[\w"']+: *\[[\w.$, -]*\] *\n$`)

// maskConfig hides the members of a config that are secret, whichever layout it is in. What is neither is hidden as a whole.
func maskConfig(text string, secret hide) string {
	if LayoutOfConfig(text) != ElasticJob3 {
		return maskObject(text, secret)
	}
	masked, ok := maskYAML(text, secret)
	if !ok {
		return Hidden
	}
	return masked
}

// maskYAML hides the members of a config of ElasticJob 3.x that are secret. The others stand as they stood, so what is
// shown is read, or cannot be read, as what is stored. It answers false for what it cannot take apart for certain: a
// value of which nobody knows where it ends may go on in what looks like another member.
func maskYAML(text string, secret hide) (string, bool) {
	members, err := javayaml.Members(text)
	if err != nil {
		return "", false
	}
	var masked []byte
	for _, m := range members {
		switch {
		case m.Name == "props":
			settings, ok := maskSettings3(m, secret)
			if !ok {
				return "", false
			}
			masked = append(masked, settings...)
		case slices.Contains(names3, m.Name) && (wordsOf3.MatchString(m.Text) || isScalar(m)):
			masked = append(masked, m.Text...)
		case slices.Contains(kept3, m.Name):
			if !ends3(m) {
				return "", false
			}
			masked = javayaml.AppendText(masked, 0, m.Name, Hidden)
		default:
			var ok bool
			if masked, ok = maskMember3(masked, 0, m, secret); !ok {
				return "", false
			}
		}
	}
	return string(masked), true
}

// maskSettings3 is maskYAML for the member that holds the settings by name.
func maskSettings3(m javayaml.Member, secret hide) (masked []byte, ok bool) {
	settings, err := m.Mapping()
	switch {
	case err != nil:
		return nil, false
	case len(settings) == 0:
		return []byte(m.Text), true
	}
	masked = javayaml.AppendMapping(nil, 0, m.Name)
	for _, setting := range settings {
		if masked, ok = maskMember3(masked, 1, setting, secret); !ok {
			return nil, false
		}
	}
	return masked, true
}

// maskMember3 appends a member whose value is a text, a number or true or false.
func maskMember3(dst []byte, level int, m javayaml.Member, secret hide) ([]byte, bool) {
	value, _, err := m.Scalar()
	if err != nil {
		return dst, false
	}
	if instead, hidden := secret(member{name: m.Name, value: string(texts.AppendGson(nil, value))}); hidden && value != "" {
		return javayaml.AppendText(dst, level, m.Name, unquote(instead)), true
	}
	for line := range strings.Lines(m.Text) {
		if level > 0 && line != "\n" {
			line = strings.Repeat("  ", level) + line
		}
		dst = append(dst, line...)
	}
	return dst, true
}

// ends3 tells whether it is certain where a member ends that may be anything: a block whose lines are indented, or one
// line, if its brackets and quotes are closed.
func ends3(m javayaml.Member) bool {
	first, more, _ := strings.Cut(m.Text, "\n")
	_, value, _ := strings.Cut(first, ":")
	value = strings.TrimSpace(value)
	return value == "" || isScalar(m) || more == "" && (value[0] == '[' && value[len(value)-1] == ']' || value[0] == '{' && value[len(value)-1] == '}')
}

func isScalar(m javayaml.Member) bool {
	_, _, err := m.Scalar()
	return err == nil
}
