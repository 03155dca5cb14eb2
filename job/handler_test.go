package job_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

func TestAHandlerFuncIsAHandler(t *testing.T) {
	t.Parallel()
	var handler job.Handler = job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		return errors.New(sc.ItemParameter)
	})
	run, err := handler.Configure(job.Config{})
	require.NoError(t, err)
	require.EqualError(t, run(t.Context(), job.ShardingContext{ItemParameter: "A"}), "A")
}
