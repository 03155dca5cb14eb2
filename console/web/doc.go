// Package web serves the pages of the console: HTML by html/template, and the script and style that make them live.
//
//	pages, err := web.New(web.Config{Prefix: "/cron", Who: who})
//	mux.Handle("/", guard.Protect(pages)) // guard lets everybody load what Public names, and shows pages.WriteLogin
//
// A page has its frame when it arrives; what is in it comes from the HTTP API and the stream of events, which lie below
// the same prefix. All addresses in a page are relative to its base, so a proxy may serve the console below any path.
//
// Nothing comes from elsewhere: the content security policy allows this origin only, and no script or style inline.
// Files have their hash in their names and may be kept for ever; pages are not kept.
//
// The sources of script and style are in src. Program build makes dist of them (make web), which is committed, so that
// nobody who builds or installs Elasticron needs more than Go. Tests compare the two.
package web
