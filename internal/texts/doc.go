// Package texts has what several packages do to texts: write them in JSON as Java does, say where JSON is wrong,
// shorten them for people, make them comments, write numbers by their runs, and make them fit a database.
package texts
