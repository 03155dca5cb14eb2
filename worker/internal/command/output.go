//go:build linux

package command

import (
	"fmt"
	"io"
	"time"

	"github.com/elasticron/elasticron/worker/internal/output"
)

// output returns where a script writes to, and what to call when it has ended: secrets are hidden before anything is
// kept.
func (r *run) output(secrets []string) (io.Writer, func()) {
	to := io.Writer(r.ends)
	var file *output.File
	if r.s.Files.Directory != "" {
		var err error
		if file, err = r.s.Files.Open(r.sc.JobName, r.sc.Item); err != nil {
			r.log.Warn("the output of a script is not kept in a file", "error", err)
		} else {
			_, _ = fmt.Fprintf(file, "--- %s %s, fire %s, token %d\n", time.Now().UTC().Format(time.RFC3339), r.sc.Source, r.sc.Fire.UTC().Format(time.RFC3339), r.sc.Token)
			to = io.MultiWriter(r.ends, file)
		}
	}
	hidden := output.NewRedactor(to, secrets)
	return hidden, func() {
		_ = hidden.Flush() // neither of both writers fails
		if file == nil {
			return
		}
		if err := file.Close(); err != nil {
			r.log.Warn("the output of a script is not kept in a file", "error", err)
		}
	}
}
