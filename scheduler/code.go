package scheduler

import (
	"errors"

	"github.com/elasticron/elasticron/job"
)

// errNoCode: code that depends on the configuration has made nothing of it, and no error.
var errNoCode = errors.New("the job's code cannot be used: Configure returned nil")

// configureCode returns what runs the items of a job of this configuration.
func configureCode(simple job.Simple, cfg job.Config) (code job.Simple, err error) {
	err = job.Protect(func() error {
		code, err = job.Configure(simple, cfg)
		return err
	})
	if err == nil && code == nil {
		err = errNoCode
	}
	return code, err
}
