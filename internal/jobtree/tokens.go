package jobtree

import "github.com/elasticron/elasticron/registry"

// Tokens says where the fencing tokens of a job start. The revisions of a registry count from where it
// began, so those of a new one are lower than those of the registry that a job came from.
//
// Nobody but who moves a job between registries writes the node, together with the job's config node
// in one transaction: a begin is guarded by the config that it saw, so none is granted a token by an
// older base.
type Tokens struct {
	// Base is added to the revision of every begin, and is at least the largest token of the job that
	// was ever granted elsewhere.
	Base int64
}

// Of returns the fencing token of an execution that began at a revision.
func (t Tokens) Of(begin registry.Revision) int64 { return t.Base + int64(begin) }

// EncodeTokens returns the text of the tokens node, as in {"base":12884901888}.
func EncodeTokens(t Tokens) string {
	w := writer{text: []byte{'{'}}
	w.count("base", t.Base)
	return string(append(w.text, '}'))
}

// DecodeTokens reads the tokens node. Members that it does not know are left out.
func DecodeTokens(n registry.Node) (Tokens, error) {
	o, err := parseObject(n.Value)
	if err != nil {
		return Tokens{}, at(n.Path, err)
	}
	var t Tokens
	var r reader
	for m := range o.members() {
		if m.name == "base" {
			t.Base = r.count(m)
		}
	}
	if r.err != nil {
		return Tokens{}, at(n.Path, r.err)
	}
	return t, nil
}
