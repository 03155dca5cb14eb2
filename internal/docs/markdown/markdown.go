// Package markdown reads the pages of this project, for tests: their anchors, links and blocks of code.
package markdown

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Page is what a page consists of, in its order.
type Page struct {
	// Anchors are the names of its headings, as GitHub gives them. If two headings would have the same name, none
	// of them is here: GitHub and the site number them differently.
	Anchors map[string]bool
	Links   []Link
	Blocks  []Block
	Spans   []Span
}

// Link is a link or a picture.
type Link struct {
	Target  string
	Picture bool
	Line    int // of its paragraph, from 1
}

// Block is a fenced block of code.
type Block struct {
	Language string
	Text     string
	Line     int // of its first line of code, from 1
}

// Span is code within a line.
type Span struct {
	Text string
	Line int // of its paragraph, from 1
}

// Parse reads a page.
func Parse(page []byte) Page {
	p := Page{Anchors: make(map[string]bool)}
	document := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(page))
	ends, line := lineEnds(page), 0
	// The function that is called returns no error, so neither does Walk.
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
			before, _ := slices.BinarySearch(ends, n.Lines().At(0).Start)
			line = before + 1
		}
		p.take(n, page, line)
		return ast.WalkContinue, nil
	})
	return p
}

func (p *Page) take(n ast.Node, page []byte, line int) {
	switch n := n.(type) {
	case *ast.Heading:
		name := Anchor(plain(n, page))
		_, twice := p.Anchors[name]
		p.Anchors[name] = !twice
	case *ast.Link:
		p.Links = append(p.Links, Link{Target: string(n.Destination), Line: line})
	case *ast.Image:
		p.Links = append(p.Links, Link{Target: string(n.Destination), Picture: true, Line: line})
	case *ast.AutoLink:
		p.Links = append(p.Links, Link{Target: string(n.URL(page)), Line: line})
	case *ast.FencedCodeBlock:
		p.Blocks = append(p.Blocks, Block{Language: string(n.Language(page)), Text: string(n.Lines().Value(page)), Line: line})
	case *ast.CodeSpan:
		p.Spans = append(p.Spans, Span{Text: strings.Join(strings.Fields(plain(n, page)), " "), Line: line})
	}
}

// Anchor returns the name that GitHub gives to a heading.
func Anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(heading))
}

// plain returns the text of a node without its marks.
func plain(n ast.Node, page []byte) string {
	var all strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			all.Write(t.Segment.Value(page))
			if t.SoftLineBreak() {
				all.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return all.String()
}

// lineEnds returns where the lines of a page end.
func lineEnds(page []byte) (ends []int) {
	for i, b := range page {
		if b == '\n' {
			ends = append(ends, i)
		}
	}
	return ends
}

// CommandLine is a line of a block that a shell carries out.
type CommandLine struct {
	Text string
	Line int // from 1
}

// CommandLines returns the command lines of a block for a shell, without comments. A backslash at the end of a line
// joins the next one to it.
func (b Block) CommandLines() (lines []CommandLine) {
	joined := ""
	for i, line := range strings.Split(b.Text, "\n") {
		line = strings.TrimSpace(line)
		if before, more := strings.CutSuffix(line, "\\"); more {
			joined += before
			continue
		}
		if joined += line; joined != "" && !strings.HasPrefix(joined, "#") {
			lines = append(lines, CommandLine{Text: joined, Line: b.Line + i})
		}
		joined = ""
	}
	return lines
}

// String tells what the block is, for messages of tests.
func (b Block) String() string { return fmt.Sprintf("block of %q in line %d", b.Language, b.Line) }
