package jobtree

import "github.com/elasticron/elasticron/job"

// props are settings by name, stored as an object of strings.
type props struct{ field *job.Props }

// append writes the settings in the order of their names, whatever order they were given in. Those
// that cannot be read were refused before.
func (p props) append(dst []byte) []byte {
	settings, _ := p.field.Map() // storedFaults did
	if len(settings) == 0 {
		return append(dst, "{}"...)
	}
	return append(dst, job.NewProps(settings)...)
}

func (p props) read(m member) error {
	settings, err := job.Props(m.value).Map()
	if err != nil {
		return &ValueError{Field: m.name, Value: maskSettings(m.value), Reason: "must be an object of strings", Err: err}
	}
	*p.field = job.NewProps(settings)
	return nil
}
