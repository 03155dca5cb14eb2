//go:build ignore

// Reached tells by its status whether the server of a URL answers with what is asked for, through the proxy that the
// environment names if it names one.
package main

import (
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	client := http.Client{Timeout: 20 * time.Second}
	answer, err := client.Head(os.Args[1])
	if err == nil {
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return
		}
		err = fmt.Errorf("%s: %s", os.Args[1], answer.Status)
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
