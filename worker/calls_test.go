package worker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// A job that wants a secret of a worker without a list is told so, and not of a list in which there is nothing.
func TestAReferenceWithoutAListOfSecrets(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "mail", Props: map[string]string{"http.header.X-Key": "env:KEY"}}
	_, err := callCode{}.Configure(cfg)
	require.ErrorContains(t, err, "http.secrets of this worker allows, which is not there and allows none")
	_, err = callCode{secrets: []string{"env:API_*", "file:/run/*"}}.Configure(cfg)
	require.ErrorContains(t, err, "http.secrets of this worker allows: env:API_*, file:/run/*")
}
