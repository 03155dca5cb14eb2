package jobtree

import (
	"fmt"

	"github.com/elasticron/elasticron/job"
)

// ClassStays returns why a configuration must not take the place of what is stored, whose class is another; empty if it is the
// same one.
func ClassStays(stored, c job.Config) (reason string) {
	if c.ClassName() == stored.ClassName() {
		return ""
	}
	return fmt.Sprintf("must stay %q: a class is what its processes have code for; for another, remove the job first, or store one under another name",
		stored.ClassName())
}
