package job_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/job"
)

func TestPropsAreReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "settings")
		got, err := job.NewProps(want).Map()
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, job.NewProps(want), job.NewProps(got), "equal settings are equal texts")
	})
	require.Equal(t, job.Props(`{"a":"\u003d","b":"2"}`), job.NewProps(map[string]string{"b": "2", "a": "="}))
	require.Equal(t, "2", job.NewProps(map[string]string{"b": "2"}).Get("b"))
	require.Empty(t, job.Props("broken").Get("b"))
}

func TestPropsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []job.Props{`{`, `null`, `[]`, `{"a":1}`, `{} {}`, `"a"`} {
		_, err := text.Map()
		require.Error(t, err, "%s", text)
		cfg := valid()
		cfg.Props = text
		require.ErrorContains(t, cfg.Validate(), "Props ")
		require.ErrorContains(t, job.ReadProps(text).Err(), "must be a JSON object of strings")
	}
}

func TestReadProps(t *testing.T) {
	t.Parallel()
	r := job.ReadProps(job.NewProps(map[string]string{
		"x.text": "t", "x.flag": "TRUE", "x.number": "7", "x.ms": "1500", "x.word": "Post", "x.url": "http://h/p", "x.h.A": "1", "y": "z",
	}))
	require.Equal(t, "t", r.Text("x.text", "d"))
	require.Equal(t, "d", r.Text("x.none", "d"))
	require.Equal(t, "t", r.Required("x.text"))
	require.True(t, r.Flag("x.flag", false))
	require.True(t, r.Flag("x.none", true))
	require.Equal(t, 7, r.Number("x.number", 1, 0, 9))
	require.Equal(t, 1, r.Number("x.none", 1, 0, 9))
	require.Equal(t, 1500*time.Millisecond, r.Milliseconds("x.ms", time.Second))
	require.Equal(t, time.Second, r.Milliseconds("x.none", time.Second))
	require.Equal(t, "POST", r.Word("x.word", "GET", "POST"))
	require.Equal(t, "http://h/p", r.WebAddress("x.url"))
	require.Equal(t, map[string]string{"A": "1"}, r.Below("x.h."))
	r.Only("x.", "x.text", "x.flag", "x.number", "x.ms", "x.word", "x.url", "x.h.")
	require.NoError(t, r.Err())
}

func TestReadPropsNamesEveryFault(t *testing.T) {
	t.Parallel()
	r := job.ReadProps(job.NewProps(map[string]string{
		"flag": "perhaps", "number": "70", "ms": "1s", "word": "PUT", "url": "ftp://h", "typo.x": "1",
	}))
	r.Required("none")
	r.Flag("flag", false)
	r.Number("number", 1, 0, 9)
	r.Milliseconds("ms", time.Second)
	r.Word("word", "GET", "POST")
	r.WebAddress("url")
	r.WebAddress("none")
	r.Only("typo.", "typo.y")
	err := r.Err()
	require.ErrorIs(t, err, job.ErrInvalidConfig)
	for _, want := range []string{
		`Props none "" must not be empty`, `Props flag "perhaps" must be one of false, true`,
		`Props number "70" must be a whole number between 0 and 9`, `Props ms "1s" must be a whole number`,
		`Props word "PUT" must be one of GET, POST`, `Props url "ftp://h" must be an address`,
		`Props typo.x "1" must not be there: the settings are typo.y`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestMaxRunning(t *testing.T) {
	t.Parallel()
	cfg := valid()
	cfg.MaxConcurrentItems = -1
	require.ErrorContains(t, cfg.Validate(), `MaxConcurrentItems "-1" must be between 0 and 100000`)
	cfg = valid()
	cfg.ExecutorServiceHandler = "com.acme.Pool"
	require.NoError(t, cfg.Validate(), "it may be stored")
	_, err := cfg.MaxRunning()
	require.ErrorContains(t, err, "CPU or SINGLE_THREAD")
}
