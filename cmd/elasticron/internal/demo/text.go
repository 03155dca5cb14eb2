package demo

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// grouped writes a number with a comma between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// size writes a number of bytes in the unit that suits it.
func size(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	value, unit := float64(n), 0
	for value >= 999.95 && unit < len(units)-1 {
		value, unit = value/1000, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// listed writes item numbers as "item 3" or "items 0,3,6".
func listed(items []int) string {
	if len(items) == 1 {
		return fmt.Sprintf("item %d", items[0])
	}
	return "items " + joined(items, ",")
}

func joined(items []int, separator string) string {
	parts := make([]string, len(items))
	for i, n := range items {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, separator)
}

// plural writes "1 run" or "2 runs".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(int64(n)) + " " + one + "s"
}

// seconds writes a duration as people look at it.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
