package texts_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/texts"
)

func TestWhereInATextJSONIsWrong(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{":                     "line 1, column 1: ",
		"{\n  \"a\": 1,\n  x}":  "line 3, column 3: ",
		"{\n  \"a\": \"text\"}": "line 2, column 13: ",
	} {
		err := json.Unmarshal([]byte(text), &map[string]int{})
		require.ErrorContains(t, texts.LocateJSON(text, err), want)
		require.ErrorIs(t, texts.LocateJSON(text, err), err)
	}
	other := errors.New("other")
	require.Equal(t, other, texts.LocateJSON("{", other))
}
