package dump

import (
	"regexp"
	"strconv"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler"
)

// addresses matches whole IPv4 addresses: an octet has up to three digits, and all of them count.
var addresses = regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\b`)

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
		agrees := n.Agrees()
		n.Value, n.SeenValue = jobtree.Mask(n.Path, n.Value), jobtree.Mask(n.Path, n.SeenValue)
		if !agrees && n.Agrees() {
			n.SeenValue += " (differs in what is hidden)"
		}
		masked.Nodes[i] = n
	}
	return masked
}
