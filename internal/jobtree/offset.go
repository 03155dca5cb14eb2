package jobtree

import (
	"fmt"
	"unicode/utf8"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// EncodeOffset returns the text of an offset node, which is the checkpoint as it is. It refuses what
// is longer than job.MaxOffsetText or no valid UTF-8, and the empty one, for which there is no node.
func EncodeOffset(offset string) (string, error) {
	switch {
	case offset == "":
		return "", &ValueError{Field: "offset", Reason: "must not be empty: an item without a checkpoint has no node"}
	case len(offset) > job.MaxOffsetText:
		return "", &ValueError{Field: "offset", Value: offset, Reason: fmt.Sprintf("must not be longer than %d bytes", job.MaxOffsetText)}
	case !utf8.ValidString(offset):
		return "", &ValueError{Field: "offset", Value: offset, Reason: "must be valid UTF-8"}
	default:
		return offset, nil
	}
}

// WriteOffset returns the write that makes a checkpoint the item's: empty removes the node.
func (t Tree) WriteOffset(item int, offset string) (registry.Write, error) {
	if offset == "" {
		return registry.Delete(t.Offset(item)), nil
	}
	text, err := EncodeOffset(offset)
	if err != nil {
		return registry.Write{}, err
	}
	return registry.Put(t.Offset(item), text), nil
}
