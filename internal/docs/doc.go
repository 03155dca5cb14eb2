// Package docs holds README.md and docs/*.md true. It has tests only: every link leads somewhere, every page is in
// the list of pages of the site, code compiles, files of jobs and workers are accepted, pictures are legible by day
// and by night. That command lines fit the commands, a test of cmd/elasticron checks.
//
// Below it stands the code that pages show and that is no example of its own.
package docs
