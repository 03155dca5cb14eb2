package sqlstore

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// rowClasses are the classes of SQLSTATE, which are its first two characters, for data that a column cannot hold, constraints,
// views with a check, and what triggers refuse, in MySQL and in PostgreSQL.
var rowClasses = []string{"22", "23", "44", "45", "P0"}

// conflictClass is the one for a transaction that stood in the way of another.
const conflictClass = "40"

// rowNumbers are the errors of MySQL and MariaDB about a row that have no class of their own: row too large, data truncated,
// incorrect string value, no partition for it, none among those that were named, check constraint violated, text that another
// character set does not have (two).
var rowNumbers = []string{"1118", "1265", "1366", "1526", "1748", "3819", "3854", "3988"}

// The least significant bytes of SQLite's codes about a row: too big, constraint, mismatch.
var rowCodes = []int{18, 19, 20}

// stated is an error of the drivers of PostgreSQL.
type stated interface{ SQLState() string }

// mysqlError is the text of one of the driver of MySQL, which has no method that tells its parts.
var mysqlError = regexp.MustCompile(`^Error (\d+) \(([0-9A-Z]{5})\): `)

// isOfRow tells whether the database says that an error is about what was to be stored, and not about itself. Of what it
// cannot tell, it says no.
func (d dialect) isOfRow(err error) bool {
	number, state := codesOf(err)
	if slices.Contains(rowNumbers, number) || len(state) == 5 && slices.Contains(rowClasses, state[:2]) {
		return true
	}
	if d.numbered || d.zoned {
		return false
	}
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return slices.Contains(rowCodes, coded.Code()&0xff)
	}
	return err != nil && strings.Contains(err.Error(), "constraint failed") // in SQLite's words
}

// busyCodes are SQLite's for a file, or a table of it, that another one writes: who waits for it has no turn, and may wait
// in vain.
var busyCodes = []int{5, 6}

// isConflict tells whether a transaction was called off for the sake of another one, or did not get its turn.
func isConflict(err error) bool {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return slices.Contains(busyCodes, coded.Code()&0xff)
	}
	_, state := codesOf(err)
	return strings.HasPrefix(state, conflictClass)
}

// codesOf returns the number of an error of MySQL and the SQLSTATE of any; empty if it has none.
func codesOf(err error) (number, state string) {
	if err == nil {
		return "", ""
	}
	var s stated
	if errors.As(err, &s) {
		return "", s.SQLState()
	}
	for ; err != nil; err = errors.Unwrap(err) {
		if found := mysqlError.FindStringSubmatch(err.Error()); found != nil {
			return found[1], found[2]
		}
	}
	return "", ""
}
