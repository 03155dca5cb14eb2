package jobtree

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Hidden stands for what [Mask] does not show.
const Hidden = "***"

// secretMembers are members of a config whatever they are called, because people write into them what
// they like, credentials included; and what ElasticJob 3.x alone heeds, which is one text that holds settings.
var secretMembers = map[string]bool{
	"jobParameter": true, "shardingItemParameters": true, "scriptCommandLine": true, keptMember: true,
}

// secretNames matches names of settings that hold what is nobody's affair, such as "email.password",
// "http.headers" or "dingtalk.webhook".
var secretNames = regexp.MustCompile(`(?i)passw|pwd|secret|token|credential|auth|cookie|key$|webhook|headers?|data$|body|ur[il]$|^script\.command`)

// Mask returns the value of a node as it may be shown to people who may see the tree, but not the secrets in it. Hidden are:
// of a config the parameters, the command line of a script, what ElasticJob 3.x alone heeds, and every member and setting
// whose name says password, secret, token, key, header, address or the like; error texts of records, which quote what went
// wrong; parameters of requests by hand; checkpoints; what operators did, which quotes configs; and of a move by elasticron
// migrate what it keeps of the config and of records. A config that cannot be read is hidden as a whole. Everything else is
// shown as it is, be the config JSON or the YAML of ElasticJob 3.x.
//
// Names are all it goes by: a secret in a description, or in a setting with an innocent name, is shown.
func Mask(path, value string) string {
	if value == "" {
		return value
	}
	name, known := Parse(path)
	switch {
	case !known:
		return value
	case name.Kind == KindOffset, name.Kind == KindOperated: // that quotes configs
		return Hidden
	case name.Kind == KindConfig:
		return maskConfigNode(value, hiding(isSecret))
	case name.Kind == KindMove:
		return maskObject(value, hiding(secretOfMove))
	case strings.HasPrefix(value, "{"):
		return maskObject(value, hiding(func(name string) bool { return name == "error" || name == "parameter" }))
	default:
		return value
	}
}

// maskConfigNode masks what stands in the config node: a config, or while the job moves to another registry, what quotes one.
func maskConfigNode(value string, secret hide) string {
	if strings.HasPrefix(value, elsewhereBegins) {
		return maskObject(value, hiding(func(name string) bool { return name == "config" || isSecret(name) }))
	}
	return maskConfig(value, secret)
}

// secretOfMove tells whether a member of [Tree.Move] is not to be shown: those quote the config of the registry that the
// job leaves, and records.
func secretOfMove(name string) bool { return name == "config" || name == "lost" }

// isSecret tells whether a member or a setting of a config is not to be shown.
func isSecret(name string) bool {
	if secret, known := secretOfMembers[name]; known {
		return secret
	}
	return namedSecret(name)
}

// secretOfMembers is what namedSecret says of the members that every config has: a page of operations masks hundreds of
// configs.
var secretOfMembers = func() map[string]bool {
	all := make(map[string]bool, len(configFields))
	for _, f := range configFields {
		all[f.name] = namedSecret(f.name)
	}
	return all
}()

func namedSecret(name string) bool {
	return secretMembers[name] || secretNames.MatchString(strings.TrimPrefix(name, "props."))
}

// ofConfig completes a fault of a config with the path of its node, and takes out what may be a secret: the
// value of a member that [Mask] hides, and of a text whose members cannot be told all but how long it is.
func ofConfig(path string, err error) error {
	var e *ValueError
	if !errors.As(err, &e) {
		return err
	}
	e.Path = path
	switch {
	case e.Value == "":
	case e.Field == "":
		e.Value = fmt.Sprintf("%d bytes", len(e.Value))
	case isSecret(e.Field):
		e.Value = Hidden
	}
	return e
}

// MaskNode is [Mask] for a node.
func MaskNode(n registry.Node) registry.Node {
	n.Value = Mask(n.Path, n.Value)
	return n
}

