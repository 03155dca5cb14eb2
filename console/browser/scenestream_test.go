package browser

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// cut ends all streams.
func (s *scene) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for stream := range s.streams {
		close(stream)
		delete(s.streams, stream)
	}
}

// silence refuses streams from now on, or no longer.
func (s *scene) silence(on bool) {
	s.mu.Lock()
	s.silent = on
	s.mu.Unlock()
	if on {
		s.cut()
	}
}

// set changes something about the scene.
func (s *scene) set(what *bool, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*what = is
}

// open is how many streams are.
func (s *scene) open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.streams)
}

// events answers as the server does: whole frames at first, then signs of life.
func (s *scene) events(w http.ResponseWriter, r *http.Request) {
	var asked struct{ Topics, Window, Since []string }
	text, _ := io.ReadAll(r.Body) // to its end, as else nobody would see the page go
	_ = json.Unmarshal(text, &asked)
	ended := make(chan struct{})
	s.mu.Lock()
	if s.silent {
		s.mu.Unlock()
		answer(w, 503, object{"title": "not now", "status": 503, "cause": "unavailable"})
		return
	}
	if len(asked.Topics) > 64 {
		s.mu.Unlock()
		answer(w, 400, object{"title": "Bad Request", "status": 400, "cause": "malformed", "detail": "topic must be there between 1 and 64 times"})
		return
	}
	s.streams[ended] = true
	mute := s.mute
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, ended)
		s.mu.Unlock()
	}()
	if mute {
		select {
		case <-ended:
		case <-r.Context().Done():
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(event string, data any) {
		text, _ := json.Marshal(data)
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event, text)
		w.(http.Flusher).Flush()
	}
	now := time.Now().UTC()
	alive := func() {
		s.mu.Lock()
		event := map[bool]string{false: "alive", true: "disconnected"}[s.away]
		s.mu.Unlock()
		send(event, object{"as_of": time.Now().UTC(), "now": time.Now().UTC()})
	}
	alive()
	for _, topic := range asked.Topics {
		switch name, isJob := strings.CutPrefix(topic, "job/"); {
		case topic == "overview":
			send(topic, s.overview(now))
		case topic == "jobs":
			send(topic, s.window(asked.Window))
		case isJob:
			frame := s.jobFrame(name, now)
			send(topic, frame)
			s.mu.Lock()
			again := s.again
			s.mu.Unlock()
			if happened, is := frame["log"].([]object); is && again {
				happened = append(happened, object{"at": now, "kind": "leader", "to": second, "text": second + " leads"})
				send(topic, object{"revision": 48212, "as_of": now, "total": frame["total"], "from": frame["from"], "log": happened})
			}
		}
	}
	beat := time.NewTicker(2 * time.Second)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			alive()
		case <-ended:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (s *scene) window(names []string) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := []object{}
	for _, name := range names {
		if row := s.row(name); row != nil {
			rows = append(rows, row)
		}
	}
	return object{"full": true, "revision": 1, "as_of": time.Now().UTC(), "rows": rows}
}

func (s *scene) overview(now time.Time) object {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := map[string]int{}
	for _, row := range s.jobs {
		word := fmt.Sprint(row["status"])
		if word == "OK" && row["reasons"] != nil {
			word = "OVERDUE"
		}
		counts[word]++
	}
	o := object{"revision": 48211, "as_of": now, "jobs": len(s.jobs), "counts": counts, "needs": []object{}, "instances": 52, "leaderless": 0, "outside": []object{}, "upcoming_from": now}
	if len(s.jobs) > 3 {
		o["needs"] = []object{
			{"job": "stock-count", "word": "NO_INSTANCE", "reasons": []object{{"word": "NO_INSTANCE", "text": "no instance lives"}}},
			{"job": "orders-mail", "word": "OVERDUE", "since": now.Add(-4 * time.Minute), "failures": 6, "reasons": []object{{"word": "OVERDUE", "text": "should have run and did not: items 0, 2"}}, "last": execution("orders-mail", 0, second, "failure", now.Add(-9*time.Minute), time.Second, "exit 3")},
		}
		o["outside"] = []object{{"job": "invoices", "what": "settings", "revision": 47001}}
	}
	var runs []object
	for i := range 30 {
		runs = append(runs, object{"minute": now.Truncate(time.Minute).Add(time.Duration(i-29) * time.Minute), "runs": 140 + (i*37)%90, "failed": map[bool]int{true: 9}[i%11 == 4]})
	}
	if len(s.jobs) == 3 { // the last minute that is over
		runs[28]["uncertain"] = true
	}
	upcoming := make([]int, 30)
	for i := range upcoming {
		upcoming[i] = (i * 7) % 23
		if i%6 == 2 {
			upcoming[i] = 61
		}
	}
	o["runs"], o["upcoming"] = runs, upcoming
	o["leaders"] = []object{{"instance": first, "jobs": 3400}, {"instance": second, "jobs": 3310}, {"instance": third, "jobs": 3161}}
	return o
}

