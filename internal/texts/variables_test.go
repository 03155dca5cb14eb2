package texts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/texts"
)

func TestCheckVariables(t *testing.T) {
	t.Parallel()
	require.NoError(t, texts.CheckVariables(nil))
	require.NoError(t, texts.CheckVariables([]string{"A=", "B=two\nlines"}))
	require.EqualError(t, texts.CheckVariables([]string{"A=x", "B=y\x00z", "C=\x00"}), "variable B has a zero character, which no variable can hold")
}
