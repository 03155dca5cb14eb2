package reference_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/reference"
)

func TestRedacted(t *testing.T) {
	t.Parallel()
	hide := func(text string) string { return strings.ReplaceAll(text, "swordfish", "***") }
	plain, telling := errors.New("refused"), errors.New("refused: swordfish")
	require.Equal(t, plain, reference.Redacted(plain, hide))
	err := reference.Redacted(telling, hide)
	require.EqualError(t, err, "refused: ***")
	require.ErrorIs(t, err, telling)
}
