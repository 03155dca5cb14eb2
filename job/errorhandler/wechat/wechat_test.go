package wechat_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler/wechat"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// robot starts a robot that answers and returns what it is told.
func robot(t *testing.T, status int, answer string) (job.ErrorHandler, <-chan string) {
	t.Helper()
	told := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	h, err := wechat.New(job.Config{Props: map[string]string{"wechat.webhook": server.URL + "/send?key=k"}}, slog.Default())
	require.NoError(t, err)
	return h, told
}

func TestAFailureIsSaid(t *testing.T) {
	t.Parallel()
	h, told := robot(t, 200, `{"errcode":0,"errmsg":"ok"}`)
	long := errors.New("boom" + strings.Repeat("ü", 5000))
	require.NoError(t, h.HandleError(t.Context(), "orders", job.ShardingContext{Item: 1, TotalCount: 2}, long))
	var message struct {
		Type string `json:"msgtype"`
		Text struct {
			Content string `json:"content"`
		} `json:"text"`
	}
	require.NoError(t, json.Unmarshal([]byte(<-told), &message))
	require.Equal(t, "text", message.Type)
	require.True(t, strings.HasPrefix(message.Text.Content, "Job 'orders' failed: item 1 of 2"), message.Text.Content)
	require.LessOrEqual(t, len(message.Text.Content), 2048)
}

func TestWhatARobotRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status       int
		answer, want string
	}{
		{200, `{"errcode":93000,"errmsg":"invalid webhook url"}`, "wechat: refused with errcode 93000: invalid webhook url"},
		{200, `{}`, "wechat: the answer has no errcode: {}"},
		{200, `<html>`, "wechat: the answer has no errcode: <html>"},
		{502, `bad`, "wechat: status 502: bad"},
	} {
		h, _ := robot(t, test.status, test.answer)
		require.EqualError(t, h.HandleError(t.Context(), "orders", job.ShardingContext{}, errors.New("boom")), test.want)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	_, err := wechat.New(job.Config{Props: map[string]string{"wechat.readTimeoutMilliseconds": "soon"}}, slog.Default())
	require.ErrorContains(t, err, `Props wechat.webhook "" must not be empty`)
	require.ErrorContains(t, err, `Props wechat.readTimeoutMilliseconds "soon"`)
}
