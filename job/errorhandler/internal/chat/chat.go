// Package chat posts texts to the robots of chat services: WeChat and DingTalk take the same message
// and answer in the same way.
package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/internal/webcall"
)

// The settings that both have, behind their prefixes.
const (
	connectTimeout = "connectTimeoutMilliseconds"
	readTimeout    = "readTimeoutMilliseconds"
	answerBytes    = 16 << 10
)

// Robot is the address of one.
type Robot struct {
	caller *webcall.Caller
}

// New makes a robot with the timeouts of the settings, at an address of the setting webhook. Errors show that as it is set,
// which may be a reference. guard says what may be called; nil: everything.
func New(p *job.PropsReader, prefix, set, address string, guard webcall.Guard) Robot {
	webcall.Judge(p, guard, prefix+"webhook", set, address, nil)
	return Robot{webcall.New(webcall.Limits{
		Connect: p.Milliseconds(prefix+connectTimeout, 3*time.Second),
		Read:    p.Milliseconds(prefix+readTimeout, 5*time.Second),
		Bytes:   answerBytes, Tail: answerBytes,
		Address: set, Signed: true, Redact: p, Guard: guard,
	})}
}

type text struct {
	Content string `json:"content"`
}

type message struct {
	Type string `json:"msgtype"`
	Text text   `json:"text"`
}

// Say posts a text. The service has taken it if it answers with status 200 and the error code 0.
func (r Robot) Say(ctx context.Context, address, content string) error {
	body, err := json.Marshal(message{Type: "text", Text: text{content}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	answer, err := r.caller.Do(ctx, req)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return fmt.Errorf("status %d: %s", answer.Status, answer.Tail)
	}
	var said struct {
		Code    *int   `json:"errcode"`
		Message string `json:"errmsg"`
	}
	if err := json.Unmarshal([]byte(answer.Tail), &said); err != nil || said.Code == nil {
		return fmt.Errorf("the answer has no errcode: %s", answer.Tail)
	}
	if *said.Code != 0 {
		return fmt.Errorf("refused with errcode %d: %s", *said.Code, said.Message)
	}
	return nil
}
