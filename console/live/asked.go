package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/console/access"
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

// topicsOf reads which topics are asked for, and asks whether they may be read. lastID is that of the last frame that the
// reader had.
func (h *Hub) topicsOf(a asked, lastID string, who access.Identity) ([]wanted, *problem) {
	names, since := a.Topics, a.Since
	switch {
	case len(names) == 0 || len(names) > MaxTopics:
		return nil, badRequest("topic must be there between 1 and %d times, and is %d times", MaxTopics, len(names))
	case len(since) != 0 && len(since) != len(names):
		return nil, badRequest("since must be there once for each of the %d topics or not at all, and is %d times", len(names), len(since))
	}
	last, resumed := h.numberOf(lastID)
	var all []wanted
	for i, name := range names {
		key, refused := h.keyOf(name, a.Window, who)
		if refused != nil {
			return nil, refused
		}
		if slices.ContainsFunc(all, func(w wanted) bool { return w.key == key }) {
			return nil, badRequest("topic %q is there twice", name)
		}
		each := wanted{key: key, since: last, has: resumed}
		if len(since) > 0 && !resumed {
			each.since, each.has = h.numberOf(since[i])
		}
		all = append(all, each)
	}
	return all, nil
}

func (h *Hub) keyOf(topic string, window []string, who access.Identity) (topicKey, *problem) {
	namespace := h.cfg.Namespace
	switch name, isJob := strings.CutPrefix(topic, EventJob); {
	case topic == EventOverview:
		scope := who.Scope(namespace)
		if scope == "" {
			return topicKey{}, forbidden("of the namespace %q nothing may be read", namespace)
		}
		return topicKey{topicOverview, scope}, nil
	case topic == EventJobs:
		if len(window) > MaxWindow {
			return topicKey{}, badRequest("window must be there once for each of at most %d jobs, and is %d times", MaxWindow, len(window))
		}
		var names []string
		for _, name := range window {
			if refused := readable(name, namespace, who); refused != nil {
				return topicKey{}, refused
			}
			if !h.tooLong(name) { // or it went just now, which is no reason to refuse the pages that share the stream
				names = append(names, name)
			}
		}
		slices.Sort(names)
		return topicKey{topicJobs, strings.Join(slices.Compact(names), "\x00")}, nil
	case isJob:
		refused := readable(name, namespace, who)
		if refused == nil && h.tooLong(name) {
			refused = noName(name)
		}
		return topicKey{topicJob, name}, refused
	default:
		return topicKey{}, badRequest(`topic %q must be "overview", "jobs" or "job/" and a name`, topic)
	}
}

// tooLong tells whether a name is too long to be kept for a reader, and is not that of a job: the registry keeps those as well.
func (h *Hub) tooLong(job string) bool {
	if len(job) <= longestName {
		return false
	}
	_, there := h.Picture().Row(job)
	return !there
}

func readable(job, namespace string, who access.Identity) *problem {
	if job == "" || strings.ContainsFunc(job, func(r rune) bool { return r < ' ' || r == '/' || r == 0x7f }) {
		return noName(job)
	}
	if !who.May(access.Read, namespace, job) {
		return forbidden("the job %q of the namespace %q may not be read", job, namespace)
	}
	return nil
}

func noName(job string) *problem { return badRequest("%q is no name of a job", job) }
