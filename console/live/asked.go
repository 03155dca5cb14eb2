package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// maxAsked bounds, in bytes, what a stream is asked for: as many names as may be given, of the greatest length, escaped.
const maxAsked = 1 << 20

// asked is what a stream is asked for: the parameters of a GET, or the body of a POST, which has room for all names.
type asked struct {
	Topics []string `json:"topics"`
	Window []string `json:"window,omitempty"` // of the topic jobs
	Since  []string `json:"since,omitempty"`  // by topic
}

func askedOf(w http.ResponseWriter, r *http.Request) (a asked, refused *problem) {
	if r.Method != http.MethodPost {
		query := r.URL.Query()
		return asked{Topics: query["topic"], Window: query["window"], Since: query["since"]}, nil
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAsked))
	if err != nil {
		return a, badRequest("the body could not be read, and may have %d bytes: %s", maxAsked, err)
	}
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.DisallowUnknownFields()
	if err := reader.Decode(&a); err != nil {
		return asked{}, badRequest("the body must be JSON with topics, window and since, each a list of texts: %s", err)
	}
	return a, nil
}
