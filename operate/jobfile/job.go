package jobfile

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/seed"
)

// Job is what a file says of one job.
type Job struct {
	Name    string
	Config  string          // the text of its configuration; empty if the file has none
	Servers map[string]bool // by address, whether they are disabled
	Items   []int           // that are disabled
}

// Jobs returns what a file says, in the order of the jobs' names.
func Jobs(file seed.File) []Job {
	var all []Job
	at := make(map[string]int)
	for path, value := range file.Nodes() {
		name, _ := jobtree.Parse(path)
		i, known := at[name.Job]
		if !known {
			i = len(all)
			at[name.Job] = i
			all = append(all, Job{Name: name.Job, Servers: make(map[string]bool)})
		}
		switch name.Kind {
		case jobtree.KindConfig:
			all[i].Config = value
		case jobtree.KindServer:
			disabled, _ := jobtree.DecodeServer(registry.Node{Path: path, Value: value})
			all[i].Servers[name.Key] = disabled
		case jobtree.KindItemDisabled:
			all[i].Items = append(all[i].Items, name.Item)
		}
	}
	return all
}