// jobFrame is a job with a history of ten minutes in which everything happens: failures, a crash, a failover, a gap.
func (s *scene) jobFrame(name string, now time.Time) object {
	s.mu.Lock()
	row := s.row(name)
	s.mu.Unlock()
	if row == nil {
		return object{"gone": true, "revision": 1, "as_of": now, "total": 0, "from": now}
	}
	total := min(row["items"].(int), 8)
	if name == "batch-00010" { // more than can be shapes
		total = 40
	}
	items := madeUpItems(name, total, now)
	var spans []object
	span := func(item int, instance, outcome string, ago, took time.Duration, more object) {
		e := execution(name, item, instance, outcome, now.Add(-ago), took, "")
		delete(e, "job")
		for key, value := range more {
			e[key] = value
		}
		spans = append(spans, e)
	}
	owners := []string{first, second, third}
	for minute := range 10 {
		for item := range total {
			ago := time.Duration(minute)*time.Minute + 20*time.Second + time.Duration(item)*900*time.Millisecond
			took := time.Duration(6+(item*5+minute*7)%26) * time.Second
			switch {
			case name == "batch-00010":
				for part := range 4 {
					span(item, owners[item%3], map[bool]string{true: "failure", false: "success"}[(item+minute)%13 == 0], ago+time.Duration(part)*14*time.Second, 9*time.Second, nil)
				}
			case minute >= 8 && item > 0: // nobody looked then
			case item == 3 && minute == 4:
				span(item, third, "lost", ago+20*time.Second, 18*time.Second, nil)
				span(item, first, "success", ago-8*time.Second, 30*time.Second, object{"failover": true, "source": "failover"})
			case item == 5 && minute%3 == 1:
				span(item, owners[item%3], "failure", ago, took/3, object{"error": "exit 3: no such table: settlements_2026"})
			case item == 2 && minute == 2:
				span(item, third, "interrupted", ago, took, nil)
			case item == 1 && minute == 0:
				span(item, second, "running", 12*time.Second, 0, nil)
			case item == 6 && minute == 6:
				span(item, first, "success", ago, took, object{"source": "misfire"})
			case item == 4 && minute < 5: // disabled
			case item == 3 && minute > 4:
				span(item, third, "success", ago, took, nil)
			default:
				span(item, owners[item%3], "success", ago, took, nil)
			}
		}
	}
	return object{
		"full": true, "revision": 48211, "as_of": now, "row": row, "items": items, "total": total, "spans": spans, "from": now.Add(-9 * time.Minute),
		"gaps":       []object{{"from": now.Add(-8*time.Minute - 5*time.Second), "to": now.Add(-7*time.Minute - 30*time.Second)}},
		"next_fires": []time.Time{now.Add(40 * time.Second), now.Add(100 * time.Second)},
		"instances":  []object{{"instance": first, "server": "10.0.0.1", "status": "OK", "java": false, "jobs": []string{name}, "items": 3, "running_items": 1}, {"instance": second, "server": "10.0.0.2", "status": "OK", "java": true, "jobs": []string{name}, "items": 3, "running_items": 0}, {"instance": third, "server": "10.0.0.3", "status": "OK", "java": false, "jobs": []string{name}, "items": 2, "running_items": 0}},
		"log": []object{
			{"at": now.Add(-6 * time.Minute), "kind": "misfire", "item": 6, "fires": 2, "text": "item 6 missed 2 fires"},
			{"at": now.Add(-4*time.Minute - 25*time.Second), "kind": "left", "from": third, "text": third + " left or died"},
			{"at": now.Add(-4*time.Minute - 24*time.Second), "kind": "lost", "item": 3, "from": third, "text": "the execution of item 3 on " + third + " was lost"},
			{"at": now.Add(-4*time.Minute - 12*time.Second), "kind": "failover", "item": 3, "from": third, "to": first, "text": "item 3 runs again on " + first},
			{"at": now.Add(-3 * time.Minute), "kind": "operation", "by": "anna", "text": "anna disabled item 4: bad table"},
		},
	}
}
