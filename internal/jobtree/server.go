package jobtree

import "github.com/elasticron/elasticron/registry"

// serverDisabled is the value of a server node that excludes the server's instances from the job.
// Like Java, we take every other value, and a node that is not there, for enabled.
const serverDisabled = "DISABLED"

// EncodeServer returns the text of a server node.
func EncodeServer(disabled bool) string {
	if disabled {
		return serverDisabled
	}
	return ""
}

// DecodeServer reads a server node strictly: its value is empty or DISABLED. [State] reads it as
// Java does, where every other value means enabled.
func DecodeServer(n registry.Node) (disabled bool, err error) {
	switch n.Value {
	case "":
		return false, nil
	case serverDisabled:
		return true, nil
	default:
		return false, &ValueError{Path: n.Path, Value: n.Value, Reason: `must be empty or "DISABLED"`}
	}
}
