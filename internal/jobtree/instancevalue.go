package jobtree

import "github.com/elasticron/elasticron/registry"

// The values of an instance node. Both are shared with Java.
const (
	InstanceIdle      = ""        // nothing is asked of the instance
	InstanceTriggered = "TRIGGER" // it is to run its items now, and to set the value back
)

// DecodeInstance reads an instance node strictly: its value is one of the two. [State] reads it as
// Java does, where every other value asks for nothing.
func DecodeInstance(n registry.Node) (trigger bool, err error) {
	switch n.Value {
	case InstanceIdle:
		return false, nil
	case InstanceTriggered:
		return true, nil
	default:
		return false, &ValueError{Path: n.Path, Value: n.Value, Reason: `must be empty or "TRIGGER"`}
	}
}
