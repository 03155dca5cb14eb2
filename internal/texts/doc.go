// Package texts has what several packages do to texts: write them in JSON as Java does, say where JSON is wrong, and
// shorten them for people.
package texts
