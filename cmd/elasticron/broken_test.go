package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
)

// How the processes of a demo under test behave.
const (
	sound    = "sound"
	doubling = "doubling" // each reports every result of item 1 twice
	skewing  = "skewing"  // each counts one file more in item 1
)

// breakReports puts a pipe into the way of what this process writes, which changes it.
func breakReports(mode string) {
	out := os.Stdout
	read, write, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	os.Stdout = write
	go func() {
		lines := bufio.NewScanner(read)
		for lines.Scan() {
			change(mode, lines.Bytes(), out)
		}
	}()
}

func change(mode string, line []byte, out io.Writer) {
	ofItem := bytes.Contains(line, []byte(`"kind":"result"`)) && bytes.Contains(line, []byte(`"item":1,`))
	line = append(bytes.Clone(line), '\n')
	switch {
	case ofItem && mode == doubling:
		line = append(line, line...)
	case ofItem && mode == skewing:
		line = bytes.Replace(line, []byte(`"files":`), []byte(`"files":1`), 1)
	}
	_, _ = out.Write(line) // a parent that is gone ends this process anyway
}
