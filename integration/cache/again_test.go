package cache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/cache"
)

func TestWhatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	fault := errors.New("no answer")
	for name, test := range map[string]struct {
		fails, tries int
		may          func(error) bool
	}{
		"what comes at once":     {0, 1, cache.Always},
		"what fails twice":       {2, 3, cache.Always},
		"what fails for ever":    {9, 4, cache.Always},
		"what will always fail ": {9, 1, func(error) bool { return false }},
	} {
		synctest.Test(t, func(t *testing.T) {
			tries := 0
			err := cache.Again(t.Context(), func() error {
				if tries++; tries <= test.fails {
					return fault
				}
				return nil
			}, test.may)
			require.Equal(t, test.tries, tries, name)
			require.Equal(t, test.fails >= test.tries, err != nil, name)

			ended, cancel := context.WithCancel(t.Context())
			cancel()
			require.ErrorIs(t, cache.Again(ended, func() error { return fault }, cache.Always), fault)
		})
	}
}
