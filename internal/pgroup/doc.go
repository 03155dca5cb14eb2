// Package pgroup knows process groups of Unix.
package pgroup
