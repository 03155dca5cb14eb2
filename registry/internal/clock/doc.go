// Package clock gives backends the best clock of the system for the deadlines of sessions.
package clock
