package jobtree

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// operatedFormat is the newest format of operations that this version reads. A version that writes what older
// ones would misread says so in the member "format"; of this one there is none to be said.
const operatedFormat = 1

// EncodeOperated returns the text of the operated node.
func EncodeOperated(o Operated) string {
	w := writer{text: make([]byte, 0, 2048)}
	w.text = append(w.text, '{')
	if len(o.Operations) > 0 {
		w.member("operations")
		w.text = append(w.text, '[')
		for i := range o.Operations {
			if i > 0 {
				w.text = append(w.text, ',')
			}
			w.text = append(w.text, '{')
			o.Operations[i].write(&w)
			w.text = append(w.text, '}')
		}
		w.text = append(w.text, ']')
	}
	w.string("removing", o.Removing)
	if o.DisabledServers != nil {
		w.strings("disabledServers", o.DisabledServers)
	}
	if o.Moving != nil {
		w.object("moving", o.Moving.write)
	}
	if o.Files != nil {
		w.object("files", o.Files.write)
	}
	w.members(o.Unknown)
	return string(append(w.text, '}'))
}

func (op *Operation) write(w *writer) {
	w.string("id", op.ID)
	w.string("verb", op.Verb)
	w.string("target", op.Target)
	w.string("who", op.Who)
	w.string("how", op.How)
	w.instant("when", op.When)
	w.string("reason", op.Reason)
	w.string("changed", op.Changed)
	w.string("before", op.Before)
	w.flag("cut", op.Cut)
	w.count("after", int64(op.After))
	w.string("first", op.First)
	w.string("items", op.Items)
	w.string("asked", op.Asked)
	w.flag("begun", op.Begun)
	w.members(op.Unknown)
}

// DecodeOperated reads the operated node. The error is [ErrNewerFormat] for what a newer version wrote in a form
// that this one would spoil.
func DecodeOperated(n registry.Node) (Operated, error) {
	object, err := parseObject(n.Value)
	if err != nil {
		return Operated{}, ofOperated(n.Path, err)
	}
	var o Operated
	var r reader
	var unknown []string
	for m := range object.members() {
		switch m.name {
		case "format":
			if r.count(m) > operatedFormat {
				return Operated{}, at(n.Path, &ValueError{
					Field: m.name, Value: m.value, kind: ErrNewerFormat,
					Reason: fmt.Sprintf("which a newer version wrote; this one reads operations up to format %d", operatedFormat),
				})
			}
			unknown = append(unknown, m.text)
		case "operations":
			o.Operations = r.operations(m)
		case "removing":
			o.Removing = r.text(m)
		case "disabledServers":
			o.DisabledServers = r.texts(m)
		case "moving":
			o.Moving = new(Moving)
			r.within(m, o.Moving.read)
		case "files":
			o.Files = new(Files)
			r.within(m, o.Files.read)
		default:
			unknown = append(unknown, m.text)
		}
	}
	if r.err != nil {
		return Operated{}, ofOperated(n.Path, r.err)
	}
	o.Unknown = strings.Join(unknown, ",")
	return o, nil
}

// ofOperated completes a fault of the node with its path, and takes out what quotes configurations.
func ofOperated(path string, err error) error {
	var e *ValueError
	if !errors.As(err, &e) {
		return err
	}
	e.Path = path
	switch {
	case e.Value == "":
	case e.Field == "", strings.ContainsAny(e.Value[:1], "{[\""):
		e.Value = fmt.Sprintf("%d bytes", len(e.Value))
	}
	return e
}

func (r *reader) operations(m member) []Operation {
	if !strings.HasPrefix(m.value, "[") {
		r.fault(m, "must be a list")
		return nil
	}
	var all []Operation
	for i, element := range elements(m.value) {
		each := member{name: fmt.Sprintf("%s.%d", m.name, i), value: element}
		var op Operation
		r.within(each, op.read)
		all = append(all, op)
	}
	return all
}

func (op *Operation) read(r *reader, o object) {
	var unknown []string
	for m := range o.members() {
		switch m.name {
		case "id":
			op.ID = r.text(m)
		case "verb":
			op.Verb = r.text(m)
		case "target":
			op.Target = r.text(m)
		case "who":
			op.Who = r.text(m)
		case "how":
			op.How = r.text(m)
		case "when":
			op.When = r.instant(m)
		case "reason":
			op.Reason = r.text(m)
		case "changed":
			op.Changed = r.text(m)
		case "before":
			op.Before = r.text(m)
		case "cut":
			op.Cut = r.flag(m)
		case "after":
			op.After = registry.Revision(r.count(m))
		case "first":
			op.First = r.text(m)
		case "items":
			op.Items = r.text(m)
		case "asked":
			op.Asked = r.text(m)
		case "begun":
			op.Begun = r.flag(m)
		default:
			unknown = append(unknown, m.text)
		}
	}
	op.Unknown = strings.Join(unknown, ",")
}

func (f *Files) write(w *writer) {
	w.string("owner", f.Owner)
	w.count("version", f.Version)
	w.string("digest", f.Digest)
	w.flag("gone", f.Gone)
	w.flag("disabled", f.Disabled)
	w.instant("heard", f.Heard)
	if len(f.Past) > 0 {
		w.strings("past", f.Past)
	}
	w.members(f.Unknown)
}

func (f *Files) read(r *reader, o object) {
	var unknown []string
	for m := range o.members() {
		switch m.name {
		case "owner":
			f.Owner = r.text(m)
		case "version":
			f.Version = r.count(m)
		case "digest":
			f.Digest = r.text(m)
		case "gone":
			f.Gone = r.flag(m)
		case "disabled":
			f.Disabled = r.flag(m)
		case "heard":
			f.Heard = r.instant(m)
		case "past":
			f.Past = r.texts(m)
		default:
			unknown = append(unknown, m.text)
		}
	}
	f.Unknown = strings.Join(unknown, ",")
}
