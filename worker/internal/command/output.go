//go:build linux

package command

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/elasticron/elasticron/worker/internal/output"
)

// output returns where a script writes to, and what to call when nothing of it lives any more. It is a pipe of our own,
// so that waiting for the script is not waiting for all who hold its output. Secrets are hidden before anything is
// kept.
func (r *run) output(secrets []string) (*os.File, func(), error) {
	from, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	to, file := io.Writer(r.ends), r.file()
	if file != nil {
		to = io.MultiWriter(r.ends, file)
	}
	hidden, done := output.NewRedactor(to, secrets), make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(hidden, from) // until all have closed it
		_ = hidden.Flush()           // neither of both writers fails
	}()
	return out, func() {
		_ = out.Close()
		// What hid itself so well that nobody could end it may hold the output for ever.
		_ = from.SetReadDeadline(time.Now().Add(outputPatience))
		<-done
		_ = from.Close()
		if file == nil {
			return
		}
		if err := file.Close(); err != nil {
			r.log.Warn("the output of a script is not kept in a file", "error", err)
		}
	}, nil
}

// outputPatience is how long output is read that is there when all has ended.
const outputPatience = 2 * time.Second

// file opens the file that takes all output; nil if there is none.
func (r *run) file() *output.File {
	if r.s.Files.Directory == "" {
		return nil
	}
	file, err := r.s.Files.Open(r.sc.JobName, r.sc.Item)
	if err != nil {
		r.log.Warn("the output of a script is not kept in a file", "error", err)
		return nil
	}
	fire := ""
	if !r.sc.Fire.IsZero() { // as it is for a run by hand
		fire = ", fire " + r.sc.Fire.UTC().Format(time.RFC3339)
	}
	_, _ = fmt.Fprintf(file, "--- %s %s%s, token %d\n", time.Now().UTC().Format(time.RFC3339), r.sc.Source, fire, r.sc.Token)
	return file
}