// MaskSecrets is [MaskNode] for who reads the tree as operators do. What is hidden leaves the meaning of the node as it
// is: the errors of executions stay, and of operations and items' parameters all but their secrets. Masked by [MaskNode]
// afterwards, a node looks as if it had been masked by that alone.
func MaskSecrets(n registry.Node) registry.Node {
	name, known := Parse(n.Path)
	switch {
	case !known || n.Value == "":
	case name.Kind == KindConfig:
		n.Value = maskConfigNode(n.Value, hidingConfig)
	case name.Kind == KindOperated:
		operated, err := DecodeOperated(n)
		if err != nil {
			n.Value = Hidden
			break
		}
		n.Value = EncodeOperated(MaskOperated(operated))
	case name.Kind == KindOffset:
		n.Value = Hidden
	case name.Kind == KindMove:
		n.Value = maskObject(n.Value, hiding(secretOfMove))
	case strings.HasPrefix(n.Value, "{"):
		n.Value = maskObject(n.Value, hiding(func(name string) bool { return name == "parameter" }))
	}
	return n
}

// hide returns what is shown instead of the value of a member, if that is hidden. Of a value that is an object or a list,
// the member has no more than its name.
type hide func(m member) (shown string, hidden bool)

// hiding hides the members with some names.
func hiding(secret func(name string) bool) hide {
	return func(m member) (string, bool) { return `"` + Hidden + `"`, secret(m.name) }
}

// hidingConfig hides what is secret in a config, but shows which items have parameters: without that the config would be
// judged otherwise.
func hidingConfig(m member) (string, bool) {
	if m.name == "shardingItemParameters" && strings.HasPrefix(m.value, `"`) {
		if parameters, err := job.ParseItemParameters(unquote(m.value)); err == nil && len(parameters) > 0 {
			var shown []string
			for _, item := range slices.Sorted(maps.Keys(parameters)) {
				shown = append(shown, fmt.Sprintf("%d=%s", item, Hidden))
			}
			return `"` + strings.Join(shown, ",") + `"`, true
		}
	}
	return `"` + Hidden + `"`, isSecret(m.name)
}

// maskObject hides the members of an object that are secret, and of the objects in it. It costs as much as the text is long,
// however deep they stand in each other: whoever may read a job reads what whoever writes it likes.
func maskObject(text string, secret hide) string {
	o, err := parseObject(text)
	if err != nil {
		return Hidden
	}
	m := masking{text: string(o), secret: secret}
	m.object(skipSpace(text, 0))
	return m.masked.String() + text[m.copied:]
}

// masking is one pass over the text of an object that is known to be valid.
type masking struct {
	text   string
	secret hide
	masked strings.Builder
	copied int // how much of the text stands in masked, or something instead
}

// object returns the index behind the object that starts at i.
func (m *masking) object(i int) int {
	for i = skipSpace(m.text, i+1); m.text[i] != '}'; {
		nameEnd := endOfString(m.text, i)
		value := skipSpace(m.text, skipSpace(m.text, nameEnd)+1)
		i = skipSpace(m.text, m.value(unquote(m.text[i:nameEnd]), value))
		if m.text[i] == ',' {
			i = skipSpace(m.text, i+1)
		}
	}
	return i + 1
}

// value returns the index behind the value that starts at i, of a member with a name.
func (m *masking) value(name string, i int) int {
	if m.text[i] == '{' {
		if instead, hidden := m.secret(member{name: name}); hidden {
			return m.replace(i, endOfValue(m.text, i), instead)
		}
		return m.object(i)
	}
	end := endOfValue(m.text, i)
	one := member{name: name}
	list := m.text[i] == '['
	if !list {
		one.value = m.text[i:end]
	}
	instead, hidden := m.secret(one)
	switch {
	case one.value == `""`:
		return end
	case hidden:
		return m.replace(i, end, instead)
	case list && strings.Contains(m.text[i:end], "{"): // none of ours holds objects, and what is in it has no name
		return m.replace(i, end, `"`+Hidden+`"`)
	default:
		return end
	}
}

// replace has something stand instead of a part of the text, and returns its end.
func (m *masking) replace(from, to int, instead string) int {
	m.masked.WriteString(m.text[m.copied:from])
	m.masked.WriteString(instead)
	m.copied = to
	return to
}

// maskSettings is Mask for the value of a member of settings.
func maskSettings(value string) string {
	if !strings.HasPrefix(value, "{") {
		return value
	}
	return maskObject(value, hiding(secretNames.MatchString))
}

// maskedMember returns the value of a member of a config as it may be shown.
func maskedMember(m member) string {
	switch {
	case secretNames.MatchString(m.name) || strings.ContainsAny(m.value[:1], "{["):
		return Hidden
	case m.value[0] == '"':
		return unquote(m.value)
	default:
		return m.value
	}
}
