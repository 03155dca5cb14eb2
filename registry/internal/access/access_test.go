package access_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/internal/access"
)

type sessions = access.Sessions[string, int]

func TestTakeReturnsWhatWasOffered(t *testing.T) {
	t.Parallel()
	require.PanicsWithValue(t, "access: package registry offers no access.Sessions[int,string]", func() { access.Take[access.Sessions[int, string]]() })

	access.Offer(access.Sessions[string, string]{})
	access.Offer(sessions{Abandoned: func(*string) bool { return true }})
	require.True(t, access.Take[sessions]().Abandoned(nil))
}
