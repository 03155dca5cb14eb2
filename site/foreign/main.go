// Command foreign looks through a built site for what a browser would load from elsewhere: scripts, styles, fonts,
// pictures and frames. It names each such reference, and then ends with exit status 1. Links that a reader follows are
// none of them.
//
//	go run ./site/foreign site/build
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: foreign FOLDER")
		os.Exit(2)
	}
	found, err := inFolder(os.Args[1])
	for _, reference := range found {
		fmt.Fprintln(os.Stderr, reference)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "foreign:", err)
	}
	if err != nil || len(found) > 0 {
		os.Exit(1)
	}
}

// inFolder looks through all pages and styles below a folder. That there is no page is an error.
func inFolder(folder string) (found []string, err error) {
	pages := 0
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		look := inStyle
		switch filepath.Ext(path) {
		case ".html":
			look = inPage
			pages++
		case ".css", ".svg":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, what := range look(string(text)) {
			found = append(found, path+": "+what)
		}
		return nil
	})
	if err == nil && pages == 0 {
		err = errors.New("there is no page in " + folder)
	}
	return found, err
}

// foreign tells whether an address leads to another host.
func foreign(address string) bool {
	address = strings.ToLower(strings.TrimSpace(address))
	return strings.HasPrefix(address, "http:") || strings.HasPrefix(address, "https:") || strings.HasPrefix(address, "//")
}
