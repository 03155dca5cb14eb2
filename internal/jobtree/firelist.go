package jobtree

import (
	"strconv"
	"strings"
	"time"
)

// longestStep is the longest time between two fires that a list of fires gives as a duration; what is
// longer is given as a time again.
const longestStep = 100 * 365 * 24 * time.Hour

// encodeFires writes ascending times as the first one and the steps to the others, equal ones
// together: the fires of a cron are mostly equally far apart.
func encodeFires(fires []time.Time) string {
	var b []byte
	var last time.Time
	for i := 0; i < len(fires); i++ {
		step := fires[i].Sub(last)
		if i == 0 || step > longestStep {
			if i > 0 {
				b = append(b, ' ')
			}
			b = fires[i].UTC().AppendFormat(b, time.RFC3339Nano)
			last = fires[i]
			continue
		}
		times := 1
		for i+1 < len(fires) && fires[i+1].Sub(fires[i]) == step {
			i++
			times++
		}
		b = append(append(b, " +"...), step.String()...)
		if times > 1 {
			b = strconv.AppendInt(append(b, '*'), int64(times), 10)
		}
		last = fires[i]
	}
	return string(b)
}

// fires reads what encodeFires writes.
func (r *reader) fires(m member) []time.Time {
	var fires []time.Time
	for _, word := range strings.Fields(r.text(m)) {
		step, times, ok := fireStep(word)
		if !ok {
			at, err := time.Parse(time.RFC3339Nano, word)
			if err != nil || len(fires) > 0 && !at.After(fires[len(fires)-1]) {
				r.fault(m, firesForm)
				return nil
			}
			fires = append(fires, at.UTC())
			continue
		}
		if len(fires) == 0 || len(fires)+times > MaxMissedFires {
			r.fault(m, firesForm)
			return nil
		}
		for range times {
			fires = append(fires, fires[len(fires)-1].Add(step))
		}
	}
	if len(fires) == 0 || len(fires) > MaxMissedFires || !storable(fires[0]) || !storable(fires[len(fires)-1]) {
		r.fault(m, firesForm)
		return nil
	}
	return fires
}

const firesForm = `must be at most 1000 ascending times, such as "2026-01-02T12:00:00Z +5s*3 +1m0s"`

// fireStep reads a step and how often it is taken.
func fireStep(word string) (step time.Duration, times int, ok bool) {
	text, is := strings.CutPrefix(word, "+")
	if !is {
		return 0, 0, false
	}
	text, count, repeated := strings.Cut(text, "*")
	times = 1
	if repeated {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > MaxMissedFires {
			return 0, 0, false
		}
		times = n
	}
	step, err := time.ParseDuration(text)
	return step, times, err == nil && step > 0 && step <= longestStep
}
