package dingtalk_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler/dingtalk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "SEC0"

// robot is a group robot that asks for a signature no older than an hour, as the real one does.
func robot(w http.ResponseWriter, r *http.Request) {
	timestamp := r.URL.Query().Get("timestamp")
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(timestamp + "\n" + secret))
	millis, err := strconv.ParseInt(timestamp, 10, 64)
	old := time.Since(time.UnixMilli(millis)).Abs() > time.Hour
	signed := r.URL.Query().Get("sign") == base64.StdEncoding.EncodeToString(mac.Sum(nil))
	body, _ := io.ReadAll(r.Body)
	switch {
	case err != nil || old || !signed || r.URL.Query().Get("access_token") != "t":
		_, _ = io.WriteString(w, `{"errcode":310000,"errmsg":"sign not match"}`)
	case string(body) != `{"msgtype":"text","text":{"content":"alert: Job 'orders' failed: item 1 of 2\ntask x\nboom"}}`:
		_, _ = io.WriteString(w, `{"errcode":310000,"errmsg":"keywords not in content: `+strconv.Quote(string(body))[1:]+`}`)
	default:
		_, _ = io.WriteString(w, `{"errcode":0,"errmsg":"ok"}`)
	}
}

func say(t *testing.T, settings map[string]string) error {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(robot))
	t.Cleanup(server.Close)
	settings["dingtalk.webhook"] = server.URL + "/robot/send?access_token=t"
	h, err := dingtalk.New(job.Config{Props: settings}, slog.Default())
	require.NoError(t, err)
	return h.HandleError(t.Context(), "orders", job.ShardingContext{Item: 1, TotalCount: 2, TaskID: "x"}, errors.New("boom"))
}

func TestAFailureIsSaidSigned(t *testing.T) {
	t.Parallel()
	require.NoError(t, say(t, map[string]string{"dingtalk.secret": secret, "dingtalk.keyword": "alert"}))
}

func TestWhatTheRobotRefuses(t *testing.T) {
	t.Parallel()
	require.EqualError(t, say(t, map[string]string{"dingtalk.keyword": "alert"}), "dingtalk: refused with errcode 310000: sign not match")
	require.EqualError(t, say(t, map[string]string{"dingtalk.secret": "other", "dingtalk.keyword": "alert"}),
		"dingtalk: refused with errcode 310000: sign not match")
	require.Error(t, say(t, map[string]string{"dingtalk.secret": secret}), "without the keyword")
}

func TestSettings(t *testing.T) {
	t.Parallel()
	_, err := dingtalk.New(job.Config{Props: map[string]string{"dingtalk.token": "x"}}, slog.Default())
	require.ErrorContains(t, err, `Props dingtalk.webhook "" must not be empty`)
	require.ErrorContains(t, err, `Props dingtalk.token "x" must not be there`)
}

// The address of a call is signed, and so it is another text than the setting.
func TestErrorsShowNoSecrets(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(robot))
	server.Close()
	literal := strings.Replace(server.URL, "://", "://me:swordfish@", 1) + "/robot/send?access_token=t"
	t.Setenv("DINGTALK_WEBHOOK", server.URL+"/robot/send?access_token=swordfish")
	t.Setenv("DINGTALK_SECRET", "swordfish")
	for setting, shown := range map[string]string{
		"env:DINGTALK_WEBHOOK": "env:DINGTALK_WEBHOOK", literal: server.URL + "/robot/send",
	} {
		h, err := dingtalk.New(job.Config{Props: map[string]string{"dingtalk.webhook": setting, "dingtalk.secret": "env:DINGTALK_SECRET"}}, slog.Default())
		require.NoError(t, err)
		err = h.HandleError(t.Context(), "orders", job.ShardingContext{}, errors.New("boom"))
		require.ErrorContains(t, err, `dingtalk: Post "`+shown+`": dial tcp`)
		require.NotContains(t, err.Error(), "swordfish")
	}
}
