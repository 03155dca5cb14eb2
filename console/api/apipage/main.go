// Command apipage writes the page of the HTTP API from its description, console/api/openapi.yaml:
//
//	go run ./console/api/apipage > docs/api.md
package main

import (
	"fmt"
	"os"
)

const description = "console/api/openapi.yaml"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "apipage:", err)
		os.Exit(1)
	}
}

func run() error {
	text, err := os.ReadFile(description)
	if err != nil {
		return fmt.Errorf("it is to be run in the root of the repository: %w", err)
	}
	d, err := read(text)
	if err != nil {
		return fmt.Errorf("%s: %w", description, err)
	}
	page, err := d.page()
	if err != nil {
		return fmt.Errorf("%s: %w", description, err)
	}
	_, err = os.Stdout.WriteString(page)
	return err
}
