// Package allow holds the lists of what a worker may run and call. It decides on what a command or an address really
// is: a file after symbolic links, a request after redirects, a host after its name was looked up.
package allow
