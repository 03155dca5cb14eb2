package main

import (
	"fmt"
	"time"
)

// brief returns a duration as a list shows it: in its largest unit, or in two while that says more.
func brief(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Truncate(100*time.Millisecond).Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 10*time.Minute && d%time.Minute >= time.Second:
		return fmt.Sprintf("%dm%ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 10*time.Hour && d%time.Hour >= time.Minute:
		return fmt.Sprintf("%dh%dm", d/time.Hour, d%time.Hour/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	default:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
}

// whole is brief without fractions of a second, for what changes while people look.
func whole(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%ds", max(d, 0)/time.Second)
	}
	return brief(d)
}

// instant returns a time with its date and zone; "-" if there is none.
func instant(t time.Time) string {
	if t.IsZero() {
		return none
	}
	return t.Format("2006-01-02 15:04:05 MST")
}

// none stands in a cell whose value is unknown.
const none = "-"

func instantFlag(name, text string, to *time.Time) (err error) {
	if text == "" {
		return nil
	}
	if *to, err = time.Parse(time.RFC3339, text); err != nil {
		return misuse("%s is %q, want a time such as 2026-03-01T02:30:00Z", name, text)
	}
	return nil
}
