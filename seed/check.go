package seed

import (
	"errors"
	"fmt"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// check tells whether a node is one that people decide about, and its value one that it may have. It
// returns the job, and the value as it is to be stored.
func check(path, value string) (job, stored string, err error) {
	name, ok := jobtree.Parse(path)
	node := registry.Node{Path: path, Value: value}
	switch {
	case ok && name.Kind == jobtree.KindConfig:
		stored, err = checkConfig(name.Job, node)
	case ok && name.Kind == jobtree.KindServer:
		_, err = jobtree.DecodeServer(node)
		stored = value
	case ok && name.Kind == jobtree.KindItemDisabled:
		if value != "" {
			err = &jobtree.ValueError{Path: path, Value: value, Reason: "must be empty"}
		}
	case isSetting(path):
		err = fmt.Errorf("%s is a setting, and settings belong under config, as <job>/config has them", path)
	default:
		err = fmt.Errorf("%s is none of <job>/config, <job>/servers/<ip> and <job>/sharding/<item>/disabled; other nodes belong to running instances", path)
	}
	return name.Job, stored, err
}

// isSetting tells whether somebody has written a setting beside the config of a job, or with no job at all.
func isSetting(path string) bool {
	job, below, within := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	name, _, _ := strings.Cut(below, "/")
	return jobtree.IsMember(name) || !within && jobtree.IsMember(job)
}

// usable tells whether a job can run with a config as it is stored, perhaps with warnings. A file may hold such a text under
// !stored: nobody wrote it into the file, it was found.
func usable(name string, n registry.Node) error {
	c, err := jobtree.DecodeConfig(n)
	if err != nil {
		return err
	}
	_, faulty := jobtree.CheckConfig(name, c)
	return faulty
}

// checkConfig returns the text of a config as this version stores it.
func checkConfig(name string, n registry.Node) (string, error) {
	c, err := jobtree.DecodeConfig(n)
	if err != nil {
		return "", err
	}
	if err := jobtree.CheckExact(n); err != nil {
		return "", err
	}
	// A file is a declaration: what a job could run with is refused, too, as long as it is no member of a
	// later version.
	unknown := c.Unknown
	c.Unknown = ""
	if err := errors.Join(jobtree.CheckConfig(name, c)); err != nil {
		return "", err
	}
	c.Unknown = unknown
	return jobtree.EncodeConfig(c)
}

// same tells whether a stored node says what the file says, in whatever words.
func same(stored registry.Node, value string) bool {
	if stored.Value == value {
		return true
	}
	name, _ := jobtree.Parse(stored.Path)
	if name.Kind != jobtree.KindConfig {
		return false
	}
	c, err := jobtree.DecodeConfig(stored)
	if err != nil {
		return false
	}
	text, err := jobtree.EncodeConfig(c)
	return err == nil && text == value
}

// defaults are the members of a config that a file may leave out although DecodeConfig asks for them, or
// takes another default from Java.
func defaults(name string, class bool) map[string]any {
	d := map[string]any{"jobName": name, "jobType": job.TypeSimple.String(), "misfire": true}
	if class {
		d["jobClass"] = name
	}
	return d
}

// withDisabledOf returns what a file says of a configuration, disabled or not as the stored one is. What cannot be
// read, and any other node, stays as the file has it.
func withDisabledOf(stored registry.Node, value string) string {
	if name, _ := jobtree.Parse(stored.Path); !stored.Exists() || name.Kind != jobtree.KindConfig {
		return value
	}
	was, err := jobtree.DecodeConfig(stored)
	if err != nil {
		return value
	}
	is, err := jobtree.DecodeConfig(registry.Node{Path: stored.Path, Value: value, Revision: stored.Revision})
	if err != nil || is.Disabled == was.Disabled {
		return value
	}
	is.Disabled = was.Disabled
	text, err := jobtree.EncodeConfig(is)
	if err != nil {
		return value
	}
	return text
}
