package dump

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/scheduler"
)

// addresses matches whole IPv4 addresses: an octet has up to three digits, and all of them count.
var addresses = regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\b`)

// secrets matches members of a JSON object that may hold what is nobody's affair.
var secrets = regexp.MustCompile(`"(jobParameter|shardingItemParameters|scriptCommandLine|error|[A-Za-z.]*(?i:password|secret|token|data|headers?|body|url))":("(?:[^"\\]|\\.)*")`)

// hidden stands for what is not shown.
const hidden = `***`

// maskAddresses replaces each distinct IPv4 address of a text by "ip" and a number.
func maskAddresses(text string) string {
	names := make(map[string]string)
	return addresses.ReplaceAllStringFunc(text, func(address string) string {
		if names[address] == "" {
			names[address] = "ip" + strconv.Itoa(len(names)+1)
		}
		return names[address]
	})
}

// maskSecrets returns the dump with what may be secret hidden, in the registry's values and in those
// that are seen.
func maskSecrets(d scheduler.Dump) scheduler.Dump {
	masked := d
	masked.Nodes = make([]scheduler.DumpNode, len(d.Nodes))
	for i, n := range d.Nodes {
		n.Value, n.SeenValue = maskValue(n.Path, n.Value), maskValue(n.Path, n.SeenValue)
		masked.Nodes[i] = n
	}
	return masked
}

func maskValue(path, value string) string {
	if value == "" {
		return value
	}
	if name, known := jobtree.Parse(path); known && name.Kind == jobtree.KindOffset {
		return hidden
	}
	if !strings.HasPrefix(value, "{") {
		return value
	}
	return secrets.ReplaceAllString(value, `"$1":"`+hidden+`"`)
}
