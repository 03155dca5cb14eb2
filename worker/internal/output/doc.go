// Package output deals with what scripts write: it hides secrets, keeps the beginning and the end, and keeps all of it
// in files of bounded size.
package output
